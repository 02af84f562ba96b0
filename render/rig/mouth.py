"""What lies in a mouth, made to fit it: rows of teeth as narrow as a person's, a tongue that moves by itself,
and lips that open round."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .tensors import LOWER_TEETH, SKIN, TONGUE, UPPER_TEETH
from .units import UNITS

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

TONGUE_WAYS: Final = ("tip", "back", "low")
"""How a tongue moves: its tip up behind the teeth, its back up to the palate, flat on the floor of the
mouth."""
LIP_WAYS: Final = ("even", "round", "arch", "smile", "bite")
"""How lips part beside their middle: the upper one without a beak, the lower one without a notch; how the
upper one lifts in the middle over a low jaw; how the line of smiling lips is a bow and no wedge; how a bitten
lip rises to teeth that are short."""
_NARROW: Final = 0.86
"""Width of a row of teeth, of the one that the lips would cover from corner to corner."""
_EVEN, _EVEN_DM = 0.55, 0.03
"""How much nearer the edges of the upper teeth come to one line, and over which height that fades."""
_SUNK, _SUNK_FROM, _SUNK_TO = 0.09, 0.05, 0.13
"""How much lower the lower teeth are far behind the front ones, where cheek and tongue hide them in a mouth,
from how far behind on and where wholly, in model units."""
_TIP_UP, _TIP_FROM = 0.085, 0.55
"""How far the tip rises in model units (1 dm), and from where on, of the tongue's length."""
_BACK_UP, _BACK_AT, _BACK_WIDE = 0.05, 0.45, 0.3
_BACK_DRAWN = 0.09
"""How far a tongue is drawn back as its back rises."""
_FLAT, _LOW_DRAWN = (0.55, 0.12), 0.03
"""Of its height, what a low tongue loses at its root and at its tip, and how far it lies back then."""
_LIPS_DM: Final = np.array([0.42, 0.45], np.float32)
"""How far from the mouth its opening moves the skin, across and up or down."""
_STAYS, _DROPS = 0.05, 0.2
"""How far an open jaw lowers what belongs to the upper lip at most, and to the lower one at least."""
_EVEN_LIP, _EVEN_AT, _EVEN_WIDE, _EVEN_HIGH = -0.005, 0.07, 0.035, 0.05
_ROUND_LIP, _ROUND_AT, _ROUND_WIDE, _ROUND_HIGH = -0.036, 0.155, 0.07, 0.17
_ARCH_LIP, _ARCH_WIDE, _ARCH_HIGH = 0.044, 0.17, 0.16
_BOW_LIP, _BOW_AT, _BOW_WIDE, _BOW_HIGH = -0.017, 0.14, 0.065, 0.11
_BOW_MIDDLE, _BOW_MIDDLE_WIDE = 0.006, 0.06
"""By how much, where beside the middle, over which width and over which height, in model units."""
_LAPS: Final = 0.075
"""How far a lower lip at rest reaches above the edge of upper teeth that it bites without more."""
_BITE_MIDDLE, _BITE_SIDE, _BITE_IN, _BITE_UPPER = 0.28, 0.8, -0.7, 0.42
_BITE_AT, _BITE_WIDE, _BITE_HIGH = 0.2, 0.08, 0.12
"""Of what it lacks: how far a bitten lip rises in the middle and beside it, moves in, and the upper one
rises."""
_BITTEN: Final = (0.3, 0.9)
"""Roll of the lower lip from which on it is a bite, and at which it is a whole one."""
_CORNER_AT: Final = 0.3
"""So far beside the middle nothing of a bite is left."""
_LIP_DM: Final = 0.1
"""How far from the mouth's middle the edges of lips are, up or down and back."""
_FRONT_DM: Final = 0.06
"""How far beside the middle front teeth reach."""
_HANGS, _HANGS_AT = 0.18, 0.165
"""A lip that a wholly open jaw lowers this far is so far beside the middle in a mouth of usual width."""
_CORNER_UP, _CORNER_HIGH = 0.03, 0.05
"""How high above the mouth's middle its corners are, and the line of the lips at most above and below."""
_PARTED: Final = np.array([0.12, 0.42, 0.6])
"""Opening of a jaw at which each of the first three `LIP_WAYS` is whole."""
_SMILED: Final = 0.5
"""Smile at which the fourth one is whole."""
_JAW, _CLOSE = UNITS.index("jawOpen"), UNITS.index("mouthClose")
_ROLL: Final = UNITS.index("mouthRollLower")
_SMILE = [UNITS.index("mouthSmileLeft"), UNITS.index("mouthSmileRight")]


def fitted(vertices: F32, part: U8, mouth: F32) -> F32:
    """`vertices` (V, 3) of a mesh with narrower teeth around the `mouth` (3,), the upper ones evener, the
    lower ones lower behind; `part` (V,) is of which part each is."""
    moved = vertices.copy()
    teeth = np.isin(part, (UPPER_TEETH, LOWER_TEETH))
    moved[teeth, 0] = mouth[0] + (moved[teeth, 0] - mouth[0]) * np.float32(_NARROW)
    upper = np.flatnonzero(part == UPPER_TEETH)
    if len(upper):
        above = moved[upper, 1] - moved[upper, 1].min()
        moved[upper, 1] -= _EVEN * above * np.exp(-above / _EVEN_DM)
    lower = np.flatnonzero(part == LOWER_TEETH)
    if len(lower):
        behind = moved[lower, 2].max() - moved[lower, 2]
        moved[lower, 1] -= _SUNK * np.clip((behind - _SUNK_FROM) / (_SUNK_TO - _SUNK_FROM), 0, 1)
    return moved


