"""Ears of round outline: their triangles are split where the surface bends, and their lobes are soft."""

from dataclasses import replace
from typing import Final

import numpy as np

from .base import F64, load_target, smooth
from .bend import split
from .person import Person
from .piece import Piece
from .places import ear_share
from .skinmesh import Skin

SHAPE: Final = {"ear-lobe-incr": 0.60, "ear-shape-round": 0.40, "ear-scale-vert-decr": 0.10}
"""What shapes the ears that are drawn, by which share."""
BEND_DM = 0.0018
"""How far the middle of an edge lies off it where it is split, in dm: half a pixel."""
ROUNDS, SOFTER = 2, 0.5
"""How often, and how far the ears are smoothed before that."""

TOP: Final = (0.20, 1.15, 0.26)
LOBE: Final = (0.0, -1.15, 0.42)
"""From which height on and up to which, from the middle of an ear by half its height, it is narrower, and how
much."""
CORNERS: Final = (0.040, 0.090)
"""How far the outer corners of the top and of the lobe are rounded off, in dm."""


def rounded(person: Person, skin: Skin) -> Piece:
    """The piece of `skin` with its ears rounded."""
    share = ear_share(person, skin.origin)
    points = person.limit(person.rest + _shaped(person))
    points += (person.limit(points) - points) * SOFTER
    points = tapered(points, ear_share(person, np.arange(len(points))))
    normals = person.normals(points)[skin.origin]
    old = skin.piece.vertices
    piece = replace(skin.piece, vertices=old + (points[skin.origin] - old) * share[:, None])
    mine = share > 0.01
    for _ in range(ROUNDS):
        piece, normals, mine = split(piece, normals, mine, BEND_DM)
    return piece


def _shaped(person: Person) -> F64:
    """How the ears' control points (V, 3) are moved."""
    moved = np.zeros_like(person.rest)
    for name, share in SHAPE.items():
        for side in "lr":
            target = load_target(f"ears/{side}-{name}")
            moved[target.index] += share * target.delta
    return moved


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
