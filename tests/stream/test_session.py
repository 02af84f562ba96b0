import logging

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from support.sound import Sound, noise, sine
from support.ticks import tick
from visavis.stream.clock import NS_PER_MS
from visavis.stream.errors import AudioError, IllegalTransition
from visavis.stream.media import AudioChunk, Span, TickAudio
from visavis.stream.playout import PlayoutOptions
from visavis.stream.resample import Decimator
from visavis.stream.session import ALLOWED, Session, SessionState

IDLE, SPEAKING, DRAINING, CLOSED = SessionState
FADE = 480
TONE_HZ = 206.25
"""A quarter of a wave is left over at each tick's edge, where a cut clicks the most."""
STEP = 0.5 * 2 * np.pi * TONE_HZ / 48_000 + 0.5 / FADE
"""The largest step from sample to sample in the tone while it fades."""


def chunk(name: str, samples: Sound, *, rate: int = 48_000) -> AudioChunk:
    return AudioChunk(name, samples, rate)


def speaking(count: int = 9600) -> Session:
    session = Session("s")
    session.push(chunk("a", sine(TONE_HZ, 48_000, count)), 0)
    return session


def take(session: Session, index: int) -> TickAudio:
    return session.take(index, index * 40 * NS_PER_MS)


def steps(*ticks: TickAudio) -> Sound:
    """How far each sample is from the one before."""
    return np.abs(np.diff(np.concatenate([one.sent for one in ticks])))


