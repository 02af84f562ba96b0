"""Sound out of files: whatever PyAV reads, as mono chunks, never more than a few seconds in memory."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.error import FFmpegError
from av.packet import Packet
from numpy.typing import NDArray

from ..stream.clock import PROGRAM_HZ
from ..stream.errors import AudioError
from ..stream.media import AudioChunk
from ..stream.resample import MAX_RATE_HZ, MIN_RATE_HZ

MAX_SECONDS = 2 * 3600
_MICROSECONDS = 1_000_000
_FULL_SCALE = 1 << 31


class SoundFile:
    """The first audio stream of a file. Raises AudioError when there is none, or when it is over two hours.

    `seconds` is what the file says of its length, None when it says nothing; `damaged` counts packets that
    could not be decoded and were left out.
    """

    def __init__(self, path: Path) -> None:
        self._name = path.name
        if not path.is_file():
            raise AudioError(f"there is no file {path}")
        try:
            # An absolute path is never taken for a protocol, and a playlist opens nothing but files.
            self._container = av.open(str(path.resolve()), options={"protocol_whitelist": "file"})
        except (FFmpegError, ValueError) as error:
            raise AudioError(f"{self._name} is no sound file that can be read: {_reason(error)}") from error
        try:
            self._stream = self._audio_stream()
            self.seconds = self._declared_seconds()
            self._check_length(self.seconds or 0)
        except AudioError:
            self._container.close()
            raise
        self.damaged = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._container.close()

    def chunks(self, segment: str) -> Iterator[AudioChunk]:
        """All of it, once, as chunks of utterance `segment`, mono, at a rate that sessions take."""
        own_rate = self._stream.codec_context.sample_rate
        rate = own_rate if MIN_RATE_HZ <= own_rate <= MAX_RATE_HZ else PROGRAM_HZ
        # Only whole-number formats are mixed down at a level that cannot clip.
        resampler = AudioResampler(format="s32", layout="mono", rate=rate)
        heard = 0
        for frame in self._frames():
            for samples in _converted(resampler, frame, self._name):
                heard += len(samples)
                self._check_length(Fraction(heard, rate))
                yield AudioChunk(segment, samples, rate)
        if not heard:
            raise AudioError(
                f"{self._name} holds no sound that can be decoded; convert it to WAV and try again"
            )

    def _frames(self) -> Iterator[AudioFrame | None]:
        """Decoded frames, then None."""
        try:
            for packet in self._container.demux(self._stream):
                yield from self._decoded(packet)
        except FFmpegError as error:
            raise AudioError(f"{self._name} cannot be read to its end: {_reason(error)}") from error
        yield None

    def _decoded(self, packet: "Packet[AudioStream]") -> list[AudioFrame]:
        try:
            return self._stream.decode(packet)
        except FFmpegError:
            self.damaged += 1
            return []

    def _audio_stream(self) -> AudioStream:
        streams = self._container.streams.audio
        if not streams:
            raise AudioError(f"{self._name} has no sound; give a file with an audio stream")
        if not streams[0].codec_context.sample_rate:
            raise AudioError(
                f"the sound of {self._name} is in no known format; convert it to WAV and try again"
            )
        return streams[0]

    def _declared_seconds(self) -> float | None:
        stream, container = self._stream, self._container
        if stream.duration is not None and stream.time_base is not None:
            return float(stream.duration * stream.time_base)
        return None if container.duration is None else container.duration / _MICROSECONDS

    def _check_length(self, seconds: float | Fraction) -> None:
        if seconds > MAX_SECONDS:
            raise AudioError(f"{self._name} is longer than two hours; cut it into shorter files")


def _converted(
    resampler: AudioResampler, frame: AudioFrame | None, name: str
) -> Iterator[NDArray[np.float32]]:
    """`frame` as (N,) float32 in -1..1; None gives what the resampler still holds."""
    try:
        frames = resampler.resample(frame)
    except (FFmpegError, ValueError) as error:
        raise AudioError(
            f"the format of {name} changes in the middle; convert it to WAV and try again"
        ) from error
    for converted in frames:
        if converted.samples:
            yield converted.to_ndarray().reshape(-1).astype(np.float32) / np.float32(_FULL_SCALE)


def _reason(error: Exception) -> str:
    """The system's or FFmpeg's own words, without their number."""
    return (error.strerror if isinstance(error, OSError | FFmpegError) else None) or str(error)
