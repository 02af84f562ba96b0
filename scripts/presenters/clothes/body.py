"""The body of a tailored jacket: two halves, each a front and half a back joined by the shoulder seam."""

import numpy as np
from scipy.spatial import cKDTree

from ..base import smooth
from .cut import JacketCut
from .folds import body_folds
from .form import F64, Form, curve

CLOTH = 0.028
"""Thickness of the jacket's cloth in dm."""
FOLD = 0.035
"""Radius in dm with which a lapel turns over."""
ROWS, ACROSS = 220, 96
OVERLAP = 0.17
"""How far a front reaches over the middle, in dm."""
SEAM = 0.020
"""Depth in dm to which the armhole's seam draws the cloth in."""
ROUND = 96
"""Points round the armhole."""


def half_body(form: Form, cut: JacketCut, side: int) -> F64:
    """Half a body (R, C, 3) as if on the viewer's right: up the back, over the shoulder, down the front."""
    hem = float(form.heights[0])
    fold = roll_line(cut, 120)
    fold = (fold + np.stack([fold_radius(120) * 0.9, np.zeros(120)], 1))[::-1]
    start, low = fold[0, 0] + 0.13, fold[-1]
    neck = np.array([(start, form.height_at(start))])
    edge = np.array([(low[0], low[1] - 0.25), (low[0] + 0.01, low[1] - 0.9), (low[0] + 0.05, hem)])
    top = float(form.heights[-1])
    behind = np.array([(0.45, top), (0.25, top - 0.01), (0.0, top - 0.02), (0.0, hem)])
    front = _panel(form, cut, np.r_[neck, fold, edge], behind=False)
    back = _panel(form, cut, np.r_[neck, behind], behind=True)
    grid = np.concatenate([back[:0:-1], front])
    away, _ = cKDTree(_closed(armhole(form, cut), 1200)).query(grid)
    height = body_folds(grid, side, cut.seed, cut.folded) * smooth(0.0, 0.28, away)
    height = height - SEAM * np.exp(-((away / 0.045) ** 2)) + over_lift(cut, side, grid)
    return grid + form.surface.near(grid)[1] * height[..., None]


def over_lift(cut: JacketCut, side: int, points: F64) -> F64:
    """How far (...) the front on top stands off at `points` (..., 3) of the viewer's right half, in dm."""
    if side != cut.over:
        return np.zeros(points.shape[:-1])
    near = np.clip((0.55 - points[..., 0]) / 0.5, 0, 1)
    return 0.055 * near**2 * (3 - 2 * near) * (points[..., 2] > 0)


def roll_line(cut: JacketCut, count: int) -> F64:
    """The plan (count, 2) of the fold from the button to the gorge, on the viewer's right half."""
    keys = np.array(cut.roll)
    keys[0] = (-OVERLAP, keys[0, 1])
    return curve(keys.tolist(), count)


def fold_radius(count: int) -> F64:
    """Radius (count,) in dm of a lapel's fold from the button, where it begins, up to the gorge."""
    keys = ((0.0, 0.008), (0.08, 0.03), (0.25, 0.05), (0.6, 0.042), (1.0, FOLD))
    return np.interp(np.linspace(0, 1, count), *np.array(keys).T)


def armhole(form: Form, cut: JacketCut) -> F64:
    """The sleeve's seam (ROUND, 3) on the form, from the shoulder over the back and round."""
    half = ROUND // 2
    plan = curve(cut.armhole, half + 1)
    plan[0, 1] = form.height_at(plan[0, 0])
    front = form.at(plan[:, 0], plan[:, 1])
    behind = form.at(plan[:, 0] + 0.05 * np.sin(np.linspace(0, np.pi, half + 1)), plan[:, 1], behind=True)
    behind[0], low = (front[0] + behind[0]) / 2, (front[-1] + behind[-1]) / 2
    ring = np.r_[behind[:-1], [low], front[-2:0:-1]]
    for _ in range(6):
        ring = ring + 0.25 * (np.roll(ring, 1, 0) + np.roll(ring, -1, 0) - 2 * ring)
    return ring


def _panel(form: Form, cut: JacketCut, inner: F64, *, behind: bool) -> F64:
    """Rows from the shoulder seam down, columns from the edge `inner` (I, 2) in plan to the side."""
    shoulder = form.height_at(cut.armhole[0][0])
    share = np.linspace(0, 1, ROWS) ** 1.6
    edge = _even(inner, share)
    outer_y = shoulder + (form.heights[0] - shoulder) * share
    across = np.linspace(0, 1, ACROSS)
    y = edge[:, 1:] + (outer_y[:, None] - edge[:, 1:]) * across
    start = np.arcsin(np.clip(edge[:, 0] / form.half_at(edge[:, 1]), -1, 1))
    start[0] = np.pi / 2
    x = form.half_at(y) * np.sin(start[:, None] + (np.pi / 2 - start[:, None]) * across)
    return form.at(x, y, behind=behind)


def _closed(ring: F64, count: int) -> F64:
    """`count` points (count, 3) along the closed line through `ring` (N, 3)."""
    where = np.linspace(0, len(ring), count)
    line = np.concatenate([ring, ring[:1]])
    return np.stack([np.interp(where, np.arange(len(line)), column) for column in line.T], 1)


def _even(points: F64, share: F64) -> F64:
    """Points (S, 2) at the shares of the length of a polyline."""
    reach = np.r_[0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))]
    return np.stack([np.interp(share * reach[-1], reach, column) for column in points.T], 1)
