"""The outline of a tongue."""

from typing import Final

import numpy as np

from .base import F64, smooth

FRONT: Final = (0.40, 1.0)
"""From which share of its length on it is tip."""
NARROW, BACK_DM, DOME_DM = 0.24, 0.060, 0.022
"""By which share its tip is narrower, and how far the tip's sides lie back and its middle up, in dm."""


def rounded(points: F64, aside: F64) -> F64:
    """`points` (N, 3) of a tongue, each `aside` (N,) of its middle by 0..1, with a tip that is narrow, round
    and raised in the middle."""
    tip = smooth(*FRONT, (points[:, 2] - points[:, 2].min()) / np.ptp(points[:, 2]))
    shaped = points.copy()
    shaped[:, 0] *= 1 - NARROW * tip
    shaped[:, 1] += DOME_DM * tip * (1 - aside**2)
    shaped[:, 2] -= BACK_DM * tip * aside**2
    return shaped
