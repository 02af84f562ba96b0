from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.clock import FRAME_RATE, NS_PER_MS, TICK_NS, FrameClock, Rate
from visavis.stream.pacer import Pacer, PacerOptions, latency_ms, spread
from visavis.stream.stage import StageSpec

START = 5_000_000_123
PACER = Pacer(FrameClock(FRAME_RATE, START))


def ms_after_deadline(moment_ns: int, index: int) -> float:
    return (moment_ns - START - index * TICK_NS) / NS_PER_MS


@pytest.mark.parametrize("index", [0, 1, 1000, 10**7])
def test_a_tick_is_drawn_80_ms_and_encoded_20_ms_before_it_leaves_and_repeated_8_ms_after(index: int) -> None:
    assert ms_after_deadline(PACER.draw_ns(index), index) == -80
    assert ms_after_deadline(PACER.encode_ns(index), index) == -20
    assert ms_after_deadline(PACER.send_ns(index), index) == 0
    assert ms_after_deadline(PACER.repeat_ns(index), index) == 8


@given(
    st.integers(1, 8), st.integers(0, 40), st.integers(0, 40), st.integers(0, 10**8), st.integers(0, 10**15)
)
def test_the_steps_of_a_tick_follow_each_other(
    lead: int, encode_lead_ms: int, grace_ms: int, index: int, start_ns: int
) -> None:
    options = PacerOptions(lead=lead, horizon=8, encode_lead_ms=encode_lead_ms, grace_ms=grace_ms)
    pacer = Pacer(FrameClock(FRAME_RATE, start_ns), options)
    steps = [pacer.draw_ns, pacer.encode_ns, pacer.send_ns, pacer.repeat_ns]
    moments = [step(index) for step in steps]
    assert moments == sorted(moments)
    assert all(step(index + 1) - step(index) == TICK_NS for step in steps)


@pytest.mark.parametrize(("left_ms", "skipped"), [(80, 0), (40, 0), (39, 1), (1, 1), (-1, 2), (-200, 7)])
def test_a_frame_with_less_than_a_tick_left_is_left_out_for_one_that_can_be_reached(
    left_ms: int, skipped: int
) -> None:
    now_ns = PACER.send_ns(100) - left_ms * NS_PER_MS
    found = PACER.reachable(100, now_ns)
    assert found == 100 + skipped
    assert PACER.clock.until(found, now_ns) >= TICK_NS
    assert PACER.reachable(found, now_ns) == found


def test_a_late_tick_jumps_only_when_it_is_more_than_50_ticks_behind() -> None:
    assert PACER.stalled(100, PACER.send_ns(150)) is None
    assert PACER.stalled(100, PACER.send_ns(151) - 1) is None
    assert PACER.stalled(100, PACER.send_ns(151)) == 151
    assert PACER.stalled(100, PACER.send_ns(10**6) + 7) == 10**6


def test_a_tick_on_time_or_early_is_not_stalled() -> None:
    assert PACER.stalled(100, PACER.send_ns(100)) is None
    assert PACER.stalled(100, PACER.send_ns(0)) is None
    assert PACER.stalled(0, 0) is None


def test_speech_that_is_known_may_be_drawn_seven_ticks_ahead() -> None:
    assert (PACER.options.lead, PACER.options.horizon) == (2, 7)


@pytest.mark.parametrize(("lead", "horizon"), [(0, 8), (-1, 8), (9, 8), (1, 0)])
def test_the_lead_lies_between_one_and_the_horizon(lead: int, horizon: int) -> None:
    with pytest.raises(ValueError, match="lead must lie between 1 and the horizon"):
        PacerOptions(lead=lead, horizon=horizon)
    assert PacerOptions(lead=8, horizon=8).lead == 8


def test_a_lone_session_starts_within_a_tick() -> None:
    start = spread(123_456_789, [])
    assert 0 <= start - 123_456_789 < TICK_NS


@given(st.integers(0, 10**15), st.integers(2, 8))
def test_sessions_share_a_tick_evenly(now_ns: int, count: int) -> None:
    starts: list[int] = []
    for _ in range(count):
        starts.append(spread(now_ns, starts))
        now_ns += 17_000_000
    phases = sorted(start % TICK_NS for start in starts)
    gaps = [(b - a) % TICK_NS for a, b in pairwise([*phases, phases[0]])]
    assert min(gaps) >= TICK_NS // 8
    assert count > 4 or min(gaps) >= TICK_NS // 4


@given(st.integers(0, 10**15), st.integers(1, 16))
def test_sessions_that_are_drawn_together_leave_at_two_moments_as_many_at_each(
    now_ns: int, count: int
) -> None:
    starts: list[int] = []
    for _ in range(count):
        starts.append(spread(now_ns, starts, together=True))
        assert 0 <= starts[-1] - now_ns < TICK_NS
        now_ns += 17_000_000
    moments = Counter(start % TICK_NS for start in starts)
    assert set(moments) <= {0, TICK_NS // 2}
    assert abs(moments[0] - moments[TICK_NS // 2]) <= 1


@pytest.mark.parametrize(("lookahead", "lead", "milliseconds"), [(0, 2, 120), (3, 2, 240), (11, 1, 520)])
def test_sound_waits_for_its_hop_the_look_ahead_and_the_lead(
    lookahead: int, lead: int, milliseconds: int
) -> None:
    spec = StageSpec(Rate(Fraction(16_000)), window=640, hop=640, lookahead=lookahead * 640)
    assert latency_ms(spec, PacerOptions(lead=lead)) == milliseconds
