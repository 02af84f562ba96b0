"""How alike two pictures look: by colour in CIE Lab, and by local contrast."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
U8 = NDArray[np.uint8]

_BLOCK = 16
_SIGMA = 1.5
_FLOOR = 3.0
"""Contrast in units of L under which a difference is not seen."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """`color` is the mean difference in Lab, `worst` that of the most different 16 x 16 pixels; `contrast`
    is the mean structural similarity of lightness, 1 for the same picture, and `least` that of the worst
    block."""

    color: float
    worst: float
    contrast: float
    least: float


def likeness(one: U8, other: U8) -> Likeness:
    """Compare two pictures (H, W, 3) RGB of one size, whole blocks."""
    first, second = _lab(one), _lab(other)
    apart = _blocks(np.linalg.norm(first - second, axis=-1))
    same = _blocks(_similar(first[..., 0], second[..., 0]))
    return Likeness(float(apart.mean()), float(apart.max()), float(same.mean()), float(same.min()))


def _lab(picture: U8) -> F64:
    return cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_RGB2LAB).astype(np.float64)


def _blocks(values: F64) -> F64:
    """Means (H / 16, W / 16) of blocks of (H, W)."""
    height, width = values.shape
    return values.reshape(height // _BLOCK, _BLOCK, width // _BLOCK, _BLOCK).mean((1, 3))


def _similar(one: F64, other: F64) -> F64:
    """Structural similarity (H, W) in windows about 9 pixels wide, after Wang and others (2004), brightness
    left to the comparison of colours."""
    mean_one, mean_other = _blurred(one), _blurred(other)
    spread_one = _blurred(one * one) - mean_one**2
    spread_other = _blurred(other * other) - mean_other**2
    common = _blurred(one * other) - mean_one * mean_other
    return (2 * common + _FLOOR**2) / (spread_one + spread_other + _FLOOR**2)


def _blurred(values: F64) -> F64:
    return cv2.GaussianBlur(values, (0, 0), _SIGMA).astype(np.float64)
