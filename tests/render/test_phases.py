from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.phases import first_tick, phase
from visavis.stream.clock import FRAME_RATE, TICK_NS, FrameClock


@given(st.integers(0, 2**62), st.integers(-50, 10**6), st.integers(1, 10), st.lists(st.integers(0, 9)))
def test_a_session_begins_within_a_cadence_where_the_fewest_have(
    start_ns: int, earliest: int, cadence: int, taken: list[int]
) -> None:
    clock, others = FrameClock(FRAME_RATE, start_ns), [one % cadence for one in taken]
    found = first_tick(clock, earliest, cadence, others)
    assert earliest <= found < earliest + cadence
    counts = Counter(others)
    assert counts[phase(clock, found, cadence)] == min(counts[one] for one in range(cadence))


@pytest.mark.parametrize(("cadence", "sessions"), [(1, 7), (5, 15), (5, 12), (2, 9)])
def test_sessions_that_begin_together_are_spread(cadence: int, sessions: int) -> None:
    taken: list[int] = []
    for session in range(sessions):
        clock = FrameClock(FRAME_RATE, 123_456_789 + session * 7_000_001)
        taken.append(phase(clock, first_tick(clock, 3, cadence, taken), cadence))
    counts = Counter(taken)
    assert len(counts) == min(cadence, sessions)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_nobody_waits_who_need_not() -> None:
    clock = FrameClock(FRAME_RATE, 5 * TICK_NS)
    assert first_tick(clock, 4, 5, []) == 4
    assert first_tick(clock, 4, 5, [phase(clock, 4, 5)]) == 5
