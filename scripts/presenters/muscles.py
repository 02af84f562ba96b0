"""What face units do besides what their data says: lips that purse, cheeks that rise and hollow with them."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from .base import F64, Ints, Target, smooth

PURSED, PURSED_FROM, PURSED_TO = 0.19, 1.0, 2.6
"""By which share of its way to the middle a pucker narrows what is around the mouth, and between which
distances that fades, in half widths of the mouth."""
PURSED_TALL: Final = (0.40, 0.80)
"""Of these, what counts as far above and below: a nose is not narrowed."""
FORWARD, FORWARD_WIDE, FORWARD_HIGH = 0.022, 0.19, 0.13
"""How far it pushes the middle of the lips forward, over which width and height, in dm."""
FULLER, FULLER_HIGH = 0.16, 0.10
"""By which share of their height it swells the lips."""
LEVEL, LEVEL_AT, LEVEL_WIDE = 0.034, 0.95, (0.10, 0.09)
"""How far it lowers the corners, which are high in a friendly face, where in half widths, and around them."""
HOLLOW, HOLLOW_AT, HOLLOW_WIDE = 0.020, (0.47, 0.06), (0.16, 0.20)
"""How far cheeks beside pursed lips sink in, in dm, and where."""
APPLE: Final = (0.45, 0.34)
"""Where cheeks bulge in a smile: beside and above the mouth, in dm."""
APPLE_WIDE: Final = (0.20, 0.20)
BULGES: Final[Mapping[str, tuple[float, float, float]]] = {
    "mouthSmile": (0.012, 0.034, 0.030),
    "mouthStretch": (0.014, 0.018, 0.012),
    "mouthUpperUp": (0.004, 0.026, 0.014),
    "cheekSquint": (0.0, 0.0, 0.012),
}
"""How far a whole unit moves the cheek outwards, up and forward, in dm."""
NEAR_FROM, NEAR_TO = -0.75, -0.45
"""What lies further behind the lips than the first of these, in dm, does not move; from the second on all
does."""


def moved(
    units: Mapping[str, Target], points: F64, members: Ints, mouth: F64, half: float
) -> dict[str, Target]:
    """The face `units` of a head whose vertices `members` are at `points` (V, 3), with what is added to them
    around a `mouth` (3,) that is twice `half` wide."""
    off = points[members] - mouth
    near = smooth(NEAR_FROM, NEAR_TO, off[:, 2])[:, None]
    further: dict[str, F64] = {"mouthPucker": pursed(off, half) * near}
    for name, way in BULGES.items():
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            further[f"{name}{side}"] = bulged(off, way, sign) * near
    count = len(points)
    return {
        name: _with(unit, further[name], members, count) if name in further else unit
        for name, unit in units.items()
    }


def pursed(off: F64, half: float) -> F64:
    """How a pucker moves points (N, 3) that lie `off` the middle of a mouth further."""
    side, height = off[:, 0], off[:, 1]
    tall = np.where(height > 0, PURSED_TALL[0], PURSED_TALL[1])
    away = np.hypot(side / half, height / (tall * half))
    narrow = -PURSED * side * smooth(PURSED_TO, PURSED_FROM, away)
    lips = _hill(side, height, (FORWARD_WIDE, FORWARD_HIGH))
    taller = FULLER * height * _hill(side, height, (FORWARD_WIDE, FULLER_HIGH))
    sunk = HOLLOW * _hill(np.abs(side) - HOLLOW_AT[0], height - HOLLOW_AT[1], HOLLOW_WIDE)
    taller -= LEVEL * _hill(np.abs(side) - LEVEL_AT * half, height - 0.03, LEVEL_WIDE)
    return np.stack([narrow, taller, FORWARD * lips - sunk], 1)


def bulged(off: F64, way: tuple[float, float, float], sign: float) -> F64:
    """How the cheek on the side of `sign` moves: points (N, 3) `off` the middle of a mouth."""
    out, up, forward = way
    share = _hill(off[:, 0] * sign - APPLE[0], off[:, 1] - APPLE[1], APPLE_WIDE) * (off[:, 0] * sign > 0)
    return share[:, None] * np.array([out * sign, up, forward])


def _hill(across: F64, up: F64, wide: tuple[float, float]) -> F64:
    return np.exp(-np.square(across / wide[0]) - np.square(up / wide[1]))


def _with(unit: Target, further: F64, members: Ints, count: int) -> Target:
    full = unit.spread(count)
    full[members] += further
    index = np.flatnonzero(np.abs(full).max(1) > 1e-4)
    return Target(index, full[index])
