import numpy as np
from support.talk import chunk, counted, drained, filled, sound_of, take
from visavis.stream.clock import NS_PER_MS
from visavis.stream.media import Span
from visavis.stream.playout import Cut, Playout, PlayoutOptions

MS = 48
"""Samples a millisecond."""


def test_an_open_segment_starts_once_80_ms_are_there() -> None:
    playout = filled(("a", 80 * MS - 1))
    assert take(playout, 100).spans == ()
    playout.push(chunk("a", counted(1)), 110 * NS_PER_MS)
    assert take(playout, 120).spans == (Span("a", 0, 1920, last=False),)


def test_a_shorter_one_starts_when_patience_ends() -> None:
    playout = filled(("a", 1920))
    assert take(playout, 199).spans == ()
    assert take(playout, 200).spans == (Span("a", 0, 1920, last=False),)


def test_less_than_a_tick_waits_for_more_or_for_its_end() -> None:
    playout = filled(("a", 1919))
    assert take(playout, 999).spans == ()
    playout.end("a")
    assert take(playout, 999).spans == (Span("a", 0, 1919, last=True),)


def test_an_ended_segment_needs_no_cushion() -> None:
    playout = filled(("a", 1))
    playout.end("a")
    assert playout.ready(0)
    assert take(playout, 0).spans == (Span("a", 0, 1, last=True),)


def test_a_segment_that_is_not_ready_leaves_the_rest_of_the_tick_silent() -> None:
    playout = filled(("a", 100), ("b", 1000))
    cut = take(playout, 0)
    assert cut.spans == (Span("a", 0, 100, last=True),)
    assert not cut.sent[100:].any()
    assert playout.underruns == 0


def test_a_segment_that_follows_needs_only_what_the_tick_has_left() -> None:
    playout = Playout(PlayoutOptions(cushion_ms=10))
    playout.push(chunk("a", counted(100)), 0)
    playout.push(chunk("b", counted(1819)), 0)
    playout.push(chunk("b", counted(1)), 0)
    assert take(playout, 0).spans == (Span("a", 0, 100, last=True), Span("b", 0, 1820, last=False))


def test_a_dry_segment_waits_for_a_new_cushion_and_counts_one_underrun() -> None:
    playout = filled(("a", 4000))
    assert [bool(take(playout, ms).spans) for ms in (0, 40, 80, 120)] == [True, True, False, False]
    playout.push(chunk("a", counted(80 * MS - 161)), 130 * NS_PER_MS)
    assert take(playout, 160).spans == ()
    playout.push(chunk("a", counted(1)), 170 * NS_PER_MS)
    assert take(playout, 200).spans == (Span("a", 3840, 5760, last=False),)
    assert playout.underruns == 1


def test_patience_begins_anew_when_a_segment_runs_dry() -> None:
    playout = filled(("a", 3840))
    assert [bool(take(playout, ms).spans) for ms in (0, 40, 80)] == [True, True, False]
    playout.push(chunk("a", counted(1920)), 90 * NS_PER_MS)
    assert take(playout, 279).spans == ()
    assert take(playout, 280).spans == (Span("a", 3840, 5760, last=False),)


def test_a_long_gap_is_one_underrun_even_with_a_rest_too_short_for_a_tick() -> None:
    playout = filled(("a", 3840 + 500))
    spoken = [bool(take(playout, ms).spans) for ms in range(0, 900, 40)]
    assert spoken == [True, True] + [False] * 21
    assert playout.underruns == 1


def test_a_small_cushion_does_not_start_what_the_next_tick_cannot_hold() -> None:
    playout = Playout(PlayoutOptions(cushion_ms=10))
    playout.push(chunk("a", counted(1920 + 500)), 0)
    assert [len(take(playout, ms).spans) for ms in (0, 40, 80, 120)] == [1, 0, 0, 0]
    assert playout.underruns == 1


def test_ending_or_not_having_begun_is_no_underrun() -> None:
    playout = filled(("a", 3840))
    take(playout, 0)
    playout.end("a")
    assert [len(take(playout, ms).spans) for ms in (40, 80)] == [1, 0]
    playout.push(chunk("b", counted(10)), 120 * NS_PER_MS)
    take(playout, 120)
    assert playout.underruns == 0


def test_a_quiet_client_starves_its_segment_once_and_the_rest_is_still_said() -> None:
    playout = filled(("a", 500), now_ms=10)
    assert playout.starved(1009 * NS_PER_MS) is None
    assert playout.starved(1010 * NS_PER_MS) == "a"
    assert playout.starved(9999 * NS_PER_MS) is None
    assert not playout.open
    assert take(playout, 1010).spans == (Span("a", 0, 500, last=True),)


def test_a_segment_that_came_in_a_burst_is_not_starved_while_it_plays() -> None:
    playout = filled(("a", 3 * 48_000))
    ticks: list[Cut] = []
    for number in range(60):
        assert playout.starved(number * 40 * NS_PER_MS) is None
        ticks.append(take(playout, number * 40))
    playout.push(chunk("a", counted(48_000, first=3 * 48_000 + 1)), 2400 * NS_PER_MS)
    playout.end("a")
    ticks += drained(playout, at_ms=2400)
    assert np.array_equal(sound_of(ticks, "a"), counted(4 * 48_000))
    assert [span.last for tick in ticks for span in tick.spans] == [False] * 99 + [True]


def test_sound_too_short_to_be_played_still_keeps_a_segment_from_starving() -> None:
    playout = filled(("a", 10))
    playout.push(chunk("a", counted(10)), 900 * NS_PER_MS)
    assert playout.starved(1899 * NS_PER_MS) is None
    assert playout.starved(1900 * NS_PER_MS) == "a"


def test_a_segment_starves_one_second_after_its_last_sound_was_taken() -> None:
    playout = filled(("a", 3840))
    take(playout, 0)
    take(playout, 700)
    assert playout.starved(1699 * NS_PER_MS) is None
    assert playout.starved(1700 * NS_PER_MS) == "a"


def test_silence_and_ended_segments_do_not_starve() -> None:
    assert Playout().starved(10**15) is None
    playout = filled(("a", 500))
    playout.end("a")
    assert playout.starved(10**15) is None
