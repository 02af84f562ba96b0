"""What shows under the skin of a throat: collarbones, the tendons that end between them and the pit there; or
the tendons of a strong neck and its larynx."""

from itertools import pairwise
from types import MappingProxyType
from typing import Final

import numpy as np

from .base import F64, smooth

Line = tuple[tuple[float, float], ...]

BONE: Final[Line] = ((0.09, -0.665), (0.22, -0.655), (0.40, -0.610), (0.62, -0.575), (0.90, -0.545))
TENDON: Final[Line] = ((0.075, -0.640), (0.135, -0.50), (0.24, -0.30), (0.36, -0.06), (0.46, 0.20))
"""How they run on one side, away from the middle and up from the chin, in dm."""
BONE_HIGH, BONE_WIDE = 0.030, 0.050
TENDON_HIGH, TENDON_WIDE = 0.020, 0.050
"""How far they stand out and how wide they are to both sides, in dm."""
PIT: Final = (0.0, -0.635)
PIT_DEEP, PIT_WIDE = 0.036, 0.075
DIPS: Final = ((0.36, -0.475, 0.022, 0.13), (0.55, -0.72, 0.010, 0.16))
"""Hollows behind and below a collarbone: away from the middle, up from the chin, how deep and how wide."""
BEFORE: Final = (-1.15, -0.85)
"""Depths behind the eyes over which all of it sets in, in dm."""


STRONG: Final[Line] = ((0.62, 0.10), (0.52, -0.22), (0.34, -0.66), (0.13, -1.10))
STRONG_WIDE = 0.085
"""A tendon of a strong neck, as `TENDON`, and half its width."""


def bones(chin: F64, between: F64, at: F64) -> F64:
    """How far skin at the places `at` (N, 3) stands out over bones and tendons, in dm; pits below 0. The
    `chin` and the point `between` the eyes are landmarks (3,)."""
    spot = np.c_[np.abs(at[:, 0]), at[:, 1] - chin[1]]
    share = smooth(*BEFORE, at[:, 2] - between[2]) * smooth(0.25, 0.0, spot[:, 1])
    high = np.zeros(len(at))
    near = np.flatnonzero((share > 0) & (spot[:, 1] > -1.1))
    own = spot[near]
    ridges = BONE_HIGH * _ridge(own, BONE, BONE_WIDE) + TENDON_HIGH * _ridge(own, TENDON, TENDON_WIDE)
    pits = PIT_DEEP * _hill(own, PIT, PIT_WIDE)
    for out, up, deep, wide in DIPS:
        pits += deep * _hill(own, (out, up), wide)
    high[near] = (ridges - pits) * share[near]
    return high


def larynx(chin: F64, between: F64, at: F64) -> F64:
    """As `bones`, of a strong neck."""
    spot = (at - chin)[:, :2]
    front = smooth(between[2] - 1.1, between[2] - 0.75, at[:, 2])
    tendon = groove(np.c_[np.abs(spot[:, 0]), spot[:, 1]], STRONG, STRONG_WIDE)
    apple = np.exp(-((spot[:, 0] / 0.085) ** 2) - ((spot[:, 1] + 0.42) / 0.13) ** 2)
    notch = np.exp(-((spot[:, 0] / 0.11) ** 2) - ((spot[:, 1] + 1.13) / 0.12) ** 2)
    return front * (0.040 * tendon + 0.050 * apple - 0.050 * notch)


THROATS: Final = MappingProxyType({"bones": bones, "larynx": larynx})


def _ridge(spot: F64, line: Line, width: float) -> F64:
    """1 on the line at its beginning, less and less towards its end, 0 beside it."""
    knots = np.array(line)
    best = np.zeros(len(spot))
    for k, (start, end) in enumerate(pairwise(knots)):
        span = end - start
        along = np.clip((spot - start) @ span / (span @ span), 0, 1)
        away = np.linalg.norm(spot - start - along[:, None] * span, axis=1)
        part = (k + along) / (len(knots) - 1)
        best = np.maximum(best, np.exp(-((away / width) ** 2)) * smooth(1.0, 0.35, part))
    return best


def _hill(spot: F64, middle: tuple[float, float], width: float) -> F64:
    return np.exp(-((np.linalg.norm(spot - np.array(middle), axis=1) / width) ** 2))


def groove(spot: F64, line: Line, width: float) -> F64:
    """1 in the line, 0 a little beside it and at its ends."""
    knots = np.array(line)
    total = np.linalg.norm(np.diff(knots, axis=0), axis=1).sum()
    best, gone = np.zeros(len(spot)), 0.0
    for start, end in pairwise(knots):
        span = np.linalg.norm(end - start)
        share = np.clip((spot - start) @ (end - start) / span**2, 0, 1)
        distance = np.linalg.norm(spot - start - share[:, None] * (end - start), axis=1)
        fade = np.sin(np.pi * np.clip((gone + share * span) / total, 0.02, 0.98)) ** 0.7
        best = np.maximum(best, np.exp(-((distance / width) ** 2)) * fade)
        gone += span
    return best
