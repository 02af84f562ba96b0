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
        {"jawOpen": 0.40, "mouthLowerDown": 0.18, "mouthUpperUp": 0.14, "mouthStretch": 0.05}, 1.0, 4.2, 4.2
    ),
    "eh": Shape(
        {"jawOpen": 0.25, "mouthLowerDown": 0.24, "mouthUpperUp": 0.16, "mouthStretch": 0.18}, 0.9, 4.0, 4.0
    ),
    "ih": Shape(
        {
            "jawOpen": 0.10,
            "mouthLowerDown": 0.27,
            "mouthUpperUp": 0.20,
            "mouthStretch": 0.40,
            "mouthSmile": 0.08,
        },
        0.95,
        4.0,
        4.0,
    ),
    "oh": Shape(
        {"jawOpen": 0.27, "mouthPucker": 0.54, "mouthFunnel": 0.36, "mouthShrugLower": 0.20}, 1.25, 6.5, 4.5
    ),
    "ou": Shape(
        {"jawOpen": 0.07, "mouthPucker": 0.66, "mouthFunnel": 0.34, "mouthShrugLower": 0.22}, 1.35, 7.5, 4.5
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
        {"jawOpen": 0.03, "mouthLowerDown": 0.34, "mouthUpperUp": 0.22, "mouthStretch": 0.32}, 1.1, 3.0, 2.8
    ),
    "th": Shape(
        {"jawOpen": 0.16, "mouthLowerDown": 0.24, "mouthUpperUp": 0.15, "tongueOut": 0.71}, 1.15, 3.2, 2.6
    ),
    "dd": Shape(
        {"jawOpen": 0.09, "mouthLowerDown": 0.20, "mouthUpperUp": 0.06, "mouthStretch": 0.08}, 0.7, 2.8, 2.8
    ),
    "ff": Shape(
        {"jawOpen": 0.05, "mouthRollLower": 0.85, "mouthUpperUp": 0.50, "mouthStretch": 0.10}, 2.0, 2.8, 2.2
    ),
    "kk": Shape({"jawOpen": 0.16, "mouthLowerDown": 0.14, "mouthUpperUp": 0.06}, 0.5, 2.8, 2.8),
    "nn": Shape(
        {"jawOpen": 0.12, "mouthLowerDown": 0.17, "mouthUpperUp": 0.05, "mouthStretch": 0.08}, 0.6, 2.8, 2.8
    ),
    "rr": Shape(
        {
            "jawOpen": 0.12,
            "mouthPucker": 0.55,
            "mouthFunnel": 0.14,
            "mouthLowerDown": 0.10,
            "mouthUpperUp": 0.05,
        },
        0.9,
        5.5,
        4.0,
    ),
    "ch": Shape(
        {
            "jawOpen": 0.07,
            "mouthPucker": 0.50,
            "mouthFunnel": 0.32,
            "mouthLowerDown": 0.24,
            "mouthUpperUp": 0.14,
        },
        1.2,
        4.4,
        3.2,
    ),
    "sil": Shape({}, 0.6, 4.2, 2.4),
}

TEMPO: Final = ((1.0, 0.0), (1.35, 0.6), (0.8, 0.0))
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
