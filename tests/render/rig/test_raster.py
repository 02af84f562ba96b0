import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.render.rig import raster

SIDE = 24
RED, GREEN, CLEAR = 0xFF0000FF, 0xFF00FF00, 0
F32 = NDArray[np.float32]
Corners = list[tuple[float, float]]
QUAD: Corners = [(4, 4), (4, 20), (20, 20), (20, 4)]
HALVES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


def picture(
    corners: Corners,
    *,
    kind: int = raster.SKIN,
    page: int = RED,
    blink: float = 0.0,
    depth: float = 1.0,
    out: NDArray[np.uint32] | None = None,
    buffer: F32 | None = None,
    tone: F32 | None = None,
    plate: NDArray[np.uint32] | None = None,
) -> NDArray[np.uint32]:
    """A quad of `corners` drawn in one colour, `closed` in green, over black."""
    atlas = np.full((5, SIDE + 1, SIDE + 1), page, np.uint32)
    atlas[raster.PAGES.index("closed")] = GREEN
    screen = np.array([(x, y, depth) for x, y in corners], np.float32)
    uv = np.clip(screen[:, :2], 0.51, SIDE + 0.4).astype(np.float32)
    target = np.full(SIDE * SIDE, 0xFF000000, np.uint32) if out is None else out.reshape(-1)
    far = np.full(SIDE * SIDE, raster.FAR, np.float32) if buffer is None else buffer
    under = np.zeros(SIDE * SIDE, np.uint32) if plate is None else plate
    raster.draw(
        screen,
        HALVES,
        np.full(2, kind, np.uint8),
        np.zeros(2, np.uint8),
        uv,
        uv,
        atlas.reshape(-1),
        SIDE + 1,
        np.full(2, blink, np.float32),
        np.zeros((2, 2), np.float32),
        np.zeros((4, 3), np.float32) if tone is None else tone,
        np.zeros(6, np.float32),
        under.reshape(-1),
        target,
        far,
        SIDE,
    )
    return target.reshape(SIDE, SIDE)


def test_a_quad_covers_exactly_the_pixels_whose_centres_it_holds() -> None:
    drawn = picture(QUAD) == RED
    wanted = np.zeros((SIDE, SIDE), np.bool_)
    wanted[4:20, 4:20] = True
    assert np.array_equal(drawn, wanted)


@pytest.mark.parametrize("shift", [0.0, 0.13, 0.5, 0.77])
def test_two_halves_share_an_edge_without_gap_or_overlap(shift: float) -> None:
    corners = [(x + shift, y + 0.3 * shift) for x, y in QUAD]
    values = np.unique(picture(corners, page=0x80000080, kind=raster.HAIR))
    assert len(values) == 2


def test_a_triangle_seen_from_behind_is_not_drawn() -> None:
    assert not (picture(QUAD[::-1]) == RED).any()


@pytest.mark.parametrize("kind", [raster.HAIR, raster.BACK], ids=["hair", "back"])
def test_layers_are_drawn_from_both_sides(kind: int) -> None:
    free = np.zeros(SIDE * SIDE, np.uint32)
    assert (picture(QUAD[::-1], kind=kind, out=free) == RED).sum() == 256


@pytest.mark.parametrize("corner", [(-30.0, -30.0), (60.0, 60.0), (-1e6, 5.0)])
def test_what_leaves_the_picture_is_cut(corner: tuple[float, float]) -> None:
    drawn = picture([corner, (4, 20), (20, 20), (20, 4)])
    assert drawn.shape == (SIDE, SIDE)


def test_the_nearer_surface_wins_in_either_order() -> None:
    for order in ((1.0, RED), (2.0, GREEN)), ((2.0, GREEN), (1.0, RED)):
        out, buffer = (
            np.full(SIDE * SIDE, 0xFF000000, np.uint32),
            np.full(SIDE * SIDE, raster.FAR, np.float32),
        )
        for depth, page in order:
            picture(QUAD, page=page, depth=depth, out=out, buffer=buffer)
        assert out.reshape(SIDE, SIDE)[10, 10] == RED


def test_what_is_clear_leaves_no_depth() -> None:
    buffer = np.full(SIDE * SIDE, raster.FAR, np.float32)
    picture(QUAD, page=CLEAR, buffer=buffer)
    assert (buffer == raster.FAR).all()


def test_a_half_clear_layer_mixes_with_what_is_under_it() -> None:
    out = np.full(SIDE * SIDE, GREEN, np.uint32)
    pixel = int(picture(QUAD, page=0x80000080, kind=raster.HAIR, out=out)[10, 10])
    red, green, alpha = pixel & 0xFF, (pixel >> 8) & 0xFF, pixel >> 24
    assert (red, alpha) == (128, 255)
    assert green == pytest.approx(127, abs=1)


