"""Folds from the wings of the nose past the corners of the mouth: shade that a smile or a wide vowel lays on
the skin, and none at rest."""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .mesh import Mesh
from .textures import Texture, packed_texture
from .units import unit_vector

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]

SIDES: Final = (1.0, -1.0)
"""The model's left, where x grows, and its right."""
_HEIGHTS: Final = (-0.30, -0.14, -0.04, 0.06, 0.16, 0.25, 0.33)
_BESIDE: Final = (0.37, 0.372, 0.362, 0.338, 0.296, 0.242, 0.182)
"""How far beside the middle of the mouth a fold runs at each height over it, in model units (1 dm)."""
_TOP, _END = 0.31, -0.13
"""Heights at which it begins and ends."""
_DEEP: Final = 0.45
"""How far behind the mouth's front it runs at most, in model units."""
_ACROSS: Final = (-0.34, 0.50)
_ALONG: Final = (-0.5, 1.5)
"""What the texture shows: model units towards the cheek, and shares of a fold's length downwards."""
_REACH: Final = (-0.11, 0.20)
"""How far a fold reaches across."""
_SIZE: Final = (112, 64)
"""Texels across and along."""
_LEVELS: Final = 40
"""Steps from no fold to a whole one."""
_DARK: Final = np.array([112, 42, 28], np.float32)
_LIGHT: Final = np.array([255, 228, 206], np.float32)
_CREASE, _CREASE_WIDE = 0.26, 0.012
_SHADE, _SHADE_AT, _SHADE_WIDE = 0.20, -0.020, 0.036
_GLOW, _GLOW_AT, _GLOW_WIDE = 0.11, 0.11, 0.060
"""How strong the crease, the shade towards the lips and the light on the cheek are, where and how wide."""

_PULL: Final = [
    unit_vector(
        {
            f"mouthSmile{side}": 1.5,
            f"mouthStretch{side}": 1.1,
            f"mouthUpperUp{side}": 0.9,
            f"mouthDimple{side}": 0.4,
            f"cheekSquint{side}": 0.3,
            f"noseSneer{side}": 0.8,
            "jawOpen": 0.25,
            "mouthPucker": -0.6,
            "mouthFunnel": -0.3,
        }
    )
    for side in ("Left", "Right")
]
"""How far each unit draws the fold of a side."""
_LEAST, _RANGE = 0.04, 1.1
"""Pull at which a fold begins to show, and by how much more it is whole."""


@dataclass(frozen=True, slots=True)
class Fold:
    """One side's fold: `triangles` (T, 3) of the skin it lies on, `uv` (V, 2) in texels of `levels`."""

    triangles: I32
    uv: F32


def load_folds(mesh: Mesh) -> tuple[Fold, Fold]:
    """The folds of a face, left and right of the model."""
    left, right = (_fold(mesh, side) for side in SIDES)
    return left, right


def pulled(units: F32) -> tuple[float, float]:
    """How far face `units` (52,) draw the folds, left and right, 0..1."""
    left, right = (min(max((float(pull @ units) - _LEAST) / _RANGE, 0.0), 1.0) for pull in _PULL)
    return left, right


def shade(pull: float) -> Texture | None:
    """What a fold looks like that is drawn so far; None for one that nobody sees."""
    level = round(pull * _LEVELS)
    return levels()[level - 1] if level > 0 else None


@cache
def levels() -> tuple[Texture, ...]:
    """The shade (H, W) of folds from a faint one to a whole one."""
    across = np.linspace(*_ACROSS, _SIZE[0], dtype=np.float32)
    along = np.linspace(*_ALONG, _SIZE[1], dtype=np.float32)
    profile = [
        amount * np.exp(-np.square((across - at) / wide))
        for amount, at, wide in (
            (_CREASE, 0.0, _CREASE_WIDE),
            (_SHADE, _SHADE_AT, _SHADE_WIDE),
            (_GLOW, _GLOW_AT, _GLOW_WIDE),
        )
    ]
    fade = np.clip(np.minimum((along + 0.04) / 0.22, (0.95 - along) / 0.85), 0, 1)
    fade = fade * fade * (3 - 2 * fade)
    dark, light = profile[0] + profile[1], profile[2]
    alpha = np.outer(fade, dark + light).astype(np.float32)
    sum_of = np.maximum(dark + light, 1e-6)[:, None]
    color = ((dark[:, None] * _DARK + light[:, None] * _LIGHT) / sum_of).astype(np.float32)
    steps = np.arange(1, _LEVELS + 1, dtype=np.float32) / _LEVELS
    return tuple(_packed(alpha * step, color) for step in steps)


def _packed(alpha: F32, color: F32) -> Texture:
    """A texture of `alpha` (H, W) in 0..1 with one `color` (W, 3) a column."""
    rgba = np.concatenate([alpha[..., None] * color, 255 * alpha[..., None]], 2)
    return packed_texture(np.rint(rgba).astype(np.uint8))


def _fold(mesh: Mesh, side: float) -> Fold:
    off = mesh.rest - mesh.mouth
    beside, height = off[:, 0] * np.float32(side), off[:, 1]
    across = beside - np.interp(height, _HEIGHTS, _BESIDE)
    along = (_TOP - height) / (_TOP - _END)
    wide, high = (size - 1 for size in _SIZE)
    uv = np.stack(
        [
            (across - _ACROSS[0]) / (_ACROSS[1] - _ACROSS[0]) * wide,
            (along - _ALONG[0]) / (_ALONG[1] - _ALONG[0]) * high,
        ],
        1,
    ).astype(np.float32)
    near = (
        (across > _REACH[0])
        & (across < _REACH[1])
        & (along > -0.06)
        & (along < 0.98)
        & (off[:, 2] > -_DEEP)
        & (beside > 0)
    )
    inside = ((uv >= 0) & (uv <= np.array([wide, high], np.float32))).all(1) & (beside > 0)
    corner = mesh.skin
    return Fold(np.ascontiguousarray(corner[near[corner].any(1) & inside[corner].all(1)]), uv)
