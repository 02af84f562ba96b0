"""A mesh made finer where its surface bends: edges are split, their middles lie on the curve that the normals
of both ends ask for."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .base import F64, Ints
from .piece import Piece

Bools = NDArray[np.bool_]


def split(piece: Piece, normals: F64, mine: Bools, least: float) -> tuple[Piece, F64, Bools]:
    """The piece with the edges of what is `mine` (V,) split where the surface's middle lies `least` off them,
    its unit `normals` (V, 3) and what is mine then."""
    points, triangles = piece.vertices, piece.triangles
    sides = np.stack([triangles, np.roll(triangles, -1, 1)], 2)
    edges, index = np.unique(np.sort(sides.reshape(-1, 2), 1), axis=0, return_inverse=True)
    one, other = edges.T
    along = points[other] - points[one]
    turn = _flat(along, normals[one]) - _flat(along, normals[other])
    bent = (np.linalg.norm(turn, axis=1) > 8 * least) & mine[one] & mine[other]
    number = np.full(len(edges), -1)
    number[bent] = len(points) + np.arange(bent.sum())
    one, other = edges[bent].T
    middle = number[index.reshape(-1, 3)]
    normal = normals[one] + normals[other]
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)

    def mean(values: F64) -> F64:
        return np.concatenate([values, (values[one].astype(float) + values[other]) / 2])

    finer = replace(
        piece,
        vertices=np.concatenate([points, (points[one] + points[other]) / 2 + turn[bent] / 8]),
        triangles=_parts(triangles, middle),
        uv=mean(piece.uv),
        color=mean(piece.color).astype(np.uint8),
        shade=mean(piece.shade).astype(np.uint8),
        head_weight=mean(piece.head_weight).astype(np.uint8),
        shapes={name: mean(delta) for name, delta in piece.shapes.items()},
    )
    return finer, np.concatenate([normals, normal]), np.concatenate([mine, np.ones(len(one), bool)])


def _flat(along: F64, normal: F64) -> F64:
    """Ways (N, 3) without what leads off the planes of unit normals (N, 3)."""
    return along - (along * normal).sum(1, keepdims=True) * normal


def _parts(triangles: Ints, middle: Ints) -> Ints:
    """`triangles` (T, 3) cut at the vertices `middle` (T, 3) of their edges, -1 where one stays whole; edge k
    leads from corner k to the next."""
    done = [triangles[(middle < 0).all(1)]]
    count = (middle >= 0).sum(1)
    for k in range(3):
        corner, edge = np.roll(triangles, -k, 1), np.roll(middle, -k, 1)
        a, b, c = corner.T
        ab, bc, ca = edge.T
        once = (count == 1) & (ab >= 0)
        twice = (count == 2) & (ca < 0)
        for use, pieces in (
            (once, ((a, ab, c), (ab, b, c))),
            (twice, ((ab, b, bc), (a, ab, bc), (a, bc, c))),
        ):
            done += [np.stack(piece, 1)[use] for piece in pieces]
    a, b, c = triangles[count == 3].T
    ab, bc, ca = middle[count == 3].T
    done += [np.stack(piece, 1) for piece in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
    return np.concatenate(done)
