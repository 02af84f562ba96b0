"""Messages between the front and a worker: MessagePack in frames with a four-byte length.

The front opens sessions and sends audio and control; the worker answers with one `Tick` a frame. Both ends
use the same codec, so a broken or foreign byte is a `LinkError` and never a crash.
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from .controls import Controls
from .errors import ControlError, LinkError

MAX_MESSAGE_BYTES = 16 << 20
HOPELESS = 3
"""Exit code of a worker that said why it cannot start: another would not either."""
_LENGTH_BYTES = 4


class Open(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Start a session. Tick n leaves at `start_ns` + n ticks on the shared monotonic clock; the first is
    `index`.
    """

    session: str
    avatar: str
    width: int
    height: int
    seed: int
    start_ns: int
    index: int
    epoch: int
    bitrate_bps: int
    controls: Controls


class Audio(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """`pcm` is s16le mono at `rate` Hz; `cues` are (viseme, start, end) in samples of the segment."""

    session: str
    segment: str
    rate: int
    pcm: bytes
    cues: tuple[tuple[int, int, int], ...] = ()


class EndSegment(msgspec.Struct, frozen=True, tag=True, array_like=True):
    session: str
    segment: str


class Interrupt(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Drop everything of epochs before `epoch`."""

    session: str
    epoch: int


class SetControls(msgspec.Struct, frozen=True, tag=True, array_like=True):
    session: str
    controls: Controls


class Keyframe(msgspec.Struct, frozen=True, tag=True, array_like=True):
    session: str


class Bitrate(msgspec.Struct, frozen=True, tag=True, array_like=True):
    session: str
    bitrate_bps: int


class Close(msgspec.Struct, frozen=True, tag=True, array_like=True):
    session: str


class Park(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Give back the memory of what you draw on, until a session is opened; nothing while one is open."""


class Ready(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The worker is warm: `engine` kind, and at most `latency_ms` from a sample's arrival to its release.
    One that `parks` may wait beside another without taking what that draws on. One that `batches` draws
    sessions at less cost when they are due at once.
    """

    engine: str
    latency_ms: int
    encoder: str
    slots: int
    parks: bool = False
    batches: bool = False


class Opened(msgspec.Struct, frozen=True, tag=True, array_like=True):
    session: str


class Fault(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A session's request could not be done. `code` is a VisavisError code. `fatal` says the session is
    gone.
    """

    session: str
    code: str
    message: str
    fatal: bool


class TickSpan(msgspec.Struct, frozen=True, array_like=True):
    """Samples `start` to `end` (48 kHz) of `segment` inside one tick."""

    segment: str
    start: int
    end: int
    last: bool


class Tick(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Everything that leaves at tick `index`: one H.264 access unit (Annex B) and two 20 ms Opus packets."""

    session: str
    epoch: int
    index: int
    video: bytes
    keyframe: bool
    repeated: bool
    audio: tuple[bytes, bytes]
    spans: tuple[TickSpan, ...]


class Interrupted(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Ticks up to `index` keep their old sound; nothing of an older epoch follows."""

    session: str
    epoch: int
    index: int


class Starved(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """`segment` got no sound for so long that it counts as ended."""

    session: str
    segment: str


class Gauges(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Once a second: the session's counters."""

    session: str
    generated: int
    repeated: int
    late: int
    underruns: int
    queued_ms: int


class EngineCounts(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """At most once a second, when they have changed: what the engine counted since the worker started.

    Hops of motion that the motion cache knew, that it did not know, and that had to make room in it; the
    bytes that it holds now; samples that were no number or beyond full scale.
    """

    cache_hits: int = 0
    cache_misses: int = 0
    cache_evictions: int = 0
    cache_bytes: int = 0
    mended_samples: int = 0


ToWorker = Open | Audio | EndSegment | Interrupt | SetControls | Keyframe | Bitrate | Close | Park
ToFront = Ready | Opened | Fault | Tick | Interrupted | Starved | Gauges | EngineCounts
MessageT = TypeVar("MessageT")

_ENCODER = msgspec.msgpack.Encoder()


def to_frame(message: msgspec.Struct) -> bytes:
    """`message` with its length before it."""
    body = _ENCODER.encode(message)
    if len(body) > MAX_MESSAGE_BYTES:
        raise LinkError(f"a message of {len(body)} bytes is over the link's limit of {MAX_MESSAGE_BYTES}")
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


class Inbox(Generic[MessageT]):
    """Bytes in, messages out, for any link of ours; any split of the bytes gives the same messages."""

    def __init__(self, decoder: "msgspec.msgpack.Decoder[MessageT]") -> None:
        self._decoder = decoder
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[MessageT]:
        """The messages that `data` completes. Raises LinkError for anything else."""
        self._pending += data
        while len(self._pending) >= _LENGTH_BYTES:
            size = int.from_bytes(self._pending[:_LENGTH_BYTES], "big")
            if size > MAX_MESSAGE_BYTES:
                raise LinkError(f"the link announced a message of {size} bytes; the two ends do not match")
            end = _LENGTH_BYTES + size
            if len(self._pending) < end:
                return
            body = bytes(self._pending[_LENGTH_BYTES:end])
            del self._pending[:end]
            yield self._decoded(body)

    def _decoded(self, body: bytes) -> MessageT:
        try:
            return self._decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ControlError) as error:
            raise LinkError(f"the link carried something that is no message: {error}") from error


class WorkerInbox(Inbox[ToWorker]):
    """What the front says to a worker."""

    def __init__(self) -> None:
        super().__init__(msgspec.msgpack.Decoder(ToWorker))


class FrontInbox(Inbox[ToFront]):
    """What a worker says to the front."""

    def __init__(self) -> None:
        super().__init__(msgspec.msgpack.Decoder(ToFront))
