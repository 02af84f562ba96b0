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
    """Target of one viseme: `units` by name, `strength` against its neighbours, the rows over which it rises
    before its sound and fades after it, and its `tongue`: tip up, back up and low, 0..1 each."""

    units: dict[str, float]
    strength: float
    rise: float
    fade: float
    tongue: tuple[float, float, float] = (0.0, 0.0, 0.0)


SHAPES: Final[dict[str, Shape]] = {
    "aa": Shape(
        {"jawOpen": 0.485, "mouthLowerDown": 0.14, "mouthUpperUp": 0.12, "mouthPucker": 0.12},
        1.0,
        3.9,
        3.9,
        (0.0, 0.0, 1.0),
    ),
    "eh": Shape(
        {
            "jawOpen": 0.30,
            "mouthLowerDown": 0.18,
            "mouthUpperUp": 0.17,
            "mouthStretch": 0.08,
            "cheekSquint": 0.16,
        },
        0.9,
        3.8,
        3.8,
        (0.0, 0.0, 0.7),
    ),
    "ih": Shape(
        {
            "jawOpen": 0.14,
            "mouthLowerDown": 0.16,
            "mouthUpperUp": 0.26,
            "mouthStretch": 0.28,
            "cheekSquint": 0.26,
        },
        0.95,
        4.0,
        4.0,
        (0.0, 0.3, 0.3),
    ),
    "oh": Shape(
        {
            "jawOpen": 0.35,
            "mouthPucker": 0.84,
            "mouthFunnel": 0.14,
            "mouthRollUpper": 0.14,
            "mouthUpperUp": 0.12,
        },
        1.15,
        5.8,
        4.0,
        (0.0, 0.5, 0.9),
    ),
    "ou": Shape(
        {
            "jawOpen": 0.14,
            "mouthPucker": 0.90,
            "mouthFunnel": 0.12,
            "mouthRollUpper": 0.10,
        },
        1.35,
        7.5,
        4.5,
        (0.0, 0.8, 0.6),
    ),
    "pp": Shape(
        {
            "jawOpen": 0.08,
            "mouthClose": 0.09,
            "mouthPress": 0.08,
            "mouthRollLower": 0.24,
            "mouthRollUpper": 0.08,
        },
        2.2,
        2.4,
        2.0,
    ),
    "ss": Shape(
        {
            "jawOpen": 0.08,
            "mouthLowerDown": 0.20,
            "mouthUpperUp": 0.14,
            "mouthStretch": 0.16,
            "cheekSquint": 0.16,
        },
        1.1,
        3.0,
        2.8,
        (0.3, 0.0, 0.2),
    ),
    "th": Shape(
        {"jawOpen": 0.21, "mouthLowerDown": 0.28, "mouthUpperUp": 0.08, "tongueOut": 0.9},
        1.35,
        3.2,
        3.2,
        (0.7, 0.0, 0.0),
    ),
    "dd": Shape(
        {"jawOpen": 0.11, "mouthLowerDown": 0.15, "mouthUpperUp": 0.06, "tongueOut": 0.12},
        0.95,
        2.8,
        2.8,
        (0.6, 0.0, 0.0),
    ),
    "ff": Shape(
        {
            "jawOpen": 0.10,
            "mouthRollLower": 1.0,
            "mouthUpperUp": 0.40,
            "mouthShrugUpper": 0.10,
            "mouthPucker": 0.28,
            "mouthFunnel": 0.10,
        },
        2.0,
        2.8,
        2.2,
    ),
    "kk": Shape(
        {"jawOpen": 0.15, "mouthLowerDown": 0.10, "mouthUpperUp": 0.05}, 0.58, 2.8, 2.8, (0.0, 1.0, 0.4)
    ),
    "nn": Shape(
        {"jawOpen": 0.11, "mouthLowerDown": 0.13, "mouthUpperUp": 0.04, "tongueOut": 0.12},
        0.85,
        2.8,
        2.8,
        (0.6, 0.0, 0.0),
    ),
    "rr": Shape(
        {
            "jawOpen": 0.14,
            "mouthPucker": 0.66,
            "mouthFunnel": 0.12,
            "mouthRollUpper": 0.08,
            "mouthUpperUp": 0.04,
        },
        0.9,
        5.5,
        4.0,
        (0.5, 0.4, 0.3),
    ),
    "ch": Shape(
        {
            "jawOpen": 0.11,
            "mouthPucker": 0.78,
            "mouthFunnel": 0.22,
            "mouthRollUpper": 0.12,
            "mouthUpperUp": 0.12,
            "mouthLowerDown": 0.06,
        },
        1.2,
        4.4,
        3.2,
        (0.5, 0.0, 0.2),
    ),
    "sil": Shape({}, 0.6, 4.2, 2.4),
}
"""Rounded lips push forward and funnel but a little: a funnel of 0.4, beside a pucker even less, turns the
upper lip inside out, into a beak. It is rolled in against that."""

TEMPO: Final = ((1.0, 0.0), (1.12, 0.4), (0.8, 0.0))
"""(width against the lips', lag in rows) of lips, jaw and tongue: the jaw is heavier."""


def _organ(unit: str) -> int:
    return 1 if unit.startswith("jaw") else 2 if unit.startswith("tongue") else 0


_ORGANS: Final = np.array([_organ(unit) for unit in UNITS])

TARGETS: Final[F32] = np.stack(
    [np.stack([unit_vector(SHAPES[name].units) for name in VISEMES]) * (k == _ORGANS) for k in range(3)]
).astype(np.float32)
"""(3, 15, 52) float32: what lips, jaw and tongue do for each viseme."""

TONGUE_TARGETS: Final[F32] = np.array([SHAPES[name].tongue for name in VISEMES], np.float32)
"""(15, 3) float32: tip up, back up and low, of the tongue of each viseme."""

OPENING: Final = np.array(
    [unit.startswith(("jawOpen", "mouthLowerDown", "mouthUpperUp")) for unit in UNITS], np.bool_
)
"""(52,) units that part the lips."""
