import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.typing import NDArray
from visavis.render.rig.scan import BOTH, FRONT, ONE, Scratch, scan, scratch

F32 = NDArray[np.float32]
SIDE = 24
QUAD = [(4.0, 4.0), (4.0, 20.0), (20.0, 20.0), (20.0, 4.0)]
HALVES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


@njit
def counted(
    screen: F32,
    triangles: NDArray[np.int32],
    sides: int,
    uv: F32,
    shares: bool,
    most: int,
    spans: NDArray[np.int32],
    depths: F32,
    seen: NDArray[np.int64],
    values: F32,
) -> int:
    """Count in `seen` (H, W) how often each pixel is covered; `values` (3, H, W) are its coordinates and
    depth."""
    height, width = seen.shape
    turn, turns = 0, 0
    while turn < triangles.shape[0]:
        turn, count = scan(
            screen, triangles, turn, sides, uv, shares, most, most, 0.5, width, height, spans, depths
        )
        turns += 1
        for k in range(count):
            for step, at in enumerate(range(spans[k, 0], spans[k, 1])):
                y, x = at // width, at % width
                seen[y, x] += 1
                values[0, y, x] = (spans[k, 3] + step * spans[k, 5]) / ONE
                values[1, y, x] = (spans[k, 4] + step * spans[k, 6]) / ONE
                values[2, y, x] = depths[k, 0] + step * depths[k, 1]
    return turns


def drawn(
    corners: list[tuple[float, float]],
    *,
    sides: int = BOTH,
    shares: bool = False,
    most: int = 1 << 30,
    triangles: NDArray[np.int32] = HALVES,
    room: Scratch | None = None,
) -> tuple[NDArray[np.int64], F32, int]:
    screen = np.array([(x, y, 1 + x / 10 + y / 20) for x, y in corners], np.float32)
    uv = np.ascontiguousarray(screen[:, :2] * 2)
    seen, values = np.zeros((SIDE, SIDE), np.int64), np.zeros((3, SIDE, SIDE), np.float32)
    table = room or scratch(SIDE)
    turns = counted(screen, triangles, sides, uv, shares, most, table.spans, table.depths, seen, values)
    return seen, values, turns


def test_a_quad_covers_exactly_the_pixels_whose_centres_it_holds() -> None:
    seen, _, _ = drawn(QUAD)
    wanted = np.zeros((SIDE, SIDE), np.int64)
    wanted[4:20, 4:20] = 1
    assert np.array_equal(seen, wanted)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.floats(-8, 32), st.floats(-8, 32)), min_size=4, max_size=4))
def test_two_triangles_share_an_edge_without_gap_or_overlap(corners: list[tuple[float, float]]) -> None:
    """Two triangles on either side of the line from corner 0 to 1."""
    (x0, y0), (x1, y1), *others = corners
    side = [(x1 - x0) * (y - y0) - (x - x0) * (y1 - y0) for x, y in others]
    if side[0] * side[1] >= 0 or min(abs(each) for each in side) < 1e-2:
        return
    pair = np.array([[0, 1, 2], [0, 3, 1]], np.int32)
    seen, _, _ = drawn(corners, triangles=pair)
    assert seen.max() <= 1
    y, x = np.mgrid[:SIDE, :SIDE] + 0.5
    held, beside = np.zeros((SIDE, SIDE), np.bool_), np.ones((SIDE, SIDE), np.bool_)
    for a, b, c in ((corners[k] for k in row) for row in pair.tolist()):
        signs = [(q[0] - p[0]) * (y - p[1]) - (x - p[0]) * (q[1] - p[1]) for p, q in ((a, b), (b, c), (c, a))]
        low, high = np.min(signs, 0), np.max(signs, 0)
        held |= (low > 0.02) | (high < -0.02)
        beside &= (low < -0.02) & (high > 0.02)
    assert (seen[held] == 1).all()
    assert (seen[beside] == 0).all()


def test_only_one_side_of_a_triangle_is_its_front() -> None:
    assert drawn(QUAD, sides=FRONT)[0].sum() == 256
    assert drawn(QUAD[::-1], sides=FRONT)[0].sum() == 0
    assert drawn(QUAD[::-1], sides=BOTH)[0].sum() == 256


def test_coordinates_and_depth_are_those_of_the_pixels_centres() -> None:
    seen, values, _ = drawn([(3.3, 4.1), (5.2, 19.7), (21.4, 18.2), (17.9, 3.6)])
    y, x = np.nonzero(seen)
    assert np.abs(values[0, y, x] - 2 * (x + 0.5)).max() < 0.01
    assert np.abs(values[1, y, x] - 2 * (y + 0.5)).max() < 0.01
    assert np.abs(values[2, y, x] - (1.5 + (x + 0.5) / 10 + (y + 0.5) / 20)).max() < 1e-4


def test_shares_are_those_of_the_second_and_third_corner() -> None:
    seen, values, _ = drawn(
        [(0, 0), (0, 20), (20, 0)], shares=True, triangles=np.array([[0, 1, 2]], np.int32)
    )
    y, x = np.nonzero(seen)
    assert np.abs(values[0, y, x] - (y + 0.5) / 20).max() < 1e-3
    assert np.abs(values[1, y, x] - (x + 0.5) / 20).max() < 1e-3


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.floats(-500, 500), st.floats(-500, 500)), min_size=4, max_size=4))
def test_coordinates_never_leave_their_limits(corners: list[tuple[float, float]]) -> None:
    most = 30 * ONE
    seen, values, _ = drawn(corners, most=most)
    inside = values[:2, seen > 0]
    assert inside.size == 0 or (inside.min() >= 0 and inside.max() <= 30)


@pytest.mark.parametrize("corner", [(-30.0, -30.0), (60.0, 60.0), (-1e6, 5.0)])
def test_what_leaves_the_picture_is_cut(corner: tuple[float, float]) -> None:
    seen, _, _ = drawn([corner, (4, 20), (20, 20), (20, 4)])
    assert seen.shape == (SIDE, SIDE)
    assert seen.max() == 1


def test_a_full_table_ends_a_turn_and_nothing_is_lost() -> None:
    many = np.tile(HALVES, (400, 1)).astype(np.int32)
    seen, _, turns = drawn(QUAD, triangles=many)
    assert turns > 1
    assert (seen[4:20, 4:20] == 400).all()
