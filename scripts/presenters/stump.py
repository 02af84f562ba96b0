"""The body without its head: what a plate shows where the neck will be drawn."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .atlas import spread
from .base import smooth
from .camera import Camera
from .mouth import halves
from .person import Person
from .trace import trace

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

STUMP: Final = (-0.56, -0.42)
"""Heights above the chin, in dm, between which the neck of the plate ends."""
REACH_BELOW_CHIN = 1.4
GROW_PX = 3
"""By how much more than the skin is taken away, in pixels of the layer."""


def headless(person: Person, body: U8, skin: U8, camera: Camera) -> U8:
    """Layer `body` (H, W, 4) with all skin above the collar replaced by what lies beside it, cloth or
    nothing.

    `skin` (H, W, 4) is the layer that shows where skin is seen, by the same `camera`.
    """
    above = _heights(person, camera) - person.landmarks.chin[1]
    kernel = np.ones((2 * GROW_PX + 1,) * 2, np.uint8)
    bare = cv2.GaussianBlur(cv2.dilate(skin[..., 3], kernel).astype(np.float32) / 255, (0, 0), 1.0)
    gone = (bare * smooth(*STUMP, above.astype(np.float64))).astype(np.float32)[..., None]
    layer = body.astype(np.float32)
    alpha = layer[..., 3:] / 255
    solid = np.concatenate([layer[..., :3] * alpha, alpha * 255], 2)
    filled = spread(solid.astype(np.float32), (bare < 0.01).astype(np.float32))
    mixed = solid * (1 - gone) + filled * gone
    cover = mixed[..., 3:] / 255
    color = np.where(cover > 1e-3, mixed[..., :3] / np.maximum(cover, 1e-3), layer[..., :3])
    return np.round(np.clip(np.concatenate([color, mixed[..., 3:]], 2), 0, 255)).astype(np.uint8)


def _heights(person: Person, camera: Camera) -> F32:
    """Height (H, W) of the skin that each pixel shows, continued beyond its outline."""
    points = person.limit(person.rest)
    faces = person.faces()
    faces = faces[points[faces][..., 1].max(1) > person.landmarks.chin[1] - REACH_BELOW_CHIN]
    triangles = halves(faces)
    hits = trace(camera.project(points), triangles, camera.size, cull=True)
    height = np.zeros((*hits.seen.shape, 1), np.float32)
    height[hits.seen] = hits.blend(triangles, points[:, 1:2])
    return spread(height, hits.seen.astype(np.float32))[..., 0]
