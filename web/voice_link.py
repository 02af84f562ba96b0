"""Messages between the front and its speech process, in the frames of the link to the worker."""

import msgspec

from ..stream.link import Inbox


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


def voice_inbox() -> Inbox[ToVoice]:
    return Inbox(msgspec.msgpack.Decoder(ToVoice))


def front_inbox() -> Inbox[FromVoice]:
    return Inbox(msgspec.msgpack.Decoder(FromVoice))
