"""Where `visavis say` gets sound from: a file, decoded in a thread, or the microphone."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from ..render.sound import SoundFile
from ..stream.channel import Channel
from ..stream.clock import to_samples
from ..stream.errors import AudioError, SetupError, UsageError
from ..stream.level import VoiceGate
from ..stream.pcm import from_float
from ..stream.resample import MAX_RATE_HZ, MIN_RATE_HZ
from .chores import Bell
from .wire import DEFAULT_RATE_HZ

PIECE_MS = 100
_MIC_BLOCK_MS = 20
_NO_MICROPHONE = "this machine has no microphone; plug one in, or send a file with --audio"
_MIC_BACKLOG = 500
"""Blocks of 20 ms kept while the server takes none: 10 s; of more, the oldest are lost."""

Level = Callable[[float], None]
"""Told how loud it is now: root mean square, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Sound to send: s16le `pcm`; `last` ends the segment."""

    pcm: bytes
    last: bool = False


class Sound(Protocol):
    """Sound of one rate. `seconds` is its length, if known."""

    @property
    def rate(self) -> int: ...

    @property
    def seconds(self) -> float | None: ...

    def pieces(self, level: Level) -> AsyncIterator[Piece]: ...


def check_sound_path(path: Path) -> None:
    """Raises UsageError unless there is a file at `path` that may be read; what is in it is not looked at."""
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder; give a sound file with --audio")
        if not path.is_file():
            raise UsageError(f"there is no file {path}; give a sound file with --audio")
        with path.open("rb"):
            pass
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); give another file with --audio"
        ) from error


class FileSound:
    """A file's sound, in pieces of 100 ms. Raises UsageError when there is none, AudioError for what is no
    sound.
    """

    def __init__(self, path: Path) -> None:
        check_sound_path(path)
        self._file = SoundFile(path)
        self._chunks = self._file.chunks("")
        self._first = next(self._chunks)

    @property
    def rate(self) -> int:
        return self._first.rate

    @property
    def seconds(self) -> float | None:
        return self._file.seconds

    async def pieces(self, level: Level) -> AsyncIterator[Piece]:
        with self._file:
            parts = self._parts()
            while (samples := await asyncio.to_thread(next, parts, None)) is not None:
                level(loudness(samples))
                yield Piece(from_float(samples))
        yield Piece(b"", last=True)

    def _parts(self) -> Iterator[NDArray[np.float32]]:
        """The chunks, joined to pieces."""
        size = to_samples(PIECE_MS, self.rate)
        rest = self._first.samples
        for chunk in self._chunks:
            rest = np.concatenate([rest, chunk.samples])
            while len(rest) >= size:
                yield rest[:size]
                rest = rest[size:]
        yield rest


class _Device(TypedDict):
    """What sounddevice tells of a device; there is more."""

    name: str
    max_input_channels: int
    default_samplerate: float


class _Stream(Protocol):
    def start(self) -> None: ...

    def close(self) -> None: ...


class SoundDevices(Protocol):
    """The part of sounddevice that is used here."""

    def query_devices(self, device: int | str | None = None, kind: str | None = None) -> object: ...

    def check_input_settings(self, *, device: int | str | None, channels: int, samplerate: int) -> None: ...

    def InputStream(
        self,
        *,
        device: int | str | None,
        channels: int,
        samplerate: int,
        blocksize: int,
        dtype: str,
        callback: Callable[[NDArray[np.float32], int, object, object], None],
    ) -> _Stream: ...


class MicrophoneSound:
    """What is spoken into a microphone: a segment for each utterance, and nothing in between."""

    seconds = None

    def __init__(self, library: SoundDevices, device: int | str | None) -> None:
        self._library = library
        self._device = device
        self._rate = _supported_rate(library, device)
        self._blocks: Channel[NDArray[np.float32]] = Channel(_MIC_BACKLOG, loser="oldest")
        self._bell = Bell()

    @property
    def rate(self) -> int:
        return self._rate

    async def pieces(self, level: Level) -> AsyncIterator[Piece]:
        gate = VoiceGate(self._rate)
        stream = self._open(asyncio.get_running_loop())
        try:
            stream.start()
            while True:
                await self._bell.until(lambda: len(self._blocks) > 0)
                block = self._blocks.get()
                assert block is not None
                level(loudness(block))
                for _, samples in gate.feed(block):
                    yield Piece(b"", last=True) if samples is None else Piece(from_float(samples))
        finally:
            stream.close()

    def _open(self, loop: asyncio.AbstractEventLoop) -> _Stream:
        def take(block: NDArray[np.float32]) -> None:
            self._blocks.put(block)
            self._bell.ring()

        def callback(block: NDArray[np.float32], _frames: int, _time: object, _status: object) -> None:
            loop.call_soon_threadsafe(take, block[:, 0].copy())

        return self._library.InputStream(
            device=self._device,
            channels=1,
            samplerate=self._rate,
            blocksize=to_samples(_MIC_BLOCK_MS, self._rate),
            dtype="float32",
            callback=callback,
        )


def microphone_sound(device: str | None) -> MicrophoneSound:
    """The microphone of this number or name, or the usual one. Raises SetupError or UsageError."""
    chosen = int(device) if device is not None and device.isdecimal() else device
    return MicrophoneSound(sound_devices(), chosen)


def list_devices() -> str:
    """A line for each microphone. Raises SetupError when none can be used."""
    devices = cast(list[_Device], sound_devices().query_devices())
    lines = [
        f"{number:3}  {device['name']}  ({device['default_samplerate']:.0f} Hz)\n"
        for number, device in enumerate(devices)
        if device["max_input_channels"] > 0
    ]
    if not lines:
        raise SetupError(_NO_MICROPHONE)
    return "".join(lines)


def sound_devices() -> SoundDevices:
    """sounddevice, which is loaded only when it is needed. Raises SetupError with what to install."""
    try:
        return cast(SoundDevices, importlib.import_module("sounddevice"))
    except ModuleNotFoundError as error:
        raise SetupError("the microphone needs a package: pip install sounddevice") from error
    except OSError as error:
        raise SetupError(
            "the microphone needs the PortAudio library; on Debian or Ubuntu: apt install libportaudio2"
        ) from error


def loudness(samples: NDArray[np.float32]) -> float:
    return float(np.sqrt(np.mean(np.square(samples)))) if len(samples) else 0.0


def _supported_rate(library: SoundDevices, device: int | str | None) -> int:
    """The protocol's usual rate if the microphone can do it, else its own. What PortAudio raises has no
    common type of its own.
    """
    try:
        own = cast(_Device, library.query_devices(device, "input"))
    except Exception as error:
        if device is None:
            raise SetupError(_NO_MICROPHONE) from error
        raise UsageError(f"there is no such microphone ({error}); list them with --devices") from error
    try:
        library.check_input_settings(device=device, channels=1, samplerate=DEFAULT_RATE_HZ)
        return DEFAULT_RATE_HZ
    except Exception as error:
        rate = int(own["default_samplerate"])
        if not MIN_RATE_HZ <= rate <= MAX_RATE_HZ:
            raise AudioError(f"the microphone runs at {rate} Hz; choose another with --device") from error
        return rate
