import pytest
from support.front import tick
from visavis.stream.clock import NS_PER_MS
from visavis.stream.link import EngineCounts, Gauges
from visavis.web.traffic import Counts, EngineTotals, KeyframeGate, Totals, Traffic, summed


def test_counters_go_on_when_a_new_worker_begins_at_zero() -> None:
    counts = Counts()
    counts.take(Gauges("s", 100, 5, 3, 1, 0))
    counts.restart()
    counts.take(Gauges("s", 10, 1, 0, 0, 0))
    assert (counts.generated, counts.repeated, counts.late, counts.underruns) == (110, 6, 3, 1)


def test_the_bitrate_is_that_of_the_last_whole_second() -> None:
    traffic = Traffic()
    for index in range(50):
        traffic.count(tick(index, size=998), 0)
    assert traffic.bitrate_bps == 25 * 1000 * 8


def test_early_ticks_count_as_on_time() -> None:
    traffic = Traffic()
    traffic.count(tick(0), -5 * NS_PER_MS)
    traffic.count(tick(1), 12 * NS_PER_MS)
    assert traffic.lateness_ms.max == pytest.approx(12)
    assert traffic.lateness_ms.total == traffic.ticks == 2


def test_keyframes_are_asked_for_at_once_then_at_most_each_500_ms() -> None:
    gate = KeyframeGate()
    asked: list[int] = []
    for ms in range(0, 2_000, 40):
        gate.wanted = True
        if gate.due(ms * NS_PER_MS):
            asked.append(ms)
    assert asked == [0, 520, 1040, 1560]


def test_a_wish_that_came_too_early_is_kept() -> None:
    gate = KeyframeGate(wanted=True)
    assert gate.due(0)
    gate.wanted = True
    assert not gate.due(100 * NS_PER_MS)
    assert gate.due(600 * NS_PER_MS)
    assert not gate.due(1_200 * NS_PER_MS)


def test_totals_add_up_over_sessions() -> None:
    totals = Totals()
    for _ in range(2):
        counts, traffic = Counts(), Traffic()
        counts.take(Gauges("s", 7, 1, 2, 3, 0))
        traffic.count(tick(0), 3 * NS_PER_MS)
        totals.add(counts, traffic)
    assert (totals.generated, totals.repeated, totals.late, totals.underruns) == (14, 2, 4, 6)
    assert totals.ticks == totals.lateness_ms.total == 2
    assert totals.lateness_ms.max == pytest.approx(3)


def test_what_engines_count_goes_on_with_the_next_worker_and_its_cache_begins_empty() -> None:
    totals = EngineTotals()
    assert totals.total is None
    totals.take(EngineCounts(5, 4, 3, 2_000, 1))
    totals.take(EngineCounts(50, 40, 30, 1_000, 10))
    totals.restart()
    assert totals.total == EngineCounts(50, 40, 30, 0, 10)
    totals.take(EngineCounts(1, 2, 3, 4, 5))
    assert totals.total == EngineCounts(51, 42, 33, 4, 15)
    totals.restart()
    totals.restart()
    assert totals.total == EngineCounts(51, 42, 33, 0, 15)


def test_an_engine_that_counts_nothing_has_no_totals_after_a_restart_either() -> None:
    totals = EngineTotals()
    totals.restart()
    assert totals.total is None


def test_engines_are_added_up_and_those_that_count_nothing_are_left_out() -> None:
    one, two = EngineCounts(1, 2, 3, 4, 5), EngineCounts(10, 20, 30, 40, 50)
    assert summed([one, None, two]) == EngineCounts(11, 22, 33, 44, 55)
    assert summed([None, None]) is None
    assert summed([]) is None
