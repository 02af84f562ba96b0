"""A tailored jacket: fronts, back and sleeves, cut on a form."""

import numpy as np

from .cut import JacketCut
from .folds import body_folds, sleeve_folds
from .form import F64, Form, curve, unit
from .mesh import Garment, normals, sheet

CLOTH = 0.028
"""Thickness of the jacket's cloth in dm."""
FOLD = 0.035
"""Radius in dm with which a lapel turns over."""
ROWS, ACROSS = 200, 72
SLEEVE_ROWS, SLEEVE_ROUND = 150, 96
OVERLAP = 0.17
"""How far a front reaches over the middle, in dm."""


def build_body(form: Form, cut: JacketCut, material: str) -> list[Garment]:
    """Fronts and back."""
    right, left = (_half(form, cut, side) for side in (1, -1))
    return [
        sheet("body_right", right, material, CLOTH),
        sheet("body_left", left, material, CLOTH).mirrored("body_left"),
    ]


def build_sleeves(form: Form, cut: JacketCut, material: str) -> list[Garment]:
    right = sheet("sleeve_right", _sleeve(form, cut, cut.seed + 1), material, CLOTH, ring=True)
    left = sheet("sleeve_left", _sleeve(form, cut, cut.seed + 2), material, CLOTH, ring=True)
    return [right, left.mirrored("sleeve_left")]


def over_lift(cut: JacketCut, side: int, points: F64) -> F64:
    """How far (...) the front on top stands off at `points` (..., 3) of the viewer's right half, in dm."""
    if side != cut.over:
        return np.zeros(points.shape[:-1])
    near = np.clip((0.55 - points[..., 0]) / 0.5, 0, 1)
    return 0.055 * near**2 * (3 - 2 * near)


def roll_line(cut: JacketCut, count: int) -> F64:
    """The plan (count, 2) of the fold from the button to the gorge, on the viewer's right half."""
    keys = np.array(cut.roll)
    keys[0] = (-OVERLAP, keys[0, 1])
    return curve(keys.tolist(), count)


def _half(form: Form, cut: JacketCut, side: int) -> F64:
    """Half a body (R, C, 3) as if it were on the viewer's right: up the back, over the shoulder, down the front."""
    low = cut.roll[0][1]
    fold = roll_line(cut, 120)[::-1] + (FOLD, 0)
    neck = np.array([(fold[0, 0] + 0.02, float(form.height_at(fold[0, 0] + 0.02)))])
    edge = np.array(
        [(-OVERLAP, low - 0.25), (-OVERLAP + 0.01, low - 0.9), (-OVERLAP + 0.05, form.heights[0])]
    )
    top = float(form.heights[-1])
    behind = np.array([(0.45, top), (0.25, top - 0.01), (0.0, top - 0.02), (0.0, form.heights[0])])
    front = _panel(form, cut, np.r_[neck, fold, edge], behind=False)
    back = _panel(form, cut, np.r_[neck, behind], behind=True)
    grid = np.concatenate([back[:0:-1], front])
    normal = form.surface.near(grid)[1]
    return grid + normal * (over_lift(cut, side, grid) + body_folds(grid, side, cut.seed))[..., None]


def _panel(form: Form, cut: JacketCut, inner: F64, *, behind: bool) -> F64:
    """Rows from the shoulder seam down, columns from the edge `inner` (I, 2) in plan to the side."""
    shoulder = float(form.height_at(cut.armhole[0][0]))
    share = np.linspace(0, 1, ROWS) ** 1.6
    edge = _even(inner, share)
    outer_y = shoulder + (form.heights[0] - shoulder) * share
    across = np.linspace(0, 1, ACROSS)
    y = edge[:, 1:] + (outer_y[:, None] - edge[:, 1:]) * across
    start = np.arcsin(np.clip(edge[:, 0] / form.half_at(edge[:, 1]), -1, 1))
    start[0] = np.pi / 2
    x = form.half_at(y) * np.sin(start[:, None] + (np.pi / 2 - start[:, None]) * across)
    return form.at(x, y, behind=behind)


def _even(points: F64, share: F64) -> F64:
    """Points (S, 2) at the shares of the length of a polyline."""
    reach = np.r_[0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))]
    return np.stack([np.interp(share * reach[-1], reach, column) for column in points.T], 1)


def armhole(form: Form, cut: JacketCut) -> F64:
    """The sleeve's seam (SLEEVE_ROUND, 3) on the form, from the shoulder over the back and round."""
    half = SLEEVE_ROUND // 2
    plan = curve(cut.armhole, half + 1)
    front = form.at(plan[:, 0], plan[:, 1])
    behind = form.at(plan[:, 0] + 0.05 * np.sin(np.linspace(0, np.pi, half + 1)), plan[:, 1], behind=True)
    behind[0], low = (front[0] + behind[0]) / 2, (front[-1] + behind[-1]) / 2
    ring = np.r_[behind[:-1], [low], front[-2:0:-1]]
    for _ in range(6):
        ring = ring + 0.25 * (np.roll(ring, 1, 0) + np.roll(ring, -1, 0) - 2 * ring)
    return ring


def _sleeve(form: Form, cut: JacketCut, seed: int) -> F64:
    """Rings (R, C, 3) from the armhole to the cuff."""
    seam = armhole(form, cut)
    axis, girth = curve(cut.arm, 200), curve(cut.girth, 200)
    angle = -np.linspace(0, 2 * np.pi, SLEEVE_ROUND + 1)[:-1]
    down = unit(np.gradient(axis, axis=0))
    out = unit(np.array([1.0, 0, 0]) - down[:, :1] * down)
    ahead = np.cross(down, out)
    tube = axis[:, None] + girth[:, :1, None] * np.cos(angle)[:, None] * out[:, None]
    tube = tube + girth[:, 1:, None] * np.sin(angle)[:, None] * ahead[:, None]
    _, surface = form.surface.near(seam)
    reach = np.array([1.0, -0.25, 0.0]) + 0.12 * np.sin(angle)[:, None] * np.array([0, 0, 1.0])
    leave = unit(reach - 0.8 * (reach * surface).sum(-1, keepdims=True) * surface)
    cap = _hermite(seam, tube[0], leave * 0.5, down[0] * 0.8, 46)
    rings = np.concatenate([cap[:-1], tube[::2]])
    roll = np.exp(-(((np.arange(len(rings)) - 6) / 5.0) ** 2))
    sleeve = (
        rings
        + normals(_wrapped(rings))[:, 1:-1]
        * (0.018 * roll[:, None] * np.clip(np.cos(angle) + 0.4, 0, 1))[..., None]
    )
    normal = normals(_wrapped(sleeve))[:, 1:-1]
    return sleeve + normal * sleeve_folds(sleeve, angle, seed)[..., None]


def _wrapped(rings: F64) -> F64:
    return np.concatenate([rings[:, -1:], rings, rings[:, :1]], 1)


def _hermite(start: F64, end: F64, leave: F64, arrive: F64, count: int) -> F64:
    """Rings (count, C, 3) from `start` to `end` (C, 3) with the given tangents."""
    t = np.linspace(0, 1, count)[:, None, None]
    a, b = 2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t
    c, d = -2 * t**3 + 3 * t**2, t**3 - t**2
    return a * start + b * leave + c * end + d * arrive