def tongue_shapes(vertices: F32, part: U8) -> tuple[NDArray[np.intp], F32]:
    """The vertices (N,) of the tongue, and how far each of `TONGUE_WAYS` moves them at most, (3, N, 3)."""
    own = np.flatnonzero(part == TONGUE)
    shapes = np.zeros((len(TONGUE_WAYS), len(own), 3), np.float32)
    if not len(own):
        return own, shapes
    points = vertices[own]
    least, most = points.min(0), points.max(0)
    along = (points[:, 2] - least[2]) / (most[2] - least[2])
    height = points[:, 1] - least[1]
    tip = np.clip((along - _TIP_FROM) / (1 - _TIP_FROM), 0, 1) ** 1.5
    back = np.exp(-(((along - _BACK_AT) / _BACK_WIDE) ** 2))
    shapes[0, :, 1] = _TIP_UP * tip
    shapes[1, :, 1] = _BACK_UP * back
    shapes[1, :, 2] = -_BACK_DRAWN * along
    shapes[2, :, 1] = -(_FLAT[0] + (_FLAT[1] - _FLAT[0]) * along**2) * height
    shapes[2, :, 2] = -_LOW_DRAWN * along
    return own, shapes


def lip_shapes(vertices: F32, part: U8, mouth: F32, drop: F32) -> tuple[NDArray[np.intp], F32]:
    """The vertices (N,) of the lips around `mouth` (3,), and how far each of `LIP_WAYS` moves them at most,
    (5, N, 3); `drop` (V,) is how far a wholly open jaw lowers each vertex."""
    off = vertices - mouth
    own = np.flatnonzero((part == SKIN) & (np.abs(off[:, :2]) < _LIPS_DM).all(1) & (off[:, 2] > -_LIPS_DM[0]))
    side, height = np.abs(off[own, 0]), off[own, 1]
    hangs = own[(np.abs(height - _CORNER_UP) < _CORNER_HIGH) & (drop[own] > _HANGS)]
    wide = float(np.abs(off[hangs, 0]).max()) if len(hangs) else _HANGS_AT
    side = side * np.float32(_HANGS_AT / wide)
    lower = np.clip((drop[own] - _STAYS) / (_DROPS - _STAYS), 0, 1)
    shapes = np.zeros((len(LIP_WAYS), len(own), 3), np.float32)
    shapes[0, :, 1] = _EVEN_LIP * (1 - lower) * _bump(side - _EVEN_AT, _EVEN_WIDE) * _bump(height, _EVEN_HIGH)
    shapes[1, :, 1] = _ROUND_LIP * lower * _bump(side - _ROUND_AT, _ROUND_WIDE) * _bump(height, _ROUND_HIGH)
    shapes[2, :, 1] = _ARCH_LIP * (1 - lower) * _bump(side, _ARCH_WIDE) * _bump(height, _ARCH_HIGH)
    bow = _BOW_LIP * _bump(side - _BOW_AT, _BOW_WIDE) + _BOW_MIDDLE * _bump(side, _BOW_MIDDLE_WIDE)
    shapes[3, :, 1] = bow * _bump(height, _BOW_HIGH)
    lacks = _lacks(vertices, part, mouth, drop)
    rise = _BITE_MIDDLE + (_BITE_SIDE - _BITE_MIDDLE) * _bump(side - _BITE_AT, _BITE_WIDE)
    rise *= lower * np.clip((_CORNER_AT - side) / _BITE_WIDE, 0, 1)
    shapes[4, :, 1] = lacks * (rise + _BITE_UPPER * (1 - lower) * _bump(side, _BITE_AT))
    shapes[4, :, 2] = lacks * _BITE_IN * lower
    shapes[4] *= _bump(height, _BITE_HIGH)[:, None]
    return own, shapes


def _lacks(vertices: F32, part: U8, mouth: F32, drop: F32) -> float:
    """How much less than `_LAPS` a lower lip at rest is above the edge of the upper teeth."""
    off = vertices - mouth
    middle = np.abs(off[:, 0]) < _FRONT_DM
    teeth = off[middle & (part == UPPER_TEETH), 1]
    near = middle & (np.abs(off[:, 1]) < _LIP_DM) & (off[:, 2] > -_LIP_DM)
    lip = off[near & (part == SKIN) & (drop > _DROPS), 1]
    if not len(teeth) or not len(lip):
        return 0.0
    return max(0.0, _LAPS - float(lip.max() - teeth.min()))


def _bump(away: F32, width: float) -> F32:
    return np.exp(-np.square(away / np.float32(width))).astype(np.float32)


def lip_ways(units: F32) -> F32:
    """How far lips go each of `LIP_WAYS`, (5,) in 0..1, with face `units` (52,): none of those that part them
    while they are shut."""
    parted = max(0.0, float(units[_JAW] - units[_CLOSE]))
    smile = float(units[_SMILE].mean()) / _SMILED
    bitten = max(0.0, (float(units[_ROLL]) - _BITTEN[0]) / (_BITTEN[1] - _BITTEN[0]))
    return np.minimum([*(parted / _PARTED), smile, bitten], 1).astype(np.float32)
