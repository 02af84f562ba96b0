"""Light on a neck under falling hair: shadows of single locks and light between them are evened."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .base import F64, smooth
from .camera import MASTER, Camera
from .mouth import halves
from .person import Person
from .trace import trace

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

SOFT_PX, WIDE_PX = 4.0, 60.0
"""What is skin rather than shade, and over how much shades are evened, in master pixels."""
GAIN: Final = (0.55, 3.2)
BLACK: Final = (0.55, 0.25)
"""Light of a shade against what is around it, from one with a hue of its own to one without."""
LIT, LEAST, LIFT, MOST = 75, 0.62, 0.8, 1.35
"""Percentile of the light of a neck that is lit, the least light of its shade against that, how far what
is darker comes up to it, and by how much at most: what is nearly black has no colour of skin."""
HEIGHTS: Final = (0.18, 0.06, -0.62, -0.80)
"""Heights above the chin between which this sets in and ends, in dm."""
ASIDE: Final = (0.22, 0.34)
"""Distances from the middle, in dm, over which it sets in."""


JAW: Final = (0.70, 0.55)
"""How far before the pivot of the head the jaw begins and the neck ends, in dm."""


def evened(person: Person, picture: U8, skin: U8, camera: Camera) -> U8:
    """`picture` (H, W, 4) whose skin, as the alpha of the layer `skin` (H, W, 4) by the same `camera` has it,
    has no small patches of light and shade at the sides of the neck."""
    scale = camera.size[0] / MASTER[0]
    chin = person.landmarks.chin
    rows = [camera.project(chin + np.array([0, height, 0]))[1] for height in HEIGHTS]
    middle = camera.project(chin)[0]
    near, far = (float(camera.project(chin + np.array([aside, 0, 0]))[0] - middle) for aside in ASIDE)
    y, x = np.arange(camera.size[1], dtype=np.float64)[:, None], np.arange(camera.size[0], dtype=np.float64)
    share = smooth(rows[0], rows[1], y) * smooth(rows[3], rows[2], y)
    neck = _neck(person, camera)
    share = share * smooth(near, far, np.abs(x - middle)) * (skin[..., 3] / 255.0) * neck
    bare = ((skin[..., 3] > 250) * neck).astype(np.float32)[..., None]
    color = picture[..., :3].astype(np.float32)
    fine, wide = (_blurred(color, bare, sigma * scale) for sigma in (SOFT_PX, WIDE_PX))
    known = bare[..., 0] * (share > 0.5)
    toned = _toward(wide, fine, color) * _lifted(wide, known)[..., None]
    shaded = picture.astype(np.float32)
    shaded[..., :3] += share[..., None] * (toned - color)
    return np.round(np.clip(shaded, 0, 255)).astype(np.uint8)


def _toward(wide: F32, fine: F32, color: F32) -> F32:
    """`color` (H, W, 3) where shades `fine` of it are as `wide` ones, within `GAIN`; what is nearly black is
    given their hue too."""
    light = fine.mean(2, keepdims=True) / np.maximum(wide.mean(2, keepdims=True), 1)
    even = color * np.clip(wide / np.maximum(fine, 1), *GAIN)
    hue = wide / np.maximum(wide.mean(2, keepdims=True), 1)
    hued = hue * color.mean(2, keepdims=True) * np.clip(1 / np.maximum(light, 1e-3), *GAIN)
    return (even + (hued - even) * smooth(*BLACK, light.astype(np.float64))).astype(np.float32)


def _lifted(color: F32, known: F32) -> F64:
    """By how much shade in `color` (H, W, 3) is to be lighter, 1 or more (H, W), as light is where it is
    `known` (H, W)."""
    light = color.mean(2).astype(np.float64)
    if not (known > 0.5).any():
        return np.ones(light.shape)
    least = LEAST * float(np.percentile(light[known > 0.5], LIT))
    return np.minimum(1 + LIFT * np.maximum(least - light, 0) / np.maximum(light, 1), MOST)


def _neck(person: Person, camera: Camera) -> F64:
    """How far pixels (H, W) are neck rather than jaw."""
    points, triangles = person.limit(person.rest), halves(person.faces())
    hits = trace(camera.project(points), triangles, camera.size, cull=True)
    before = np.zeros(hits.seen.shape)
    before[hits.seen] = hits.blend(triangles, points[:, 2:])[:, 0] - person.landmarks.pivot[2]
    return smooth(*JAW, before)


def _blurred(color: F32, weight: F32, sigma: float) -> F32:
    total = cv2.GaussianBlur(weight, (0, 0), sigma)[..., None]
    return (cv2.GaussianBlur(color * weight, (0, 0), sigma) / np.maximum(total, 1e-3)).astype(np.float32)
