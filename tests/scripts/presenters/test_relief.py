"""Hair as a relief."""

import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.scripts.presenters.camera import front_camera
from visavis.scripts.presenters.piece import Part
from visavis.scripts.presenters.relief import STEEPEST, closed, eased, relief
from visavis.scripts.presenters.trace import trace

CAMERA = front_camera(np.array([0.0, 6.0, 1.0]), 10.7).scaled(0.25)
HEIGHT, WIDTH = CAMERA.size[1], CAMERA.size[0]


def layer() -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """A brown ring, 10 away, whose lower half lies half a unit further off."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    radius = np.hypot(x - 200, y - 150)
    ring = (radius > 50) & (radius < 90)
    picture = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    picture[ring] = (90, 60, 40, 255)
    depth = np.where(ring, np.where(y < 150, 10.0, 10.5), np.inf)
    return picture, depth.astype(np.float32)


def test_a_relief_covers_its_layer_from_its_own_camera() -> None:
    picture, depth = layer()
    made = relief(Part.HAIR_FRONT, picture, depth, CAMERA)
    hits = trace(CAMERA.project(made.piece.vertices), made.piece.triangles, CAMERA.size, cull=True)
    assert hits.seen[picture[..., 3] > 0].all()


def test_its_texture_lies_where_the_picture_was() -> None:
    picture, depth = layer()
    made = relief(Part.HAIR_FRONT, picture, depth, CAMERA)
    hits = trace(CAMERA.project(made.piece.vertices), made.piece.triangles, CAMERA.size, cull=True)
    uv = hits.blend(made.piece.triangles, made.piece.uv)
    high, wide = made.texture.shape[:2]
    column, row = (uv * (wide, high)).astype(int).T
    alpha = made.texture[np.clip(row, 0, high - 1), np.clip(column, 0, wide - 1), 3]
    assert (alpha == picture[hits.seen][:, 3]).mean() > 0.99


def test_its_vertices_lie_at_the_strands_depth() -> None:
    picture, depth = layer()
    screen = CAMERA.project(relief(Part.HAIR_FRONT, picture, depth, CAMERA).piece.vertices)
    radius = np.hypot(screen[:, 0] - 200, screen[:, 1] - 150)
    top = (radius > 55) & (radius < 85) & (screen[:, 1] < 120)
    assert np.abs(screen[top, 2] - 10).max() < 0.02


def test_the_middle_of_a_ring_has_no_triangles() -> None:
    made = relief(Part.BACK_FRONT, *layer(), CAMERA)
    hits = trace(CAMERA.project(made.piece.vertices), made.piece.triangles, CAMERA.size, cull=True)
    assert not hits.seen[140:160, 190:210].any()


def test_what_is_hidden_has_no_triangles() -> None:
    picture, depth = layer()
    hidden = np.zeros((HEIGHT, WIDTH), bool)
    hidden[:, :200] = True
    made = relief(Part.BACK_FRONT, picture, depth, CAMERA, hidden)
    assert CAMERA.project(made.piece.vertices)[:, 0].min() > 180


def test_colors_go_on_under_transparent_edges() -> None:
    texture = relief(Part.HAIR_FRONT, *layer(), CAMERA).texture
    np.testing.assert_allclose(texture[..., :3].astype(int) - (90, 60, 40), 0, atol=2)


def test_an_outline_is_eased_towards_what_is_in_front() -> None:
    depth = np.full((9, 9), 10.0, np.float32)
    depth[:, 5:] = 14
    slope = eased(depth, 0.1)
    np.testing.assert_array_equal(slope[:, :5], 10)
    assert np.diff(slope, axis=1).max() <= 0.1 * STEEPEST + 1e-5


def test_an_empty_layer_is_refused() -> None:
    picture, depth = layer()
    with pytest.raises(ValueError, match="HAIR_LEFT is empty; render it again"):
        relief(Part.HAIR_LEFT, picture * 0, depth, CAMERA)


def test_closed_hair_hides_what_lies_between_its_strands_above_the_nape() -> None:
    picture = closed(layer()[0], 120.0, 180.0)
    assert picture[150, 200, 3] == 255
    assert picture[190, 200, 3] == 0
    assert picture[110, 200, 3] == 255
    assert picture[150, 60, 3] == 0
    assert picture[150, 200, :3].max() < 90


def test_closed_hair_keeps_what_is_open_to_the_top() -> None:
    picture, _ = layer()
    picture[:150, 170:230] = 0
    assert closed(picture, 120.0, 180.0)[70:140, 180:220, 3].max() == 0


def test_hair_in_the_dark_under_a_head_is_lit_above_the_eyes() -> None:
    picture, _ = layer()
    picture[100:200, 150:250] = (2, 2, 2, 255)
    lit = closed(picture, 150.0, 180.0)[..., :3].max(2)
    assert 60 < lit[110:130, 170:230].min() <= lit[110:130, 170:230].max() < 90
    assert lit[152:170, 170:230].max() <= 2


def test_closing_leaves_the_strands_as_they_are() -> None:
    picture, _ = layer()
    ring = picture[..., 3] == 255
    np.testing.assert_array_equal(closed(picture, 0.0, 300.0)[ring], picture[ring])
