from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.render.ditto.reference_points import (
    Models,
    anchors,
    faces,
    few_points,
    look,
    many_points,
    mesh_points,
)
from visavis.stream.errors import AvatarError

F32 = NDArray[np.float32]
PICTURE = np.random.default_rng(1).integers(0, 256, (300, 200, 3)).astype(np.uint8)
STRIDES = (8, 16, 32)
SCALE = 512 / 300


class Detector:
    """Fires at the cells it is told: (stride, row, score, half a side in strides)."""

    def __init__(self, *hits: tuple[int, int, float, float]) -> None:
        self.hits = hits
        self.fed = np.zeros(0, np.float32)

    def __call__(self, picture: F32) -> Sequence[F32]:
        self.fed = picture
        counts = [2 * (512 // stride) ** 2 for stride in STRIDES]
        scores = [np.zeros((count, 1), np.float32) for count in counts]
        boxes = [np.ones((count, 4), np.float32) for count in counts]
        points = [np.ones((count, 10), np.float32) for count in counts]
        for stride, row, score, half in self.hits:
            level = STRIDES.index(stride)
            scores[level][row] = score
            boxes[level][row] = half
        return [*scores, *boxes, *points]


def row_at(stride: int, x: int, y: int) -> int:
    return 2 * (y // stride * (512 // stride) + x // stride)


def box_model(*sure: int, logit: float = 3.0, half: float = 24.0) -> tuple[F32, F32]:
    """Boxes of 2 `half` of 128 at the anchors `sure`, with level eyes."""
    raw = np.zeros((1, 896, 16), np.float32)
    logits = np.full((1, 896, 1), -9, np.float32)
    logits[0, list(sure), 0] = logit
    raw[..., 2:4] = 2 * half
    raw[..., 4], raw[..., 6] = -10, 10
    return raw, logits


def grid(count: int, low: float, high: float) -> F32:
    """(1, 2 `count`): points spread over a square."""
    spread = np.random.default_rng(count).uniform(low, high, (1, 2 * count))
    return spread.astype(np.float32)


def models(detector: Detector, **others: Sequence[F32]) -> Models:
    outputs: dict[str, Sequence[F32]] = {
        "few": [grid(106, -0.5, 0.5)],
        "many": [grid(203, 0.3, 0.7)],
        "box": box_model(400),
        "mesh": [np.full((1, 1434), 128, np.float32)],
        **others,
    }
    return Models(
        detector=detector,
        few=lambda _: outputs["few"],
        many=lambda _: outputs["many"],
        box=lambda _: outputs["box"],
        mesh=lambda _: outputs["mesh"],
    )


def test_the_detector_sees_reversed_channels_in_the_upper_left_of_a_square() -> None:
    detector = Detector()
    boxes, points = faces(np.full((100, 200, 3), (255, 127.5, 0), np.uint8), detector)
    assert detector.fed.shape == (1, 3, 512, 512)
    assert detector.fed[0, 2, 10, 10] == pytest.approx(127.5 / 128)
    assert detector.fed[0, :, 300, 10].tolist() == [pytest.approx(-127.5 / 128)] * 3
    assert (boxes.shape, points.shape) == ((0, 5), (0, 5, 2))


def test_boxes_come_in_the_picture_s_pixels_the_surest_first() -> None:
    detector = Detector((16, row_at(16, 160, 320), 0.7, 2), (32, row_at(32, 64, 64), 0.9, 1))
    boxes, points = faces(PICTURE, detector)
    assert boxes[:, 4] == pytest.approx([0.9, 0.7])
    assert boxes[0, :4] * SCALE == pytest.approx([32, 32, 96, 96])
    assert boxes[1, :4] * SCALE == pytest.approx([128, 288, 192, 352])
    assert points[1] * SCALE == pytest.approx(np.array([[176, 336]] * 5))


def test_boxes_below_half_and_those_over_a_better_one_are_left_out() -> None:
    row = row_at(16, 160, 160)
    detector = Detector((16, row, 0.6, 4), (16, row + 1, 0.8, 4), (16, row + 2, 0.49, 4), (8, 0, 0.5, 1))
    assert faces(PICTURE, detector)[0][:, 4] == pytest.approx([0.8, 0.5])


def test_few_points_lie_round_the_middle_of_the_box() -> None:
    fed: list[F32] = []

    def model(picture: F32) -> Sequence[F32]:
        fed.append(picture)
        return [np.array([[0, 0, 1, 0] + [0] * 208], np.float32)]

    found = few_points(PICTURE, np.array([50, 60, 90, 140], np.float32), model)
    assert (fed[0].shape, found.shape) == ((1, 3, 192, 192), (106, 2))
    assert found[0] == pytest.approx([70, 100], abs=1e-3)
    assert found[1] == pytest.approx([130, 100], abs=1e-3)


def test_many_points_take_the_last_output_and_follow_the_face() -> None:
    landmarks = grid(106, 50, 150).reshape(-1, 2)
    outputs = [np.zeros((1, 406), np.float32), np.full((1, 406), 0.5, np.float32)]
    found = many_points(PICTURE, landmarks, lambda _: outputs)
    assert found.shape == (203, 2)
    assert np.ptp(found, 0).max() < 1e-3
    assert np.abs(found[0] - landmarks.mean(0)).max() < 60


def test_the_mesh_is_placed_by_the_box_and_turned_by_the_eyes() -> None:
    crop = PICTURE[:200]
    raw, logits = box_model(400)
    centre = anchors()[400]
    points = np.zeros((1, 1434), np.float32)
    points[0, :6] = [128, 128, 0, 256, 128, 64]
    seen = mesh_points(crop, lambda _: (raw, logits), lambda _: [points])
    assert seen.shape == (478, 3)
    assert seen[0] == pytest.approx([*centre, 0], abs=1e-5)
    side = 1.5 * 48 / 128
    assert seen[1] == pytest.approx([centre[0] + side / 2, centre[1], side / 4], abs=1e-5)
    raw[..., 4:8] = [0, -10, 0, 10]
    turned = mesh_points(crop, lambda _: (raw, logits), lambda _: [points])
    assert turned[1] == pytest.approx([centre[0], centre[1] + side / 2, side / 4], abs=1e-5)


def test_boxes_of_one_face_are_averaged_and_another_face_is_not() -> None:
    raw, logits = box_model(400, 402, 10)
    logits[0, 400] += 1
    flat = np.full((1, 1434), 128, np.float32)
    seen = mesh_points(PICTURE, lambda _: (raw, logits), lambda _: [flat])[0, 0]
    low, high = anchors()[400, 0], anchors()[402, 0]
    assert low < seen < (low + high) / 2


def test_no_box_is_no_face() -> None:
    with pytest.raises(AvatarError, match="no face"):
        mesh_points(PICTURE, lambda _: box_model(), lambda _: [])


def test_the_anchors_are_two_grids() -> None:
    assert anchors().shape == (896, 2)
    assert anchors()[[0, 1, 2, 512, 895]].tolist() == [
        [1 / 32, 1 / 32],
        [1 / 32, 1 / 32],
        [3 / 32, 1 / 32],
        [1 / 16, 1 / 16],
        [15 / 16, 15 / 16],
    ]


def test_a_look_finds_the_largest_face_and_a_known_one_needs_no_search() -> None:
    small, large = (8, row_at(8, 40, 40), 0.99, 2), (32, row_at(32, 160, 256), 0.6, 4)
    detector = Detector(small, large)
    seen = look(PICTURE, models(detector))
    assert seen.crop.shape == (512, 512, 3)
    assert seen.landmarks.mean(0) == pytest.approx(np.array([160, 256]) / SCALE, abs=30)
    nothing = Detector()
    again = look(PICTURE, models(nothing), previous=seen.landmarks)
    assert nothing.fed.size == 0
    assert again.landmarks.shape == (203, 2)
    with pytest.raises(AvatarError, match="no face was found"):
        look(PICTURE, models(nothing))


def test_a_crop_can_stay_upright() -> None:
    seen = look(PICTURE, models(Detector((32, row_at(32, 160, 256), 0.6, 4))), turned=False)
    assert seen.to_picture[0, 1] == 0
