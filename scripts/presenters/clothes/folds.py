"""Folds of cloth as heights over a surface, in dm: each a ridge between two hollows, drawn like a stroke."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .form import F64


@dataclass(frozen=True, slots=True)
class Stroke:
    """A fold about `x`, `y` that runs at `degrees` (0 to the right, 90 up), all in dm: `length` to where it
    has faded, `width` and `height` of its ridge; `bow` bends it."""

    x: float
    y: float
    degrees: float
    length: float
    width: float
    height: float
    bow: float = 0.0


FRONT: Final = (
    Stroke(1.28, -1.15, 74, 0.50, 0.085, 0.028, 0.10),
    Stroke(1.40, -1.55, 60, 0.60, 0.065, 0.040, 0.08),
    Stroke(1.12, -2.00, 66, 0.75, 0.09, 0.026, -0.10),
    Stroke(0.62, -2.80, 122, 0.70, 0.075, 0.030, 0.12),
    Stroke(0.85, -3.00, 145, 0.75, 0.08, 0.032, 0.10),
    Stroke(0.60, -3.25, 164, 0.60, 0.07, 0.030, 0.05),
    Stroke(0.95, -2.62, 132, 0.60, 0.07, 0.022, 0.08),
    Stroke(1.20, -2.85, 97, 0.80, 0.10, 0.026, 0.05),
    Stroke(1.02, -0.62, 150, 0.45, 0.10, 0.010, 0.05),
)
"""Folds of a jacket's front, on the viewer's right: from the shoulder, under the arm, towards the button."""
SHIRT: Final = (
    Stroke(0.45, -1.55, 60, 0.50, 0.06, 0.010, 0.06),
    Stroke(0.38, -2.15, 105, 0.60, 0.07, 0.012, 0.06),
    Stroke(0.25, -1.95, 40, 0.35, 0.05, 0.008, 0.05),
    Stroke(0.30, -2.75, 75, 0.60, 0.07, 0.012, 0.08),
    Stroke(0.62, -1.25, 80, 0.50, 0.07, 0.010, 0.05),
    Stroke(0.50, -1.42, 52, 0.42, 0.050, 0.037, 0.06),
    Stroke(0.30, -1.80, 28, 0.40, 0.045, 0.034, 0.07),
    Stroke(0.44, -1.98, 118, 0.45, 0.055, 0.034, 0.06),
    Stroke(0.22, -2.20, 66, 0.45, 0.045, 0.031, -0.08),
    Stroke(0.34, -2.50, 30, 0.40, 0.050, 0.034, 0.06),
    Stroke(0.16, -2.72, 100, 0.40, 0.045, 0.027, 0.05),
)
"""Creases of a shirt's front, from the placket's buttons outwards, and what wearing leaves in it."""
TOP: Final = (
    Stroke(0.42, -1.75, 68, 0.60, 0.08, 0.016, 0.10),
    Stroke(0.22, -2.05, 84, 0.60, 0.07, 0.014, 0.06),
    Stroke(0.50, -2.30, 110, 0.60, 0.08, 0.014, 0.08),
    Stroke(0.12, -1.62, 20, 0.35, 0.05, 0.008, -0.12),
    Stroke(0.40, -1.35, 48, 0.35, 0.05, 0.008, 0.06),
)
"""Folds of a soft top, on the viewer's right."""
SLEEVE: Final = (
    Stroke(0.62, 0.75, -38, 0.42, 0.075, 0.030, 0.10),
    Stroke(0.70, 1.05, -46, 0.48, 0.08, 0.030, 0.12),
    Stroke(0.45, 1.45, -52, 0.50, 0.09, 0.022, 0.10),
    Stroke(0.15, 0.95, -70, 0.50, 0.11, 0.014, 0.05),
    Stroke(0.95, 1.55, -40, 0.45, 0.075, 0.030, 0.12),
    Stroke(0.60, 2.00, -30, 0.48, 0.08, 0.027, -0.10),
    Stroke(0.95, 2.25, -18, 0.48, 0.07, 0.030, 0.10),
    Stroke(0.55, 2.50, -8, 0.50, 0.08, 0.032, 0.12),
    Stroke(0.85, 2.75, 12, 0.45, 0.07, 0.032, -0.12),
    Stroke(0.35, 2.90, 26, 0.50, 0.08, 0.030, 0.10),
    Stroke(0.75, 3.15, 36, 0.50, 0.08, 0.027, 0.10),
    Stroke(-0.10, 2.45, -14, 0.45, 0.09, 0.019, 0.05),
    Stroke(-0.60, 1.50, 40, 0.50, 0.10, 0.019, 0.10),
    Stroke(-0.70, 2.50, 15, 0.50, 0.09, 0.022, 0.10),
)
"""Folds of a sleeve: `x` is the way round from the outside to the front, `y` the way down from the seam."""


