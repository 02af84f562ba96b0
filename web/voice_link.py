"""Messages between the front and its speech process: MessagePack in frames with a four-byte length."""

from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from ..stream.errors import LinkError

MAX_MESSAGE_BYTES = 32 << 20
_LENGTH_BYTES = 4


class Speak(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Speak `text`; `credit` pieces may be sent before `More` asks for another."""

    job: int
    text: str
    voice: str
    credit: int


class More(msgspec.Struct, frozen=True, tag=True, array_like=True):
    job: int


class Cancel(msgspec.Struct, frozen=True, tag=True, array_like=True):
    job: int


class Voices(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """The process is warm, and can speak with these."""

    names: tuple[str, ...]


class Piece(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A sentence: s16le `pcm` at `rate` Hz; `cues` (viseme, start, end) count samples of the whole job."""

    job: int
    rate: int
    pcm: bytes
    cues: tuple[tuple[int, int, int], ...]


class Done(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Nothing follows for `job`; `problem` says what went wrong, if anything."""

    job: int
    problem: str | None = None


ToVoice = Speak | More | Cancel
FromVoice = Voices | Piece | Done
MessageT = TypeVar("MessageT")

_ENCODER = msgspec.msgpack.Encoder()


def to_frame(message: ToVoice | FromVoice) -> bytes:
    body = _ENCODER.encode(message)
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


class Inbox(Generic[MessageT]):
    """Bytes in, messages out; any split of the bytes gives the same messages."""

    def __init__(self, decoder: "msgspec.msgpack.Decoder[MessageT]") -> None:
        self._decoder = decoder
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[MessageT]:
        """The messages that `data` completes. Raises LinkError for anything else."""
        self._pending += data
        while len(self._pending) >= _LENGTH_BYTES:
            size = int.from_bytes(self._pending[:_LENGTH_BYTES], "big")
            if size > MAX_MESSAGE_BYTES:
                raise LinkError(f"the speech process announced a message of {size} bytes")
            end = _LENGTH_BYTES + size
            if len(self._pending) < end:
                return
            body = bytes(self._pending[_LENGTH_BYTES:end])
            del self._pending[:end]
            try:
                yield self._decoder.decode(body)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise LinkError(f"the speech process sent something that is no message: {error}") from error


def voice_inbox() -> Inbox[ToVoice]:
    return Inbox(msgspec.msgpack.Decoder(ToVoice))


def front_inbox() -> Inbox[FromVoice]:
    return Inbox(msgspec.msgpack.Decoder(FromVoice))