class Chat(RuleBasedStateMachine):
    """Random clients; the model knows which segment is open and how many are unfinished."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session("s", epoch=3, playout=PlayoutOptions(limit_ms=500))
        self.before = IDLE
        self.open: str | None = None
        self.unfinished = 0
        self.epoch = 3
        self.index = 0
        self.now_ns = 0
        self.closed = False

    @precondition(lambda self: not self.closed)
    @rule(name=st.sampled_from("ab"), count=st.integers(0, 5000), rate=st.sampled_from([24_000, 48_000, 7]))
    def push(self, name: str, count: int, rate: int) -> None:
        try:
            self.session.push(chunk(name, noise(count, level_db=-20), rate=rate), self.now_ns)
        except AudioError:
            return
        self.unfinished += self.open != name
        self.open = name

    @precondition(lambda self: not self.closed)
    @rule(name=st.sampled_from("abc"))
    def end(self, name: str) -> None:
        self.session.end(name)
        self.open = None if self.open == name else self.open

    @rule(ms=st.integers(0, 600))
    def wait(self, ms: int) -> None:
        self.now_ns += ms * NS_PER_MS

    @rule()
    def starve(self) -> None:
        if self.session.starved(self.now_ns) is not None:
            self.open = None

    @precondition(lambda self: not self.closed)
    @rule()
    def take(self) -> None:
        ready = self.session.ready(self.now_ns)
        audio = self.session.take(self.index, self.now_ns)
        assert audio.index == self.index
        assert audio.speech is bool(audio.spans) is ready
        assert (audio.sent.shape, audio.heard.shape) == ((1920,), (640,))
        self.unfinished -= sum(span.last for span in audio.spans)
        self.index += 1
        self.now_ns += 40 * NS_PER_MS

    @precondition(lambda self: not self.closed)
    @rule(epoch=st.integers(0, 9), dropped=st.booleans())
    def interrupt(self, epoch: int, dropped: bool) -> None:
        accepted = self.session.interrupt(epoch, tick(self.index) if dropped else None)
        assert accepted is (epoch > self.epoch)
        if accepted:
            self.epoch, self.open, self.unfinished = epoch, None, 0
            assert self.session.queued_ms == 0

    @rule()
    def close(self) -> None:
        self.session.close()
        self.closed, self.open, self.unfinished = True, None, 0

    @precondition(lambda self: self.closed)
    @rule()
    def refuse(self) -> None:
        for ask in (
            lambda: self.session.push(chunk("a", noise(9, level_db=-20)), 0),
            lambda: self.session.end("a"),
            lambda: self.session.take(0, 0),
            lambda: self.session.interrupt(99, None),
        ):
            with pytest.raises(IllegalTransition, match="session s "):
                ask()

    @invariant()
    def never_leaves_the_table(self) -> None:
        state = self.session.state
        assert state is self.before or state in ALLOWED[self.before]
        self.before = state

    @invariant()
    def the_state_says_what_is_queued(self) -> None:
        expected = SPEAKING if self.open else DRAINING if self.unfinished else IDLE
        assert self.session.state is (CLOSED if self.closed else expected)
        assert self.session.queued_ms == 0 or self.unfinished
        assert self.session.epoch >= self.epoch


TestChat = Chat.TestCase
TestChat.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)


def test_the_table_names_every_state_and_lets_nothing_out_of_closed() -> None:
    assert set(ALLOWED) == set(SessionState)
    assert ALLOWED[CLOSED] == frozenset()
    assert all(CLOSED in after for state, after in ALLOWED.items() if state is not CLOSED)
    assert all(state not in after for state, after in ALLOWED.items())


def test_a_session_speaks_drains_and_rests() -> None:
    session = Session("s")
    states = [session.state]
    session.push(chunk("a", noise(4000, level_db=-20)), 0)
    states.append(session.state)
    session.end("a")
    states.append(session.state)
    for index in range(3):
        take(session, index)
        states.append(session.state)
    assert states == [IDLE, SPEAKING, DRAINING, DRAINING, DRAINING, IDLE]


def test_sound_while_draining_speaks_again() -> None:
    session = speaking()
    session.end("a")
    session.push(chunk("b", noise(10, level_db=-20)), 0)
    assert session.state is SPEAKING


def test_the_end_of_an_unknown_segment_is_ignored() -> None:
    session = speaking()
    session.end("b")
    assert session.state is SPEAKING


def test_a_starved_segment_drains_and_is_told_once() -> None:
    session = speaking(500)
    assert session.starved(999 * NS_PER_MS) is None
    assert session.starved(1000 * NS_PER_MS) == "a"
    assert session.state is DRAINING
    assert session.starved(2000 * NS_PER_MS) is None


def test_a_tick_carries_what_is_said_for_viewers_and_for_engines() -> None:
    session = speaking(1920 + 100)
    session.end("a")
    first, second, third = (take(session, index) for index in (0, 1, 2))
    assert first.spans == (Span("a", 0, 1920, last=False),)
    assert second.spans == (Span("a", 1920, 2020, last=True),)
    assert [one.speech for one in (first, second, third)] == [True, True, False]
    decimator = Decimator()
    for one in (first, second, third):
        assert np.array_equal(one.heard, decimator.step(one.sent))
    assert np.array_equal(np.concatenate([first.sent, second.sent])[:2020], sine(TONE_HZ, 48_000, 2020))


def test_underruns_and_queue_are_told() -> None:
    session = speaking(3840 + 480)
    assert session.queued_ms == 90
    for index in range(4):
        take(session, index)
    assert (session.queued_ms, session.underruns) == (10, 1)


def test_an_interrupt_silences_at_once_without_a_click() -> None:
    session = speaking()
    sent, dropped = take(session, 0), take(session, 1)
    assert session.interrupt(1, dropped)
    after = take(session, 1)
    assert steps(sent, after).max() <= STEP
    assert np.abs(after.sent[:FADE]).max() > 0.3
    assert not after.sent[FADE:].any()
    assert after.spans == ()
    assert not take(session, 2).sent.any()


def test_an_interrupt_before_the_next_tick_was_taken_does_not_click_either() -> None:
    session = speaking()
    sent = take(session, 0)
    session.interrupt(1, None)
    after = take(session, 1)
    assert steps(sent, after).max() <= STEP
    assert np.abs(after.sent).max() > 0.3


def test_a_second_interrupt_before_the_next_tick_keeps_the_fade() -> None:
    session = speaking()
    sent, dropped = take(session, 0), take(session, 1)
    session.interrupt(1, dropped)
    session.interrupt(2, None)
    assert steps(sent, take(session, 1)).max() <= STEP


def test_each_interrupt_of_a_conversation_fades() -> None:
    session = Session("s")
    for epoch in (1, 2, 3):
        session.push(chunk(f"a{epoch}", sine(TONE_HZ, 48_000, 9600)), 0)
        sent, dropped = take(session, 0), take(session, 1)
        session.interrupt(epoch, dropped)
        after = take(session, 1)
        assert steps(sent, after).max() <= STEP
        assert np.abs(after.sent).max() > 0.3


def test_new_sound_right_after_an_interrupt_is_laid_over_the_fade() -> None:
    session = speaking()
    sent, dropped = take(session, 0), take(session, 1)
    session.interrupt(1, dropped)
    session.push(chunk("b", sine(TONE_HZ, 48_000, 9600)), 40 * NS_PER_MS)
    after = take(session, 1)
    assert steps(sent, after).max() <= 2 * STEP
    assert np.array_equal(after.sent[FADE:], sine(TONE_HZ, 48_000, 1920)[FADE:])
    assert after.spans == (Span("b", 0, 1920, last=False),)


def test_a_short_rest_fades_over_its_whole_length() -> None:
    session = speaking(3840 + 100)
    ticks = [take(session, 0), take(session, 1)]
    session.interrupt(1, None)
    after = take(session, 2)
    assert steps(ticks[1], after).max() <= 0.5 / 100 + STEP
    assert not after.sent[100:].any()


@pytest.mark.parametrize("played", [0, 4], ids=["before it began", "after it ran dry"])
def test_an_interrupt_in_silence_plays_nothing_of_the_lost_sound(played: int) -> None:
    session = Session("s")
    session.push(chunk("a", sine(TONE_HZ, 48_000, 3840 + 500) + np.float32(0.3)), 0)
    ticks = [take(session, index) for index in range(played)]
    assert not ticks or not ticks[-1].sent.any()
    session.interrupt(1, None)
    assert not take(session, played).sent.any()


def test_engines_hear_neither_the_fade_nor_the_sound_before_it() -> None:
    session = speaking()
    take(session, 0)
    session.interrupt(1, take(session, 1))
    assert not take(session, 1).heard.any()


def test_a_dropped_tick_is_not_changed_by_the_fade() -> None:
    session = speaking()
    take(session, 0)
    dropped = take(session, 1)
    before = dropped.sent.copy()
    session.interrupt(1, dropped)
    take(session, 1)
    assert np.array_equal(dropped.sent, before)


@pytest.mark.parametrize("epoch", [4, 3, -1])
def test_an_interrupt_of_an_old_epoch_changes_nothing(epoch: int) -> None:
    session = Session("s", epoch=4)
    session.push(chunk("a", sine(TONE_HZ, 48_000, 9600)), 0)
    assert session.interrupt(epoch, None) is False
    assert (session.epoch, session.state, session.queued_ms) == (4, SPEAKING, 200)


def test_an_interrupt_may_jump_over_epochs() -> None:
    session = speaking()
    assert session.interrupt(9, None)
    assert (session.epoch, session.state, session.queued_ms) == (9, IDLE, 0)
    assert not session.interrupt(9, None)


def test_refused_sound_leaves_the_state_alone() -> None:
    session = Session("s")
    with pytest.raises(AudioError):
        session.push(chunk("a", noise(10, level_db=-20), rate=1), 0)
    assert session.state is IDLE


def test_closing_twice_is_harmless_and_nothing_follows() -> None:
    session = speaking()
    session.close()
    session.close()
    assert (session.state, session.queued_ms) == (CLOSED, 0)
    with pytest.raises(IllegalTransition, match="sound came after session s was closed; open a new one"):
        session.push(chunk("a", noise(10, level_db=-20)), 0)
    with pytest.raises(IllegalTransition, match="a segment's end came after session s was closed"):
        session.end("a")


def test_each_change_of_state_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "visavis.stream.session"):
        session = speaking()
        session.close()
    assert caplog.messages == ["session s: idle -> speaking", "session s: speaking -> closed"]
