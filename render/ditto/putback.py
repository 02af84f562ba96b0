"""The reference way of putting a drawn face into its plate: what faster ones are compared with."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..crop import CROP_SIDE, Matrix, sampled

SIDE: Final = CROP_SIDE
"""Of the crop that the decoder draws, in pixels."""
_RATIO = 0.9


def feather(
    height: int = SIDE,
    width: int = SIDE,
    *,
    height_ratio: float = _RATIO,
    width_ratio: float = _RATIO,
) -> NDArray[np.float32]:
    """Weight (`height`, `width`) float32 of a crop against its plate: 1 in the inner box of `height_ratio`
    and `width_ratio` of the sides, down to 0 at the edges, round at the corners."""
    down = 1 - _ramp(height, height_ratio)[:, None]
    along = 1 - _ramp(width, width_ratio)[None, :]
    return (1 - np.clip(np.sqrt(along**2 + down**2), 0, 1)).astype(np.float32)


def put_back(
    plate: NDArray[np.uint8], face: NDArray[np.float32], mask: NDArray[np.float32], to_plate: Matrix
) -> NDArray[np.uint8]:
    """`plate` (H, W, 3) RGB with `face` (S, S, 3), 0..255, on it where `to_plate` (3, 3) puts its pixels."""
    height, width = plate.shape[:2]
    place = np.linalg.inv(to_plate.astype(np.float64))
    return blend(
        plate, sampled(face, place, height, width), sampled(mask[..., None], place, height, width)[..., 0]
    )


def blend(
    plate: NDArray[np.uint8], face: NDArray[np.float32], mask: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """`face` (H, W, 3), 0..255, over `plate` (H, W, 3) by `mask` (H, W); cut to 0..255 and truncated."""
    weight = np.clip(mask, 0, 1)[..., None]
    return np.clip(weight * face + (1 - weight) * plate, 0, 255).astype(np.uint8)


def _ramp(side: int, ratio: float) -> NDArray[np.float64]:
    """From 0 up to 1, along the inner box, and down to 0, both ends of the ramps included."""
    inner = int(side * ratio)
    before = (side - inner) // 2
    after = side - inner - before
    return np.concatenate([np.linspace(0, 1, before), np.ones(inner), np.linspace(1, 0, after)])
