"""Light on a neck under falling hair: small bright patches between shadows of locks are shaded as well."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .base import smooth
from .camera import MASTER, Camera
from .person import Person

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

PATCH_PX, SOFT_PX = 72, 4.0
"""The widest patch that is shaded, and how softly, in master pixels."""
HEIGHTS: Final = (0.02, -0.10, -0.62, -0.80)
"""Heights above the chin between which this sets in and ends, in dm."""
ASIDE: Final = (0.22, 0.34)
"""Distances from the middle, in dm, over which it sets in."""


def evened(person: Person, picture: U8, skin: U8, camera: Camera) -> U8:
    """`picture` (H, W, 4) whose skin, as the alpha of the layer `skin` (H, W, 4) by the same `camera` has it,
    has no small patch of light at the sides of the neck."""
    scale = camera.size[0] / MASTER[0]
    chin = person.landmarks.chin
    rows = [camera.project(chin + np.array([0, height, 0]))[1] for height in HEIGHTS]
    middle = camera.project(chin)[0]
    near, far = (float(camera.project(chin + np.array([aside, 0, 0]))[0] - middle) for aside in ASIDE)
    y, x = np.arange(camera.size[1], dtype=np.float64)[:, None], np.arange(camera.size[0], dtype=np.float64)
    share = smooth(rows[0], rows[1], y) * smooth(rows[3], rows[2], y)
    share = share * smooth(near, far, np.abs(x - middle)) * (skin[..., 3] / 255.0)
    light = picture[..., :3].astype(np.float32).mean(2)
    light = cv2.GaussianBlur(light, (0, 0), 1.5 * scale)
    bare = np.where(skin[..., 3] > 250, light, 255).astype(np.float32)
    side = max(3, round(PATCH_PX * scale)) | 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    opened = cv2.morphologyEx(bare, cv2.MORPH_OPEN, kernel)
    gain = cv2.GaussianBlur(np.minimum(opened / np.maximum(light, 1), 1), (0, 0), SOFT_PX * scale)
    shaded = picture.astype(np.float32)
    shaded[..., :3] *= (1 - share * (1 - gain))[..., None]
    return np.round(shaded).astype(np.uint8)
