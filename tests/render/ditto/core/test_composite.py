import numpy as np
import pytest
import torch
from support.nv12 import turned
from visavis.render.color import BT601, BT709, color_space
from visavis.render.ditto.core.composite import (
    COLORS,
    NOWHERE,
    Column,
    Extent,
    Picture,
    Placing,
    colors,
    idle,
    packed_plate,
    weight_lane,
)
from visavis.render.ditto.putback import feather
from visavis.stream.errors import AvatarError, UsageError

SIDE = 20
SIZE = (64, 48)
PICTURE = Picture(512, *SIZE, pitch=80, chroma=80 * 48)
MOVING = np.stack([turned(SIDE, (30 + step, 24 - step), 1.2, 4 * step) for step in range(5)])


def a_placing(matrices: np.ndarray = MOVING, size: tuple[int, int] = SIZE) -> Placing:
    return Placing.of(matrices, SIDE, size, color_space(*size))


def test_positions_bring_a_crops_pixels_back_to_where_they_were() -> None:
    placing = a_placing()
    for matrix, position in zip(MOVING, placing.positions, strict=True):
        x, along_x, down_x, y, along_y, down_y = (position / 2.0**32).tolist()
        column, row = matrix.astype(np.float64) @ (7, 11, 1)
        assert x + along_x * column + down_x * row == pytest.approx(7, abs=1e-7)
        assert y + along_y * column + down_y * row == pytest.approx(11, abs=1e-7)


def test_the_box_holds_the_faces_of_all_frames_and_lies_on_even_pixels() -> None:
    boxes = [a_placing(matrix[None]).box for matrix in MOVING]
    assert len(set(boxes)) > 1
    whole = a_placing().box
    assert whole[:2] == (min(box[0] for box in boxes), min(box[1] for box in boxes))
    assert whole[2:] == (max(box[2] for box in boxes), max(box[3] for box in boxes))
    assert not any(edge % 2 for edge in whole)


def test_frames_beside_the_plate_do_not_enlarge_the_box() -> None:
    away = turned(SIDE, (-300.0, 20.0), 1.0, 0)
    assert a_placing(np.stack((MOVING[0], away))).box == a_placing(MOVING[:1]).box
    assert a_placing(away[None]).box == (0, 0, 0, 0)


def test_a_placement_without_area_is_refused() -> None:
    with pytest.raises(AvatarError, match="no area"):
        a_placing(np.zeros((1, 2, 3), np.float32))


def test_a_row_says_where_plate_and_picture_are_and_where_the_face_falls() -> None:
    placing = a_placing()
    row = placing.row(3, 1000, PICTURE)
    assert len(row) == len(Column)
    assert [row[column] for column in (Column.SURFACE, Column.PITCH, Column.CHROMA)] == [512, 80, 3840]
    assert (row[Column.PLATE], row[Column.STRIDE]) == (1000, 64)
    assert tuple(row[Column.LEFT : Column.BOTTOM + 1]) == placing.box
    assert row[Column.X : Column.Y_DOWN + 1] == placing.positions[3].tolist()
    assert COLORS[row[Column.COLOR]] is BT601


def test_a_bare_row_covers_the_plate_and_no_pixel_of_a_face() -> None:
    row = a_placing().bare(1000, PICTURE)
    assert tuple(row[Column.LEFT : Column.BOTTOM + 1]) == (0, 0, *SIZE)
    assert (row[Column.X] >> 32, row[Column.Y] >> 32) == (-2, -2)
    assert not any(row[column] for column in (Column.X_ALONG, Column.X_DOWN, Column.Y_ALONG, Column.Y_DOWN))


def test_an_idle_row_draws_nowhere() -> None:
    assert idle()[Column.SURFACE] == NOWHERE
    assert len(idle()) == len(Column)


def test_an_extent_holds_the_largest_boxes() -> None:
    wide = a_placing(turned(SIDE, (32, 24), 1.0, 0)[None] * np.float32([[2], [1]]))
    high = a_placing(turned(SIDE, (32, 24), 1.0, 0)[None] * np.float32([[1], [1.5]]))
    extent = Extent.of((wide, high))
    assert extent.width == max(box[2] - box[0] for box in (wide.box, high.box))
    assert extent.height == max(box[3] - box[1] for box in (wide.box, high.box))
    assert Extent.of(()) == Extent(0, 0)


def test_colors_are_those_of_the_declared_matrix() -> None:
    table = colors(torch.device("cpu"))
    for row, color in zip(table.numpy(), (BT709, BT601), strict=True):
        assert row[0, :3] == pytest.approx(color.coefficients()[0, :3])
        assert row[1:, :3] == pytest.approx(color.coefficients()[1:, :3] / 4)
        assert row[:, 3].tolist() == [16.5, 128.5, 128.5]


def test_weights_are_16_bits_in_half_precision_and_themselves_in_single() -> None:
    mask = feather(SIDE, SIDE, height_ratio=0.5, width_ratio=0.5)
    lane = weight_lane(mask, torch.float16)
    assert lane.dtype == torch.float16
    levels = lane.view(torch.int16).numpy().view(np.uint16)
    assert np.abs(levels / 65535 - mask).max() <= 0.5 / 65535 + 1e-7
    assert levels.max() == 65535
    assert (weight_lane(mask, torch.float32).numpy() == mask).all()


@pytest.mark.parametrize("edge", [(0, 4), (-1, 4), (4, 0), (4, -1)])
def test_a_mask_that_is_not_zero_along_its_edges_is_refused(edge: tuple[int, int]) -> None:
    mask = np.zeros((SIDE, SIDE), np.float32)
    mask[edge] = 0.01
    with pytest.raises(UsageError, match="edges"):
        weight_lane(mask, torch.float16)


@pytest.mark.parametrize("side", [33, 64, 512])
def test_the_feather_is_zero_along_its_edges(side: int) -> None:
    weight_lane(feather(side, side), torch.float16)


def test_a_plate_is_packed_a_pixel_a_number() -> None:
    plate = np.random.default_rng(1).integers(0, 256, (4, 6, 3), np.uint8)
    packed = packed_plate(plate).numpy().reshape(4, 6)
    for shift, channel in ((0, 0), (8, 1), (16, 2)):
        assert (packed >> shift & 255 == plate[..., channel]).all()
