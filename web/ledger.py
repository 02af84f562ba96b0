"""What a session was given to say and what its viewers have been sent of it, and the events that follow."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..stream.clock import PROGRAM_HZ, to_ms
from ..stream.errors import ProtocolError
from ..stream.link import TickSpan
from .wire import PlaybackFinished, PlaybackStarted

Playback = PlaybackStarted | PlaybackFinished


@dataclass(slots=True)
class _Entry:
    """One segment: `pushed` samples at `rate`, `played` samples at 48 kHz."""

    label: str
    epoch: int
    rate: int = PROGRAM_HZ
    pushed: int = 0
    played: int = 0
    started: bool = False

    @property
    def queued_ms(self) -> int:
        return max(0, to_ms(self.pushed, self.rate) - to_ms(self.played, PROGRAM_HZ))


class Ledger:
    """The books of one session. Segments have a name of ours on the link and a label that clients see."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._count = 0
        self._numbers: dict[str, int] = {}

    @property
    def queued_ms(self) -> int:
        """Sound that waits to be sent."""
        return sum(entry.queued_ms for entry in self._entries.values())

    @property
    def speaking(self) -> str | None:
        """The label of the segment that is being sent."""
        return next((entry.label for entry in self._entries.values() if entry.started), None)

    def open(self, epoch: int, label: str | None = None, *, again: bool = False) -> str:
        """A new segment's name. Raises ProtocolError when `label` belongs to an unfinished one, unless the
        new one goes on with that, `again`.
        """
        name = self._fresh_name()
        if not again:
            self._refuse_double(label)
        self._entries[name] = _Entry(label or name, epoch)
        return name

    def _fresh_name(self) -> str:
        """One that is no client's label: unless a segment gets a label, it is called by its name."""
        while True:
            self._count += 1
            name = f"segment-{self._count}"
            if not self.holds(name):
                return name

    def fresh_label(self, prefix: str) -> str:
        """`prefix`-1, `prefix`-2 and so on: the next one that no unfinished segment has."""
        while True:
            number = self._numbers.get(prefix, 0) + 1
            self._numbers[prefix] = number
            if not self.holds(f"{prefix}-{number}"):
                return f"{prefix}-{number}"

    def label_of(self, name: str) -> str:
        return self._entries[name].label

    def rename(self, name: str, label: str) -> None:
        """Call an unfinished segment `label` from here on. A finished one keeps its name."""
        entry = self._entries.get(name)
        if entry is None or entry.label == label:
            return
        self._refuse_double(label)
        entry.label = label

    def has_sound(self, name: str) -> bool:
        """True once sound of this unfinished segment was queued."""
        entry = self._entries.get(name)
        return entry is not None and entry.pushed > 0

    def push(self, name: str, samples: int, rate: int) -> None:
        entry = self._entries[name]
        entry.rate = rate
        entry.pushed += samples

    def play(self, spans: Iterable[TickSpan]) -> list[Playback]:
        """Take note of what one tick carried. Spans of segments that are not in the books are ignored."""
        events: list[Playback] = []
        for span in spans:
            entry = self._entries.get(span.segment)
            if entry is None:
                continue
            if not entry.started and (span.end > span.start or span.last):
                entry.started = True
                events.append(PlaybackStarted(entry.label))
            entry.played = span.end
            if span.last:
                events.append(self._finish(span.segment, interrupted=False))
        return events

    def abandon(self, name: str, *, interrupted: bool = False) -> list[Playback]:
        """A segment that ended without any sound."""
        return [self._finish(name, interrupted=interrupted)] if name in self._entries else []

    def cut(self, epoch: int) -> list[Playback]:
        """Everything opened before `epoch` is over."""
        names = [name for name, entry in self._entries.items() if entry.epoch < epoch]
        return [self._finish(name, interrupted=True) for name in names]

    def holds(self, label: str) -> bool:
        """True while a segment of this label is unfinished."""
        return any(entry.label == label for entry in self._entries.values())

    def _finish(self, name: str, *, interrupted: bool) -> PlaybackFinished:
        entry = self._entries.pop(name)
        return PlaybackFinished(entry.label, to_ms(entry.played, PROGRAM_HZ), interrupted)

    def _refuse_double(self, label: str | None) -> None:
        if label is not None and self.holds(label):
            raise ProtocolError(f"segment {label!r} is not finished yet; give this one another id")
