from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.stream.blink import BlinkRate, Blinks, lid_curve
from visavis.stream.chance import Chance

USUAL = BlinkRate(0, 0.0, 15.0)
MINUTE = 1500


def nowhere(first: float, last: float) -> list[float]:
    assert first <= last
    return []


def lids(
    seed: int,
    frames: range,
    *,
    rate: BlinkRate = USUAL,
    speaking: float = 0.0,
    jumps: list[float] | None = None,
) -> NDArray[np.float64]:
    def near(first: float, last: float) -> list[float]:
        return [jump for jump in jumps or [] if first <= jump <= last]

    blinks = Blinks(Chance(seed), near)
    return np.array([blinks.at(index, rate, speaking) for index in frames])


def starts(values: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.flatnonzero((values[1:] > 0.4) & (values[:-1] <= 0.4))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ten_minutes_hold_ten_to_twenty_blinks_a_minute(seed: int) -> None:
    assert 100 <= len(starts(lids(seed, range(10 * MINUTE)))) <= 200


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_speaks_blinks_a_little_more(seed: int) -> None:
    rest, talk = (len(starts(lids(seed, range(10 * MINUTE), speaking=level))) for level in (0.0, 1.0))
    assert 1.1 * rest < talk < 1.45 * rest


def test_the_blink_rate_follows_its_control() -> None:
    fast = lids(5, range(4 * MINUTE), rate=BlinkRate(0, 0.0, 40.0))
    assert len(starts(fast)) == pytest.approx(165, rel=0.12)
    assert not lids(5, range(MINUTE), rate=BlinkRate(0, 0.0, 0.0)).any()


def test_a_new_rate_does_not_jump_in_phase() -> None:
    rate = BlinkRate(0, 0.0, 15.0).changed(777, 30.0)
    assert rate.phase_at(777) == USUAL.phase_at(777)
    assert rate.index_at(rate.phase_at(900)) == pytest.approx(900)


def test_lids_fall_faster_than_they_rise() -> None:
    values = lids(1, range(4 * MINUTE))
    steps = np.diff(values)
    assert steps.max() > 1.4 * -steps.min()
    assert values.max() > 0.98


def test_a_lid_goes_down_once_and_up_once() -> None:
    curve = [lid_curve(at / 10) for at in range(-20, 140)]
    turns = [b - a for a, b in pairwise(curve) if b != a]
    assert [a < 0 < b for a, b in pairwise(turns)].count(True) == 0
    assert max(curve) == 1.0
    assert curve[0] == curve[-1] == 0.0


def test_lids_take_three_frames_to_fall_and_no_two_frames_show_them_half_way() -> None:
    for part in range(10):
        curve = np.array([lid_curve(at - part / 10) for at in range(16)])
        assert 2 <= ((curve > 0.02) & (curve < 0.98))[: int(curve.argmax())].sum() <= 4
        half = np.flatnonzero((curve[:-1] > 0.3) & (curve[:-1] < 0.7))
        assert np.abs(np.diff(curve))[half].min() > 0.1


def test_every_blink_shuts_the_eyes_and_some_come_twice() -> None:
    values = lids(4, range(20 * MINUTE))
    at = starts(values)
    peaks = np.array([values[start : start + 6].max() for start in at])
    assert peaks.min() > 0.95
    assert 0.02 < (np.diff(at) < 16).mean() < 0.15


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_no_three_blinks_come_in_a_row(seed: int) -> None:
    times = starts(lids(seed, range(15 * MINUTE)))
    assert min(last - first for first, last in zip(times, times[2:], strict=False)) >= 45


@pytest.mark.parametrize("speaking", [0.0, 1.0])
def test_eyes_do_not_jump_between_the_two_of_a_double_blink(speaking: float) -> None:
    span = range(30 * MINUTE)
    free = starts(lids(4, span, speaking=speaking))
    doubles = free[:-1][np.diff(free) < 16]
    assert len(doubles) > 3
    jumps = [float(at + 8) for at in doubles]
    times = starts(lids(4, span, speaking=speaking, jumps=jumps))
    for jump in jumps:
        before, after = times[times < jump], times[times > jump]
        assert after.min() - before.max() >= 12


def test_blinks_keep_no_beat() -> None:
    gaps = np.diff(starts(lids(4, range(10 * MINUTE))))
    assert gaps.std() > 0.4 * gaps.mean()


def test_blinks_near_a_jump_of_the_eyes_start_with_it() -> None:
    jumps = [float(at) for at in range(40, 10 * MINUTE, 190)]
    alone, drawn = (starts(lids(7, range(10 * MINUTE), jumps=given)) for given in (None, jumps))
    with_jumps = [np.mean([np.abs(at - jump).min() <= 3 for jump in jumps]) for at in (alone, drawn)]
    assert with_jumps[1] > 0.3
    assert with_jumps[1] > 3 * with_jumps[0]
    assert len(drawn) > 0.9 * len(alone)


def test_without_jumps_every_blink_keeps_its_own_time() -> None:
    blinks = Blinks(Chance(3), nowhere)
    assert max(blinks.at(index, USUAL, 0.0) for index in range(MINUTE)) > 0.9


def test_neither_jumps_nor_speech_make_blinks_flutter() -> None:
    jumps = [float(at) for at in range(40, 20 * MINUTE, 70)]
    gaps = np.diff(starts(lids(7, range(20 * MINUTE), speaking=1.0, jumps=jumps)))
    assert (gaps < 26).mean() < 0.14
    assert gaps.min() > 8
