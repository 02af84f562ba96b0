"""Deep shade on skin, which is as red as flesh lets it be, in a calmer tint."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .base import smooth

U8 = NDArray[np.uint8]

DEEP: Final = (105.0, 45.0)
"""Light of skin, of 255, from lit to deep shade."""
RUST: Final = (0.50, 0.68)
"""How much less blue than red, as a share, from skin to rust."""
UMBER: Final = (1.36, 0.92, 0.66)
"""The tint of deep shade on skin."""


def muted(picture: U8) -> U8:
    """`picture` (H, W, 4) whose deep shade on skin is umber rather than rust."""
    color = picture[..., :3].astype(np.float64)
    light = color @ (0.299, 0.587, 0.114)
    red, green, blue = np.moveaxis(color.copy(), 2, 0)
    share = smooth(*DEEP, light) * smooth(*RUST, 1 - blue / np.maximum(red, 1)) * (red > green)
    color += (light[..., None] * UMBER - color) * share[..., None]
    return np.concatenate([np.round(np.clip(color, 0, 255)).astype(np.uint8), picture[..., 3:]], 2)
