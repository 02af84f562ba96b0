"""`visavis render`: a clip on this machine, without a server."""

import math
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..render.ditto.presets import OFFLINE, PRESETS, check_latency
from ..stream.clock import FRAME_RATE, NS_PER_SECOND
from ..stream.errors import UsageError
from ..stream.media import AudioChunk
from ..stream.pcm import to_float
from ..stream.visemes import Cue
from .sources import check_sound_path
from .voice_link import Done, Piece, Speak

if TYPE_CHECKING:
    from .voice import Mouth

MAX_TEXT_CHARACTERS = 100_000
"""Somewhat under two hours of speech."""

_SEGMENT = "clip"
_JOB = 1
_CHARACTERS_PER_SECOND = 15
"""Of ordinary English, to guess how long a text will last."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to make: `avatar` speaks the file `audio`, or `text` with `voice`, into `out`."""

    avatar: str
    out: Path
    audio: Path | None
    text: str | None
    voice: str | None
    engine: str
    weights: str | None
    latency: str | None
    size: str | None
    seed: int
    fps: int

    def __post_init__(self) -> None:
        if (self.audio is None) == (self.text is None):
            raise UsageError("give either --audio FILE or --text TEXT")
        if self.voice is not None and self.text is None:
            raise UsageError("--voice belongs to --text; leave it out with --audio")
        if self.text is not None and not self.text.strip():
            raise UsageError("--text has nothing to say; give it some words")
        if self.text is not None and len(self.text) > MAX_TEXT_CHARACTERS:
            raise UsageError(f"--text takes 1 to {MAX_TEXT_CHARACTERS} characters, not {len(self.text)}")
        if self.fps != FRAME_RATE.per_second:
            raise UsageError(f"--fps {self.fps} is not supported yet; use --fps {FRAME_RATE.per_second}")
        if self.latency is not None:
            check_latency(self.latency)
        if self.audio is not None:
            check_sound_path(self.audio)
        if self.out.is_dir() or not self.out.parent.is_dir():
            raise UsageError(
                f"{self.out} cannot be written; give --out the name of a file in a folder that exists"
            )
        if self.out.suffix.lower() != ".mp4":
            raise UsageError(f"a clip is an MP4; give --out a name that ends in .mp4, not {self.out.name}")


class Report(msgspec.Struct, frozen=True):
    """What `--json` prints. `seconds` is the time it took, `audio_s` the sound's length before padding."""

    output: str
    avatar: str
    engine: str
    size: str
    seed: int
    frames: int
    seconds: float
    frames_per_second: float
    audio_s: float
    video_s: float


