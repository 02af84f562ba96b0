from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from visavis.stream.life import BlinkRate, Life, LifeProcess

USUAL = BlinkRate(0, 0.0, 15.0)
MINUTE = 1500


def lived(seed: int, frames: range, *, speaking: float = 0.0, rate: BlinkRate = USUAL) -> list[Life]:
    process = LifeProcess(seed)
    return [process.at(index, speaking=speaking, rate=rate) for index in frames]


def blinks_in(lives: list[Life]) -> int:
    return sum(before.blink <= 0.4 < now.blink for before, now in pairwise(lives))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ten_minutes_hold_ten_to_twenty_blinks_a_minute(seed: int) -> None:
    assert 100 <= blinks_in(lived(seed, range(10 * MINUTE))) <= 200


def test_the_blink_rate_follows_its_control() -> None:
    assert blinks_in(lived(5, range(4 * MINUTE), rate=BlinkRate(0, 0.0, 40.0))) == pytest.approx(160, rel=0.1)
    assert blinks_in(lived(5, range(2 * MINUTE), rate=BlinkRate(0, 0.0, 0.0))) == 0


def test_a_new_rate_does_not_jump_in_phase() -> None:
    rate = BlinkRate(0, 0.0, 15.0).changed(777, 30.0)
    assert rate.phase_at(777) == USUAL.phase_at(777)
    assert rate.index_at(rate.phase_at(900)) == pytest.approx(900)


def test_lids_fall_faster_than_they_rise() -> None:
    lids = [life.blink for life in lived(1, range(4 * MINUTE))]
    steps = np.diff(lids)
    assert steps.max() > 1.4 * -steps.min()
    assert max(lids) > 0.98


def test_blinks_keep_no_beat() -> None:
    lids = np.array([life.blink for life in lived(4, range(10 * MINUTE))])
    starts = np.flatnonzero((lids[1:] > 0.4) & (lids[:-1] <= 0.4))
    assert np.diff(starts).std() > 0.3 * np.diff(starts).mean()


@settings(max_examples=20)
@given(st.integers(0, 2**63), st.lists(st.integers(-40, 10**9), min_size=1, max_size=5))
def test_any_frame_can_be_asked_for_again_in_any_order(seed: int, frames: list[int]) -> None:
    process = LifeProcess(seed)
    once = [process.at(index, speaking=0.5, rate=USUAL) for index in frames]
    again = [LifeProcess(seed).at(index, speaking=0.5, rate=USUAL) for index in reversed(frames)]
    for first, second in zip(once, reversed(again), strict=True):
        assert first.blink == second.blink
        assert first.brow == second.brow
        assert np.array_equal(first.head, second.head)
        assert np.array_equal(first.gaze, second.gaze)


def test_two_seeds_live_two_lives() -> None:
    one, other = (np.array([life.head for life in lived(seed, range(200))]) for seed in (1, 2))
    assert np.abs(one - other).max() > 0.5


@pytest.mark.parametrize("speaking", [0.0, 1.0], ids=["silent", "speaking"])
def test_the_head_moves_smoothly_and_stays_near_the_front(speaking: float) -> None:
    head = np.array([life.head for life in lived(9, range(2 * MINUTE), speaking=speaking)])
    assert (np.abs(head).max(0) < (8, 7, 6)).all()
    assert np.abs(np.diff(head, axis=0)).max() < 0.8
    assert np.abs(np.diff(head, 2, axis=0)).max() < 0.3


def test_speaking_adds_movement() -> None:
    silent, speaking = (
        np.array([life.head for life in lived(9, range(MINUTE), speaking=level)]) for level in (0.0, 1.0)
    )
    assert np.diff(speaking, axis=0).std() > 1.5 * np.diff(silent, axis=0).std()


def test_a_minute_never_comes_back() -> None:
    head = np.array([life.head[0] for life in lived(3, range(6 * MINUTE))])
    first = head[:MINUTE] - head[:MINUTE].mean()
    for start in range(MINUTE // 2, len(head) - MINUTE, 25):
        later = head[start : start + MINUTE] - head[start : start + MINUTE].mean()
        assert float(first @ later) / float(np.linalg.norm(first) * np.linalg.norm(later)) < 0.95


def test_eyes_rest_and_then_jump() -> None:
    gaze = np.array([life.gaze for life in lived(6, range(2 * MINUTE))])
    moving = np.abs(np.diff(gaze, axis=0)).max(1) > 1e-9
    assert 0.02 < moving.mean() < 0.25
    assert np.abs(gaze).max() <= 1
