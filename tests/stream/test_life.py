from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from visavis.stream.blink import BlinkRate
from visavis.stream.gesture import Beat
from visavis.stream.life import MEMORY_FRAMES, SILENCE, Life, LifeProcess, Talk

USUAL = BlinkRate(0, 0.0, 15.0)
MINUTE = 1500
TALK = Talk(lambda frame: 1.0, (40, 300), (Beat(60, 0.8),), 20)


def lived(seed: int, frames: range, *, talk: Talk = SILENCE) -> list[Life]:
    process = LifeProcess(seed)
    return [process.at(index, talk=talk, rate=USUAL) for index in frames]


def table(lives: list[Life]) -> NDArray[np.float64]:
    """(T, 7) head, eyes and body."""
    return np.array([(*life.head, *life.eyes, *life.body) for life in lives])


def same(one: Life, other: Life) -> bool:
    single = ("blink", "ease", "brow", "skew", "warmth")
    return all(getattr(one, name) == getattr(other, name) for name in single) and all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("head", "eyes", "body", "lids", "lips")
    )


@settings(max_examples=20)
@given(st.integers(0, 2**63), st.lists(st.integers(-40, 10**9), min_size=1, max_size=5))
def test_any_frame_can_be_asked_for_again_in_any_order(seed: int, frames: list[int]) -> None:
    process = LifeProcess(seed)
    once = [process.at(index, talk=TALK, rate=USUAL) for index in frames]
    again = [LifeProcess(seed).at(index, talk=TALK, rate=USUAL) for index in reversed(frames)]
    assert all(same(first, second) for first, second in zip(once, reversed(again), strict=True))


def test_two_seeds_live_two_lives() -> None:
    one, other = (table(lived(seed, range(200))) for seed in (1, 2))
    assert (np.abs(one - other).max(0) > 0.2).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_blinks_come_with_far_looks_more_often_than_by_chance(seed: int) -> None:
    lives = lived(seed, range(20 * MINUTE))
    lids, eyes = np.array([life.blink for life in lives]), np.array([life.eyes for life in lives])
    starts = np.flatnonzero((lids[1:] > 0.4) & (lids[:-1] <= 0.4))
    leaps = np.flatnonzero(np.abs(np.diff(eyes, axis=0)).max(1) > 5)
    together = float(np.mean([np.abs(starts - leap).min() <= 3 for leap in leaps]))
    assert 0.25 < together < 0.75
    assert together > 3 * (7 * len(starts) / len(lives))
    assert 200 <= len(starts) <= 400


def test_no_movement_has_a_loop_within_ten_minutes() -> None:
    moves = table(lived(3, range(10 * MINUTE)))
    lids = np.array([[life.blink] for life in lived(3, range(10 * MINUTE))])
    for column in np.hstack([moves, lids]).T:
        centred = (column - column.mean()) * np.hanning(len(column))
        power = np.abs(np.fft.rfft(centred, 2 * len(column))) ** 2
        likeness = np.fft.irfft(power)[: len(column)] / power.sum() * len(power) * 2
        shared = np.convolve(np.hanning(len(column)), np.hanning(len(column)), "full")[len(column) - 1 :]
        later = (likeness / likeness[0] / np.maximum(shared / shared[0], 0.1))[20 * 25 : 8 * MINUTE]
        assert np.abs(later).max() < 0.75


def test_the_spectrum_of_the_head_has_no_line() -> None:
    moves = table(lived(3, range(10 * MINUTE)))[:, [0, 1, 2, 6]]
    for column in moves.T:
        power = np.abs(np.fft.rfft((column - column.mean()) * np.hanning(len(column)))) ** 2
        around = np.convolve(power, np.ones(61) / 61, "same")
        assert (power[40:3000] / around[40:3000]).max() < 20


def test_head_and_shoulders_never_jerk() -> None:
    for talk in (SILENCE, Talk(lambda frame: 1.0)):
        moves = table(lived(9, range(10 * MINUTE), talk=talk))
        assert np.abs(np.diff(moves[:, :3], axis=0)).max() < 1.8
        assert np.abs(np.diff(moves[:, :3], 2, axis=0)).max() < 0.5
        assert (np.abs(moves[:, :3]).max(0) < (16, 10, 9)).all()


def test_a_beat_shows_in_head_and_brows() -> None:
    calm = lived(2, range(50, 90))
    beats = [
        lived(2, range(50, 90), talk=Talk(lambda frame: 0.0, beats=(Beat(at, 1.0),))) for at in range(60, 75)
    ]
    nods = [max(abs(a.head[1] - b.head[1]) for a, b in zip(each, calm, strict=True)) for each in beats]
    brows = [max(a.brow - b.brow for a, b in zip(each, calm, strict=True)) for each in beats]
    assert np.mean(np.array(nods) > 0.5) > 0.4
    assert max(brows) > 0.3


