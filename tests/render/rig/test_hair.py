import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.rig.hair import MEMORY_FRAMES, trail

turned = st.lists(st.tuples(st.floats(-20, 20), st.floats(-12, 12)), min_size=1, max_size=40)


def after_a_turn(frames: int) -> float:
    """Yaw that the ends lack, `frames` frames after the head has turned by ten degrees at once."""
    return float(trail([(10.0, 0.0)] * (frames + 1) + [(0.0, 0.0)] * 30)[0])


def test_a_still_head_has_still_hair() -> None:
    assert trail([(7.0, -3.0)] * 30).tolist() == [0, 0]
    assert trail([(7.0, -3.0)]).tolist() == [0, 0]


def test_ends_stay_behind_a_turn_swing_past_it_a_little_and_rest() -> None:
    lag = [after_a_turn(frames) for frames in range(MEMORY_FRAMES + 2)]
    assert lag[0] == pytest.approx(10)
    assert lag[:5] == sorted(lag[:5], reverse=True)
    assert -2.5 < min(lag) < -0.5
    assert max(np.abs(lag[16:])) < 0.4
    assert lag[MEMORY_FRAMES] == 0


def test_roll_trails_as_yaw_does() -> None:
    lag = trail([(4.0, 4.0)] * 3 + [(0.0, 0.0)] * 30)
    assert lag[0] == lag[1] > 0


@given(turned)
def test_only_the_last_second_counts_and_turns_add_up(heads: list[tuple[float, float]]) -> None:
    lag = trail(heads)
    assert np.isfinite(lag).all()
    assert np.array_equal(lag, trail(heads[: MEMORY_FRAMES + 1]))
    double = trail([(2 * yaw, 2 * roll) for yaw, roll in heads])
    assert np.allclose(double, 2 * lag, atol=1e-4)
