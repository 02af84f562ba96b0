import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from support.sound import Sound, cuts, noise, pieces
from support.talk import chunk, counted, drained, filled, sound_of, take
from visavis.stream.clock import NS_PER_MS, PROGRAM_HOP
from visavis.stream.errors import AudioError
from visavis.stream.media import Span
from visavis.stream.playout import Cut, Playout, PlayoutOptions
from visavis.stream.resample import Resampler
from visavis.stream.visemes import SILENCE

RATES = [16_000, 22_050, 24_000, 48_000]
MS = 48
"""Samples a millisecond."""


class Talk(RuleBasedStateMachine):
    """Random clients against a model that only knows who said what in which order."""

    LIMIT_MS = 2_000

    def __init__(self) -> None:
        super().__init__()
        self.playout = Playout(PlayoutOptions(limit_ms=self.LIMIT_MS))
        self.now_ns = 0
        self.count = 0
        self.names: list[str] = []
        self.pending: list[Sound] = []
        self.ended: list[bool] = []
        self.taken: list[int] = []

    def pop(self) -> None:
        for column in (self.names, self.pending, self.ended, self.taken):
            column.pop(0)

    @rule(name=st.sampled_from("ab"), count=st.integers(0, 5000) | st.sampled_from([0, 1, 1920, 3840]))
    def push(self, name: str, count: int) -> None:
        samples = counted(count, first=self.count + 1)
        if sum(map(len, self.pending)) // MS >= self.LIMIT_MS:
            with pytest.raises(AudioError):
                self.playout.push(chunk(name, samples), self.now_ns)
            return
        self.count += count
        self.playout.push(chunk(name, samples), self.now_ns)
        if not self.names or self.ended[-1] or self.names[-1] != name:
            self.ended = [True] * len(self.names)
            self.names.append(name)
            self.pending.append(samples)
            self.ended.append(False)
            self.taken.append(0)
        else:
            self.pending[-1] = np.concatenate([self.pending[-1], samples])

    @rule(name=st.sampled_from("abc"))
    def end(self, name: str) -> None:
        opens = bool(self.names) and not self.ended[-1] and self.names[-1] == name
        assert self.playout.end(name) is opens
        if opens:
            self.ended[-1] = True

    @rule(ms=st.integers(0, 300))
    def wait(self, ms: int) -> None:
        self.now_ns += ms * NS_PER_MS

    @rule()
    def starve(self) -> None:
        name = self.playout.starved(self.now_ns)
        if name is not None:
            assert (self.names, self.ended) == ([name], [False])
            self.ended[0] = True

    @rule()
    def take(self) -> None:
        must_play = bool(self.names) and (self.ended[0] or len(self.pending[0]) >= 80 * MS)
        twin = copy.deepcopy(self.playout)
        ready = self.playout.ready(self.now_ns)
        cut = self.playout.take(self.now_ns)
        assert ready is bool(cut.spans)
        assert ready or not must_play
        assert np.array_equal(twin.take(self.now_ns).sent, cut.sent)
        self.follow(cut)
        self.now_ns += 40 * NS_PER_MS

    def follow(self, cut: Cut) -> None:
        at = 0
        for span in cut.spans:
            count = span.end - span.start
            assert (span.segment, span.start) == (self.names[0], self.taken[0])
            assert np.array_equal(cut.sent[at : at + count], self.pending[0][:count])
            self.pending[0] = self.pending[0][count:]
            self.taken[0] += count
            at += count
            assert span.last is (self.ended[0] and not len(self.pending[0]))
            assert span.last or count > 0
            if span.last:
                self.pop()
        assert not cut.sent[at:].any()
        assert at == PROGRAM_HOP or not self.names or not self.ended[0]
        assert not self.names or not self.ended[0] or len(self.pending[0])

    @precondition(lambda self: self.names)
    @rule()
    def clear(self) -> None:
        self.playout.clear()
        while self.names:
            self.pop()

    @invariant()
    def books_agree(self) -> None:
        assert self.playout.queued_ms == sum(map(len, self.pending)) // MS
        assert self.playout.empty is (not self.names)
        assert self.playout.open is (bool(self.names) and not self.ended[-1])

    def teardown(self) -> None:
        if self.names:
            self.playout.end(self.names[-1])
            self.ended[-1] = True
        for _ in range(sum(map(len, self.pending)) // PROGRAM_HOP + 1):
            self.follow(self.playout.take(self.now_ns))
        assert self.names == []
        assert self.playout.empty


TestTalk = Talk.TestCase
TestTalk.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)


@given(st.sampled_from([8_000, 11_025, *RATES]), st.integers(0, 6000), st.data())
@settings(max_examples=50)
def test_a_segment_at_any_rate_is_heard_as_one_resampler_would_make_it(
    rate: int, count: int, data: st.DataObject
) -> None:
    sound = noise(count, level_db=-12)
    playout, ticks = Playout(), []
    for number, piece in enumerate(pieces(sound, data.draw(cuts(count, most=6)))):
        playout.push(chunk("a", piece, rate=rate), number * 30 * NS_PER_MS)
        if data.draw(st.booleans()):
            ticks.append(take(playout, number * 30))
    playout.end("a")
    ticks += drained(playout, at_ms=1000)
    resampler = Resampler(rate)
    assert np.array_equal(sound_of(ticks, "a"), np.concatenate([resampler.step(sound), resampler.flush()]))


