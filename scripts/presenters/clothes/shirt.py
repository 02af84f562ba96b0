"""A shirt with a collar on a stand, worn open at the neck."""

import numpy as np

from .cut import ShirtCut
from .form import F64, curve, unit
from .mesh import Garment, sheet
from .under import Body, button, panel, spread

CLOTH = 0.012
PLACKET = 0.33
"""Width of the placket in dm."""


def build_shirt(body: Body, cut: ShirtCut, material: str) -> list[Garment]:
    over, under = (
        _front(body, cut.opening, cut.outer, 0.04, placket=True),
        _front(body, cut.under, cut.outer, 0.018),
    )
    return [
        sheet("shirt_over", over, material, CLOTH),
        sheet("shirt_under", under, material, CLOTH).mirrored("shirt_under"),
        _collar(body, cut, material),
        *[_button(body, height, material) for height in cut.buttons],
    ]


def _front(
    body: Body,
    edge: tuple[tuple[float, float], ...],
    outer: tuple[tuple[float, float], ...],
    height: float,
    *,
    placket: bool = False,
) -> F64:
    inner = curve(edge, 200)
    plan = panel(inner, curve(outer, 200), 110)
    away = np.linalg.norm(plan - inner, axis=-1)
    band = np.clip((PLACKET - away) / 0.015, 0, 1) * 0.012 if placket else np.zeros_like(away)
    return body.laid(plan, spread(inner, plan, 0.6), height + band).swapaxes(0, 1)


def _button(body: Body, height: float, material: str) -> Garment:
    plan = np.array([[0.0, height]])
    point = body.laid(plan, np.ones(1), 0.052)
    normal = body.form.surface.near(point)[1]
    return button("shirt_button", point[0], normal[0], 0.052, "shirt_button")


def _collar(body: Body, cut: ShirtCut, material: str) -> Garment:
    """Stand and leaf, from the front end of one side round the neck to the other."""
    fold, leaf = (curve(keys, 90) for keys in (cut.fold, cut.leaf))
    fold = body.skin.cleared(fold, 0.07)
    share = np.linspace(0, 1, 26)[:, None]
    grid = fold[:, None] + (leaf - fold)[:, None] * share
    away = unit(leaf - fold)
    up = body.skin.near(fold)[1] * 0.4 + np.array([0, 0.6, 0])
    up = unit(up - (up * away).sum(-1, keepdims=True) * away)
    grid = grid + up[:, None] * (0.05 * np.sin(np.pi * np.clip(share * 1.15, 0, 1)))
    grid = body.skin.cleared(body.form.surface.cleared(grid, 0.075), 0.07)
    begin = grid[:, 0]
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 10)[:-1]
    radius = 0.026
    ring = (
        begin[:, None]
        - up[:, None] * radius
        + radius * (up[:, None] * np.sin(turn)[:, None] - away[:, None] * np.cos(turn)[:, None])
    )
    foot = begin + away * 0.01
    foot[:, 1] -= 0.30
    foot = body.skin.cleared(foot, 0.03)
    stand = foot[:, None] + (ring[:, :1] - foot[:, None]) * np.linspace(0, 1, 10)[:-1, None]
    half = np.concatenate([stand, ring, grid], 1)
    whole = np.concatenate([half * (-1, 1, 1), half[-2::-1]])
    return sheet("shirt_collar", whole, material, 0.02, flip=True)
