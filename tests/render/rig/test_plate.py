import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.render.avatar import View
from visavis.render.rig import plate
from visavis.render.rig.plate import PAD_PX, Field

W, H = 90, 120
RNG = np.random.default_rng(8)
PICTURE = RNG.integers(0, 256, (H, W, 3), np.uint8)
F32 = NDArray[np.float32]


def field(
    *, crop: tuple[int, int, int, int] = (0, 20, W, H), size: tuple[int, int] = (W, H + 20), head: float = 300
) -> Field:
    return plate.load_field(crop, size, collar=(W / 2, 60.0), dm_px=25.0, head_px=head)


def body(breath: float, lean: float) -> F32:
    return np.array([breath, lean], np.float32)


FLAT = np.zeros(W, np.float32)
REST = np.zeros(2, np.float32)


def shift(
    steps: NDArray[np.int32], shown: NDArray[np.int32], across: F32, side: F32, out: NDArray[np.uint32]
) -> tuple[int, int]:
    source, cut = plate.padded(PICTURE), plate.bands(side, *plate.uniform(across))
    return plate.shift_rows(
        source.reshape(-1), source.shape[1], steps, shown, across, side, cut.edges, cut.sides, out
    )


def shifted(
    steps: NDArray[np.int32], across: F32, side: F32 = FLAT
) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    shown = np.full((3, H), 10_000, np.int32)
    out = np.zeros((H, W), np.uint32)
    rows = shift(steps, shown, across, side, out)
    return out.view(np.uint8).reshape(H, W, 4), rows


def sampled(dx: F32, dy: F32) -> NDArray[np.float64]:
    """The picture at every pixel plus (`dx`, `dy`), bilinear, edges going on, (H, W, 3)."""
    wide = np.pad(PICTURE.astype(np.float64), ((PAD_PX,) * 2, (PAD_PX,) * 2, (0, 0)), mode="edge")
    y, x = np.mgrid[:H, :W]
    sx, sy = x + PAD_PX + dx, y + PAD_PX + dy
    left, top = np.floor(sx).astype(int), np.floor(sy).astype(int)
    fx, fy = (sx - left)[..., None], (sy - top)[..., None]
    upper = wide[top, left] * (1 - fx) + wide[top, left + 1] * fx
    return upper * (1 - fy) + (wide[top + 1, left] * (1 - fx) + wide[top + 1, left + 1] * fx) * fy


@pytest.mark.parametrize(("dx", "dy"), [(0, 0), (16, -32), (5, 0), (0, 9), (-7, 3), (-100, 44)])
def test_a_shift_is_exact_to_a_sixteenth_of_a_pixel(dx: int, dy: int) -> None:
    steps = np.repeat(np.array([[dx], [dy], [0]], np.int32), H, 1)
    drawn, rows = shifted(steps, np.ones(W, np.float32))
    assert rows == (0, H)
    assert np.abs(drawn[..., :3] - sampled(np.float32(dx / 16), np.float32(dy / 16))).max() <= 0.51
    assert (drawn[..., 3] == 255).all()


def test_columns_take_their_share_of_a_shift() -> None:
    across = np.clip(np.linspace(-0.5, 3, W), 0, 1).astype(np.float32)
    across[-5:] = np.linspace(1, 0, 5)
    steps = np.repeat(np.array([[24], [-40], [0]], np.int32), H, 1)
    drawn, _ = shifted(steps, across)
    wanted = sampled((1.5 * across)[None], (-2.5 * across)[None])
    assert np.abs(drawn[..., :3] - wanted).max() <= 2.5


def test_a_tilt_lifts_one_side_and_lowers_the_other() -> None:
    """As a whole beyond the slope; columns beside the bands take their share."""
    side = np.clip((np.arange(W, dtype=np.float32) - 44.5) / 20, -1, 1).astype(np.float32)
    across = np.ones(W, np.float32)
    across[-4:] = np.linspace(0.8, 0.2, 4)
    steps = np.repeat(np.array([[0], [0], [-48]], np.int32), H, 1)
    drawn, _ = shifted(steps, across, side)
    lowered = sampled(FLAT[None], np.full((1, W), 3.0, np.float32))
    assert np.abs(drawn[:, :14, :3] - lowered[:, :14]).max() <= 0.51
    wanted = sampled(FLAT[None], (-3 * across * side)[None])
    assert np.abs(drawn[:, -4:, :3] - wanted[:, -4:]).max() <= 2.5


def test_bands_cover_their_columns_and_follow_what_changes() -> None:
    side = np.clip(np.linspace(-2, 2, W), -1, 1).astype(np.float32)
    cut = plate.bands(side, 3, W - 2)
    assert (cut.edges[0], cut.edges[-1]) == (3, W - 2)
    assert (np.diff(cut.edges) > 0).all()
    assert (cut.sides[0], cut.sides[-1]) == (-1, 1)
    assert (np.diff(cut.sides) > 0).all()
    near = np.abs(np.repeat(cut.sides, np.diff(cut.edges)) - side[3 : W - 2])
    assert near.max() < 0.7


