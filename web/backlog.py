"""What one client sends ahead of its session: sound and ends of segments, said in order as there is room."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from ..stream.clock import NS_PER_MS, to_ms
from ..stream.errors import ProtocolError
from .chores import Bell
from .intake import CutReason, Intake, Utterance
from .wire import Buffer, Event, SegmentEnd, SegmentStart, Sound, failure_of

LIMIT_BYTES = 16 << 20
"""A client that has this much waiting is not read until some of it was taken, its interrupts and pings
included. Clients hang up when their pings go unanswered, so there is room for minutes: 5 of 24 kHz sound.
"""
HIGH_BYTES = 512 << 10
"""Here the client is told to pause, so that one that does so is always read."""
_LOW_BYTES = HIGH_BYTES // 2
_ITEM_BYTES = 1 << 10
"""What a message costs besides its sound, so that a flood of small ones is bounded too."""
_PAUSE_NS = 500 * NS_PER_MS


Said = Sound | SegmentStart | SegmentEnd


@dataclass(frozen=True, slots=True)
class _Item:
    """One message; `paused` when it came some time after the one before it."""

    request: Said
    paused: bool

    @property
    def cost(self) -> int:
        return _ITEM_BYTES + (len(self.request.pcm) if isinstance(self.request, Sound) else 0)

    @property
    def ms(self) -> int:
        sound = self.request
        return to_ms(len(sound.pcm) // 2, sound.rate) if isinstance(sound, Sound) else 0


class Backlog:
    """One client's way into `intake`, at most `LIMIT_BYTES` and one message long.

    `paused` says that the client was told to wait; whatever else it hears of room meanwhile is untrue for it.
    """

    def __init__(self, intake: Intake, tell: Callable[[Event], None]) -> None:
        self.paused = False
        self._intake = intake
        self._tell = tell
        self._items: deque[_Item] = deque()
        self._held = 0
        self._bell = Bell()
        self._utterance: Utterance | None = None
        self._heard_ns = 0
        self._closed = False

    async def put(self, request: Said) -> None:
        """Add `request`, once there is room."""
        paused = time.monotonic_ns() - self._heard_ns > _PAUSE_NS
        await self._bell.until(lambda: self._held < LIMIT_BYTES or self._closed)
        self._heard_ns = time.monotonic_ns()
        item = _Item(request, paused)
        self._items.append(item)
        self._held += item.cost
        self._look()
        self._bell.ring()

    async def speak(self) -> None:
        """Say what was put, in turn with the session's other voices, until `close`."""
        self._intake.sources.append(self)
        try:
            while True:
                await self._bell.until(lambda: bool(self._items) or self._closed)
                if not self._items:
                    break
                await self._say(self._take())
                # Where there is room nothing here waits, and the media of all sessions must not either.
                await asyncio.sleep(0)
        finally:
            self._intake.sources.remove(self)
            self.close(keep=False)

    def holds(self, label: str) -> bool:
        """True while a segment of this name waits, or its end does."""
        requests = (item.request for item in self._items)
        return any(not isinstance(named, Sound) and named.id == label for named in requests)

    def drop(self) -> list[Utterance]:
        """Forget the sound that waits. The utterances it would have made remain, with their names and yet to
        be cut; what comes next goes on where this ends.
        """
        dropped: list[Utterance] = []
        while self._items:
            item = self._take()
            try:
                utterance = self._dropped(item)
            except ProtocolError as error:
                self._tell(failure_of(error))
                continue
            if utterance is not None and utterance not in dropped:
                dropped.append(utterance)
        return dropped

    def cut(self) -> None:
        """Forget what waits and what is being said: the client interrupts, and goes on with a new segment."""
        self.drop()
        self._utterance = None

    def close(self, *, keep: bool) -> None:
        """Nothing more comes. What waits is still said if `keep`, and given up otherwise."""
        self._closed = True
        if not keep:
            given_up = self.drop()
            last, self._utterance = self._utterance, None
            if last is not None and last not in given_up:
                given_up.append(last)
            for utterance in given_up:
                self._intake.give_up(utterance)
        self._bell.ring()

    def _take(self) -> _Item:
        item = self._items.popleft()
        self._held -= item.cost
        self._look()
        self._bell.ring()
        return item

    async def _say(self, item: _Item) -> None:
        match item.request:
            case Sound(pcm, rate):
                await self._open(paused=item.paused).feed(pcm, rate)
            case SegmentStart() | SegmentEnd():
                try:
                    self._bound(item.request)
                except ProtocolError as error:
                    self._tell(failure_of(error))

    def _bound(self, bound: SegmentStart | SegmentEnd) -> None:
        if isinstance(bound, SegmentStart):
            if self._utterance is not None:
                self._utterance.end()
            self._start(bound.id)
            return
        utterance = self._end(bound.id)
        if utterance is not None:
            utterance.end(bound.id)

    def _dropped(self, item: _Item) -> Utterance | None:
        match item.request:
            case Sound():
                return self._open(paused=item.paused)
            case SegmentStart(id=label):
                return self._start(label)
            case SegmentEnd(id=label):
                utterance = self._end(label)
                if utterance is not None and label is not None:
                    utterance.rename(label)
                return utterance

    def _open(self, *, paused: bool) -> Utterance:
        """The utterance that sound belongs to which comes now."""
        if self._utterance is None or _is_over(self._utterance, paused=paused):
            self._utterance = self._intake.utter()
        return self._utterance

    def _start(self, label: str) -> Utterance:
        self._utterance = None
        self._utterance = self._intake.utter(label)
        return self._utterance

    def _end(self, label: str | None) -> Utterance | None:
        """The utterance that is complete now. One that never had any sound, but a name, is one too."""
        utterance, self._utterance = self._utterance, None
        if utterance is None and label is not None:
            return self._intake.utter(label)
        return utterance

    def _look(self) -> None:
        """Tell the client to wait, or to go on, unless the session has told it so."""
        if not self.paused and self._held >= HIGH_BYTES:
            self._tell_unless_full(paused=True)
            self.paused = True
        elif self.paused and self._held <= _LOW_BYTES:
            self.paused = False
            self._tell_unless_full(paused=False)

    def _tell_unless_full(self, *, paused: bool) -> None:
        if not self._intake.full:
            queued_ms = self._intake.queued_ms + sum(item.ms for item in self._items)
            self._tell(Buffer(queued_ms, paused=paused))


def _is_over(utterance: Utterance, *, paused: bool) -> bool:
    """True when sound that comes now is a new segment. What is left of one that somebody else interrupted is
    not; it ends with its `segment_end`, or with a pause.
    """
    if utterance.cut is CutReason.INTERRUPTED:
        return paused
    return utterance.cut is not None
