"""The 15 mouth shapes: which face units make them, how strong and how fast each is among its neighbours."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.visemes import VISEMES
from .units import UNITS, unit_vector

F32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Shape:
    """Target of one viseme: `units` by name, `strength` against its neighbours, and the rows over which it
    rises before its sound and fades after it."""

    units: dict[str, float]
    strength: float
    rise: float
    fade: float


SHAPES: Final[dict[str, Shape]] = {
    "aa": Shape(
        {"jawOpen": 0.57, "mouthLowerDown": 0.20, "mouthUpperUp": 0.20, "mouthFrown": 0.10}, 1.0, 4.2, 4.2
    ),
    "eh": Shape(
        {"jawOpen": 0.32, "mouthLowerDown": 0.30, "mouthUpperUp": 0.22, "mouthStretch": 0.28}, 0.9, 4.0, 4.0
    ),
    "ih": Shape(
        {
            "jawOpen": 0.10,
            "mouthLowerDown": 0.26,
            "mouthUpperUp": 0.26,
            "mouthStretch": 0.70,
            "mouthSmile": 0.12,
        },
        0.95,
        4.0,
        4.0,
    ),
    "oh": Shape(
        {
            "jawOpen": 0.31,
            "mouthPucker": 0.62,
            "mouthFunnel": 0.48,
            "mouthFrown": 0.50,
            "mouthShrugLower": 0.28,
        },
        1.25,
        6.5,
        4.5,
    ),
    "ou": Shape(
        {
            "jawOpen": 0.08,
            "mouthPucker": 0.90,
            "mouthFunnel": 0.52,
            "mouthFrown": 0.30,
            "mouthShrugLower": 0.26,
            "mouthShrugUpper": 0.20,
        },
        1.35,
        7.5,
        4.5,
    ),
    "pp": Shape(
        {
            "jawOpen": 0.08,
            "mouthClose": 0.09,
            "mouthPress": 0.06,
            "mouthRollLower": 0.14,
            "mouthRollUpper": 0.08,
        },
        2.2,
        2.4,
        2.0,
    ),
    "ss": Shape(
        {"jawOpen": 0.01, "mouthLowerDown": 0.34, "mouthUpperUp": 0.36, "mouthStretch": 0.42}, 1.1, 3.0, 2.8
    ),
    "th": Shape(
        {"jawOpen": 0.14, "mouthLowerDown": 0.32, "mouthUpperUp": 0.20, "tongueOut": 0.74}, 1.15, 3.2, 2.6
    ),
    "dd": Shape(
        {"jawOpen": 0.06, "mouthLowerDown": 0.22, "mouthUpperUp": 0.12, "mouthStretch": 0.06}, 0.7, 2.8, 2.8
    ),
    "ff": Shape(
        {"jawOpen": 0.08, "mouthRollLower": 1.0, "mouthUpperUp": 0.70, "mouthShrugUpper": 0.30}, 2.0, 2.8, 2.2
    ),
    "kk": Shape({"jawOpen": 0.15, "mouthLowerDown": 0.12, "mouthUpperUp": 0.06}, 0.5, 2.8, 2.8),
    "nn": Shape(
        {"jawOpen": 0.05, "mouthLowerDown": 0.15, "mouthUpperUp": 0.04, "mouthStretch": 0.04}, 0.6, 2.8, 2.8
    ),
    "rr": Shape(
        {
            "jawOpen": 0.15,
            "mouthPucker": 0.60,
            "mouthFunnel": 0.28,
            "mouthFrown": 0.25,
            "mouthLowerDown": 0.10,
            "mouthUpperUp": 0.05,
        },
        0.9,
        5.5,
        4.0,
    ),
    "ch": Shape(
        {
            "jawOpen": 0.03,
            "mouthPucker": 0.36,
            "mouthFunnel": 0.60,
            "mouthFrown": 0.35,
            "mouthLowerDown": 0.20,
            "mouthUpperUp": 0.24,
        },
        1.2,
        4.4,
        3.2,
    ),
    "sil": Shape({}, 0.6, 4.2, 2.4),
}
"""Rounded lips pull their corners down a little: only so the opening is round and not a wedge."""

TEMPO: Final = ((1.0, 0.0), (1.12, 0.4), (0.8, 0.0))
"""(width against the lips', lag in rows) of lips, jaw and tongue: the jaw is heavier."""


def _organ(unit: str) -> int:
    return 1 if unit.startswith("jaw") else 2 if unit.startswith("tongue") else 0


_ORGANS: Final = np.array([_organ(unit) for unit in UNITS])

TARGETS: Final[F32] = np.stack(
    [np.stack([unit_vector(SHAPES[name].units) for name in VISEMES]) * (k == _ORGANS) for k in range(3)]
).astype(np.float32)
"""(3, 15, 52) float32: what lips, jaw and tongue do for each viseme."""

OPENING: Final = np.array(
    [unit.startswith(("jawOpen", "mouthLowerDown", "mouthUpperUp")) for unit in UNITS], np.bool_
)
"""(52,) units that part the lips."""
