"""Sound to rows of features, one a video frame: how it is cut into what the audio encoder hears at a time.

The encoder has no memory. It is handed windows of always the same length; of the two rows that it gives for
each frame, those of the frames in the middle of the window are kept, and averaged in pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...stream.clock import FEATURE_HOP, FEATURE_HZ, Rate
from ...stream.errors import SetupError
from ...stream.stage import StageSpec
from .delay import LOOKAHEAD

F32 = NDArray[np.float32]

WIDTH: Final = 1024
"""Of a row of features."""
ROW_WINDOW, ROW_HOP = 400, 320
"""Samples under a row of the encoder, and between two."""
TAIL_SAMPLES: Final = ROW_WINDOW - ROW_HOP
"""Samples that the last row of a frame sees of the next."""
_TOGETHER = 32
"""Windows handed to the encoder at a time when there are many."""


class AudioEncoder(Protocol):
    """The network that hears."""

    def __call__(self, samples: Tensor) -> Tensor:
        """Rows (B, `rows_of(n)`, 1024) float32 of `samples` (B, n) float32 mono at 16 kHz, about -1 to 1, in
        the host's memory. Rows may lie elsewhere."""
        ...


def rows_of(samples: int) -> int:
    """How many rows the encoder gives for `samples`."""
    return (samples - ROW_WINDOW) // ROW_HOP + 1