def test_a_tick_that_uses_up_an_open_segment_does_not_end_it() -> None:
    playout = filled(("a", 3840))
    assert [take(playout, ms).spans[0].last for ms in (0, 40)] == [False, False]
    assert take(playout, 80).spans == ()
    playout.end("a")
    assert take(playout, 120).spans == (Span("a", 3840, 3840, last=True),)


def test_the_last_sample_tells_its_end_in_its_own_tick() -> None:
    playout = filled(("a", 1920), ("b", 1920))
    playout.end("b")
    assert take(playout, 0).spans == (Span("a", 0, 1920, last=True),)
    assert take(playout, 40).spans == (Span("b", 0, 1920, last=True),)
    assert playout.empty


def test_one_tick_may_hold_the_end_of_a_segment_a_whole_one_and_the_start_of_a_third() -> None:
    playout = filled(("a", 100), ("b", 200), ("c", 5000))
    cut = take(playout, 0)
    assert cut.spans == (
        Span("a", 0, 100, last=True),
        Span("b", 0, 200, last=True),
        Span("c", 0, 1620, last=False),
    )
    assert np.array_equal(cut.sent, np.concatenate([counted(100), counted(200), counted(1620)]))


def test_a_segment_without_sound_ends_in_an_empty_span() -> None:
    playout = filled(("a", 0))
    playout.end("a")
    assert take(playout, 0).spans == (Span("a", 0, 0, last=True),)
    assert playout.empty


def test_nothing_to_say_is_known_silence() -> None:
    cut = take(Playout(), 0)
    assert (cut.sent.shape, cut.sent.dtype, cut.sent.any()) == ((1920,), np.float32, False)
    assert cut.known.all()
    assert np.array_equal(cut.rows, np.eye(15, dtype=np.float32)[[SILENCE] * 4])
    assert not Playout().ready(0)


def test_only_the_open_segment_can_be_ended_and_only_once() -> None:
    playout = filled(("a", 10), ("b", 10))
    assert [playout.end(name) for name in ("a", "c", "b", "b")] == [False, False, True, False]
    assert not Playout().end("a")


def test_a_name_used_again_after_its_end_is_a_new_segment() -> None:
    playout = filled(("a", 10))
    playout.end("a")
    playout.push(chunk("a", counted(20)), 0)
    playout.end("a")
    assert take(playout, 0).spans == (Span("a", 0, 10, last=True), Span("a", 0, 20, last=True))


def test_too_much_sound_is_refused_and_nothing_of_it_is_kept() -> None:
    playout = Playout(PlayoutOptions(limit_ms=1000))
    playout.push(chunk("a", counted(48_000 - 1)), 0)
    playout.push(chunk("a", counted(1)), 0)
    with pytest.raises(AudioError, match="1 s of sound wait already; send it no faster than it is spoken"):
        playout.push(chunk("b", counted(1)), 0)
    assert playout.queued_ms == 1000
    assert playout.end("a")


def test_a_segment_cannot_change_its_rate() -> None:
    playout = filled(("a", 480))
    with pytest.raises(AudioError, match="began at 48000 Hz, not 24000 Hz; end it before"):
        playout.push(chunk("a", counted(480), rate=24_000), 0)
    assert playout.queued_ms == 10
    playout.end("a")
    playout.push(chunk("a", counted(480), rate=24_000), 0)
    playout.end("a")
    assert playout.queued_ms == 30


def test_a_refused_rate_leaves_the_segment_before_it_open() -> None:
    playout = filled(("a", 480))
    with pytest.raises(AudioError, match="sample_rate must be between"):
        playout.push(chunk("b", counted(480), rate=96_000), 0)
    assert playout.open
    assert playout.end("a")


def test_clearing_drops_every_segment() -> None:
    playout = filled(("a", 10_000), ("b", 10_000))
    take(playout, 0)
    playout.clear()
    assert (playout.empty, playout.open, playout.queued_ms) == (True, False, 0)
    assert not take(playout, 40).sent.any()


def test_peek_shows_what_follows_the_last_tick_without_taking_it() -> None:
    playout = filled(("a", 10_000))
    take(playout, 0)
    assert np.array_equal(playout.peek(480), counted(480, first=1921))
    assert np.array_equal(take(playout, 40).sent, counted(1920, first=1921))
    playout.end("a")
    drained(playout, at_ms=80)
    assert len(playout.peek(480)) == 0


def test_peek_shows_no_more_than_there_is() -> None:
    playout = filled(("a", 3840 + 7))
    take(playout, 0)
    take(playout, 40)
    assert np.array_equal(playout.peek(480), counted(7, first=3841))


def test_nothing_follows_a_tick_that_was_not_full_of_sound() -> None:
    unstarted = filled(("a", 10_000))
    assert len(unstarted.peek(480)) == 0
    dry = filled(("a", 3840 + 500))
    for ms in (0, 40, 80):
        take(dry, ms)
    assert len(dry.peek(480)) == 0
    cleared = filled(("a", 10_000))
    take(cleared, 0)
    cleared.clear()
    cleared.push(chunk("b", counted(10_000)), 40 * NS_PER_MS)
    assert len(cleared.peek(480)) == 0
