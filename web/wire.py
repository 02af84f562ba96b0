"""The native websocket protocol without a socket: frames in, requests out, and the messages that go back.

Text frames are JSON objects with a `type`; binary frames are s16le mono sound. Whatever arrives, only the
documented errors leave: ProtocolError and AudioError.
"""

from dataclasses import dataclass

import msgspec

from ..stream.errors import AudioError, ProtocolError, VisavisError
from ..stream.pcm import PcmReader
from ..stream.resample import check_rate

MAX_MESSAGE_BYTES = 4 << 20
MAX_SAY_CHARACTERS = 5_000
MAX_ID_CHARACTERS = 64
DEFAULT_RATE_HZ = 24_000


class Start(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sound follows in binary frames, at `sample_rate`."""

    sample_rate: int = DEFAULT_RATE_HZ
    format: str = "s16le"


class SegmentStart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sound that follows is a new utterance, whose playback events all say `id`. Optional."""

    id: str


class SegmentEnd(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The utterance is complete. `id` is what its playback events call it from here on."""

    id: str | None = None


class Interrupt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Be silent at once. With an `id`, only if that utterance is not finished."""

    id: str | None = None


class Say(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Speak `text`."""

    text: str
    voice: str | None = None
    id: str | None = None


class KeepAlive(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


@dataclass(frozen=True, slots=True)
class ControlChange:
    """Live controls by name, not yet checked against their ranges."""

    fields: dict[str, object]


@dataclass(frozen=True, slots=True)
class Sound:
    """Whole s16le samples at `rate`; empty while a header or half a sample is pending."""

    pcm: bytes
    rate: int


Request = Start | SegmentStart | SegmentEnd | Interrupt | Say | KeepAlive | ControlChange

_TYPES: dict[str, type[Start | SegmentStart | SegmentEnd | Interrupt | Say | KeepAlive]] = {
    "start": Start,
    "segment_start": SegmentStart,
    "segment_end": SegmentEnd,
    "interrupt": Interrupt,
    "say": Say,
    "keep_alive": KeepAlive,
}
_KNOWN = ", ".join(sorted({*_TYPES, "controls"}))


class Ready(msgspec.Struct, frozen=True, tag_field="type", tag="ready"):
    """The session takes sound now; `latency_ms` from sound to sight."""

    latency_ms: int
    sample_rate: int


class PlaybackStarted(msgspec.Struct, frozen=True, tag_field="type", tag="playback_started"):
    id: str


class PlaybackFinished(msgspec.Struct, frozen=True, tag_field="type", tag="playback_finished"):
    """`position_ms` counts sound that was sent to viewers."""

    id: str
    position_ms: int
    interrupted: bool


class Buffer(msgspec.Struct, frozen=True, tag_field="type", tag="buffer"):
    """`queued_ms` of sound wait. While `paused`, the server takes another 512 KiB at most, and then reads no
    further, not even an interrupt.
    """

    queued_ms: int
    paused: bool


class Failure(msgspec.Struct, frozen=True, tag_field="type", tag="error"):
    code: str
    message: str


class State(msgspec.Struct, frozen=True, tag_field="type", tag="state"):
    """`worker` is "up", "restarting", or "closed" when the session has ended."""

    worker: str


Event = Ready | PlaybackStarted | PlaybackFinished | Buffer | Failure | State

_ENCODER = msgspec.json.Encoder()


def to_text(event: Event) -> str:
    return _ENCODER.encode(event).decode()


class Wire:
    """One connection's side of the protocol: what was said so far decides what may follow."""

    def __init__(self) -> None:
        self._rate: int | None = None
        self._reader = PcmReader()
        self._deaf = False

    def text(self, message: str) -> Request:
        """The request in a text frame. Raises ProtocolError or AudioError."""
        request = parse_request(message)
        if isinstance(request, Start):
            self._start(request)
        elif isinstance(request, SegmentStart | SegmentEnd):
            self.forget()
        return request

    def forget(self) -> None:
        """What comes next is a new segment, with its own header or none."""
        self._reader = PcmReader()
        self._deaf = False

    def binary(self, data: bytes) -> Sound:
        """The sound in a binary frame. Raises ProtocolError before `start`, AudioError for a WAV that does
        not fit; the rest of that WAV is then ignored until the segment's end.
        """
        if self._rate is None:
            raise ProtocolError(
                'sound came before its description; send {"type":"start","sample_rate":24000} first'
            )
        check_length(len(data))
        if self._deaf:
            return Sound(b"", self._rate)
        try:
            pcm = self._reader.feed(data)
            rate = self._rate if self._reader.rate is None else check_rate(self._reader.rate)
        except AudioError:
            self._deaf = True
            raise
        return Sound(pcm, rate)

    def _start(self, request: Start) -> None:
        if self._rate is not None:
            raise ProtocolError(
                f"this connection started at {self._rate} Hz already; open another one for another format"
            )
        if request.format != "s16le":
            raise AudioError(f"format {request.format[:40]!r} is not taken; send s16le, mono")
        self._rate = check_rate(request.sample_rate)


def parse_request(message: str) -> Request:
    """The request in `message`, by itself. Raises ProtocolError."""
    check_length(len(message))
    fields = _object(message)
    kind = fields.pop("type", None)
    if kind == "controls":
        return ControlChange(fields)
    form = _TYPES.get(kind) if isinstance(kind, str) else None
    if form is None:
        raise ProtocolError(f"{_shown(kind)} is no message type; known are {_KNOWN}")
    try:
        request = msgspec.convert(fields, form)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"{kind}: {error}; it takes {_fields(form)}") from error
    if isinstance(request, Say):
        check_text(request.text)
    if isinstance(request, Say | SegmentStart | SegmentEnd | Interrupt):
        check_id(request.id)
    return request


def check_text(text: str) -> None:
    """Raises ProtocolError for text that is too long, or none at all."""
    if len(text) > MAX_SAY_CHARACTERS:
        raise ProtocolError(
            f"{len(text)} characters are too many for one say; send at most {MAX_SAY_CHARACTERS} and say the "
            "rest after it"
        )
    if not text.strip():
        raise ProtocolError("there is no text to say; put some into the field text")


def check_id(identity: str | None) -> None:
    if identity is None:
        return
    if not 0 < len(identity) <= MAX_ID_CHARACTERS or not identity.isprintable():
        raise ProtocolError(f"an id has 1 to {MAX_ID_CHARACTERS} printable characters")


def check_length(length: int) -> None:
    if length > MAX_MESSAGE_BYTES:
        raise ProtocolError(
            f"a message of {length} bytes is over the limit of {MAX_MESSAGE_BYTES}; send smaller pieces"
        )


def failure_of(error: VisavisError) -> Failure:
    """How an error of ours is told on the wire."""
    return Failure(error.code, str(error))


def _object(message: str) -> dict[str, object]:
    try:
        decoded = msgspec.json.decode(message)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ProtocolError(
            f"text frames carry JSON, and this is none ({error}); send sound in binary frames"
        ) from error
    if not isinstance(decoded, dict):
        raise ProtocolError('text frames carry a JSON object such as {"type":"keep_alive"}')
    return decoded


def _shown(kind: object) -> str:
    return repr(kind[:40]) if isinstance(kind, str) else "a message without a type"


def _fields(form: type[msgspec.Struct]) -> str:
    return ", ".join(form.__struct_fields__) or "no fields"
