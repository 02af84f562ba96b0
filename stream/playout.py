"""The sound a session still has to say, cut into ticks.

Clients deliver in bursts or in real time, at any rate; the programme takes 1,920 samples each 40 ms. A
segment starts when a small cushion is there, so that a live microphone does not stutter; when it runs dry
before its end it waits for a new cushion. Nothing is ever stretched or dropped, except by `clear`.
"""

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .clock import NS_PER_MS, PROGRAM_HOP, PROGRAM_HZ, to_ms, to_samples
from .errors import AudioError
from .media import AudioChunk, Span
from .resample import Resampler
from .visemes import ROWS_PER_TICK, SILENCE, VISEMES, Cue

_ROW_SAMPLES = PROGRAM_HOP // ROWS_PER_TICK


@dataclass(frozen=True, slots=True)
class PlayoutOptions:
    """`cushion_ms` held before a live segment starts, `patience_ms` after which a shorter one starts anyway,
    `starve_ms` without sound in or out after which an open segment counts as ended, `limit_ms` of sound in
    all.
    """

    cushion_ms: int = 80
    patience_ms: int = 200
    starve_ms: int = 1_000
    limit_ms: int = 90_000


@dataclass(frozen=True, slots=True)
class Cut:
    """One tick's worth: `sent` (1920,) float32; `rows` (4, 15) and `known` (4,) as in TickAudio."""

    sent: NDArray[np.float32]
    rows: NDArray[np.float32]
    known: NDArray[np.bool_]
    spans: tuple[Span, ...]


class _Segment:
    """One utterance on its way: resampled sound not yet taken, and the mouth shapes that came with it."""

    def __init__(self, name: str, rate: int, now_ns: int) -> None:
        self.name = name
        self.resampler = Resampler(rate)
        self.began_ns = now_ns
        self.moved_ns = now_ns
        self.ended = False
        self.primed = False
        self.taken = 0
        self.queued = 0
        self._parts: deque[NDArray[np.float32]] = deque()
        self._cues: list[Cue] = []
        self._starts: list[int] = []

    @property
    def spent(self) -> bool:
        """True when it has ended and every sample was taken."""
        return self.ended and self.queued == 0

    def push(self, chunk: AudioChunk, now_ns: int) -> None:
        self._append(self.resampler.step(chunk.samples))
        self._cues += chunk.cues
        self._starts += [cue.start for cue in chunk.cues]
        self.moved_ns = now_ns

    def end(self) -> None:
        if not self.ended:
            self._append(self.resampler.flush())
            self.ended = True

    def take(self, out: NDArray[np.float32]) -> None:
        """Fill `out` with the next samples; there must be as many."""
        at = 0
        while at < len(out):
            part = self._parts.popleft()
            used = min(len(part), len(out) - at)
            out[at : at + used] = part[:used]
            if used < len(part):
                self._parts.appendleft(part[used:])
            at += used
        self.taken += at
        self.queued -= at

    def peek(self, count: int) -> NDArray[np.float32]:
        """Up to `count` of the next samples, which stay."""
        return np.concatenate([*self._parts, np.zeros(0, np.float32)])[:count]

    def viseme_at(self, sample: int) -> int | None:
        """The shape known for `sample` (48 kHz), or None when this segment came without shapes."""
        if not self._cues:
            return None
        at = sample * self.resampler.rate // PROGRAM_HZ
        index = bisect_right(self._starts, at) - 1
        inside = index >= 0 and at < self._cues[index].end
        return self._cues[index].viseme if inside else SILENCE

    def _append(self, samples: NDArray[np.float32]) -> None:
        if len(samples):
            self._parts.append(samples)
            self.queued += len(samples)


