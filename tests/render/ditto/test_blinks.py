import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.ditto import blinks

LENGTH = 15


def starts(plan: np.ndarray) -> list[int]:
    """Where each blink's second row stands, less one."""
    return [int(at) - 1 for at in np.flatnonzero(plan == 1)]


def test_a_fixed_gap_comes_before_between_and_after() -> None:
    plan = blinks.schedule(100, LENGTH, 20)
    assert starts(plan) == [20, 55]
    assert plan[20:35].tolist() == list(range(LENGTH))
    assert not plan[70:].any()


def test_gaps_of_a_list_come_in_turn_and_begin_again() -> None:
    assert starts(blinks.schedule(200, LENGTH, [10, 25, 7])) == [10, 50, 72, 97, 137, 159, 184]


def test_random_gaps_are_the_draws_in_order() -> None:
    draws = iter([60, 90, 70, 80, 100, 61, 62])
    assert starts(blinks.schedule(400, LENGTH, blinks.RANDOM, draws)) == [60, 145, 240]
    assert next(draws) == 61


@pytest.mark.parametrize(("frames", "gaps"), [(50, blinks.NEVER), (30, 60), (0, 5), (15, 1)])
def test_a_clip_without_room_has_no_blink(frames: int, gaps: int) -> None:
    plan = blinks.schedule(frames, LENGTH, gaps)
    assert plan.shape == (frames,)
    assert not plan.any()


@pytest.mark.parametrize("gaps", [-2, [], [10, 0]], ids=str)
def test_what_is_no_gap_is_refused(gaps: int | list[int]) -> None:
    with pytest.raises(ValueError, match="gaps between blinks"):
        blinks.schedule(100, LENGTH, gaps)


def test_random_gaps_need_draws() -> None:
    with pytest.raises(ValueError, match="need draws"):
        blinks.schedule(100, LENGTH, blinks.RANDOM)


@given(
    frames=st.integers(0, 600),
    length=st.integers(2, 30),
    gaps=st.lists(st.integers(1, 120), min_size=1, max_size=5),
)
def test_each_blink_is_whole_and_the_last_gap_stays_free(frames: int, length: int, gaps: list[int]) -> None:
    plan = blinks.schedule(frames, length, gaps)
    assert plan.shape == (frames,)
    for at in starts(plan):
        assert plan[at : at + length].tolist() == list(range(length))
        assert at < frames - max(gaps[-1], length)
    assert np.count_nonzero(plan) == len(starts(plan)) * (length - 1)
