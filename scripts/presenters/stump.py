"""The body without its head: what a plate shows where the neck will be drawn."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .atlas import spread
from .base import smooth
from .camera import MASTER, Camera
from .mouth import halves
from .person import Person
from .trace import trace

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]
Bools = NDArray[np.bool_]

STUMP: Final = (-0.56, -0.42)
"""Heights above the chin, in dm, between which the neck of the plate ends."""
BESIDE: Final = (0.84, 1.0)
SHOULDER: Final = (-0.08, -0.20)
"""Distances from the middle, by half the neck's width, and heights above the chin, in dm, from which on the
plate keeps its skin: the shoulder's, over which no neck is drawn."""
NECK_BELOW_CHIN: Final = (0.0, 0.10)
"""Where the neck's width is measured, in dm."""
SLIVER_PX = 15
"""Narrower skin than this beside a collar is left out, in master pixels."""
HEM: Final = (0.40, 0.60)
"""Cover of what is filled in from nothing to cloth: a collar goes on behind a neck and ends there, without a
glow."""
INSIDE_ABOVE_CHIN, INSIDE_LIGHT = 0.0, 0.70
"""How high above the chin, in dm, the layer shows what lies behind the neck, the back of a collar, and its
least light against the cloth beside."""
REACH_BELOW_CHIN = 1.4
GROW_PX = 5
"""By how much more than the skin is taken away, in pixels of the layer."""


def headless(person: Person, body: U8, skin: U8, camera: Camera) -> U8:
    """Layer `body` (H, W, 4) with all skin above the collar replaced by what lies beside it, cloth or
    nothing.

    `skin` (H, W, 4) is the layer that shows where skin is seen, by the same `camera`.
    """
    place = _places(person, camera).astype(np.float64)
    above, aside = place[..., 1] - person.landmarks.chin[1], np.abs(place[..., 0])
    kernel = np.ones((2 * GROW_PX + 1,) * 2, np.uint8)
    bare = cv2.GaussianBlur(cv2.dilate(skin[..., 3], kernel).astype(np.float32) / 255, (0, 0), 1.0)
    kept = smooth(*BESIDE, aside / _neck_half(person)) * smooth(*SHOULDER, above)
    kept = kept * _wide((bare * kept).astype(np.float32), SLIVER_PX * camera.size[0] / MASTER[0])
    behind = (above > INSIDE_ABOVE_CHIN).astype(np.float32)
    gone = (bare * smooth(*STUMP, above) * (1 - np.maximum(kept, behind))).astype(np.float32)[..., None]
    cloth = (bare < 0.01) & (body[..., 3] > 250)
    layer = _lit_inside(body.astype(np.float32), cloth, behind * bare)
    alpha = layer[..., 3:] / 255
    solid = np.concatenate([layer[..., :3] * alpha, alpha * 255], 2)
    known = np.maximum(np.maximum(bare < 0.01, behind), smooth(0.5, 1.0, kept))
    filled = spread(solid.astype(np.float32), known.astype(np.float32))
    share = filled[..., 3:] / 255
    filled = filled * (smooth(*HEM, share.astype(np.float64)) / np.maximum(share, 1e-3)).astype(np.float32)
    mixed = solid * (1 - gone) + filled * gone
    cover = mixed[..., 3:] / 255
    color = np.where(cover > 1e-3, mixed[..., :3] / np.maximum(cover, 1e-3), layer[..., :3])
    return np.round(np.clip(np.concatenate([color, mixed[..., 3:]], 2), 0, 255)).astype(np.uint8)


def _lit_inside(layer: F32, cloth: Bools, inside: F32) -> F32:
    """`layer` (H, W, 4), `inside` (H, W) a collar not darker than the `cloth` (H, W) beside in shade."""
    tone = spread(layer[..., :3], cloth.astype(np.float32)) * INSIDE_LIGHT
    lit = layer.copy()
    lit[..., :3] += np.maximum(tone - layer[..., :3], 0) * inside[..., None]
    return lit


def _wide(share: F32, side: float) -> F32:
    """`share` (H, W) of 0..1 without what is narrower than `side` pixels, and 1 close around the rest."""
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (max(3, round(side)) | 1,) * 2)
    return np.minimum(1, 2 * cv2.dilate(cv2.morphologyEx(share, cv2.MORPH_OPEN, kernel), kernel)).astype(
        np.float32
    )


def _neck_half(person: Person) -> float:
    """Half the neck's width below the chin, in dm."""
    points = person.limit(person.rest)[person.members("body")]
    below = person.landmarks.chin[1] - points[:, 1]
    return float(np.abs(points[(below > NECK_BELOW_CHIN[0]) & (below < NECK_BELOW_CHIN[1]), 0]).max())


def _places(person: Person, camera: Camera) -> F32:
    """x and y (H, W, 2) of the skin that each pixel shows, continued beyond its outline."""
    points = person.limit(person.rest)
    faces = person.faces()
    faces = faces[points[faces][..., 1].max(1) > person.landmarks.chin[1] - REACH_BELOW_CHIN]
    triangles = halves(faces)
    hits = trace(camera.project(points), triangles, camera.size, cull=True)
    place = np.zeros((*hits.seen.shape, 2), np.float32)
    place[hits.seen] = hits.blend(triangles, points[:, :2])
    return spread(place, hits.seen.astype(np.float32))
