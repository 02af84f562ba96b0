"""The outline of an ear."""

from typing import Final

import numpy as np

from .base import F64, smooth

TOP: Final = (0.20, 1.15, 0.26)
LOBE: Final = (0.0, -1.15, 0.42)
"""From which height on and up to which, from the middle of an ear by half its height, it is narrower, and how
much."""
CORNERS: Final = (0.040, 0.090)
"""How far the outer corners of the top and of the lobe are rounded off, in dm."""


def tapered(points: F64, share: F64) -> F64:
    """`points` (V, 3) whose ears, by `share` (V,), are widest above their middle, narrow at the lobe, and
    round at both ends."""
    shaped = points.copy()
    for side in (1.0, -1.0):
        mine = (share > 0.5) & (points[:, 0] * side > 0)
        if not mine.any():
            continue
        low, high = points[mine, 1].min(), points[mine, 1].max()
        out, root = points[:, 0] * side, float(np.quantile(points[mine, 0] * side, 0.05))
        height = (points[:, 1] - (low + high) / 2) / ((high - low) / 2)
        top, lobe = (smooth(start, end, height) for start, end, _ in (TOP, LOBE))
        wide = np.maximum(out - root, 0)
        edge = np.clip(wide / max(float((points[mine, 0] * side).max()) - root, 1e-6), 0, 1) ** 2
        own = share * (points[:, 0] * side > 0)
        shaped[:, 0] -= side * own * wide * (TOP[2] * top + LOBE[2] * lobe)
        shaped[:, 1] += own * edge * (CORNERS[1] * lobe - CORNERS[0] * top)
    return shaped
