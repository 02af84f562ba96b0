"""The sleeves of a jacket, set into the armhole of its body."""

import numpy as np

from .body import ROUND, SEAM, armhole
from .cut import JacketCut
from .folds import sleeve_folds
from .form import F64, Form, curve, unit
from .mesh import ring_normals

CAP, HANGING = 46, 130
"""Rings from the seam to where the sleeve hangs, and from there to the cuff."""
SLANT = 0.26
"""Share of the arm at which the sleeve hangs free on its inside."""
ROLL = 0.022
"""How far in dm the head of the sleeve rolls over its seam."""


def sleeve(form: Form, cut: JacketCut, seed: int) -> F64:
    """Rings (R, ROUND, 3) from the armhole to the cuff, on the viewer's right."""
    seam = armhole(form, cut)
    surface = form.surface.near(seam)[1]
    angle = -np.linspace(0, 2 * np.pi, ROUND + 1)[:-1]
    tube = _tube(cut, angle)
    down = unit(tube[1] - tube[0])
    reach = np.array([1.0, -0.25, 0.0]) + 0.12 * np.sin(angle)[:, None] * np.array([0, 0, 1.0])
    leave = unit(reach - 0.8 * (reach * surface).sum(-1, keepdims=True) * surface)
    cap = _joined(seam - surface * SEAM, tube[0], leave * 0.38, down * 0.8, CAP)
    rings = np.concatenate([cap[:-1], tube])
    head = np.exp(-(((np.arange(len(rings)) - 7) / 4.5) ** 2))[:, None] * np.clip(np.cos(angle) + 0.6, 0, 1)
    rings = rings + ring_normals(rings) * (ROLL * head)[..., None]
    return rings + ring_normals(rings) * sleeve_folds(rings, angle, seed, cut.folded)[..., None]


def _tube(cut: JacketCut, angle: F64) -> F64:
    """Rings (HANGING, ROUND, 3) about the arm: they begin slanted, high outside and low under the arm."""
    axis, girth = curve(cut.arm, HANGING), curve(cut.girth, HANGING)
    down = unit(np.gradient(axis, axis=0))
    out = unit(np.array([1.0, 0, 0]) - down[:, :1] * down)
    ahead = np.cross(down, out)
    begin = SLANT * (1 - np.cos(angle)) / 2
    where = (begin + (1 - begin) * np.linspace(0, 1, HANGING)[:, None]) * (HANGING - 1)

    def at(values: F64) -> F64:
        return np.stack([np.interp(where, np.arange(HANGING), column) for column in values.T], -1)

    width, depth = np.moveaxis(at(girth), -1, 0)[..., None] * np.ones(3)
    across, forward = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return at(axis) + width * across * at(out) + depth * forward * at(ahead)


def _joined(start: F64, end: F64, leave: F64, arrive: F64, count: int) -> F64:
    """Rings (count, C, 3) from `start` to `end` (C, 3) with the given tangents."""
    t = np.linspace(0, 1, count)[:, None, None]
    a, b = 2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t
    c, d = -2 * t**3 + 3 * t**2, t**3 - t**2
    return a * start + b * leave + c * end + d * arrive
