from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.clock import (
    FEATURE_HOP,
    FRAME_RATE,
    NS_PER_MS,
    NS_PER_SECOND,
    PROGRAM_HOP,
    TICK_NS,
    FrameClock,
    Rate,
    to_ms,
    to_samples,
)

NTSC = Rate(Fraction(30000, 1001))
RATES = [Rate(Fraction(25)), Rate(Fraction(24)), NTSC]
NAMED = pytest.mark.parametrize("rate", RATES, ids=["25", "24", "29.97"])
TEN_YEARS = 10 * 365 * 24 * 3600

any_rate = st.one_of(
    st.sampled_from(RATES),
    st.builds(Rate, st.fractions(min_value=Fraction(1, 100), max_value=192_000, max_denominator=2000)),
)
any_index = st.integers(-(10**10), 10**10)


@given(any_rate, any_index)
def test_index_at_inverts_deadline_ns(rate: Rate, index: int) -> None:
    assert rate.index_at(rate.deadline_ns(index)) == index


@given(any_rate, any_index)
def test_an_index_is_not_due_one_nanosecond_before_its_deadline(rate: Rate, index: int) -> None:
    assert rate.index_at(rate.deadline_ns(index) - 1) == index - 1


@given(any_rate, st.integers(-(10**18), 10**18))
def test_any_moment_lies_between_its_index_and_the_next(rate: Rate, elapsed_ns: int) -> None:
    index = rate.index_at(elapsed_ns)
    assert rate.deadline_ns(index) <= elapsed_ns < rate.deadline_ns(index + 1)


@given(any_rate, any_index)
def test_deadlines_stay_within_a_nanosecond_of_the_exact_time(rate: Rate, index: int) -> None:
    exact = index * NS_PER_SECOND / rate.per_second
    assert 0 <= rate.deadline_ns(index) - exact < 1


@NAMED
def test_the_clock_has_not_drifted_after_ten_years(rate: Rate) -> None:
    index = int(rate.per_second * TEN_YEARS)
    exact_s = index / rate.per_second
    assert rate.deadline_ns(index) == -(-exact_s.numerator * NS_PER_SECOND // exact_s.denominator)
    assert rate.pts(index, 90_000) == exact_s * 90_000


@pytest.mark.parametrize(
    ("rate", "step"), [(RATES[0], 3600), (RATES[1], 3750), (NTSC, 3003)], ids=["25", "24", "29.97"]
)
def test_video_timestamps_rise_by_the_same_step_for_ever(rate: Rate, step: int) -> None:
    assert all(rate.pts(n + 1, 90_000) - rate.pts(n, 90_000) == step for n in range(-5, 1000))
    assert rate.pts(10**9, 90_000) == 10**9 * step


@given(any_rate, any_index, st.integers(1, 200_000))
def test_timestamps_round_down_on_both_sides_of_the_start(rate: Rate, index: int, clock_rate: int) -> None:
    exact = index * clock_rate / rate.per_second
    assert 0 <= exact - rate.pts(index, clock_rate) < 1


@given(any_rate, any_index)
def test_every_result_is_an_integer(rate: Rate, index: int) -> None:
    assert all(
        type(value) is int
        for value in (rate.pts(index, 90_000), rate.deadline_ns(index), rate.index_at(index))
    )


@pytest.mark.parametrize("per_second", [Fraction(0), Fraction(-25)])
def test_a_rate_must_be_positive(per_second: Fraction) -> None:
    with pytest.raises(ValueError, match="positive"):
        Rate(per_second)


def test_a_tick_holds_whole_samples_or_the_rate_is_refused() -> None:
    assert Rate(Fraction(24)).samples(48_000) == 2000
    assert NTSC.samples(30_000) == 1001
    with pytest.raises(ValueError, match="48000 Hz does not divide"):
        NTSC.samples(48_000)


def test_the_programme_has_1920_samples_640_heard_samples_and_40_ms_a_tick() -> None:
    assert (PROGRAM_HOP, FEATURE_HOP, TICK_NS) == (1920, 640, 40_000_000)
    assert NS_PER_SECOND == 1000 * NS_PER_MS


@given(st.integers(0, 10**9))
def test_sound_and_picture_of_a_tick_carry_the_same_time(index: int) -> None:
    video = Fraction(FRAME_RATE.pts(index, 90_000), 90_000)
    audio = Fraction(index * PROGRAM_HOP, 48_000)
    assert video == audio == Fraction(FRAME_RATE.deadline_ns(index), NS_PER_SECOND)


@given(any_rate, any_index, st.integers(0, 10**18))
def test_a_frame_clock_is_its_rate_moved_to_the_start(rate: Rate, index: int, start_ns: int) -> None:
    clock = FrameClock(rate, start_ns)
    assert clock.deadline_ns(index) == start_ns + rate.deadline_ns(index)
    assert clock.due(clock.deadline_ns(index)) == index
    assert clock.due(clock.deadline_ns(index) - 1) == index - 1
    assert clock.pts(index) == rate.pts(index, 90_000)


def test_until_counts_down_to_the_deadline_and_is_negative_when_late() -> None:
    clock = FrameClock(FRAME_RATE, 1_000)
    assert clock.until(2, 1_000) == 2 * TICK_NS
    assert clock.until(2, 1_000 + 2 * TICK_NS) == 0
    assert clock.until(2, 1_001 + 2 * TICK_NS) == -1


def test_no_tick_is_due_before_the_start() -> None:
    clock = FrameClock(FRAME_RATE, TICK_NS)
    assert clock.due(TICK_NS) == 0
    assert clock.due(TICK_NS - 1) == -1
    assert clock.due(0) == -1


@given(st.integers(0, 10**9), st.integers(1, 192_000))
def test_milliseconds_and_samples_round_down(count: int, rate: int) -> None:
    assert 0 <= Fraction(count * 1000, rate) - to_ms(count, rate) < 1
    assert 0 <= Fraction(count * rate, 1000) - to_samples(count, rate) < 1