class Playout:
    """Segments in order. `underruns` counts how often an open segment ran dry."""

    def __init__(self, options: PlayoutOptions | None = None) -> None:
        self._options = options or PlayoutOptions()
        self._cushion = to_samples(self._options.cushion_ms, PROGRAM_HZ)
        self._segments: deque[_Segment] = deque()
        self._flowing = False
        self.underruns = 0

    @property
    def queued_ms(self) -> int:
        return to_ms(sum(segment.queued for segment in self._segments), PROGRAM_HZ)

    @property
    def empty(self) -> bool:
        """True when there is no segment, finished or open."""
        return not self._segments

    @property
    def open(self) -> bool:
        """True while the newest segment may still grow."""
        return bool(self._segments) and not self._segments[-1].ended

    def push(self, chunk: AudioChunk, now_ns: int) -> None:
        """Queue a chunk. A new segment name ends the one before it. Raises AudioError when there is too
        much.
        """
        if self.queued_ms >= self._options.limit_ms:
            raise AudioError(
                f"{self.queued_ms // 1000} s of sound wait already; send it no faster than it is spoken"
            )
        if not self.open or self._segments[-1].name != chunk.segment:
            fresh = _Segment(chunk.segment, chunk.rate, now_ns)
            if self._segments:
                self._segments[-1].end()
            self._segments.append(fresh)
        segment = self._segments[-1]
        if segment.resampler.rate != chunk.rate:
            raise AudioError(
                f"segment {chunk.segment!r} began at {segment.resampler.rate} Hz, not {chunk.rate} Hz; "
                "end it before changing the rate"
            )
        segment.push(chunk, now_ns)

    def end(self, name: str) -> bool:
        """No more sound for segment `name`. False when it is not open, so that the end can be told at
        once.
        """
        if not self.open or self._segments[-1].name != name:
            return False
        self._segments[-1].end()
        return True

    def starved(self, now_ns: int) -> str | None:
        """Ends the first segment if its client has gone quiet for too long; its name, or None."""
        head = self._segments[0] if self._segments else None
        if head is None or head.ended or now_ns - head.moved_ns < self._options.starve_ms * NS_PER_MS:
            return None
        head.end()
        return head.name

    def ready(self, now_ns: int) -> bool:
        """True when the next tick would be speech."""
        return bool(self._segments) and self._playable(self._segments[0], PROGRAM_HOP, now_ns)

    def take(self, now_ns: int) -> Cut:
        """The next tick: speech as far as there is some, then silence."""
        sent = np.zeros(PROGRAM_HOP, np.float32)
        rows = np.zeros((ROWS_PER_TICK, len(VISEMES)), np.float32)
        rows[:, SILENCE] = 1
        known = np.ones(ROWS_PER_TICK, np.bool_)
        spans: list[Span] = []
        filled = 0
        while self._segments and (filled < PROGRAM_HOP or self._segments[0].spent):
            head = self._segments[0]
            if not self._playable(head, PROGRAM_HOP - filled, now_ns):
                self._rebuffer(head, now_ns)
                break
            count = min(head.queued, PROGRAM_HOP - filled)
            _fill_rows(rows, known, head, filled, count)
            start = head.taken
            head.take(sent[filled : filled + count])
            head.moved_ns = now_ns
            filled += count
            spans.append(Span(head.name, start, start + count, last=head.spent))
            if head.spent:
                self._segments.popleft()
        self._flowing = filled == PROGRAM_HOP
        return Cut(sent, rows, known, tuple(spans))

    def peek(self, count: int) -> NDArray[np.float32]:
        """Up to `count` of the samples that follow the last tick without a gap, which stay."""
        flows = self._flowing and self._segments
        return self._segments[0].peek(count) if flows else np.zeros(0, np.float32)

    def clear(self) -> None:
        """Drop everything that is queued."""
        self._segments.clear()
        self._flowing = False

    def _playable(self, segment: _Segment, wanted: int, now_ns: int) -> bool:
        if segment.ended:
            return True
        if not segment.primed:
            waited_ns = now_ns - segment.began_ns
            patient = waited_ns < self._options.patience_ms * NS_PER_MS
            segment.primed = segment.queued >= max(wanted, self._cushion if patient else 0)
        return segment.primed and segment.queued >= wanted

    def _rebuffer(self, segment: _Segment, now_ns: int) -> None:
        if segment.primed and segment.taken:
            segment.primed = False
            segment.began_ns = now_ns
            self.underruns += 1


def _fill_rows(
    rows: NDArray[np.float32], known: NDArray[np.bool_], segment: _Segment, offset: int, count: int
) -> None:
    """Write the shapes of `count` samples that start `offset` samples into the tick."""
    for row in range(ROWS_PER_TICK):
        centre = row * _ROW_SAMPLES + _ROW_SAMPLES // 2
        if not offset <= centre < offset + count:
            continue
        viseme = segment.viseme_at(segment.taken + centre - offset)
        known[row] = viseme is not None
        rows[row] = 0
        if viseme is not None:
            rows[row, viseme] = 1
