"""A session's sound on its way in: whose turn it is, how much waits, and what interrupts it."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from ..stream.link import Audio, EndSegment, Interrupt, TickSpan
from .chores import Bell
from .ledger import Ledger
from .port import WorkerPort
from .wire import Buffer, Event, PlaybackFinished

_LOG = logging.getLogger(__name__)

QUEUE_LIMIT_MS = 60_000
"""Past this the sources of sound are held up until the queue has fallen to `QUEUE_LOW_MS`."""
QUEUE_LOW_MS = 55_000
_PIECE_MS = 500
_INTERRUPT_PATIENCE_S = 1.0

CueTriple = tuple[int, int, int]


class CutReason(Enum):
    """Why an utterance takes no more sound."""

    INTERRUPTED = "interrupted"
    STARVED = "starved"
    LOST = "lost"
    ENDED = "ended"


class Utterance:
    """One segment being spoken: the only way to give a session sound.

    Utterances of one session take turns: the sound of the next waits until this one has ended. `cut` says why
    no more is taken, `taken` how many samples were.
    """

    def __init__(self, intake: "Intake", name: str) -> None:
        self._intake = intake
        self.name = name
        self.epoch = intake.epoch
        self.cut: CutReason | None = None
        self.taken = 0

    @property
    def over(self) -> bool:
        """True when what is left is not to be said. After a mere wait that the worker took for the end it is,
        in an utterance of its own: see `Intake.resume`.
        """
        return self.cut not in (None, CutReason.STARVED) or self.epoch < self._intake.epoch

    async def feed(self, pcm: bytes, rate: int, cues: Sequence[CueTriple] = ()) -> bool:
        """Queue s16le `pcm`, waiting for its turn and for room. False when the utterance was cut."""
        step = 2 * (rate * _PIECE_MS // 1000)
        for at in range(0, len(pcm), step):
            if not await self._intake.turn_of(self):
                return False
            self._intake.push(self, pcm[at : at + step], rate, cues if at == 0 else ())
            await self._intake.worker.drain()
        return self.cut is None

    def rename(self, label: str) -> None:
        """Have its events call the segment `label` from here on. Raises ProtocolError when that is taken."""
        self._intake.rename(self, label)

    def end(self, label: str | None = None) -> None:
        """No more sound. `label` renames the segment. Ending twice is harmless."""
        self._intake.end(self, label)


class Source(Protocol):
    """Who holds sound for later utterances, which an interrupt ends before they begin."""

    def holds(self, label: str) -> bool:
        """True while a segment of this name waits."""
        ...

    def drop(self) -> Sequence[Utterance]:
        """Forget the sound; the utterances it would have made, silent and not yet cut."""
        ...


@dataclass(slots=True, eq=False)
class _Finish:
    """Keeps the position at which the segment `label` finished, the first of that name."""

    label: str | None
    position_ms: int = 0
    over: bool = False

    def note(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, PlaybackFinished) and event.id == self.label and not self.over:
                self.position_ms = event.position_ms
                self.over = True


class Intake:
    """The input side of session `name`. `live` says whether its worker takes sound now, `full` that as
    much waits as may; `sources` hold more.
    """

    def __init__(
        self, name: str, *, worker: WorkerPort, bell: Bell, tell: Callable[[Sequence[Event]], None]
    ) -> None:
        self.worker = worker
        self.epoch = 0
        self.live = False
        self.full = False
        self.sources: list[Source] = []
        self._name = name
        self._bell = bell
        self._tell = tell
        self._ledger = Ledger()
        self._utterances: dict[str, Utterance] = {}
        self._floor: deque[Utterance] = deque()
        self._watching: list[_Finish] = []
        self._settled = 0
        self._closed = False

    @property
    def queued_ms(self) -> int:
        return self._ledger.queued_ms

    @property
    def speaking(self) -> str | None:
        """The label of the segment that viewers hear."""
        return self._ledger.speaking

    def utter(self, label: str | None = None) -> Utterance:
        """A new utterance. Raises ProtocolError when `label` is taken."""
        utterance = Utterance(self, self._ledger.open(self.epoch, label))
        if self._closed:
            utterance.cut = CutReason.LOST
        else:
            self._utterances[utterance.name] = utterance
        return utterance

    def resume(self, utterance: Utterance, label: str) -> Utterance:
        """An utterance that goes on with one that starved, under the same label; that one if it is over."""
        if utterance.over:
            return utterance
        resumed = Utterance(self, self._ledger.open(self.epoch, label, again=True))
        self._utterances[resumed.name] = resumed
        return resumed

    def fresh_label(self, prefix: str) -> str:
        """A label that nobody uses, such as mic-3."""
        return self._ledger.fresh_label(prefix)

    def holds(self, label: str) -> bool:
        """True while a segment of this label is unfinished, be it that its sound waits at its source."""
        return self._ledger.holds(label) or any(source.holds(label) for source in self.sources)

    def label_of(self, utterance: Utterance) -> str:
        return self._ledger.label_of(utterance.name)

    async def turn_of(self, utterance: Utterance) -> bool:
        """Wait until `utterance` may give more sound; False when it was cut."""
        if utterance.cut is None and utterance not in self._floor:
            self._floor.append(utterance)
        await self._bell.until(lambda: utterance.cut is not None or self._may_speak(utterance))
        return utterance.cut is None

    def push(self, utterance: Utterance, pcm: bytes, rate: int, cues: Sequence[CueTriple]) -> None:
        """Hand sound to the worker; `utterance` must have its turn."""
        utterance.taken += len(pcm) // 2
        self._ledger.push(utterance.name, len(pcm) // 2, rate)
        self.worker.send(Audio(self._name, utterance.name, rate, pcm, tuple(cues)))
        if not self.full and self.queued_ms >= QUEUE_LIMIT_MS:
            self.full = True
            self._tell([Buffer(self.queued_ms, paused=True)])

    def rename(self, utterance: Utterance, label: str) -> None:
        self._ledger.rename(utterance.name, label)

    def end(self, utterance: Utterance, label: str | None = None) -> None:
        """See `Utterance.end`. Raises ProtocolError, after the end, when `label` is taken."""
        try:
            if label is not None:
                self._ledger.rename(utterance.name, label)
        finally:
            if utterance.cut is None:
                self._close(utterance)

    def give_up(self, utterance: Utterance) -> None:
        """End `utterance`, whose source is gone; one that never had sound counts as interrupted."""
        if utterance.cut is None:
            self._close(utterance, interrupted=True)

    def starved(self, segment: str) -> None:
        """The worker ended `segment`, since its source went quiet."""
        utterance = self._utterances.get(segment)
        if utterance is not None:
            self._retire(utterance, CutReason.STARVED)

    def play(self, spans: Sequence[TickSpan]) -> None:
        """One tick with these spans was sent."""
        self._say(self._ledger.play(spans))
        self._look_for_room()

    async def interrupt(self, label: str | None = None) -> tuple[str | None, int]:
        """Be silent at once; the segment that played, if any, and the milliseconds of it that were sent.

        With a `label`, nothing happens when that segment is finished or unknown.
        """
        if label is not None and not self.holds(label):
            return None, 0
        for source in self.sources:
            source.drop()
        self.epoch += 1
        epoch = self.epoch
        watch = _Finish(self._ledger.speaking)
        self._watching.append(watch)
        self._cut_utterances(CutReason.INTERRUPTED)
        self.worker.send(Interrupt(self._name, epoch))
        try:
            await self._until_settled(epoch)
            self.settle(epoch)
        finally:
            self._watching.remove(watch)
        return watch.label, watch.position_ms

    async def _until_settled(self, epoch: int) -> None:
        try:
            async with asyncio.timeout(_INTERRUPT_PATIENCE_S):
                await self._bell.until(lambda: self._settled >= epoch or not self.live)
        except TimeoutError:
            _LOG.warning("session %s: the worker did not confirm an interrupt", self._name)

    def settle(self, epoch: int) -> None:
        """Nothing older than `epoch` will be sent any more."""
        self._settled = max(self._settled, epoch)
        self._say(self._ledger.cut(epoch))
        self._look_for_room()
        self._bell.ring()

    def lose(self) -> None:
        """All that was queued is gone, and so is every utterance."""
        self.live = False
        self.epoch += 1
        self._cut_utterances(CutReason.LOST)
        self.settle(self.epoch)

    def close(self) -> None:
        """Nothing is said any more: whoever comes late finds its utterance cut, and waits for nothing."""
        self._closed = True
        self.lose()

    def _may_speak(self, utterance: Utterance) -> bool:
        return self.live and not self.full and self._floor[0] is utterance

    def _close(self, utterance: Utterance, *, interrupted: bool = False) -> None:
        if self._ledger.has_sound(utterance.name):
            self.worker.send(EndSegment(self._name, utterance.name))
        else:
            self._say(self._ledger.abandon(utterance.name, interrupted=interrupted))
        self._retire(utterance, CutReason.ENDED)

    def _look_for_room(self) -> None:
        if self.full and self.queued_ms <= QUEUE_LOW_MS:
            self.full = False
            self._tell([Buffer(self.queued_ms, paused=False)])
            self._bell.ring()

    def _cut_utterances(self, reason: CutReason) -> None:
        for utterance in list(self._utterances.values()):
            self._retire(utterance, reason)

    def _retire(self, utterance: Utterance, reason: CutReason) -> None:
        utterance.cut = reason
        del self._utterances[utterance.name]
        if utterance in self._floor:
            self._floor.remove(utterance)
        self._bell.ring()

    def _say(self, events: Sequence[Event]) -> None:
        for watch in self._watching:
            watch.note(events)
        self._tell(events)
