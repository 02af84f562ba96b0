"""A mesh that is made finer where its surface bends."""

import numpy as np
from visavis.scripts.presenters.bend import split
from visavis.scripts.presenters.piece import Part, Piece, make_piece


def octahedron() -> Piece:
    points = np.concatenate([np.eye(3), -np.eye(3)])
    right = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    return make_piece(Part.SKIN, points, np.array(right), uv=points[:, :2], shapes={"jawOpen": points})


def edges_used(triangles: np.ndarray) -> np.ndarray:
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), 1)
    return np.unique(sides, axis=0, return_counts=True)[1]


def test_a_coarse_ball_becomes_round_without_a_crack() -> None:
    piece = octahedron()
    fine, normals, mine = split(piece, piece.vertices, np.ones(6, bool), 0.01)
    fine, normals, mine = split(fine, normals, mine, 0.01)
    assert len(fine.triangles) == 8 * 16
    assert (edges_used(fine.triangles) == 2).all()
    corner = fine.vertices[fine.triangles]
    outward = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    assert ((outward * corner.mean(1)).sum(1) > 0).all()
    assert np.linalg.norm(fine.vertices, axis=1).min() > 0.85
    np.testing.assert_allclose(fine.shapes["jawOpen"][:, :2], fine.uv)


def test_what_is_flat_or_not_mine_stays_whole_and_nothing_opens_beside_it() -> None:
    piece = octahedron()
    some = np.array([True, True, True, True, False, False])
    fine, _, mine = split(piece, piece.vertices, some, 0.01)
    assert len(fine.triangles) > len(piece.triangles)
    assert (edges_used(fine.triangles) == 2).all()
    assert mine.sum() == 4 + len(fine.vertices) - 6
    flat = np.tile((0.0, 0.0, 1.0), (6, 1))
    level = make_piece(Part.SKIN, piece.vertices * (1, 1, 0), piece.triangles)
    assert len(split(level, flat, np.ones(6, bool), 0.01)[0].triangles) == 8
