"""What an opaque picture hides is left out, and nothing else."""

import numpy as np
from numpy.typing import NDArray
from visavis.render.rig.cull import TILE, open_tiles, under_tiles, within_rows

U32 = NDArray[np.uint32]

WIDTH, HEIGHT = 5 * TILE + 3, 4 * TILE + 5
SOLID = np.uint32(0xFF102030)


def tiles(picture: U32) -> NDArray[np.uint8]:
    return open_tiles(picture.reshape(-1).copy(), WIDTH, 0, 0, WIDTH, HEIGHT)


def solid() -> U32:
    return np.full((HEIGHT, WIDTH), SOLID, np.uint32)


def corners(*points: tuple[float, float]) -> NDArray[np.float32]:
    return np.array([(x, y, 1) for x, y in points], np.float32)


TRIANGLE = np.array([[0, 1, 2]], np.int32)


def test_a_tile_is_open_when_one_of_its_pixels_is_not_opaque() -> None:
    picture = solid()
    picture[TILE + 3, 2 * TILE + 7] = 0xFE102030
    found = tiles(picture)
    assert found[1, 2] == 1
    assert found[:, :5].sum() == 1


def test_a_tile_beyond_the_last_whole_column_is_open() -> None:
    assert tiles(solid())[:, 5].all()
    assert not tiles(solid())[4, :5].any()


def test_tiles_outside_of_the_box_count_as_shut() -> None:
    found = open_tiles(np.zeros(WIDTH * HEIGHT, np.uint32), WIDTH, TILE, TILE, 2 * TILE, 3 * TILE)
    assert found[1:3, 1].all()
    assert found.sum() == 2


def test_a_triangle_is_kept_where_it_touches_an_open_tile() -> None:
    picture = solid()
    picture[TILE, TILE] = 0
    near = corners((TILE + 1, 1), (TILE + 5, 1), (TILE + 2, TILE + 1))
    away = corners((3 * TILE, 1), (3 * TILE + 5, 1), (3 * TILE, 2 * TILE))
    outside = corners((-90, -90), (-80, -90), (-90, -80))
    assert np.array_equal(under_tiles(near, TRIANGLE, tiles(picture)), TRIANGLE)
    assert len(under_tiles(away, TRIANGLE, tiles(picture))) == 0
    assert len(under_tiles(outside, TRIANGLE, tiles(picture))) == 0


def test_every_triangle_is_kept_under_an_empty_picture() -> None:
    points = np.random.default_rng(2).uniform(0, 4 * TILE, (30, 3)).astype(np.float32)
    triangles = np.arange(30, dtype=np.int32).reshape(10, 3)
    assert np.array_equal(under_tiles(points, triangles, tiles(solid() * 0)), triangles)


def test_what_lies_above_and_below_two_rows_is_left_out() -> None:
    screen = corners((0, 0), (9, 0), (0, 9), (0, 20), (9, 20), (0, 29), (0, 40), (9, 41), (0, 49))
    triangles = np.arange(9, dtype=np.int32).reshape(3, 3)
    for top, bottom, kept in ((10, 39, [1]), (9, 40, [0, 1, 2]), (22, 23, [1]), (60, 70, []), (30, 31, [])):
        assert np.array_equal(within_rows(screen, triangles, top, bottom), triangles[kept])
