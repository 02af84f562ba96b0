"""How brows go beyond their face units: tails that rise with the rest, inner ends up for grief, together for
care."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .tensors import SKIN
from .units import UNITS

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

BROW_WAYS: Final = ("left tail", "right tail", "inner", "knit")
"""The ends beside the temples up, the model's left one first; those beside the nose up; and together."""
_TAIL_UP, _TAIL_AT, _TAIL_WIDE, _TAIL_BEYOND = 0.05, (0.255, 0.13), (0.055, 0.11), 0.5
_INNER_UP, _INNER_AT, _INNER_WIDE = 0.056, (-0.14, 0.19), (0.085, 0.09)
_KNIT, _KNIT_WIDE = 0.040, (0.10, 0.10)
"""By how much, where beside and above the middle of an eye, and over which width and height, in model units
(1 dm); beyond a tail its width counts for as much more as the last number says."""
_BEFORE: Final = -0.35
"""Skin this far before the middle of an eye belongs to the face, in model units."""
_INNER, _OUTER, _DOWN = (
    [place for place, unit in enumerate(UNITS) if unit.startswith(kind)]
    for kind in ("browInnerUp", "browOuterUp", "browDown")
)


def brow_shapes(vertices: F32, part: U8, eyes: F32) -> tuple[NDArray[np.intp], F32]:
    """The vertices (N,) of the forehead over the `eyes` (2, 3), and how far each of `BROW_WAYS` moves them at
    most, (4, N, 3)."""
    off = vertices - eyes.mean(0)
    apart = float(np.abs(eyes[:, 0] - eyes[:, 0].mean()).mean())
    own = np.flatnonzero(
        (part == SKIN)
        & (off[:, 1] > 0)
        & (off[:, 1] < 0.5)
        & (np.abs(off[:, 0]) < 0.9)
        & (off[:, 2] > _BEFORE)
    )
    side, height, left = np.abs(off[own, 0]) - apart, off[own, 1], off[own, 0] > 0
    beyond = np.maximum(side - _TAIL_AT[0], 0) * _TAIL_BEYOND
    tail = _TAIL_UP * _hill(side - beyond, height, _TAIL_AT, _TAIL_WIDE)
    shapes = np.zeros((len(BROW_WAYS), len(own), 3), np.float32)
    shapes[0, :, 1], shapes[1, :, 1] = tail * left, tail * ~left
    shapes[2, :, 1] = _INNER_UP * _hill(side, height, _INNER_AT, _INNER_WIDE)
    inwards = np.where(left, -_KNIT, _KNIT) * np.clip(np.abs(off[own, 0]) / 0.06, 0, 1)
    shapes[3, :, 0] = inwards * _hill(side, height, _INNER_AT, _KNIT_WIDE)
    return own, shapes


def brow_ways(units: F32) -> F32:
    """How far brows go each of `BROW_WAYS`, (4,) in 0..1, with face `units` (52,)."""
    left, right = (float(units[place]) for place in _OUTER)
    inner = float(units[_INNER].sum()) - (left + right) / 2
    return np.clip([left, right, inner, units[_DOWN].mean()], 0, 1).astype(np.float32)


def _hill(side: F32, height: F32, at: tuple[float, float], wide: tuple[float, float]) -> F32:
    """1 where `side` and `height` are `at`, less beside it; none at the lids, which are below."""
    across, up = (side - at[0]) / wide[0], (height - at[1]) / wide[1]
    clear = np.clip((height - 0.06) / 0.06, 0, 1)
    return (np.exp(-np.square(across) - np.square(up)) * clear).astype(np.float32)