def test_a_listener_who_speaks_again_has_let_go_of_listening_when_the_end_is_no_longer_told() -> None:
    """With pauses that leave him half silent: no jump of the head as it changes."""
    for seed in range(6):
        told, untold = (
            lived(seed, range(124, 126), talk=Talk(lambda frame: 0.5, (100,), (), ended))
            for ended in (60, 130)
        )
        assert np.abs(table(told)[:, :3] - table(untold)[:, :3]).max() == 0
        early = (
            lived(seed, range(105, 106), talk=Talk(lambda frame: 0.5, (100,), (), end)) for end in (60, 130)
        )
        assert np.abs(np.subtract(*(table(each)[:, :3] for each in early))).max() > 0


def test_what_was_heard_long_ago_no_longer_shows() -> None:
    long_ago = 5000 - MEMORY_FRAMES
    talk = Talk(lambda frame: float(frame < long_ago), (long_ago,), (Beat(long_ago, 1.0),), long_ago)
    old, silent = lived(4, range(5000, 5001), talk=talk), lived(4, range(5000, 5001))
    assert same(old[0], silent[0])


def test_everything_stays_in_its_range() -> None:
    for life in lived(8, range(2 * MINUTE), talk=TALK):
        assert 0 <= life.blink <= 1
        assert 0 <= life.brow <= 1
        assert 0 <= life.ease <= 1
        assert 0 <= life.body[0] <= 1
        assert -1 <= life.body[1] <= 1


def test_silence_is_life_without_talk() -> None:
    assert SILENCE.speaking(12) == 0
    assert all(
        same(a, b) for a, b in pairwise([lived(1, range(5, 6))[0], lived(1, range(5, 6), talk=SILENCE)[0]])
    )


def test_the_lids_hang_more_or_less_but_never_stand_wide_for_long() -> None:
    ease = np.array([life.ease for life in lived(5, range(4 * MINUTE))])
    assert 0.05 < ease.std() < 0.3
    assert (ease < 0.15).mean() < 0.05
    assert np.abs(np.diff(ease)).max() < 0.02


def test_one_lid_comes_a_trifle_later_than_the_other_and_always_the_same_one() -> None:
    for seed in (1, 2, 3):
        lids = np.array([life.lids for life in lived(seed, range(2 * MINUTE))])
        blink = np.array([life.blink for life in lived(seed, range(2 * MINUTE))])
        leads = [side for side in (0, 1) if np.array_equal(lids[:, side], blink)]
        assert len(leads) == 1
        falling = np.flatnonzero((np.diff(blink) > 0.1) & (blink[1:] < 0.95))
        assert (lids[falling + 1, 1 - leads[0]] < blink[falling + 1]).mean() > 0.9
        assert 0.05 < np.abs(np.diff(lids, axis=1)).max() < 0.35


def test_faces_are_skewed_and_warm_to_a_slowly_changing_degree() -> None:
    lives = lived(6, range(8 * MINUTE))
    for values in (np.array([life.skew for life in lives]), np.array([life.warmth for life in lives])):
        assert values.std() > 0.1
        assert np.abs(np.diff(values)).max() < 0.02
    sides = {np.sign(np.mean([life.skew for life in lived(seed, range(0, 3000, 50))])) for seed in range(8)}
    assert sides == {-1, 1}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_resting_mouth_lives_slowly_and_never_twice_alike(seed: int) -> None:
    lips = np.array([life.lips for life in lived(seed, range(4 * MINUTE))])
    assert (lips.std(0) > 0.12).all()
    assert np.abs(np.diff(lips, axis=0)).max() < 0.08
    assert lips[:, :2].min() >= -1
    assert lips[:, 2].min() == 0
    assert lips.max() <= 1
    assert 0.2 < (lips[:, 2] > 0).mean() < 0.7
    left, right = lips[:, 0], lips[:, 1]
    assert 0.6 < np.corrcoef(left, right)[0, 1] < 0.99
    for later in range(50, len(left) // 2, 25):
        assert np.corrcoef(left[:-later], left[later:])[0, 1] < 0.9


def test_the_life_of_a_resting_mouth_ends_with_speech() -> None:
    process = LifeProcess(3)
    for index in range(0, 2000, 20):
        assert not process.at(index, talk=Talk(lambda _: 1.0), rate=USUAL).lips.any()


@pytest.mark.parametrize("talk", [SILENCE, Talk(lambda _: 0.6, phrases=(40,), beats=(Beat(60, 0.8),))])
def test_a_pose_is_part_of_life(talk: Talk) -> None:
    process = LifeProcess(5)
    for index in range(0, 400, 7):
        pose, life = process.pose(index, talk=talk, rate=USUAL), process.at(index, talk=talk, rate=USUAL)
        assert pose.blink == life.blink
        assert np.array_equal(pose.head, life.head)
        assert np.array_equal(pose.eyes, life.eyes)
        still = process.pose(index, talk=talk, rate=USUAL, turns=False)
        assert (still.blink, still.eyes, any(still.head)) == (pose.blink, pose.eyes, False)
