"""Parts of a mesh, joined."""

import numpy as np
import pytest
from visavis.scripts.presenters.piece import Part, Piece, grid, join, make_piece, merged


def square(part: Part, x: float, **shapes: float) -> Piece:
    """A square at column `x` whose shapes move all of it to the right."""
    points = np.array([[x, 1.0, 0], [x + 1, 1, 0], [x, 0, 0], [x + 1, 0, 0]])
    moved = {name: np.full((4, 3), step) for name, step in shapes.items()}
    return make_piece(part, points, grid(2, 2), color=(1, 2, 3), shapes=moved)


def test_joined_triangles_point_at_their_own_vertices() -> None:
    tensors = join([square(Part.SKIN, 0), square(Part.LASH, 5)], ["jawOpen"])
    place = tensors["vertices"][tensors["triangles"].astype(int)]
    assert place[tensors["parts"] == Part.SKIN][..., 0].max() == 1
    assert place[tensors["parts"] == Part.LASH][..., 0].min() == 5


def test_shapes_are_sparse_steps_in_the_order_of_the_units() -> None:
    pieces = [square(Part.SKIN, 0, jawOpen=0.5), square(Part.LASH, 5, eyeBlinkLeft=0.25)]
    tensors = join(pieces, ["eyeBlinkLeft", "jawOpen", "mouthClose"])
    np.testing.assert_array_equal(tensors["shape_start"], [0, 4, 8, 8])
    np.testing.assert_array_equal(tensors["shape_vertex"], [4, 5, 6, 7, 0, 1, 2, 3])
    np.testing.assert_array_equal(tensors["shape_delta"][:4], 500)
    np.testing.assert_array_equal(tensors["shape_delta"][4:], 1000)


def test_shapes_that_move_nothing_are_dropped() -> None:
    piece = make_piece(
        Part.SKIN, np.zeros((3, 3)), np.array([[0, 1, 2]]), shapes={"jawOpen": np.zeros((3, 3))}
    )
    assert piece.shapes == {}


def test_too_many_vertices_are_refused() -> None:
    piece = make_piece(Part.SKIN, np.zeros((40000, 3)), np.array([[0, 1, 2]]))
    with pytest.raises(ValueError, match="make the reliefs coarser"):
        join([piece, piece], [])


def test_a_merged_piece_keeps_what_each_part_of_it_does() -> None:
    both = merged([square(Part.LASH, 0, jawOpen=1.0), square(Part.LASH, 5)])
    np.testing.assert_array_equal(both.shapes["jawOpen"][:, 0], [1, 1, 1, 1, 0, 0, 0, 0])
    assert both.triangles.max() == 7


def test_only_keeps_the_vertices_of_the_chosen_triangles() -> None:
    piece = square(Part.SKIN, 0, jawOpen=1.0).only(np.array([True, False]))
    assert len(piece.vertices) == 3
    assert len(piece.shapes["jawOpen"]) == 3


def test_a_grid_faces_the_viewer() -> None:
    points = np.array([[0.0, 1], [1, 1], [0, 0], [1, 0]])
    a, b, c = (points[grid(2, 2)[:, k]] for k in range(3))
    first, second = b - a, c - a
    assert (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0] > 0).all()
