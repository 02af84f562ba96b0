"""A shirt with a collar on a stand, worn open at the neck."""

from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..base import smooth
from .cut import ShirtCut
from .folds import SHIRT, drawn, uneven, varied
from .form import F64, Surface, curve, surface, unit
from .mesh import Garment, normals, sheet
from .under import Body, button, panel, spread, yoke

CLOTH = 0.012
COLLAR = 0.028
"""Thickness in dm of the collar, which is of two layers and an interlining."""
PLACKET = 0.33
"""Width of the placket in dm."""
ALONG, ACROSS = 220, 120
RUNGS, LEAF, TURN, STAND = 120, 30, 10, 10
"""Points round half the neck, from the fold to the collar's edge, round the fold, and up the stand."""
ROLL = 0.026
"""Radius in dm with which the collar turns over."""
STAND_DM: Final = (0.05, 0.28)
"""How far the stand reaches down under the fold, at the front and at the back, in dm."""
LOFT, CURL, SOFT_DM = 0.070, 0.022, 0.009
"""How far the leaf bows up in its middle, how far its point curls up, and how uneven it is, in dm."""


def build_shirt(body: Body, cut: ShirtCut, material: str) -> list[Garment]:
    over = _front(body, cut, 0.04, seed=1, placket=True)
    under = _front(body, cut, 0.018, seed=2, placket=False)
    ground = surface(over, normals(over))
    shoulder = sheet("shirt_yoke_right", yoke(body, cut.yoke, 0.4, 0.026), material, CLOTH)
    return [
        sheet("shirt_over", over, material, CLOTH),
        sheet("shirt_under", under, material, CLOTH).mirrored("shirt_under"),
        _collar(body, ground, cut, material),
        shoulder,
        shoulder.mirrored("shirt_yoke_left"),
        *[_button(ground, over, height) for height in cut.buttons],
    ]


def _front(body: Body, cut: ShirtCut, height: float, *, seed: int, placket: bool) -> F64:
    """A front (R, C, 3) as if on the viewer's right, rows from the neck down, columns from its edge."""
    inner = curve(cut.opening, ALONG)
    plan = panel(inner, curve(cut.outer, ALONG), ACROSS)
    away = np.linalg.norm(plan - inner, axis=-1)
    loose = smooth(0.08, 0.36, plan[..., 0])
    folds = varied(SHIRT, seed)
    lift = height + drawn(folds, plan[..., 0], plan[..., 1]) * loose
    if placket:
        lift = lift + 0.012 * np.clip((PLACKET - away) / 0.015, 0, 1)
    free = np.maximum(spread(inner, plan, 0.6), smooth(-1.35, -1.75, plan[..., 1]))
    laid = body.laid(plan, free, lift).swapaxes(0, 1)
    laid = laid + normals(laid) * (uneven(laid, seed, 0.006) * loose.T)[..., None]
    return body.skin.cleared(laid, height + 0.008)


def _button(ground: Surface, over: F64, height: float) -> Garment:
    grid = over.reshape(-1, 3)
    place = grid[np.hypot(grid[:, 0], grid[:, 1] - height).argmin()]
    normal = ground.near(place)[1]
    return button("shirt_button", place + 0.006 * normal, normal, 0.055, "shirt_button")


def _collar(body: Body, ground: Surface, cut: ShirtCut, material: str) -> Garment:
    """Stand and leaf, from the front end of one side round the neck to the other."""
    fold, edge = curve(cut.fold, RUNGS), curve(cut.leaf, RUNGS)
    fold = body.skin.cleared(fold, 0.045)
    share = np.linspace(0, 1, LEAF)[:, None]
    away = unit(edge - fold)
    up = body.skin.near(fold)[1] * 0.5 + np.array([0, 0.5, 0])
    up = unit(up - (up * away).sum(-1, keepdims=True) * away)
    leaf = fold[:, None] + (edge - fold)[:, None] * share
    leaf = leaf + up[:, None] * (LOFT * np.sin(np.pi * np.clip(share * 1.1, 0, 1)) * (1 - 0.4 * share))
    point = np.clip(1 - np.arange(RUNGS) / 30, 0, 1)[:, None] ** 2 * share.T**3
    leaf = leaf + up[:, None] * (CURL * point + uneven(leaf, 4, SOFT_DM) * share.T)[..., None]
    front = np.clip(1.6 - np.arange(RUNGS) / 32, 0, 1)[:, None, None]
    leaf = leaf + (ground.cleared(leaf, 0.035) - leaf) * front
    leaf = body.skin.cleared(leaf, 0.06)
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, TURN)[:-1, None]
    center = leaf[:, :1] - up[:, None] * ROLL
    ring = center + ROLL * (up[:, None] * np.sin(turn) - away[:, None] * np.cos(turn))
    foot = leaf[:, 0] + away * 0.01
    foot[:, 1] -= np.interp(np.arange(RUNGS), (0, 40, RUNGS - 1), (STAND_DM[0], 0.20, STAND_DM[1]))
    foot = body.skin.cleared(foot, 0.03)[:, None]
    stand = foot + (ring[:, :1] - foot) * np.linspace(0, 1, STAND)[:-1, None]
    half = gaussian_filter1d(np.concatenate([stand, ring, leaf], 1), 3, axis=0, mode="nearest")
    half[-1, :, 0] = 0
    whole = np.concatenate([half * (-1, 1, 1), half[-2::-1]])
    return sheet("shirt_collar", whole, material, COLLAR, stitched=True)