def drawn(strokes: Sequence[Stroke], x: F64, y: F64) -> F64:
    """The sum of the strokes' heights at `x`, `y` (...)."""
    total = np.zeros(np.broadcast_shapes(x.shape, y.shape))
    for stroke in strokes:
        turn = np.radians(stroke.degrees)
        along = ((x - stroke.x) * np.cos(turn) + (y - stroke.y) * np.sin(turn)) / stroke.length
        off = (y - stroke.y) * np.cos(turn) - (x - stroke.x) * np.sin(turn)
        off = (off - stroke.bow * along**2) / (stroke.width * (1 + 0.4 * along))
        fade = np.exp(-1.6 * along**4 - 0.5 * along**2)
        total += stroke.height * (1 - 0.55 * off**2) * np.exp(-0.5 * off**2) * fade
    return total


def varied(strokes: Sequence[Stroke], seed: int) -> tuple[Stroke, ...]:
    """The same folds as they fall on another day."""
    chance = np.random.default_rng(seed)
    return tuple(
        Stroke(
            s.x + float(chance.normal(0, 0.07)),
            s.y + float(chance.normal(0, 0.07)),
            s.degrees + float(chance.normal(0, 7)),
            s.length * float(chance.uniform(0.85, 1.2)),
            s.width * float(chance.uniform(0.85, 1.2)),
            s.height * float(chance.uniform(0.55, 1.15)),
            s.bow * float(chance.uniform(0.5, 1.5)),
        )
        for s in strokes
    )


def uneven(points: F64, seed: int, height: float) -> F64:
    """Slow unevenness (...) of hand-pressed cloth at `points` (..., 3)."""
    chance = np.random.default_rng(seed)
    total = np.zeros(points.shape[:-1])
    for wave in chance.normal(0, 1, (7, 3)) * (3.6, 2.4, 2.0):
        total += np.sin(points @ wave + chance.uniform(0, 6.28))
    return total * height / 2


def body_folds(points: F64, side: int, seed: int, depth: float = 1.0) -> F64:
    """Heights (...) of a jacket's front, `depth` times the usual ones, at `points` (..., 3) of the viewer's
    right half."""
    x, y, z = np.moveaxis(points, -1, 0)
    folds = drawn(varied(FRONT, seed + 5 * side), x, y) * np.clip((z - 0.05) / 0.25, 0, 1)
    return depth * (folds + uneven(points, seed + side, 0.008))


def sleeve_folds(rings: F64, angle: F64, seed: int, depth: float = 1.0) -> F64:
    """Heights (R, C) of a hanging sleeve, `depth` times the usual ones; `angle` (C,) is 0 outside, positive
    to the front."""
    along = np.linalg.norm(np.diff(rings.mean(1), axis=0, prepend=rings[:1].mean(1)), axis=1).cumsum()
    folds = drawn(varied(SLEEVE, seed), ((angle + np.pi) % (2 * np.pi) - np.pi) * 0.42, along[:, None])
    begun = np.clip((along - 0.12) / 0.35, 0, 1)[:, None]
    return depth * (folds + uneven(rings, seed + 9, 0.008)) * begun
