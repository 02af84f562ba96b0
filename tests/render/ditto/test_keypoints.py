import math

import pytest
import torch
from visavis.render.ditto import keypoints as k
from visavis.render.ditto.motion import Motion


def motion(slots: int, seed: int = 0) -> tuple[Motion, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    rows = torch.randn(slots, 265, generator=random)
    return Motion.from_rows(rows), torch.randn(slots, 63, generator=random)


def test_one_sure_bin_is_its_angle() -> None:
    scores = torch.full((66, 66), -60.0).fill_diagonal_(60)
    assert torch.allclose(k.degrees(scores), torch.arange(66) * 3.0 - 97.5)


def test_even_scores_are_the_middle_of_the_range() -> None:
    assert k.degrees(torch.zeros(1, 66)).item() == pytest.approx(0, abs=1e-4)


def test_half_precision_scores_give_single_precision_degrees() -> None:
    scores = torch.randn(5, 66, generator=torch.Generator().manual_seed(1)).half()
    assert k.degrees(scores).dtype == torch.float32
    assert torch.equal(k.degrees(scores), k.degrees(scores.float()))


def test_a_rotation_keeps_lengths_and_handedness() -> None:
    angles = 60 * torch.randn(3, 40, generator=torch.Generator().manual_seed(2))
    turn = k.rotation(*angles)
    assert torch.allclose(turn @ turn.mT, torch.eye(3).expand(40, 3, 3), atol=1e-5)
    assert torch.allclose(torch.linalg.det(turn), torch.ones(40), atol=1e-5)


@pytest.mark.parametrize(
    ("angles", "point", "moved"),
    [
        ((90, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((0, 90, 0), (0, 0, 1), (1, 0, 0)),
        ((0, 0, 90), (1, 0, 0), (0, 1, 0)),
        ((90, 0, 90), (0, 1, 0), (0, 0, 1)),
    ],
    ids=["pitch lifts y to z", "yaw brings z to x", "roll brings x to y", "pitch comes before roll"],
)
def test_row_vectors_turn_by_the_right_hand(
    angles: tuple[float, ...], point: tuple[float, ...], moved: tuple[float, ...]
) -> None:
    turn = k.rotation(*torch.tensor(angles, dtype=torch.float32))
    assert torch.allclose(
        torch.tensor(point, dtype=torch.float32) @ turn, torch.tensor(moved).float(), atol=1e-6
    )


def test_a_face_at_rest_is_its_canonical_points() -> None:
    rest = Motion.from_rows(torch.zeros(2, 265))
    canonical = torch.randn(2, 63, generator=torch.Generator().manual_seed(3))
    assert torch.allclose(k.transform(rest, canonical), canonical.view(2, 21, 3), atol=1e-5)


def test_translation_moves_across_the_picture_and_never_in_depth() -> None:
    moved, canonical = motion(3)
    still = Motion(moved.scale, moved.pitch, moved.yaw, moved.roll, moved.translation * 0, moved.expression)
    apart = k.transform(moved, canonical) - k.transform(still, canonical)
    wanted = moved.translation * torch.tensor([1.0, 1.0, 0.0])
    assert torch.allclose(apart, wanted[:, None].expand(3, 21, 3), atol=1e-5)


def test_slots_are_independent_and_their_order_does_not_matter() -> None:
    moved, canonical = motion(6)
    whole = k.transform(moved, canonical)
    order = torch.tensor([4, 0, 5, 2, 1, 3])
    assert torch.equal(k.transform(moved.at(order), canonical[order]), whole[order])
    for slot in range(6):
        one = slice(slot, slot + 1)
        assert torch.equal(k.transform(moved.at(one), canonical[one]), whole[one])


def test_any_leading_dimensions_are_kept() -> None:
    rows = torch.randn(2, 5, 265, generator=torch.Generator().manual_seed(4))
    canonical = torch.randn(2, 1, 63).expand(2, 5, 63)
    points = k.transform(Motion.from_rows(rows), canonical)
    assert points.shape == (2, 5, 21, 3)
    assert torch.equal(points[1, 3], k.transform(Motion.from_rows(rows[1, 3:4]), canonical[1, 3:4])[0])


def test_the_eye_ahead_of_a_turn_moves_more() -> None:
    right, left = k.gaze_shift(torch.tensor([2.0, -2.0]), torch.tensor([0.0, 0.0]))
    assert right[33].item() == pytest.approx(0.0014)
    assert right[45].item() == pytest.approx(0.002)
    assert left[33].item() == pytest.approx(-0.002)
    assert left[45].item() == pytest.approx(-0.0014)
    assert right.count_nonzero() == left.count_nonzero() == 2


def test_both_eyes_move_against_pitch() -> None:
    shift = k.gaze_shift(torch.zeros(1), torch.tensor([5.0]))[0]
    assert shift[34].item() == shift[46].item() == pytest.approx(-0.005)
    assert not k.gaze_shift(torch.zeros(1), torch.zeros(1)).any()


def test_columns_of_groups_are_three_a_keypoint() -> None:
    lips = k.columns(k.LIPS)
    assert lips.sum() == 18
    assert not (lips * k.columns(k.EYES)).any()
    assert torch.equal(k.columns(k.LIPS, k.EYES), lips + k.columns(k.EYES))
    assert lips[18:21].tolist() == [1, 1, 1]
    assert math.prod(k.columns().shape) == 63
