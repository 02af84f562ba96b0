import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.render.rig import edges, raster
from visavis.render.rig.scan import scratch

SIDE = 64
F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
RED = 0xFF0000FF
SCRATCH = scratch(SIDE)


def sphere(*, split: bool = False) -> tuple[F32, I32]:
    """A ball of radius 20 in the middle of the picture; `split` gives each triangle vertices of its own."""
    rows, columns = 17, 32
    tilt, turn = np.meshgrid(
        np.linspace(0, np.pi, rows), np.arange(columns) / columns * 2 * np.pi, indexing="ij"
    )
    points = np.stack([np.sin(tilt) * np.cos(turn), np.cos(tilt), np.sin(tilt) * np.sin(turn)], -1)
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b = index[:-1], index[1:]
    c, d = np.roll(b, -1, 1), np.roll(a, -1, 1)
    triangles = np.concatenate(
        [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
    )
    screen = (points.reshape(-1, 3) * (20, -20, -20) + (SIDE / 2 + 0.3, SIDE / 2 + 0.2, 100)).astype(
        np.float32
    )
    x0, y0 = screen[triangles[:, 0], 0], screen[triangles[:, 0], 1]
    second, third = screen[triangles[:, 1], :2], screen[triangles[:, 2], :2]
    area = (second[:, 0] - x0) * (third[:, 1] - y0) - (third[:, 0] - x0) * (second[:, 1] - y0)
    toward = screen[triangles, 2].mean(1) < 100
    triangles = np.where(((area > 0) == toward)[:, None], triangles[:, ::-1], triangles)
    triangles = triangles[np.abs(area) > 1e-6].astype(np.int32)
    if split:
        screen = np.ascontiguousarray(screen[triangles].reshape(-1, 3))
        triangles = np.arange(len(screen), dtype=np.int32).reshape(-1, 3)
    return screen, np.ascontiguousarray(triangles)


def smoothed(screen: F32, triangles: I32, depth: F32 | None = None) -> tuple[NDArray[np.uint8], int]:
    """Alpha (H, W) of a red mesh with its fringe, and how many edges its outline has."""
    outline = edges.load_outline(screen, triangles)
    fringe = edges.fringe(outline, triangles)
    out = np.zeros(SIDE * SIDE, np.uint32)
    near = np.full(SIDE * SIDE, raster.FAR, np.float32) if depth is None else depth
    uv, texture = np.zeros((len(screen), 2), np.float32), np.full(9, RED, np.uint32)
    raster.draw_solid(screen, triangles, uv, texture, 3, 0.0, out, near, SIDE, SCRATCH.spans, SCRATCH.depths)
    count = edges.find_outline(screen, triangles, outline.sides, fringe.facing, fringe.chosen)
    edges.grow_fringe(
        screen, outline.ends, outline.sides, outline.point, fringe.facing, fringe.chosen[:count], uv,
        fringe.normal, fringe.corners, fringe.coordinates,
    )  # fmt: skip
    edges.draw_fringe(
        fringe.corners, fringe.triangles[: 2 * count], fringe.coordinates, texture, 3, out, near, SIDE,
        SCRATCH.spans, SCRATCH.depths, fringe.trail, fringe.colors,
    )  # fmt: skip
    return (out >> np.uint32(24)).reshape(SIDE, SIDE).astype(np.uint8), count


def test_an_edge_belongs_to_two_triangles() -> None:
    screen = np.array([(0, 0, 0), (0, 9, 0), (9, 9, 0), (9, 0, 0)], np.float32)
    outline = edges.load_outline(screen, np.array([[0, 1, 2], [0, 2, 3]], np.int32))
    assert outline.ends[0].tolist() in ([0, 2, 0, 2], [2, 0, 2, 0])
    assert sorted(outline.sides[0].tolist()) == [0, 1]
    assert len(outline.ends) == 1


@pytest.mark.parametrize("split", [False, True], ids=["shared vertices", "vertices of their own"])
def test_the_outline_of_a_ball_is_a_ring(split: bool) -> None:
    screen, triangles = sphere(split=split)
    _, count = smoothed(screen, triangles)
    assert 24 <= count <= 72


@pytest.mark.parametrize("split", [False, True], ids=["shared vertices", "vertices of their own"])
def test_the_rim_of_a_ball_fades_over_one_pixel(split: bool) -> None:
    alpha, _ = smoothed(*sphere(split=split))
    y, x = np.mgrid[:SIDE, :SIDE] + 0.5
    away = np.hypot(x - SIDE / 2 - 0.3, y - SIDE / 2 - 0.2)
    assert (alpha[away < 19.6] == 255).all()
    assert (alpha[away > 21.2] == 0).all()
    rim = (away > 20.0) & (away < 21.0)
    wanted = 255 * (21 - away[rim])
    assert np.abs(alpha[rim] - wanted).mean() < 45
    assert ((alpha[rim] > 20) & (alpha[rim] < 235)).mean() > 0.6


def test_a_fringe_hides_behind_what_is_nearer() -> None:
    nearer = np.full(SIDE * SIDE, 1.0, np.float32)
    alpha, _ = smoothed(*sphere(), depth=nearer)
    assert not alpha.any()


def test_a_surface_that_shows_one_side_only_has_no_outline() -> None:
    screen = np.array([(0, 0, 1), (0, 9, 1), (9, 9, 1), (9, 0, 1)], np.float32)
    _, count = smoothed(screen, np.array([[0, 1, 2], [0, 2, 3]], np.int32))
    assert count == 0


def test_a_fringe_takes_the_texels_of_the_side_that_is_seen() -> None:
    """Two triangles of a fold, the second behind the first, with vertices and texels of their own."""
    screen = np.array(
        [(20, 20, 5), (20, 40, 5), (40, 40, 5), (20, 20, 5), (40, 40, 5), (22, 41, 9)], np.float32
    )
    triangles = np.array([[0, 1, 2], [3, 4, 5]], np.int32)
    uv = np.array([(1, 1)] * 3 + [(7, 7)] * 3, np.float32)
    for order in (triangles, np.ascontiguousarray(triangles[::-1])):
        outline = edges.load_outline(screen, order)
        fringe = edges.fringe(outline, order)
        count = edges.find_outline(screen, order, outline.sides, fringe.facing, fringe.chosen)
        edges.grow_fringe(
            screen, outline.ends, outline.sides, outline.point, fringe.facing, fringe.chosen[:count], uv,
            fringe.normal, fringe.corners, fringe.coordinates,
        )  # fmt: skip
        assert count == 1
        seen = 1 if fringe.facing[int(np.flatnonzero(order[:, 0] == 0)[0])] else 7
        assert (fringe.coordinates[:4, :2] == seen).all()


def mended(*, covered: bool) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Red (H, W) of a ball whose fringe blue strands hid later, and of the same mended; strands lie over the
    ball too where it is `covered`."""
    blue, black = 0xFFFF0000, 0xFF000000
    screen, triangles = sphere()
    outline = edges.load_outline(screen, triangles)
    fringe = edges.fringe(outline, triangles)
    out, near = np.full(SIDE * SIDE, black, np.uint32), np.full(SIDE * SIDE, raster.FAR, np.float32)
    uv, texture = np.zeros((len(screen), 2), np.float32), np.full(9, 0xFF00FFFF, np.uint32)
    raster.draw_solid(screen, triangles, uv, texture, 3, 0.0, out, near, SIDE, SCRATCH.spans, SCRATCH.depths)
    found = edges.find_outline(screen, triangles, outline.sides, fringe.facing, fringe.chosen)
    chosen = fringe.chosen[:found]
    edges.grow_fringe(
        screen, outline.ends, outline.sides, outline.point, fringe.facing, chosen, uv,
        fringe.normal, fringe.corners, fringe.coordinates,
    )  # fmt: skip
    count = edges.draw_fringe(
        fringe.corners, fringe.triangles[: 2 * len(chosen)], fringe.coordinates, texture, 3, out, near, SIDE,
        SCRATCH.spans, SCRATCH.depths, fringe.trail, fringe.colors,
    )  # fmt: skip
    edges.remember(out, fringe.trail, fringe.colors, count)
    out[near == raster.FAR] = blue
    if covered:
        out[:] = blue
    hidden = (out & np.uint32(255)).reshape(SIDE, SIDE).astype(np.uint8)
    edges.mend(out, fringe.trail, fringe.colors, count)
    return hidden, (out & np.uint32(255)).reshape(SIDE, SIDE).astype(np.uint8)


def test_an_outline_on_strands_that_were_drawn_later_is_soft_again() -> None:
    hidden, mended_red = mended(covered=False)
    assert set(np.unique(hidden)) == {0, 255}
    soft = (mended_red > 0) & (mended_red < 255)
    assert soft.sum() > 100
    assert not (hidden > mended_red).any()


def test_an_outline_under_strands_stays_hidden() -> None:
    hidden, mended_red = mended(covered=True)
    assert np.array_equal(hidden, mended_red)
