"""Offline clips: the live chain without pacing, into an MP4 that is there whole or not at all."""

import os
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.error import FFmpegError
from av.video.frame import PictureType, VideoFrame
from numpy.typing import NDArray

from ..stream.clock import FRAME_RATE, NS_PER_MS, PROGRAM_HOP, PROGRAM_HZ, TICK_NS
from ..stream.errors import AudioError, UsageError
from ..stream.media import AudioChunk, TickAudio
from ..stream.session import Session
from .avatar import Avatar
from .color import ColorSpace, color_space
from .composite import Compositor
from .easel import Easel
from .encode_x264 import PIXEL_FORMATS
from .engine import Engine
from .keyframes import LATEST, Keyframes
from .pipeline import Pipeline, run
from .surface import Layout, Surface

_SLOT = 0
_SURFACES = 3
"""One being drawn, one being encoded, one kept by the pipeline for repeats."""
_AHEAD_MS = 2_000
"""Sound queued before a tick is taken, beyond what the engine's look-ahead takes at once, so that the session
never mistakes a slow file for a pause."""

_AUDIO_BPS = 128_000
_VIDEO_OPTIONS = {
    "preset": "veryfast",
    "crf": "19",
    "profile": "high",
    "forced-idr": "1",
    "sc_threshold": "0",
    # The macroblock tree spends bits on what stays: here on the room, and less on the face.
    "x264-params": "mbtree=0",
}


@dataclass(frozen=True, slots=True)
class Clip:
    """What was made: `frames` pictures; `samples` of sound at 48 kHz, before the last tick was filled up."""

    frames: int
    samples: int

    @property
    def audio_s(self) -> float:
        return self.samples / PROGRAM_HZ

    @property
    def video_s(self) -> float:
        return float(self.frames / FRAME_RATE.per_second)


def render_clip(
    engine: Engine,
    avatar: Avatar,
    chunks: Iterator[AudioChunk],
    out: Path,
    *,
    size: tuple[int, int],
    seed: int,
    on_frame: Callable[[int], None],
) -> Clip:
    """Let `avatar` speak `chunks`, all of one segment, and write the clip to `out`.

    `on_frame` hears the number of frames done. The file appears complete under its name or not at all.
    Raises AudioError when there is no sound, UsageError when the file cannot be written.
    """
    color = color_space(*size)
    pictures = engine.pictures
    compositor = None if pictures else Compositor(avatar.plate(size), color)
    with ExitStack() as stack:
        delay = engine.spec.lookahead // engine.spec.hop
        engine.open(_SLOT, avatar, size=size, seed=seed, index=0)
        stack.callback(engine.close, _SLOT)
        pipeline = Pipeline(
            Session("clip"),
            slot=_SLOT,
            delay=delay,
            first=0,
            easel=Easel.of(engine, _SLOT, compositor, surfaces=_SURFACES),
        )
        ahead_ms = _AHEAD_MS + delay * TICK_NS // NS_PER_MS
        ticks = _ticks(engine, pipeline, _Feed(pipeline.session, chunks, ahead_ms))
        layout = pictures.layout if pictures else "i420"
        return _write(ticks, out, size=size, color=color, layout=layout, on_frame=on_frame)


class _Feed:
    """Keeps a session supplied from an iterator of chunks, and ends its segment after the last."""

    def __init__(self, session: Session, chunks: Iterator[AudioChunk], ahead_ms: int) -> None:
        self._session = session
        self._chunks = chunks
        self._ahead_ms = ahead_ms
        self._segment: str | None = None
        self._ended = False

    def fill(self) -> None:
        while not self._ended and self._session.queued_ms < self._ahead_ms:
            chunk = next(self._chunks, None)
            if chunk is None:
                self._end()
            elif len(chunk.samples):
                self._segment = chunk.segment
                self._session.push(chunk, 0)

    def _end(self) -> None:
        if self._segment is None:
            raise AudioError("there is no sound to speak")
        self._session.end(self._segment)
        self._ended = True


def _ticks(engine: Engine, pipeline: Pipeline, feed: _Feed) -> Iterator[tuple[TickAudio, Surface]]:
    """Each tick's sound and picture, up to the one in which the segment ends.

    A surface stays as it is until the second tick after its own is asked for.
    """
    last = False
    while not last:
        feed.fill()
        draw = pipeline.next_draw(0)
        run(engine, [draw])
        pipeline.finish(draw)
        released = pipeline.release()
        assert released.picture is not None, "without pacing every picture is in time"
        last = any(span.last for span in released.audio.spans)
        yield released.audio, released.picture


def _write(
    ticks: Iterator[tuple[TickAudio, Surface]],
    out: Path,
    *,
    size: tuple[int, int],
    color: ColorSpace,
    layout: Layout,
    on_frame: Callable[[int], None],
) -> Clip:
    """Encode tick n - 1 on a second thread while `ticks` draws tick n; rename the file when it is whole."""
    part = out.with_name(f".{out.name}.{secrets.token_hex(4)}.part")
    frames = samples = 0
    try:
        file = _Mp4(part, size=size, color=color, layout=layout)
        with ThreadPoolExecutor(1, "clip-encoder") as encoder:
            pending: Future[None] | None = None
            for audio, surface in ticks:
                if pending is not None:
                    pending.result()
                    on_frame(frames)
                pending = encoder.submit(file.write, surface, audio.sent)
                frames += 1
                samples = max((span.end for span in audio.spans), default=samples)
        if pending is not None:
            pending.result()
            on_frame(frames)
        file.close()
        os.replace(part, out)
    except (OSError, FFmpegError) as error:
        raise UsageError(f"{out} cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
    return Clip(frames, samples)


class _Mp4:
    """H.264 and AAC from the same tick counter, index in front."""

    def __init__(self, path: Path, *, size: tuple[int, int], color: ColorSpace, layout: Layout) -> None:
        self._container = av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"})
        self._video = self._container.add_stream(
            "libx264", FRAME_RATE.per_second, options=dict(_VIDEO_OPTIONS)
        )
        video = self._video.codec_context
        video.width, video.height, video.pix_fmt = *size, PIXEL_FORMATS[layout]
        video.gop_size = LATEST
        video.color_primaries, video.color_trc = color.primaries, color.transfer
        video.colorspace, video.color_range = color.matrix, color.range
        self._audio = self._container.add_stream("aac", PROGRAM_HZ, layout="mono")
        self._audio.codec_context.bit_rate = _AUDIO_BPS
        self._keyframes = Keyframes()
        self._ticks = 0

    def write(self, surface: Surface, sent: NDArray[np.float32]) -> None:
        """The next tick: one picture and (1920,) samples."""
        surface.wait()
        picture = VideoFrame.from_ndarray(surface.buffer, PIXEL_FORMATS[surface.layout])
        picture.pts, picture.time_base = self._ticks, 1 / FRAME_RATE.per_second
        picture.pict_type = PictureType.I if self._keyframes.due(surface.y) else PictureType.NONE
        sound = AudioFrame.from_ndarray(sent[None], "fltp", "mono")
        sound.sample_rate, sound.time_base = PROGRAM_HZ, Fraction(1, PROGRAM_HZ)
        sound.pts = self._ticks * PROGRAM_HOP
        self._container.mux(self._video.encode(picture))
        self._container.mux(self._audio.encode(sound))
        self._ticks += 1

    def close(self) -> None:
        self._container.mux(self._video.encode(None))
        self._container.mux(self._audio.encode(None))
        self._container.close()