def frames_of(samples: int) -> int:
    """Video frames that `samples` last, the last one perhaps in part."""
    return -(-samples // FEATURE_HOP)


@dataclass(frozen=True, slots=True)
class Chunk:
    """What the encoder hears at a time, in frames: `context`, the `payload` that is kept, `lookahead`."""

    context: int = 3
    payload: int = 5
    lookahead: int = LOOKAHEAD

    def __post_init__(self) -> None:
        if self.payload < 1 or self.context < 0 or self.lookahead < 0:
            raise ValueError(f"a chunk needs a payload of 1 or more and no part below 0, not {self}")

    @property
    def frames(self) -> int:
        return self.context + self.payload + self.lookahead

    @property
    def window_samples(self) -> int:
        return self.frames * FEATURE_HOP + TAIL_SAMPLES

    def keep(self, rows: Tensor, payload: int) -> Tensor:
        """Features (B, payload, 1024) of the last `payload` frames before the look-ahead, from the encoder's
        `rows` (B, R, 1024)."""
        if rows.ndim != 3 or rows.shape[1:] != (2 * self.frames, WIDTH):
            raise SetupError(
                f"the audio encoder gave {tuple(rows.shape[1:])} for {self.window_samples} samples, not "
                f"{(2 * self.frames, WIDTH)}: it is not the one that Ditto was trained with"
            )
        end = 2 * (self.frames - self.lookahead)
        return rows[:, end - 2 * payload : end].unflatten(1, (payload, 2)).mean(2)


@dataclass(frozen=True, slots=True)
class Cadence:
    """Features by `hop` frames: whole payloads of the `chunk`, and what is left with more context, so that
    every window has the same length."""

    hop: int
    chunk: Chunk = Chunk()

    def __post_init__(self) -> None:
        if self.hop < 1:
            raise ValueError(f"a hop is 1 frame or more, not {self.hop}")

    @property
    def pieces(self) -> tuple[int, ...]:
        """Frames kept of each window of a hop."""
        whole, rest = divmod(self.hop, self.chunk.payload)
        return (self.chunk.payload,) * whole + (rest,) * (rest > 0)

    @property
    def ends(self) -> tuple[int, ...]:
        """Where each window ends, in samples from the start of the hop."""
        frames = np.cumsum(self.pieces) + self.chunk.lookahead
        return tuple(int(end) * FEATURE_HOP + TAIL_SAMPLES for end in frames)

    @property
    def spec(self) -> StageSpec:
        """In samples at 16 kHz."""
        return StageSpec(
            Rate(Fraction(FEATURE_HZ)),
            window=self.ends[-1] - self.ends[0] + self.chunk.window_samples,
            hop=self.hop * FEATURE_HOP,
            lookahead=self.chunk.lookahead * FEATURE_HOP + TAIL_SAMPLES,
        )

    def encode(self, encoder: AudioEncoder, windows: F32) -> Tensor:
        """Features (M, hop, 1024) of hops whose `windows` are (M, pieces, window_samples)."""
        rows = encoder(torch.from_numpy(windows.reshape(-1, windows.shape[2])))
        rows = rows.unflatten(0, windows.shape[:2])
        return torch.cat([self.chunk.keep(rows[:, at], kept) for at, kept in enumerate(self.pieces)], 1)


@dataclass(frozen=True, slots=True)
class FeatureState:
    """The sound of B slots, written in place.

    `ring` (B, capacity) float32 holds sample i at i modulo its length; `heard` (B,) int64 samples came,
    `given` (B,) int64 frames left; `ended` (B,) bool when nothing more will come.
    """

    ring: F32
    heard: NDArray[np.int64]
    given: NDArray[np.int64]
    ended: NDArray[np.bool_]


class FeatureStage:
    """Features of many slots as their sound arrives, in chunks of any length.

    Nothing waits: sound that there is no room for stays with the caller until hops were taken. A frame's
    features depend on the samples alone, not on how they were cut, nor on other slots.
    """

    def __init__(
        self, encoder: AudioEncoder, cadence: Cadence, *, spare_samples: int = FEATURE_HZ, history: int = 0
    ) -> None:
        """`spare_samples` can be pushed beyond those that the next hop needs; the last `history` hops can be
        taken again."""
        self._encoder = encoder
        self.cadence = cadence
        self._window = cadence.chunk.window_samples
        self._ends = np.array(cadence.ends)
        self._history_samples = history * cadence.hop * FEATURE_HOP
        self._capacity = cadence.spec.window + spare_samples + self._history_samples

    def init(self, slots: int) -> FeatureState:
        return FeatureState(
            np.zeros((slots, self._capacity), np.float32),
            np.zeros(slots, np.int64),
            np.zeros(slots, np.int64),
            np.zeros(slots, np.bool_),
        )

    def reset(self, state: FeatureState, slots: list[int]) -> None:
        """`slots` have heard nothing."""
        for part in (state.ring, state.heard, state.given, state.ended):
            part[slots] = 0

    def push(self, state: FeatureState, slot: int, samples: F32) -> int:
        """How many of `samples` (N,) fitted, from the first on. ValueError after `finish`."""
        if state.ended[slot]:
            raise ValueError(f"slot {slot} heard the end: reset it first")
        heard = int(state.heard[slot])
        needed = int(state.given[slot]) * FEATURE_HOP + int(self._ends[0]) - self._window
        oldest = max(0, needed - self._history_samples)
        taken = min(len(samples), self._capacity - (heard - oldest))
        done = 0
        for part in self._places(heard, heard + taken):
            count = part.stop - part.start
            state.ring[slot, part] = samples[done : done + count]
            done += count
        state.heard[slot] = heard + taken
        return taken

    def rewind(self, state: FeatureState, slot: int, *, heard: int, given: int) -> None:
        """Go back to when `slot` had heard `heard` samples and given `given` frames."""
        state.heard[slot], state.given[slot], state.ended[slot] = heard, given, False

    def news(self, state: FeatureState, slot: int) -> F32:
        """The samples of the next hop of `slot`, which is due, that no hop before it heard."""
        given = int(state.given[slot])
        until = given * FEATURE_HOP + int(self._ends[-1])
        since = until - self.cadence.hop * FEATURE_HOP if given else 0
        return self._samples(state, slot, since, until)

    def skip(self, state: FeatureState, slots: list[int]) -> None:
        """Pass over the next hop of `slots`, which are due: its features are not needed."""
        state.given[slots] += self.cadence.hop

    def finish(self, state: FeatureState, slot: int) -> None:
        """Nothing more comes for `slot`; the frames it has begun can leave, and silence follows."""
        state.ended[slot] = True

    def due(self, state: FeatureState) -> list[int]:
        """The slots whose next hop can be taken."""
        complete = state.heard >= state.given * FEATURE_HOP + self._ends[-1]
        left = state.ended & (state.given * FEATURE_HOP < state.heard)
        return np.flatnonzero(np.where(state.ended, left, complete)).tolist()

    def step(self, state: FeatureState, slots: list[int]) -> tuple[Tensor, list[int]]:
        """Features (k, hop, 1024) of the next hop of `slots`, which are due, and how many of its frames
        count: fewer only at the end."""
        given, heard = state.given[slots], state.heard[slots]
        windows = np.zeros((len(slots), len(self._ends), self._window), np.float32)
        for row, slot in enumerate(slots):
            for piece, end in enumerate((self._ends + given[row] * FEATURE_HOP).tolist()):
                first = end - self._window
                since = max(first, 0)
                until = max(min(end, int(heard[row])), since)
                found = self._samples(state, slot, since, until)
                windows[row, piece, since - first : until - first] = found
        features = self.cadence.encode(self._encoder, windows)
        counts = np.where(state.ended[slots], -(-heard // FEATURE_HOP) - given, self.cadence.hop)
        counts = np.minimum(counts, self.cadence.hop)
        state.given[slots] += counts
        return features, counts.tolist()

    def _samples(self, state: FeatureState, slot: int, since: int, until: int) -> F32:
        """A copy of those of `slot`."""
        return np.concatenate([state.ring[slot, part] for part in self._places(since, until)])

    def _places(self, since: int, until: int) -> tuple[slice, slice]:
        """Where samples `since` to `until` lie, at most as many as there is room for."""
        first, count = since % self._capacity, until - since
        whole = min(count, self._capacity - first)
        return slice(first, first + whole), slice(0, count - whole)


def whole(encoder: AudioEncoder, samples: F32, cadence: Cadence) -> Tensor:
    """Features (T, 1024) of all of `samples` (N,), T = `frames_of(N)`: what a stream of them gives."""
    frames = frames_of(len(samples))
    hops = np.arange(0, frames, cadence.hop) * FEATURE_HOP
    ends = hops[:, None] + np.array(cadence.ends)
    return _gathered(encoder, samples, ends, cadence)[:frames]


def online(encoder: AudioEncoder, samples: F32, chunk: Chunk) -> Tensor:
    """As `whole`, in chunks as the reference feeds a stream: past the end by up to `context` + `payload` - 1
    frames."""
    count = -(-(len(samples) + chunk.context * FEATURE_HOP) // (chunk.payload * FEATURE_HOP))
    cadence = Cadence(chunk.payload, chunk)
    ends = (np.arange(count) * chunk.payload * FEATURE_HOP)[:, None] + np.array(cadence.ends)
    return _gathered(encoder, samples, ends, cadence)


def offline(encoder: AudioEncoder, samples: F32, chunk: Chunk) -> Tensor:
    """Features (T, 1024) of all of `samples` (N,) as the reference takes them from a file: 80 samples earlier
    than in a stream. `frames_of(N)` rows."""
    frames = frames_of(len(samples))
    cadence = Cadence(chunk.payload, chunk)
    starts = np.arange(0, frames, chunk.payload) * FEATURE_HOP - TAIL_SAMPLES
    return _gathered(encoder, samples, starts[:, None] + np.array(cadence.ends), cadence)[:frames]


def _gathered(encoder: AudioEncoder, samples: F32, ends: NDArray[np.int64], cadence: Cadence) -> Tensor:
    """Features (M hop, 1024) of hops whose windows end at `ends` (M, pieces); around `samples` is silence."""
    parts = [cadence.encode(encoder, windows) for windows in _windows(samples, ends, cadence)]
    return torch.cat(parts).flatten(0, 1) if parts else torch.zeros(0, WIDTH)


def _windows(samples: F32, ends: NDArray[np.int64], cadence: Cadence) -> Iterator[F32]:
    window = cadence.chunk.window_samples
    together = max(1, _TOGETHER // len(cadence.pieces))
    for first in range(0, len(ends), together):
        at = ends[first : first + together, :, None] + np.arange(-window, 0)
        heard = (at >= 0) & (at < len(samples))
        found = np.zeros(at.shape, np.float32)
        found[heard] = samples[at[heard]]
        yield found
