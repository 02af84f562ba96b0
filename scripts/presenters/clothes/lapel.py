"""Lapels and collar of a jacket: strips that turn over along the roll line and lie on the jacket."""

import numpy as np

from .body import FOLD, fold_radius, over_lift, roll_line
from .cut import JacketCut
from .folds import uneven
from .form import F64, Form, curve, unit
from .under import Body

RUNGS, COLLAR_RUNGS = 150, 130
TURN, LEAF = 14, 64
"""Points of a rung round the fold, and from the fold to the edge."""
LIE = 0.058
"""Height in dm of a lapel's cloth above the jacket."""
STITCH = 0.038
"""Distance in dm of the line of stitches from the edge."""


def lapel(form: Form, cut: JacketCut, side: int) -> F64:
    """Rungs (R, C, 3) from the gorge down to the button, fold to edge, as if on the viewer's right."""
    fold = roll_line(cut, RUNGS)
    keys = np.array(cut.lapel)
    keys[0] = fold[0] + (0.006, 0)
    edge = curve(keys.tolist(), RUNGS)
    inner, outer = form.at(fold[:, 0], fold[:, 1]), form.at(edge[:, 0], edge[:, 1])
    share = np.linspace(0, 1, LEAF)[:, None]
    leaf = inner[:, None] + (outer - inner)[:, None] * share
    lie = LIE * np.clip(np.arange(RUNGS) / 20, 0.3, 1)[:, None]
    width = np.linalg.norm(outer - inner, axis=1)[:, None]
    crown = 0.05 * np.clip(width / 0.4, 0, 1) * np.sin(np.pi * share[:, 0]) ** 1.3
    rungs = _turned(form, leaf, lie + crown * np.linspace(1.0, 0.35, RUNGS)[:, None], fold_radius(RUNGS))
    rungs = rungs + form.surface.near(rungs)[1] * over_lift(cut, side, rungs)[..., None]
    return _pressed(form, rungs, cut.seed + 7 * side)[::-1]


def collar(form: Form, cut: JacketCut, body: Body) -> F64:
    """Rungs (R, C, 3) from the gorge of one side round the neck to the other's, seam to edge."""
    lower, start = form.at(*roll_line(cut, RUNGS)[[-3, -1]].T)
    fold = curve([start.tolist(), *[list(key) for key in cut.neck]], COLLAR_RUNGS)
    fold = body.skin.cleared(fold, cut.stand_off * np.clip(np.arange(COLLAR_RUNGS) / 30, 0.2, 1))
    edge = form.surface.lifted(curve([list(key) for key in cut.collar], COLLAR_RUNGS), LIE)
    corner = form.surface.lifted(form.at(*np.array(cut.notch)[:, None]), LIE)[0]
    share = np.linspace(0, 1, LEAF)[:, None]
    leaf = fold[:, None] + (edge - fold)[:, None] * share
    first, second = np.clip(share / 0.6, 0, 1), np.clip((share - 0.6) / 0.4, 0, 1)
    kinked = fold[:, None] + (corner - fold)[:, None] * first + (edge - corner)[:, None] * second
    bend = np.clip(1 - np.arange(COLLAR_RUNGS) / 16, 0, 1)[:, None, None] ** 1.5
    leaf = leaf + (kinked - leaf) * bend
    sunk = np.clip(1 - np.arange(COLLAR_RUNGS) / 7, 0, 1)[:, None] * np.clip(
        (0.58 - share[:, 0]) / 0.05, 0, 1
    )
    leaf = leaf + (lower - start) * sunk[..., None]
    radius = FOLD * np.clip(0.45 + np.arange(COLLAR_RUNGS) / 18, 0, 1)
    rungs = _turned(form, leaf, LIE + 0.004 - 0.03 * sunk, radius)
    foot = form.surface.lifted(fold, -0.04)
    rungs[:, 0], rungs[:, 1] = foot, (foot + rungs[:, 2]) / 2
    rungs = _pressed(form, rungs, cut.seed)
    return np.concatenate([rungs * (-1, 1, 1), rungs[-2::-1]])


def _turned(form: Form, leaf: F64, lie: F64 | float, radius: F64) -> F64:
    """Rungs (R, TURN - 1 + LEAF, 3): up from below the fold, over with `radius` (R,), out along `leaf`."""
    away = unit(leaf[:, -1] - leaf[:, 0])
    up = form.surface.near(leaf[:, 0])[1]
    up = unit(up - (up * away).sum(-1, keepdims=True) * away)[:, None]
    leaf = form.surface.cleared(leaf, lie)
    turn = np.linspace(-0.6 * np.pi, 0.5 * np.pi, TURN)[:-1, None]
    center = leaf[:, :1] - up * radius[:, None, None]
    ring = center + radius[:, None, None] * (up * np.sin(turn) - away[:, None] * np.cos(turn))
    return np.concatenate([ring, leaf], 1)


def _pressed(form: Form, rungs: F64, seed: int) -> F64:
    """The rungs with the line of stitches along their edge and the unevenness of the cloth."""
    away = np.linalg.norm(rungs - rungs[:, -1:], axis=-1)
    height = uneven(rungs, seed, 0.006) - 0.005 * np.exp(-(((away - STITCH) / 0.010) ** 2))
    height = height * np.clip(np.arange(len(rungs)) / 12, 0, 1)[:, None]
    return rungs + form.surface.near(rungs)[1] * height[..., None]
