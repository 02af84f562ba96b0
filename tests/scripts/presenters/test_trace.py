"""Which triangle a pixel shows."""

import numpy as np
from visavis.scripts.presenters.trace import trace

SQUARE = np.array([[2.0, 2, 5], [2, 10, 5], [10, 10, 5], [10, 2, 5]])
HALVES = np.array([[0, 1, 2], [0, 2, 3]])


def test_two_triangles_fill_their_square_without_a_gap() -> None:
    seen = trace(SQUARE, HALVES, (12, 12), cull=True).seen
    assert seen.sum() == 64
    assert seen[2:10, 2:10].all()


def test_the_nearer_triangle_wins_in_either_order() -> None:
    near = SQUARE * (0.5, 0.5, 1) - (0, 0, 2)
    points = np.concatenate([SQUARE, near])
    for triangles in (np.concatenate([HALVES, HALVES + 4]), np.concatenate([HALVES + 4, HALVES])):
        hits = trace(points, triangles, (12, 12), cull=True)
        assert hits.depth[3, 3] == 3
        assert hits.depth[8, 8] == 5


def test_triangles_that_turn_their_back_are_seen_only_without_culling() -> None:
    back = HALVES[:, ::-1]
    assert not trace(SQUARE, back, (12, 12), cull=True).seen.any()
    assert trace(SQUARE, back, (12, 12), cull=False).seen.sum() == 64


def test_values_are_blended_true_to_perspective() -> None:
    points = np.array([[0.0, 0, 1], [0, 16, 1], [16, 16, 4], [16, 0, 4]])
    hits = trace(points, HALVES, (16, 16), cull=True)
    far = hits.blend(HALVES, np.array([[0.0], [0.0], [1.0], [1.0]])).reshape(16, 16)
    across = (np.arange(16) + 0.5) / 16
    np.testing.assert_allclose(far[8], across / 4 / (1 - across + across / 4), atol=1e-5)


def test_nothing_is_seen_of_no_triangles() -> None:
    hits = trace(SQUARE, HALVES[:0], (4, 3), cull=True)
    assert hits.seen.shape == (3, 4)
    assert not hits.seen.any()
