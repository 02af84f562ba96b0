"""Lapels and collar of a jacket: strips that turn over along the roll line and lie on the jacket."""

import numpy as np

from .cut import JacketCut
from .form import F64, Form, curve, unit
from .jacket import CLOTH, FOLD, over_lift, roll_line
from .mesh import Garment, sheet

RUNGS, COLLAR_RUNGS = 120, 120
TURN, LEAF = 12, 40
"""Points of a rung round the fold, and from the fold to the edge."""
LIE = 0.045
"""Height in dm of a lapel's cloth above the jacket."""


def build_lapels(form: Form, cut: JacketCut, material: str) -> list[Garment]:
    right, left = (_lapel(form, cut, side) for side in (1, -1))
    return [
        sheet("lapel_right", right, material, CLOTH),
        sheet("lapel_left", left, material, CLOTH).mirrored("lapel_left"),
    ]


def build_collar(form: Form, cut: JacketCut, material: str) -> Garment:
    """The collar from gorge to gorge round the neck."""
    half = _collar(form, cut)
    whole = np.concatenate([half * (-1, 1, 1), half[-2::-1]])
    return sheet("collar", whole, material, CLOTH, flip=True)


def gorge(form: Form, cut: JacketCut) -> F64:
    """The seam (2, 2) in plan between collar and lapel: from the fold to the lapel's tip."""
    return np.array([cut.roll[-1], cut.lapel[-1]])


def _lapel(form: Form, cut: JacketCut, side: int) -> F64:
    """Rungs (R, TURN + LEAF, 3) from the button up to the gorge, on the viewer's right half."""
    fold = roll_line(cut, RUNGS)
    keys = np.array(cut.lapel)
    keys[0] = fold[0] + (0.004, 0)
    edge = curve(keys.tolist(), RUNGS)
    inner = form.at(fold[:, 0], fold[:, 1])
    outer = form.at(edge[:, 0], edge[:, 1])
    lie = LIE * np.clip(np.arange(RUNGS) / 14, 0.25, 1)[:, None]
    rungs = _turned(form, inner, outer, lie)
    rungs = rungs + form.surface.near(rungs)[1] * over_lift(cut, side, rungs)[..., None]
    return rungs


def _collar(form: Form, cut: JacketCut) -> F64:
    """Rungs (R, TURN + LEAF, 3) from the gorge to the middle of the back, on the viewer's right half."""
    start = form.surface.lifted(form.at(*(np.array([cut.roll[-1][i]]) for i in (0, 1))), 0.0)[0]
    fold = curve([start.tolist(), *[list(key) for key in cut.neck]], COLLAR_RUNGS)
    edge = curve([list(key) for key in cut.collar], COLLAR_RUNGS)
    edge = form.surface.lifted(edge, LIE)
    corner = form.surface.lifted(form.at(np.array([cut.notch[0]]), np.array([cut.notch[1]])), LIE)[0]
    bend = np.clip(1 - np.arange(COLLAR_RUNGS) / 16, 0, 1) ** 1.5
    return _turned(
        form, fold, edge, np.full((COLLAR_RUNGS, 1), LIE + 0.004), corner=corner, bend=bend, stand=True
    )


def _turned(
    form: Form,
    fold: F64,
    edge: F64,
    lie: F64,
    *,
    corner: F64 | None = None,
    bend: F64 | None = None,
    stand: bool = False,
) -> F64:
    """Rungs that come up from below the fold, turn over with radius FOLD and lie out to the edge.

    The first rungs of a collar are drawn through the notch's `corner`, by the share `bend` (R,).
    """
    share = np.linspace(0, 1, LEAF)[:, None]
    leaf = fold[:, None] + (edge - fold)[:, None] * share
    if corner is not None and bend is not None:
        first, second = np.clip(share / 0.6, 0, 1), np.clip((share - 0.6) / 0.4, 0, 1)
        kinked = fold[:, None] + (corner - fold)[:, None] * first + (edge - corner)[:, None] * second
        leaf = leaf + (kinked - leaf) * bend[:, None, None]
    away = unit(edge - fold)
    up = form.surface.near(fold)[1]
    up = unit(up - (up * away).sum(-1, keepdims=True) * away)
    arch = np.sin(np.pi * np.clip(share * 1.3, 0, 1)) * 0.012
    leaf = form.surface.cleared(leaf + up[:, None] * arch, lie)
    begin = leaf[:, 0]
    turn = np.linspace(-0.6 * np.pi, 0.5 * np.pi, TURN)[:-1]
    ring = (
        begin[:, None]
        - up[:, None] * FOLD
        + FOLD * (-away[:, None] * np.cos(turn)[:, None] + up[:, None] * np.sin(turn)[:, None])
    )
    if stand:
        ring[:, 0] = _foot(form, begin, away)
        ring[:, 1] = ring[:, 0] * 0.5 + ring[:, 2] * 0.5
    return np.concatenate([ring, leaf], 1)


def _foot(form: Form, fold: F64, away: F64) -> F64:
    """The seam (R, 3) inside the collar where its stand rises from the jacket's neck."""
    foot = fold + away * 0.02
    foot[:, 1] -= 0.34
    return foot
