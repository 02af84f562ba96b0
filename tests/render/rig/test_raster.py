import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.render.rig import raster
from visavis.render.rig.scan import scratch

SIDE = 24
RED, GREEN, CLEAR = 0xFF0000FF, 0xFF00FF00, 0
F32 = NDArray[np.float32]
U32 = NDArray[np.uint32]
Corners = list[tuple[float, float]]
QUAD: Corners = [(4, 4), (4, 20), (20, 20), (20, 4)]
HALVES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
SCRATCH = scratch(SIDE)


def far() -> F32:
    return np.full(SIDE * SIDE, raster.FAR, np.float32)


def page(color: int) -> U32:
    return np.full((SIDE + 1) * (SIDE + 1), color, np.uint32)


def solid(
    out: U32, depth: F32, *, color: int = RED, at: float = 1.0, bias: float = 0.0, corners: Corners = QUAD
) -> U32:
    screen = np.array([(x, y, at) for x, y in corners], np.float32)
    uv = np.clip(screen[:, :2] - 0.5, 0, SIDE - 1).astype(np.float32)
    raster.draw_solid(
        screen, HALVES, uv, page(color), SIDE + 1, bias, out, depth, SIDE, SCRATCH.spans, SCRATCH.depths
    )
    return out.reshape(SIDE, SIDE)


def layer(
    out: U32, depth: F32, *, color: int, at: float = 1.0, soft: float = 0.0, corners: Corners = QUAD
) -> U32:
    screen = np.array([(x, y, at) for x, y in corners], np.float32)
    uv = np.clip(screen[:, :2] - 0.5, 0, SIDE - 1).astype(np.float32)
    raster.draw_layer(
        screen, HALVES, uv, page(color), SIDE + 1, 0.0, soft, out, depth, SIDE, SCRATCH.spans, SCRATCH.depths
    )
    return out.reshape(SIDE, SIDE)


def under(out: U32, *, color: int, above: U32 | None = None, corners: Corners = QUAD) -> U32:
    screen = np.array([(x, y, 1) for x, y in corners], np.float32)
    uv = np.clip(screen[:, :2] - 0.5, 0, SIDE - 1).astype(np.float32)
    raster.draw_under(
        screen,
        HALVES,
        uv,
        page(color),
        SIDE + 1,
        out if above is None else above,
        out,
        SIDE,
        SCRATCH.spans,
        SCRATCH.depths,
    )
    return out.reshape(SIDE, SIDE)


def empty() -> U32:
    return np.zeros(SIDE * SIDE, np.uint32)


def test_a_solid_is_seen_from_the_front_only() -> None:
    assert (solid(empty(), far()) == RED).sum() == 256
    assert not solid(empty(), far(), corners=QUAD[::-1]).any()


def test_layers_are_seen_from_both_sides() -> None:
    assert (layer(empty(), far(), color=RED, corners=QUAD[::-1]) == RED).sum() == 256
    assert (under(empty(), color=RED, corners=QUAD[::-1]) == RED).sum() == 256


def test_the_nearer_surface_wins_in_either_order() -> None:
    for order in ((1.0, RED), (2.0, GREEN)), ((2.0, GREEN), (1.0, RED)):
        out, depth = empty(), far()
        for at, color in order:
            solid(out, depth, color=color, at=at)
        assert out.reshape(SIDE, SIDE)[10, 10] == RED


def test_a_bias_brings_a_surface_to_the_front() -> None:
    out, depth = empty(), far()
    solid(out, depth, color=RED, at=1.0)
    solid(out, depth, color=GREEN, at=1.05, bias=-0.1)
    assert out.reshape(SIDE, SIDE)[10, 10] == GREEN


def test_what_is_clear_leaves_no_depth() -> None:
    depth = far()
    solid(empty(), depth, color=CLEAR)
    assert (depth == raster.FAR).all()


def test_a_layer_leaves_no_depth_and_hides_behind_what_is_nearer() -> None:
    out, depth = empty(), far()
    layer(out, depth, color=RED)
    assert (depth == raster.FAR).all()
    solid(out, depth, color=GREEN, at=1.0)
    layer(out, depth, color=RED, at=2.0)
    assert out.reshape(SIDE, SIDE)[10, 10] == GREEN


def test_a_layer_fades_where_it_dips_into_a_surface() -> None:
    shown: list[int] = []
    for at in (1.95, 1.75, 1.5, 1.0):
        out, depth = empty(), np.full(SIDE * SIDE, 2.0, np.float32)
        shown.append(int(layer(out, depth, color=RED, at=at, soft=0.5)[10, 10]) >> 24)
    assert shown[0] == pytest.approx(26, abs=2)
    assert shown[1] == pytest.approx(128, abs=2)
    assert shown[2:] == [255, 255]


def test_alpha_tells_how_much_of_the_plate_is_covered() -> None:
    out = empty()
    for covered in (128, 192, 224):
        pixel = int(layer(out, far(), color=0x80000080)[10, 10])
        assert pixel >> 24 == pytest.approx(covered, abs=1)


@pytest.mark.parametrize("front", [0x80000080, CLEAR], ids=["half covered", "free"])
def test_the_layer_behind_may_be_drawn_last(front: int) -> None:
    """The order of drawing makes no difference."""
    back = 0x80800000
    late = layer(empty(), far(), color=front)
    late = under(late.reshape(-1), color=back)
    early = layer(empty(), far(), color=back)
    early = layer(early.reshape(-1), far(), color=front)
    apart = late.copy().view(np.uint8).astype(int) - early.copy().view(np.uint8)
    assert np.abs(apart).max() <= 1
    assert (late != 0).sum() == 256


