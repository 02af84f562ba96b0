"""The cuts: every measure of a presenter's clothes, in dm, heights relative to the chin."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

Plan = tuple[tuple[float, float], ...]
"""Points (x, y) of the viewer's right half, seen from the front."""
Keys = tuple[tuple[float, float, float], ...]
"""Points (x, y, z) of the viewer's right half."""


@dataclass(frozen=True, slots=True)
class JacketCut:
    """A notch-lapel jacket.

    `silhouette` is half the outline without sleeves from the neck over the shoulder down; `middle` the depth
    of the shoulder seam, `ease` the room to the body, `hang` how fast the front falls in below the chest.
    `roll` is the fold of the lapel from the button up to the gorge, `neck` the collar's fold from there round
    to the middle of the back. `lapel` is the lapel's edge from the button to its tip, `notch` the
    corner of the notch, `collar` the collar's edge from its tip to the middle of the back, on the jacket.
    `armhole` is the sleeve seam's front half from shoulder to underarm, `arm` the sleeve's axis (x, y, z),
    `girth` its half width across and in depth at each point of the axis.
    `over` is the side whose front lies on top: 1 the viewer's right. `seed` is for its folds, `folded` how
    deep they are by the usual ones.
    `pocket` are the ends of the breast pocket's welt on `pocket_side` (0: none); `stand_off` is how far the
    collar stands off the neck.
    """

    silhouette: Plan
    middle: float
    ease: float
    hang: float
    roll: Plan
    neck: Keys
    lapel: Plan
    notch: tuple[float, float]
    collar: Keys
    armhole: Plan
    arm: Keys
    girth: Plan
    buttons: tuple[float, ...]
    over: int
    pocket: tuple[tuple[float, float], tuple[float, float]]
    pocket_side: int
    stand_off: float
    seed: int
    folded: float = 1.0


RUBY: Final = JacketCut(
    silhouette=(
        (0.56, -0.19),
        (0.72, -0.235),
        (0.953, -0.314),
        (1.358, -0.39),
        (1.715, -0.485),
        (1.869, -0.58),
        (1.93, -0.711),
        (1.94, -0.975),
        (1.802, -1.4),
        (1.606, -1.9),
        (1.402, -2.6),
        (1.402, -3.3),
        (1.778, -5.2),
    ),
    middle=0.12,
    ease=0.13,
    hang=0.16,
    roll=((-0.17, -2.95), (0.06, -2.62), (0.30, -2.05), (0.50, -1.45), (0.63, -0.90), (0.68, -0.62)),
    neck=(
        (0.73, -0.40, 0.46),
        (0.74, -0.20, 0.14),
        (0.62, -0.06, -0.18),
        (0.34, 0.02, -0.42),
        (0.0, 0.05, -0.48),
    ),
    lapel=((-0.17, -2.95), (0.16, -2.66), (0.56, -2.12), (0.90, -1.55), (1.06, -1.18), (1.10, -1.04)),
    notch=(0.92, -0.88),
    collar=(
        (1.02, -0.74, 0.60),
        (0.99, -0.52, 0.40),
        (0.93, -0.32, 0.12),
        (0.74, -0.24, -0.30),
        (0.40, -0.22, -0.56),
        (0.0, -0.20, -0.64),
    ),
    armhole=(
        (1.837, -0.55),
        (1.796, -0.711),
        (1.708, -0.975),
        (1.655, -1.249),
        (1.648, -1.5),
        (1.689, -1.7),
        (1.741, -1.8),
    ),
    arm=(
        (1.68, -1.15, 0.23),
        (1.74, -1.75, 0.25),
        (1.8, -2.5, 0.27),
        (1.85, -3.3, 0.32),
        (1.9, -4.2, 0.6),
        (1.94, -5.0, 0.95),
    ),
    girth=((0.43, 0.54), (0.41, 0.49), (0.39, 0.44), (0.37, 0.40), (0.34, 0.36), (0.31, 0.33)),
    buttons=(-3.05,),
    over=-1,
    pocket=((0.9, -1.7), (1.3, -1.6)),
    pocket_side=0,
    stand_off=0.10,
    seed=11,
    folded=1.65,
)

