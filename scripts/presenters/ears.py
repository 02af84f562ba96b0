"""Ears of round outline: their triangles are split where the surface bends, and their lobes are soft."""

from dataclasses import replace
from typing import Final

import numpy as np

from .base import F64, load_target
from .bend import split
from .person import Person
from .piece import Piece
from .places import ear_share
from .skinmesh import Skin
from .taper import tapered

SHAPE: Final = {"ear-lobe-incr": 0.60, "ear-shape-round": 0.40, "ear-scale-vert-decr": 0.10}
"""What shapes the ears that are drawn, by which share."""
BEND_DM = 0.0018
"""How far the middle of an edge lies off it where it is split, in dm: half a pixel."""
ROUNDS, SOFTER = 2, 0.5
"""How often, and how far the ears are smoothed before that."""


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
