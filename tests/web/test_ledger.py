import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.errors import ProtocolError
from visavis.stream.link import TickSpan
from visavis.web.ledger import Ledger
from visavis.web.wire import PlaybackFinished, PlaybackStarted

HOP = 1920


def test_a_segment_starts_with_its_first_sample_and_finishes_with_its_last() -> None:
    ledger = Ledger()
    name = ledger.open(0, "hello")
    ledger.push(name, 2 * HOP, 48_000)
    assert ledger.play([TickSpan(name, 0, HOP, False)]) == [PlaybackStarted("hello")]
    assert ledger.speaking == "hello"
    assert ledger.play([TickSpan(name, HOP, 2 * HOP, True)]) == [PlaybackFinished("hello", 80, False)]
    assert ledger.speaking is None


def test_two_segments_in_one_tick_are_told_in_order() -> None:
    ledger = Ledger()
    first, second = ledger.open(0, "a"), ledger.open(0, "b")
    spans = [TickSpan(first, 0, 960, True), TickSpan(second, 0, 960, False)]
    assert ledger.play(spans) == [
        PlaybackStarted("a"),
        PlaybackFinished("a", 20, False),
        PlaybackStarted("b"),
    ]


def test_queued_time_is_what_was_pushed_less_what_was_sent() -> None:
    ledger = Ledger()
    name = ledger.open(0)
    ledger.push(name, 24_000, 24_000)
    assert ledger.queued_ms == 1_000
    ledger.play([TickSpan(name, 0, HOP, False)])
    assert ledger.queued_ms == 960
    ledger.play([TickSpan(name, HOP, 2 * HOP, True)])
    assert ledger.queued_ms == 0


def test_a_cut_finishes_older_epochs_with_the_position_truly_sent_and_spares_newer_ones() -> None:
    ledger = Ledger()
    playing, waiting, newer = ledger.open(0, "a"), ledger.open(0, "b"), ledger.open(1, "c")
    ledger.push(playing, 48_000, 48_000)
    ledger.push(waiting, 48_000, 48_000)
    ledger.push(newer, 48_000, 48_000)
    ledger.play([TickSpan(playing, 0, 5 * HOP, False)])
    assert ledger.cut(1) == [PlaybackFinished("a", 200, True), PlaybackFinished("b", 0, True)]
    assert ledger.queued_ms == 1_000
    assert ledger.holds("c")


def test_spans_of_unknown_segments_are_ignored() -> None:
    assert Ledger().play([TickSpan("gone", 0, HOP, True)]) == []


def test_a_segment_that_ends_without_sound_is_finished_at_once() -> None:
    ledger = Ledger()
    name = ledger.open(0, "empty")
    assert not ledger.has_sound(name)
    assert ledger.abandon(name) == [PlaybackFinished("empty", 0, False)]
    assert ledger.abandon(name) == []


def test_a_label_in_use_is_refused_and_free_again_afterwards() -> None:
    ledger = Ledger()
    name = ledger.open(0, "a")
    with pytest.raises(ProtocolError, match="give this one another id"):
        ledger.open(0, "a")
    ledger.abandon(name)
    ledger.open(0, "a")


def test_a_segment_that_goes_on_with_another_may_have_its_label() -> None:
    ledger = Ledger()
    first, second = ledger.open(0, "a"), ledger.open(0, "a", again=True)
    assert [ledger.label_of(name) for name in (first, second)] == ["a", "a"]


def test_a_new_label_shows_from_then_on_and_must_be_free() -> None:
    ledger = Ledger()
    first, second = ledger.open(0), ledger.open(0, "b")
    ledger.rename(first, "mine")
    assert ledger.label_of(first) == "mine"
    with pytest.raises(ProtocolError):
        ledger.rename(second, "mine")
    ledger.abandon(first)
    ledger.rename(first, "too late")
    assert not ledger.holds("too late")


def test_a_segment_without_a_label_does_not_get_one_that_a_client_gave_another() -> None:
    ledger = Ledger()
    labelled = ledger.open(0, "segment-2")
    plain = ledger.open(0)
    label = ledger.label_of(plain)
    assert label != "segment-2"
    assert ledger.play([TickSpan(plain, 0, HOP, False)]) == [PlaybackStarted(label)]
    assert ledger.abandon(labelled) == [PlaybackFinished("segment-2", 0, False)]


def test_fresh_labels_pass_over_those_in_use() -> None:
    ledger = Ledger()
    ledger.open(0, "mic-1")
    assert [ledger.fresh_label("mic"), ledger.fresh_label("mic")] == ["mic-2", "mic-3"]


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=12), st.integers(0, 40))
def test_every_segment_is_finished_exactly_once_with_what_was_sent_of_it(
    lengths: list[int], ticks: int
) -> None:
    """Play `ticks` ticks of segments of these lengths, then cut."""
    ledger = Ledger()
    left = [(ledger.open(0, f"s{number}"), 0, length) for number, length in enumerate(lengths)]
    for name, _, length in left:
        ledger.push(name, length, 48_000)
    events: list[PlaybackStarted | PlaybackFinished] = []
    for _ in range(ticks):
        room, spans = HOP, list[TickSpan]()
        while left and room:
            name, taken, length = left.pop(0)
            count = min(room, length - taken)
            done = taken + count == length
            spans.append(TickSpan(name, taken, taken + count, done))
            room -= count
            if not done:
                left.insert(0, (name, taken + count, length))
        events += ledger.play(spans)
    events += ledger.cut(1)
    finished = [event for event in events if isinstance(event, PlaybackFinished)]
    assert [event.id for event in finished] == [f"s{number}" for number in range(len(lengths))]
    sent = min(sum(lengths), ticks * HOP)
    for event, length in zip(finished, lengths, strict=True):
        assert event.position_ms == min(sent, length) * 1000 // 48_000
        assert event.interrupted == (sent < length)
        sent -= min(sent, length)
    assert ledger.queued_ms == 0