MARCUS: Final = JacketCut(
    silhouette=(
        (0.66, -0.17),
        (0.82, -0.215),
        (1.063, -0.296),
        (1.5, -0.384),
        (1.899, -0.515),
        (2.07, -0.63),
        (2.14, -0.775),
        (2.14, -1.087),
        (2.04, -1.5),
        (1.899, -2.0),
        (1.73, -2.7),
        (1.701, -3.5),
        (1.899, -5.2),
    ),
    middle=0.06,
    ease=0.18,
    hang=0.08,
    roll=((0.17, -3.15), (-0.02, -2.80), (0.26, -2.15), (0.50, -1.50), (0.68, -0.95), (0.76, -0.64)),
    neck=(
        (0.83, -0.43, 0.44),
        (0.83, -0.26, 0.10),
        (0.71, -0.12, -0.24),
        (0.40, -0.03, -0.50),
        (0.0, 0.0, -0.58),
    ),
    lapel=((0.17, -3.15), (0.10, -2.86), (0.56, -2.25), (0.94, -1.62), (1.12, -1.22), (1.17, -1.06)),
    notch=(1.0, -0.89),
    collar=(
        (1.11, -0.74, 0.58),
        (1.09, -0.52, 0.36),
        (1.04, -0.32, 0.06),
        (0.84, -0.20, -0.36),
        (0.44, -0.16, -0.64),
        (0.0, -0.14, -0.72),
    ),
    armhole=(
        (2.05, -0.6),
        (1.997, -0.775),
        (1.886, -1.087),
        (1.817, -1.4),
        (1.817, -1.65),
        (1.859, -1.85),
        (1.925, -1.95),
    ),
    arm=(
        (1.88, -1.25, 0.13),
        (1.96, -1.9, 0.15),
        (2.03, -2.7, 0.14),
        (2.09, -3.5, 0.18),
        (2.15, -4.4, 0.5),
        (2.2, -5.2, 0.85),
    ),
    girth=((0.47, 0.58), (0.45, 0.53), (0.43, 0.47), (0.41, 0.45), (0.38, 0.41), (0.35, 0.37)),
    buttons=(-3.25,),
    over=1,
    pocket=((0.97, -1.92), (1.35, -1.87)),
    pocket_side=1,
    stand_off=0.12,
    seed=31,
)

JACKETS: Final[Mapping[str, JacketCut]] = MappingProxyType({"ruby": RUBY, "marcus": MARCUS})


@dataclass(frozen=True, slots=True)
class TopCut:
    """A top without a collar.

    `neckline` is its edge from the shoulder to the middle, `yoke` from there to the back; `outer` is hidden.
    """

    neckline: Plan
    yoke: Keys
    outer: Plan


@dataclass(frozen=True, slots=True)
class ShirtCut:
    """A shirt worn open at the neck.

    `opening` is a front's edge from under the collar along the neck and down the placket.
    `fold` is the collar's fold from its front end to the middle of the back, `leaf` the collar's
    edge from its point to the middle of the back, `yoke` the seam under it; `buttons` are heights, `outer` as
    in `TopCut`.
    """

    opening: Plan
    fold: Keys
    leaf: Keys
    buttons: tuple[float, ...]
    yoke: Keys
    outer: Plan


RUBY_TOP: Final = TopCut(
    neckline=((0.84, -0.24), (0.70, -0.52), (0.53, -0.90), (0.33, -1.18), (0.15, -1.31), (0.0, -1.34)),
    yoke=(
        (0.84, -0.36, 0.42),
        (0.90, -0.26, 0.25),
        (0.92, -0.22, 0.05),
        (0.90, -0.28, -0.2),
        (0.86, -0.4, -0.4),
    ),
    outer=((1.0, -0.36), (0.98, -0.8), (0.90, -1.3), (0.76, -1.9), (0.55, -2.5), (0.30, -2.95), (0.0, -3.0)),
)

MARCUS_SHIRT: Final = ShirtCut(
    opening=(
        (0.66, -0.22),
        (0.46, -0.50),
        (0.27, -0.68),
        (0.17, -0.95),
        (0.04, -1.25),
        (-0.09, -1.46),
        (-0.16, -1.66),
        (-0.17, -1.9),
        (-0.17, -3.1),
    ),
    fold=(
        (0.20, -0.60, 0.86),
        (0.42, -0.30, 0.62),
        (0.57, -0.03, 0.25),
        (0.52, 0.13, -0.1),
        (0.30, 0.21, -0.28),
        (0.0, 0.24, -0.34),
    ),
    leaf=(
        (0.43, -1.06, 0.95),
        (0.55, -0.84, 0.85),
        (0.65, -0.56, 0.62),
        (0.71, -0.28, 0.18),
        (0.62, -0.08, -0.22),
        (0.36, -0.04, -0.42),
        (0.0, -0.02, -0.48),
    ),
    buttons=(-1.62, -2.45),
    yoke=(
        (0.50, -0.52, 0.66),
        (0.68, -0.25, 0.30),
        (0.64, -0.08, -0.08),
        (0.36, 0.02, -0.34),
        (0.0, 0.04, -0.42),
    ),
    outer=(
        (1.0, -0.26),
        (1.02, -0.7),
        (1.02, -1.1),
        (0.98, -1.5),
        (0.84, -2.0),
        (0.62, -2.5),
        (0.38, -2.9),
        (0.2, -3.1),
    ),
)