def test_the_layer_behind_leaves_what_is_covered() -> None:
    out = np.full(SIDE * SIDE, GREEN, np.uint32)
    assert (under(out, color=RED) == GREEN).all()


def test_another_picture_may_tell_what_is_covered() -> None:
    above = empty().reshape(SIDE, SIDE)
    above[:12] = GREEN
    drawn = under(empty(), color=RED, above=above.reshape(-1))
    assert not drawn[:12].any()
    assert (drawn[12:20, 4:20] == RED).all()


def test_toned_triangles_take_their_colour_from_their_corners() -> None:
    tone = np.array([[0, 10, 300], [100, 10, 300], [100, 10, 300], [0, 10, 300]], np.float32)
    screen = np.array([(x, y, 1) for x, y in QUAD], np.float32)
    out = empty()
    raster.draw_toned(screen, HALVES, tone, 0.0, out, far(), SIDE, SCRATCH.spans, SCRATCH.depths)
    drawn = out.reshape(SIDE, SIDE)
    red = drawn[:, 10] & 0xFF
    assert red[5] < red[12] < red[19]
    assert int(drawn[10, 10] >> 8) & 0xFF == pytest.approx(10, abs=1)
    assert int(drawn[10, 10] >> 16) & 0xFF == 255
    assert (drawn[4:20, 4:20] >> 24 == 255).all()


def test_a_texture_at_its_own_size_is_copied_exactly() -> None:
    texels = np.random.default_rng(3).integers(0, 2**24, (SIDE + 1, SIDE + 1)).astype(np.uint32) | 0xFF000000
    screen = np.array([(0, 0, 1), (0, SIDE, 1), (SIDE, SIDE, 1), (SIDE, 0, 1)], np.float32)
    uv = np.ascontiguousarray(screen[:, :2] - 0.5)
    out = empty()
    raster.draw_solid(
        screen, HALVES, uv, texels.reshape(-1), SIDE + 1, 0.0, out, far(), SIDE, SCRATCH.spans, SCRATCH.depths
    )
    apart = out.view(np.uint8).astype(int) - texels[:SIDE, :SIDE].copy().view(np.uint8).reshape(-1)
    assert np.abs(apart).max() <= 1


@pytest.mark.parametrize(("share", "red"), [(0, 255), (64, 191), (256, 0)])
def test_two_pictures_are_cross_faded_over_another(share: int, red: int) -> None:
    first, second = np.full(SIDE * SIDE, RED, np.uint32), np.full(SIDE * SIDE, GREEN, np.uint32)
    out = np.full(SIDE * SIDE, 0xFFFF0000, np.uint32)
    raster.merge(first, second, share, True, out, SIDE, 2, 3, 10, 12)
    drawn = out.reshape(SIDE, SIDE)
    assert int(drawn[5, 5]) & 0xFF == pytest.approx(red, abs=1)
    assert (drawn != 0xFFFF0000).sum() == 8 * 9


@pytest.mark.parametrize(("share", "red"), [(0, 255), (64, 255), (128, 255), (240, 128), (256, 0)])
def test_what_only_one_of_two_faded_pictures_shows_stays_nearly_to_the_end(share: int, red: int) -> None:
    first = np.full(SIDE * SIDE, RED, np.uint32)
    for pair, part in (((first.copy(), empty()), share), ((empty(), first), 256 - share)):
        out = np.full(SIDE * SIDE, 0xFFFF0000, np.uint32)
        raster.merge(*pair, part, True, out, SIDE, 0, 0, SIDE, SIDE)
        assert int(out[0]) & 0xFF == pytest.approx(red, abs=1)
        assert int(out[0] >> 16) & 0xFF == pytest.approx(255 - red, abs=1)


def test_faded_pictures_keep_their_colours_where_both_are_half_clear() -> None:
    first, second = np.full(SIDE * SIDE, 0x80000080, np.uint32), np.full(SIDE * SIDE, 0x40004000, np.uint32)
    out = empty()
    raster.merge(first, second, 128, True, out, SIDE, 0, 0, SIDE, SIDE)
    red, green, alpha = int(out[0]) & 0xFF, int(out[0] >> 8) & 0xFF, int(out[0]) >> 24
    assert alpha == pytest.approx(128, abs=2)
    assert red + green == pytest.approx(alpha, abs=2)
    assert red == pytest.approx(2 * green, abs=3)


def test_pictures_merged_under_another_leave_it_as_it_is() -> None:
    out = np.full(SIDE * SIDE, GREEN, np.uint32)
    both = np.full(SIDE * SIDE, RED, np.uint32)
    raster.merge(both, both, 100, False, out, SIDE, 0, 0, SIDE, SIDE)
    assert (out == GREEN).all()


def test_merged_pictures_are_left_empty_inside_the_box_alone() -> None:
    first, second = np.full(SIDE * SIDE, RED, np.uint32), np.full(SIDE * SIDE, GREEN, np.uint32)
    raster.merge(first, second, 100, True, empty(), SIDE, 2, 3, 21, 12)
    for layer in (first, second):
        assert (layer.reshape(SIDE, SIDE)[3:12, 2:21] == 0).all()
        assert (layer != 0).sum() == SIDE * SIDE - 19 * 9
