"""The data that flows: audio in, pictures and packets out, and what is said about them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .visemes import Cue


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """Audio as it arrived, any length: `samples` (N,) float32 in -1..1 at `rate` Hz, of utterance `segment`.

    `cues` are mouth shapes known beforehand, in samples of `rate` from the segment's start.
    """

    segment: str
    samples: NDArray[np.float32]
    rate: int
    cues: tuple[Cue, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """Samples `start` to `end` of `segment`, at the program's 48 kHz, as they stand in one tick."""

    segment: str
    start: int
    end: int
    last: bool


@dataclass(frozen=True, slots=True)
class TickAudio:
    """The sound of tick `index`.

    `sent` (1920,) float32 at 48 kHz, for viewers; `heard` (640,) float32 at 16 kHz, for engines;
    `rows` (4, 15) float32 viseme weights where they are known beforehand, with `known` (4,) bool saying
    which; `speech` tells whether any segment plays in it.
    """

    index: int
    sent: NDArray[np.float32]
    heard: NDArray[np.float32]
    rows: NDArray[np.float32]
    known: NDArray[np.bool_]
    spans: tuple[Span, ...]
    speech: bool


@dataclass(frozen=True, slots=True)
class Packet:
    """One encoded access unit. `pts` counts `clock_rate` ticks from the session's start."""

    data: bytes
    pts: int
    clock_rate: int
    keyframe: bool
