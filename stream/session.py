"""A session without any I/O: sound and wishes in, ticks out, one state at a time.

IDLE -> SPEAKING    sound arrived
SPEAKING -> DRAINING    its end arrived, or its client went quiet
DRAINING -> SPEAKING    more sound arrived
SPEAKING, DRAINING -> IDLE    an interrupt, or everything was said
any -> CLOSED
"""

import logging
from collections.abc import Mapping
from enum import Enum

import numpy as np

from .clock import PROGRAM_HZ, to_samples
from .errors import IllegalTransition
from .media import AudioChunk, TickAudio
from .playout import Playout, PlayoutOptions
from .resample import Decimator

_LOG = logging.getLogger(__name__)
_FADE = to_samples(10, PROGRAM_HZ)


class SessionState(Enum):
    IDLE = "idle"
    SPEAKING = "speaking"
    DRAINING = "draining"
    CLOSED = "closed"


ALLOWED: Mapping[SessionState, frozenset[SessionState]] = {
    SessionState.IDLE: frozenset({SessionState.SPEAKING, SessionState.CLOSED}),
    SessionState.SPEAKING: frozenset({SessionState.DRAINING, SessionState.IDLE, SessionState.CLOSED}),
    SessionState.DRAINING: frozenset({SessionState.SPEAKING, SessionState.IDLE, SessionState.CLOSED}),
    SessionState.CLOSED: frozenset(),
}


class Session:
    """One conversation's timeline. `epoch` rises with every interrupt; `now_ns` is always the caller's
    clock.
    """

    def __init__(self, name: str, *, epoch: int = 0, playout: PlayoutOptions | None = None) -> None:
        self.name = name
        self.epoch = epoch
        self.state = SessionState.IDLE
        self._playout = Playout(playout)
        self._decimator = Decimator()
        self._fade = np.zeros(0, np.float32)

    @property
    def queued_ms(self) -> int:
        return self._playout.queued_ms

    @property
    def underruns(self) -> int:
        return self._playout.underruns

    def push(self, chunk: AudioChunk, now_ns: int) -> None:
        """Queue sound. Raises AudioError, or IllegalTransition once the session is closed."""
        self._refuse_when_closed("sound")
        self._playout.push(chunk, now_ns)
        self._move(SessionState.SPEAKING)

    def end(self, segment: str) -> None:
        """The segment is complete. An unknown or finished one is ignored."""
        self._refuse_when_closed("a segment's end")
        if self._playout.end(segment):
            self._move(SessionState.DRAINING)

    def starved(self, now_ns: int) -> str | None:
        """The segment that counts as ended since its client went quiet, once."""
        segment = self._playout.starved(now_ns)
        if segment is not None and not self._playout.open:
            self._move(SessionState.DRAINING)
        return segment

    def ready(self, now_ns: int) -> bool:
        """True when speech is there for the next tick, so that it may be drawn ahead."""
        return self._playout.ready(now_ns)

    def take(self, index: int, now_ns: int) -> TickAudio:
        """The sound of tick `index`: what is queued, else silence."""
        cut = self._playout.take(now_ns)
        sent, heard = cut.sent, self._decimator.step(cut.sent)
        if len(self._fade):
            sent = sent.copy()
            sent[: len(self._fade)] += self._fade
            self._fade = np.zeros(0, np.float32)
        if self._playout.empty:
            self._move(SessionState.IDLE)
        return TickAudio(index, sent, heard, cut.rows, cut.known, cut.spans, speech=bool(cut.spans))

    def interrupt(self, epoch: int, dropped: TickAudio | None) -> bool:
        """Forget all sound that has not left; `dropped` is the first tick that will not. False for an old
        epoch.

        The next tick begins with 10 ms of the lost sound, faded out, so that nothing clicks; an interrupt
        before that tick keeps the fade of the one before.
        """
        self._refuse_when_closed("an interrupt")
        if epoch <= self.epoch:
            return False
        self.epoch = epoch
        if not len(self._fade):
            lost = self._playout.peek(_FADE) if dropped is None else dropped.sent[:_FADE]
            self._fade = lost * np.linspace(1, 0, len(lost), endpoint=False, dtype=np.float32)
        self._playout.clear()
        self._decimator.reset()
        self._move(SessionState.IDLE)
        return True

    def close(self) -> None:
        """Nothing follows. Closing twice is harmless."""
        if self.state is not SessionState.CLOSED:
            self._playout.clear()
            self._move(SessionState.CLOSED)

    def _refuse_when_closed(self, what: str) -> None:
        if self.state is SessionState.CLOSED:
            raise IllegalTransition(f"{what} came after session {self.name} was closed; open a new one")

    def _move(self, state: SessionState) -> None:
        if state is self.state:
            return
        if state not in ALLOWED[self.state]:
            raise IllegalTransition(f"session {self.name} cannot go from {self.state.value} to {state.value}")
        _LOG.debug("session %s: %s -> %s", self.name, self.state.value, state.value)
        self.state = state