def test_alpha_tells_how_much_of_the_plate_is_covered() -> None:
    out = np.full(SIDE * SIDE, GREEN & 0x00FFFFFF, np.uint32)
    for covered in (128, 192, 224):
        pixel = int(picture(QUAD, page=0x80000080, kind=raster.HAIR, out=out)[10, 10])
        assert pixel >> 24 == pytest.approx(covered, abs=1)


@pytest.mark.parametrize("kind", [raster.HAIR, raster.SKIN], ids=["half covered", "free"])
def test_the_layer_behind_may_be_drawn_last(kind: int) -> None:
    """The order of drawing makes no difference: front over back over plate."""
    front, back = (0x80000080 if kind == raster.HAIR else CLEAR), 0x80800000
    plate = np.full(SIDE * SIDE, 0x00204060, np.uint32)
    late, early = plate.copy(), plate.copy()
    picture(QUAD, page=front, kind=kind, out=late)
    picture(QUAD, page=back, kind=raster.BACK, out=late, plate=plate)
    picture(QUAD, page=back, kind=raster.HAIR, out=early)
    picture(QUAD, page=front, kind=kind, out=early)
    assert np.abs(late.view(np.uint8).astype(int) - early.view(np.uint8)).max() <= 2
    assert (late != plate).sum() == 256


def test_the_layer_behind_leaves_what_is_covered() -> None:
    out = np.full(SIDE * SIDE, GREEN, np.uint32)
    picture(QUAD, page=RED, kind=raster.BACK, out=out)
    assert (out == GREEN).all()


@pytest.mark.parametrize(("blink", "green"), [(0.0, 0), (0.5, 128), (1.0, 255)])
def test_lids_fade_to_the_closed_texture(blink: float, green: int) -> None:
    pixel = int(picture(QUAD, kind=raster.LID, blink=blink)[10, 10])
    assert (pixel >> 8) & 0xFF == pytest.approx(green, abs=1)
    assert pixel & 0xFF == pytest.approx(255 - green, abs=1)


def test_the_mouth_takes_its_colour_from_its_corners() -> None:
    tone = np.array([[0, 10, 20], [100, 10, 20], [100, 10, 20], [0, 10, 20]], np.float32)
    drawn = picture(QUAD, kind=raster.SHADE, tone=tone)
    red = drawn[:, 10] & 0xFF
    assert red[5] < red[12] < red[19]
    assert int(drawn[10, 10] >> 8) & 0xFF == pytest.approx(10, abs=1)


def test_a_texture_at_rest_is_copied_exactly() -> None:
    page = np.random.default_rng(3).integers(0, 2**24, (SIDE + 1, SIDE + 1)).astype(np.uint32) | 0xFF000000
    atlas = np.tile(page.reshape(-1), 5)
    screen = np.array([(0, 0, 1), (0, SIDE, 1), (SIDE, SIDE, 1), (SIDE, 0, 1)], np.float32)
    uv = screen[:, :2].copy()
    out, buffer = np.zeros(SIDE * SIDE, np.uint32), np.full(SIDE * SIDE, raster.FAR, np.float32)
    none = np.zeros((2, 2), np.float32)
    flags = np.zeros(2, np.uint8)
    tone, bias = np.zeros((4, 3), np.float32), np.zeros(6, np.float32)
    raster.draw(
        screen,
        HALVES,
        flags,
        flags,
        uv,
        uv,
        atlas,
        SIDE + 1,
        none[0],
        none,
        tone,
        bias,
        out,
        out,
        buffer,
        SIDE,
    )
    apart = np.abs(out.view(np.uint8).astype(int) - page[:SIDE, :SIDE].copy().view(np.uint8).reshape(-1))
    assert apart.max() <= 1


def test_a_fine_picture_is_halved_in_height_and_laid_in_its_place() -> None:
    fine = np.zeros((4, 2), np.uint32)
    fine[:2, 0] = RED
    fine[0, 1] = GREEN
    out = np.full(SIDE * SIDE, 0xFF000000, np.uint32)
    raster.lay(fine.reshape(-1), 2, out, SIDE, 3, 5)
    drawn = out.reshape(SIDE, SIDE)
    assert drawn[5, 3] == RED
    assert (int(drawn[5, 4]) >> 8) & 0xFF == pytest.approx(128, abs=1)
    assert (drawn != 0xFF000000).sum() == 2
