"""Deep shade on skin, which is as red as flesh lets it be, in a calmer tint."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .base import smooth

U8 = NDArray[np.uint8]

DEEP: Final = (150.0, 70.0)
"""Light of skin, of 255, from lit to deep shade."""
RUST: Final = (0.46, 0.62)
"""How much less blue than red, as a share, from skin to rust."""
ORANGE: Final = (0.06, 0.14)
"""How much less blue than green, as a share of red, from lips to rust."""
UMBER: Final = (1.40, 0.90, 0.64)
MOST = 0.8
"""The tint of deep shade on skin, and how far rust takes it on at most."""


def muted(picture: U8) -> U8:
    """`picture` (H, W, 4) whose deep shade on skin is umber rather than rust."""
    color = picture[..., :3].astype(np.float64)
    light = color @ (0.299, 0.587, 0.114)
    red, green, blue = np.moveaxis(color.copy(), 2, 0)
    red = np.maximum(red, 1)
    share = (
        MOST * smooth(*DEEP, light) * smooth(*RUST, 1 - blue / red) * smooth(*ORANGE, (green - blue) / red)
    )
    color += (light[..., None] * UMBER - color) * share[..., None]
    return np.concatenate([np.round(np.clip(color, 0, 255)).astype(np.uint8), picture[..., 3:]], 2)
