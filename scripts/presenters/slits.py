"""Deep shade in cloth is lit: in narrow slits of light cloth, as beside the tip of a collar, and where dark
cloth would be black."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .base import smooth
from .camera import MASTER

U8 = NDArray[np.uint8]

SLIT_PX, SLIT_LIGHT = 12, 0.72
"""The widest slit in cloth that is lit, in master pixels, and how light it is against the cloth."""
SLIT: Final = (0.62, 0.45)
CLOTH: Final = (120.0, 150.0)
"""Light of a slit against its cloth from shade to slit, and of cloth from dark to light."""
DEEPEST: Final = (13.0, 18.0, 29.0)
DEEP_BELOW = 64.0
"""Red, green and blue of dark cloth that no light reaches, and light above which cloth is as it is."""


def unblack(picture: U8) -> U8:
    """`picture` (H, W, 4) of dark cloth without black."""
    color = picture[..., :3].astype(np.float64)
    lack = np.clip(1 - color.mean(2, keepdims=True) / DEEP_BELOW, 0, 1)
    lit = color + np.array(DEEPEST) * lack**2
    return np.concatenate([np.round(lit), picture[..., 3:]], 2).astype(np.uint8)


def unslit(picture: U8) -> U8:
    """`picture` (H, W, 4), a scaled master frame, without narrow dark slits in light cloth."""
    scale = picture.shape[1] / MASTER[0]
    side = max(3, round(SLIT_PX * scale)) | 1
    color = picture[..., :3].astype(np.float32)
    closed = cv2.morphologyEx(color, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8)).astype(np.float32)
    light, around = color.mean(2), closed.mean(2)
    deep = smooth(*SLIT, (light / np.maximum(around, 1)).astype(np.float64))
    share = cv2.GaussianBlur(
        (deep * smooth(*CLOTH, around.astype(np.float64))).astype(np.float32), (0, 0), scale
    )
    lit = color + (closed * SLIT_LIGHT - color) * share[..., None]
    return np.concatenate([np.round(np.clip(np.maximum(lit, color), 0, 255)), picture[..., 3:]], 2).astype(
        np.uint8
    )
