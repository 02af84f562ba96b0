from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.phases import TOGETHER, WAIT, first_tick, horizon, phase
from visavis.stream.clock import FRAME_RATE, TICK_NS, FrameClock
from visavis.stream.pacer import spread


@given(st.integers(0, 2**62), st.integers(-50, 10**6), st.integers(1, 70), st.lists(st.integers(0, 9)))
def test_a_session_begins_within_a_cadence(
    start_ns: int, earliest: int, cadence: int, taken: list[int]
) -> None:
    clock = FrameClock(FRAME_RATE, start_ns)
    others = [phase(clock, one, cadence) for one in taken]
    found = first_tick(clock, earliest, cadence, others)
    assert earliest <= found < earliest + cadence
    counts = Counter(others)
    here = counts[phase(clock, found, cadence)]
    near = range(earliest, earliest + min(cadence, WAIT))
    assert found in near
    everywhere = [counts[phase(clock, one, cadence)] for one in near]
    open_ = [count for count in everywhere if 0 < count < TOGETHER]
    assert here == (max(open_) if open_ else min(everywhere))


@pytest.mark.parametrize(
    ("cadence", "sessions", "batches"),
    [(5, 15, [7, 8]), (5, 16, [8, 8]), (5, 12, [6, 6]), (2, 9, [4, 5]), (5, 1, [1]), (5, 20, [2, 2, 8, 8])],
)
def test_sessions_have_their_turns_in_as_few_batches_as_hold_them(
    cadence: int, sessions: int, batches: list[int]
) -> None:
    starts, taken = list[int](), list[int]()
    for session in range(sessions):
        starts.append(spread(123_456_789 + session * 57_000_001, starts, together=True))
        clock = FrameClock(FRAME_RATE, starts[-1])
        taken.append(phase(clock, first_tick(clock, 3, cadence, taken), cadence))
    assert sorted(Counter(taken).values()) == batches


def test_batches_are_as_far_from_each_other_as_can_be() -> None:
    clock, late = FrameClock(FRAME_RATE, 5 * TICK_NS), FrameClock(FRAME_RATE, 5 * TICK_NS + TICK_NS // 2)
    one = phase(clock, first_tick(clock, 4, 5, []), 5)
    assert abs(phase(late, first_tick(late, 4, 5, [one]), 5) - one) == 5 * TICK_NS // 2


def test_nobody_waits_who_need_not() -> None:
    clock = FrameClock(FRAME_RATE, 5 * TICK_NS)
    assert first_tick(clock, 4, 5, []) == 4
    assert first_tick(clock, 5, 5, [phase(clock, 4, 5)]) == 9
    assert first_tick(clock, 4, 1, [0]) == 4


@pytest.mark.parametrize(
    ("lead", "most", "cadence", "found"),
    [(2, 7, 5, 7), (2, 7, 2, 6), (2, 7, 1, 7), (2, 7, 10, 7), (2, 12, 5, 12)],
)
def test_who_is_ahead_has_the_turns_of_who_is_not(lead: int, most: int, cadence: int, found: int) -> None:
    assert horizon(lead, most, cadence) == found
