import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.rig.torso import MEMORY_FRAMES, follow

turned = st.lists(st.tuples(st.floats(-20, 20), st.floats(-14, 14)), min_size=1, max_size=40)


def after_a_turn(frames: int) -> tuple[float, float]:
    """Yaw and roll of the shoulders, `frames` frames after the head has turned by ten degrees at once."""
    yaw, roll = follow([(10.0, 10.0)] * (frames + 1) + [(0.0, 0.0)] * 30).tolist()
    return yaw, roll


def test_shoulders_under_a_head_that_looks_ahead_are_at_rest() -> None:
    assert follow([(0.0, 0.0)] * 30).tolist() == [0, 0]


def test_shoulders_follow_late_by_a_part_and_stay_there() -> None:
    yaw = [after_a_turn(frames)[0] for frames in range(MEMORY_FRAMES + 4)]
    assert yaw == sorted(yaw)
    assert yaw[1] < 0.1 * yaw[-1]
    assert yaw[4] < 0.55 * yaw[-1] < yaw[9]
    assert max(np.diff(yaw)) < 0.17 * yaw[-1]
    assert 2 < yaw[-1] < 4
    assert yaw[MEMORY_FRAMES:] == [yaw[-1]] * 4


def test_a_head_that_has_always_been_turned_has_taken_the_shoulders_along() -> None:
    assert follow([(6.0, 3.0)]).tolist() == pytest.approx(follow([(6.0, 3.0)] * 40).tolist(), abs=1e-6)


@given(turned)
def test_shoulders_turn_no_further_than_a_plate_can_show(heads: list[tuple[float, float]]) -> None:
    yaw, roll = follow(heads).tolist()
    assert abs(yaw) < 4.6
    assert abs(roll) < 2.2
    left, right = follow([(-a, -b) for a, b in heads]).tolist()
    assert (left, right) == pytest.approx((-yaw, -roll), abs=1e-6)