def render(
    out: Annotated[Path, typer.Option("--out", "-o", help="The MP4 to write.")],
    avatar: Annotated[str, typer.Option(help="Who speaks.")] = "ruby",
    audio: Annotated[Path | None, typer.Option(help="A file with the voice, of any usual format.")] = None,
    text: Annotated[str | None, typer.Option(help="What to say, instead of --audio.")] = None,
    voice: Annotated[str | None, typer.Option(help="Whose voice says --text.")] = None,
    engine: Annotated[
        str,
        typer.Option(help="What draws the face: auto (the avatar's own), rig, ditto or pkg.module:Class."),
    ] = "auto",
    weights: Annotated[
        str | None, typer.Option(help="The folder of Ditto's weights, or random:SEED for a picture of noise.")
    ] = None,
    latency: Annotated[
        str | None,
        typer.Option(help=f"How Ditto's windows lie: {', '.join(PRESETS)}. [default: {OFFLINE}]"),
    ] = None,
    size: Annotated[str | None, typer.Option(help="WIDTHxHEIGHT, one of the avatar's sizes.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Other blinks and movements for another number.")] = 0,
    fps: Annotated[int, typer.Option(help="Frames a second.")] = int(FRAME_RATE.per_second),
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Make a clip: an avatar speaks a sound file or a text into an MP4."""
    report = make_clip(Order(avatar, out, audio, text, voice, engine, weights, latency, size, seed, fps))
    if as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        sys.stdout.write(
            f"{report.output}: {report.video_s:.2f} s, {report.frames} frames of {report.size}, "
            f"made in {report.seconds:.1f} s ({_pace(report)})\n"
        )


def _pace(report: Report) -> str:
    if report.frames_per_second < 1:
        return f"{report.seconds / report.frames:.1f} s a frame"
    return f"{report.frames_per_second:.0f} frames a second"


def make_clip(order: Order) -> Report:
    """Make the clip, with a progress bar where a terminal shows it."""
    # Here and not above: the other commands must not load what draws.
    from ..render.avatar import find_avatar
    from ..render.clip import render_clip
    from ..render.worker import load_engine
    from .gallery import Card, size_text

    avatar = find_avatar(order.avatar)
    card = Card(avatar.name, avatar.title, avatar.kind, avatar.sizes, avatar.preview)
    size = card.size_of(order.size)
    with _sound(order) as sound:
        name = avatar.kind if order.engine == "auto" else order.engine
        latency = order.latency or (OFFLINE if name == "ditto" else None)
        engine = load_engine(name, weights=order.weights, latency=latency)
        engine.warm()
        began_ns = time.monotonic_ns()
        with _Bar(order.out.name, sound.seconds) as bar:
            clip = render_clip(
                engine, avatar, sound.chunks, order.out, size=size, seed=order.seed, on_frame=bar.show
            )
            bar.finish(clip.frames)
        seconds = (time.monotonic_ns() - began_ns) / NS_PER_SECOND
    return Report(
        output=str(order.out),
        avatar=avatar.name,
        engine=engine.kind,
        size=size_text(size),
        seed=order.seed,
        frames=clip.frames,
        seconds=round(seconds, 3),
        frames_per_second=round(clip.frames / seconds, 2),
        audio_s=round(clip.audio_s, 6),
        video_s=round(clip.video_s, 6),
    )


@dataclass(frozen=True, slots=True)
class _Sound:
    """What the avatar says, and how long that lasts as far as it is known."""

    chunks: Iterator[AudioChunk]
    seconds: float | None


@contextmanager
def _sound(order: Order) -> Generator[_Sound]:
    from ..render.sound import SoundFile

    if order.audio is None:
        text = order.text or ""
        yield _Sound(_spoken(text, order.voice, order.seed), len(text) / _CHARACTERS_PER_SECOND)
        return
    with SoundFile(order.audio) as file:
        yield _Sound(file.chunks(_SEGMENT), file.seconds)
        if file.damaged:
            sys.stderr.write(f"visavis: {file.damaged} damaged packets of {order.audio} were left out\n")


def _spoken(text: str, voice: str | None, seed: int) -> Iterator[AudioChunk]:
    """Sentence by sentence, with mouth shapes; the voice is loaded at once. Raises UsageError for an unknown
    voice, and later when nothing in `text` can be said.
    """
    from .voice import DEFAULT_VOICE, Mouth

    mouth = Mouth(seed)
    voice = voice or DEFAULT_VOICE
    if voice not in mouth.names:
        known = ", ".join(mouth.names)
        raise UsageError(f"this machine has no voice {voice[:40]!r}; choose one of {known}")
    if voice == DEFAULT_VOICE:
        mouth.warm()
    mouth.receive(Speak(_JOB, text, voice, credit=len(text)))
    return _chunks(mouth)


def _chunks(mouth: "Mouth") -> Iterator[AudioChunk]:
    while mouth.has_work:
        for message in mouth.speak_next():
            if isinstance(message, Piece):
                cues = tuple(Cue(*cue) for cue in message.cues)
                yield AudioChunk(_SEGMENT, to_float(message.pcm), message.rate, cues)
            elif isinstance(message, Done) and message.problem:
                raise UsageError(message.problem)


class _Bar:
    """Progress on a terminal, on the error stream; nothing anywhere else."""

    def __init__(self, name: str, seconds: float | None) -> None:
        console = Console(stderr=True)
        self._total = seconds and math.ceil(seconds * FRAME_RATE.per_second)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("frames"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(name, total=self._total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def show(self, frames: int) -> None:
        total = self._total and max(self._total, frames)
        self._progress.update(self._task, completed=frames, total=total)

    def finish(self, frames: int) -> None:
        self._progress.update(self._task, completed=frames, total=frames)
