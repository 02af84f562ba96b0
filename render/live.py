"""A live session in the worker: its pipeline, its clock and its encoders, and what it could do next."""

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ..stream.clock import NS_PER_MS, TICK_NS, VIDEO_CLOCK_HZ
from ..stream.link import Gauges, Tick, TickSpan
from ..stream.media import TickAudio
from ..stream.pacer import Pacer
from .encode import Encoder
from .encode_audio import OpusEncoder
from .pipeline import Draw, Pipeline
from .surface import Surface

_OUTBOX_LIMIT = 4

Kind: TypeAlias = Literal["draw", "encode"]
EVERY: Final[frozenset[Kind]] = frozenset(("draw", "encode"))


@dataclass(frozen=True, slots=True)
class Offer:
    """Work that may begin at `ready_ns` and should be done by `due_ns`."""

    kind: Kind
    ready_ns: int
    due_ns: int


@dataclass(frozen=True, slots=True)
class Encode:
    """Work for the encoders: the sound and picture of one tick."""

    audio: TickAudio
    surface: Surface
    epoch: int
    repeated: bool
    keyframe: bool
    bitrate_bps: int | None


@dataclass(slots=True)
class Counters:
    generated: int = 0
    repeated: int = 0
    late: int = 0


class Live:
    """One session's live state. The worker's lock guards every call but `encode`."""

    def __init__(
        self, pipeline: Pipeline, pacer: Pacer, *, video: Encoder, audio: OpusEncoder, name: str
    ) -> None:
        self.name = name
        self.pipeline = pipeline
        self.pacer = pacer
        self.counters = Counters()
        self.outbox: deque[Tick] = deque()
        self.drawing = False
        self.encoding = False
        self._video = video
        self._audio = audio
        self._keyframe = True
        self._behind = False
        """A picture came late: those that would follow it are made for later ticks."""
        self._bitrate_bps: int | None = None
        self._ahead_ns: int | None = None
        """Where there is speech for later ticks: when the next of those is drawn, at a tick or in the middle
        of one. Sessions whose ticks leave together are drawn together too, whenever their sound comes."""

    @property
    def busy(self) -> bool:
        return self.drawing or self.encoding

    def request_keyframe(self) -> None:
        self._keyframe = True

    def set_bitrate(self, bitrate_bps: int) -> None:
        self._bitrate_bps = bitrate_bps

    def offers(self, now_ns: int, kinds: Collection[Kind] = EVERY) -> Iterator[Offer]:
        """What of these `kinds` this session could do, now or later."""
        if "draw" in kinds and not self.drawing and self.pipeline.can_draw:
            yield self._drawing(now_ns)
        if "encode" in kinds and not self.encoding and len(self.outbox) < _OUTBOX_LIMIT:
            index, pacer = self.pipeline.gate.next, self.pacer
            if self.pipeline.gate.has_picture():
                yield Offer("encode", pacer.encode_ns(index), pacer.send_ns(index))
            elif self.pipeline.last is not None:
                yield Offer("encode", pacer.repeat_ns(index), pacer.send_ns(index))

    def _drawing(self, now_ns: int) -> Offer:
        next_, clock = self.pipeline.gate.next, self.pacer.clock
        frame = max(self.pipeline.frame, next_)
        ready_ns = self.pacer.draw_ns(frame)
        if self._speaks_on(self.pacer.options.horizon - (frame - next_), now_ns):
            if self._ahead_ns is None:
                self._ahead_ns = clock.deadline_ns(clock.due(now_ns - 1) + 1)
            ready_ns = min(self._ahead_ns, ready_ns)
        else:
            self._ahead_ns = None
        return Offer("draw", ready_ns, self.pacer.encode_ns(frame))

    def _speaks_on(self, ticks: int, now_ns: int) -> bool:
        """Whether there is speech for one tick more at least, and for all these `ticks`."""
        session = self.pipeline.session
        return ticks > 0 and session.queued_ms >= ticks * TICK_NS // NS_PER_MS and session.ready(now_ns)

    def begin_draw(self, now_ns: int) -> Draw:
        self.drawing = True
        if self._ahead_ns is not None:
            self._ahead_ns += TICK_NS // 2
        frame = max(self.pipeline.frame, self.pipeline.gate.next)
        if self._behind:
            frame, self._behind = self.pacer.reachable(frame, now_ns), False
        return self.pipeline.next_draw(now_ns, frame)

    def finish_draw(self, draw: Draw) -> None:
        self.drawing = False
        self.counters.generated += 1
        if not self.pipeline.finish(draw) and draw.index < self.pipeline.gate.next:
            self.counters.late += 1
            self._behind = True

    def begin_encode(self, now_ns: int) -> Encode:
        """Let the next tick leave; from here on an interrupt no longer stops it."""
        index = self.pipeline.gate.next
        target = self.pacer.stalled(index, now_ns)
        # The first picture leaves however late it is: after a jump nothing could stand in for the next.
        if target is not None and self.pipeline.last is not None:
            self.pipeline.skip_to(target)
        self.pipeline.hear(self.pipeline.gate.next, now_ns)
        released = self.pipeline.release()
        surface = self.pipeline.last
        assert surface is not None, "offers() lets nothing leave before the first picture"
        self.encoding = True
        repeated = released.picture is None
        self.counters.repeated += repeated
        work = Encode(
            audio=released.audio,
            surface=surface,
            epoch=self.pipeline.session.epoch,
            repeated=repeated,
            keyframe=self._keyframe,
            bitrate_bps=self._bitrate_bps,
        )
        self._keyframe = False
        self._bitrate_bps = None
        return work

    def encode(self, work: Encode) -> Tick:
        """Heavy; needs no lock, since only one encode of a session runs at a time."""
        if work.bitrate_bps is not None:
            self._video.set_bitrate(work.bitrate_bps)
        index = work.audio.index
        work.surface.wait()
        pts = self.pacer.clock.rate.pts(index, VIDEO_CLOCK_HZ)
        packets = self._video.encode(work.surface, pts=pts, keyframe=work.keyframe)
        return Tick(
            session=self.name,
            epoch=work.epoch,
            index=index,
            video=b"".join(packet.data for packet in packets),
            keyframe=any(packet.keyframe for packet in packets),
            repeated=work.repeated,
            audio=self._audio.encode(work.audio.sent),
            spans=tuple(TickSpan(s.segment, s.start, s.end, s.last) for s in work.audio.spans),
        )

    def finish_encode(self, tick: Tick | None, now_ns: int) -> None:
        """Hold the encoded tick until its time; None when encoding failed."""
        self.encoding = False
        if tick is not None:
            self.outbox.append(tick)
            self._behind |= not tick.repeated and now_ns > self.pacer.send_ns(tick.index)

    @property
    def send_ns(self) -> int | None:
        """When the next encoded tick leaves."""
        return self.pacer.send_ns(self.outbox[0].index) if self.outbox else None

    def due(self, now_ns: int) -> Iterator[Tick]:
        """The encoded ticks whose time has come."""
        while self.outbox and self.pacer.send_ns(self.outbox[0].index) <= now_ns:
            yield self.outbox.popleft()

    def gauges(self) -> Gauges:
        session = self.pipeline.session
        return Gauges(
            session=self.name,
            generated=self.counters.generated,
            repeated=self.counters.repeated,
            late=self.counters.late,
            underruns=session.underruns,
            queued_ms=session.queued_ms,
        )

    def close(self) -> None:
        """Release the encoders; nothing may be running."""
        self._video.close()