def test_no_shift_is_the_plate_to_the_last_bit() -> None:
    drawn, _ = shifted(np.zeros((3, H), np.int32), np.ones(W, np.float32))
    assert np.array_equal(drawn[..., :3], PICTURE)


def test_only_rows_whose_shift_changed_are_drawn() -> None:
    across = np.ones(W, np.float32)
    shown, out = np.zeros((3, H), np.int32), np.zeros((H, W), np.uint32)
    steps = shown.copy()
    steps[1, 30:35], steps[2, 35:41] = 3, -5
    rows = shift(steps, shown, across, FLAT, out)
    assert rows == (30, 41)
    assert np.array_equal(shown, steps)
    assert out[30:41].all()
    assert not out[:30].any()
    assert not out[41:].any()
    again = shift(steps, shown, across, FLAT, out)
    assert again[0] >= again[1]


def test_the_background_above_stays_and_the_collar_moves_fully() -> None:
    one = field()
    for rows in (one.breath, one.aside, one.slant):
        assert (rows[:35] == 0).all()
        assert rows[60:75] == pytest.approx(1)
    assert (one.breath_px, one.lean_px) == pytest.approx((2.4, 6.6))


def test_a_field_is_smooth() -> None:
    for rows in (field().breath, field().aside, field().slant):
        assert np.abs(np.diff(rows)).max() < 0.1 * rows.max()
        assert rows[-1] > 0.2 * rows.max()


def test_a_crop_inside_its_plate_moves_nothing_at_its_edges() -> None:
    inner = field(crop=(200, 20, W, H), size=(600, 400))
    assert inner.across[[0, 1, -2, -1]] == pytest.approx(0, abs=0.01)
    assert inner.across[W // 2] == 1
    assert inner.breath[-1] == pytest.approx(0, abs=0.01)


def test_a_head_sways_with_the_collar() -> None:
    right, collar, head, drop, middle, half = field().sway(body(1.0, 0.5), REST).tolist()
    assert right == pytest.approx(3.3)
    assert collar == pytest.approx(-2.4)
    assert -2.4 < head < 0
    assert 0 < drop < 0.02 * half
    assert middle == W / 2


def test_a_turn_takes_the_chest_along_and_a_tilt_lowers_the_right_shoulder() -> None:
    turned = field().sway(body(0, 0), np.array([2.0, 0.0], np.float32))
    tilted = field().sway(body(0, 0), np.array([0.0, 1.0], np.float32))
    assert 0.5 < turned[0] < 2
    assert not turned[1:4].any()
    assert tilted[3] == pytest.approx(np.radians(1) * tilted[5], rel=1e-4)
    assert not tilted[:3].any()


def test_no_shift_reaches_beyond_the_pad() -> None:
    """In the largest picture, at the most that body and shoulders do."""
    largest = plate.load_field(
        (0, 0, 1080, 1800), (1080, 1920), collar=(540.0, 900.0), dm_px=250.0, head_px=700.0
    )
    right, up, _, drop, *_ = largest.sway(body(1, 1), np.array([4.6, 2.2], np.float32)).tolist()
    assert right < PAD_PX - 1
    assert abs(up) + abs(drop) < PAD_PX - 1


def test_steps_look_the_other_way() -> None:
    steps = np.zeros((3, H), np.int32)
    field().steps(body(1.0, 1.0), REST, steps)
    assert steps[0, 65] == -106
    assert steps[1, 65] == 38
    assert steps[2, 65] < 0


def test_a_picture_is_laid_over_the_plate_in_its_box_only() -> None:
    front = np.zeros((4, 6), np.uint32)
    front[1:3, 1:5] = 0xFF0000FF
    front[2, 2] = 0x80000080
    back = np.full((4, 6), 0xFFFF0000, np.uint32)
    plate.lay(front, back, 1, 1, 6, 4)
    assert front[1, 1] == 0xFF0000FF
    assert front[3, 5] == 0xFFFF0000
    assert front[0, 0] == 0
    assert int(front[2, 2]) & 0xFF == 128
    assert int(front[2, 2] >> 16) & 0xFF == pytest.approx(127, abs=1)


def view(crop: tuple[int, int, int, int]) -> View:
    return View(720, 1280, "plate.webp", (0.0, 0.0), (1.0, 1.0), crop)


def test_a_mask_is_one_inside_and_fades_at_the_crops_edges() -> None:
    mask = plate.crop_mask(view((60, 100, 300, 400)))
    assert mask.shape == (400, 300)
    assert mask[20:-20, 20:-20].min() == 1.0
    assert mask[0].max() == mask[-1].max() == mask[:, 0].max() == 0.0
    assert (np.diff(mask[200, :20]) >= 0).all()


def test_a_mask_does_not_fade_where_the_crop_meets_the_plates_border() -> None:
    mask = plate.crop_mask(view((0, 100, 720, 1180)))
    assert mask[300, 0] == mask[300, -1] == mask[-1, 300] == 1.0
    assert mask[0].max() == 0.0
