"""Speech or silence by loudness, with hysteresis: what turns an open microphone into utterances."""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .clock import to_samples

FRAME_MS = 10
_START_DB = -45.0
"""Noise floor assumed before any was heard, so that the hum of a room is not taken for speech at once."""
_MUTED_DB = -90.0
"""Below one step of 16 bits: a muted microphone, which tells nothing about the room."""


@dataclass(frozen=True, slots=True)
class GateOptions:
    """Thresholds are decibels above the tracked noise floor; times in milliseconds."""

    open_db: float = 12.0
    close_db: float = 6.0
    floor_db: float = -62.0
    preroll_ms: int = 200
    hang_ms: int = 400

    def __post_init__(self) -> None:
        if self.close_db > self.open_db:
            raise ValueError("a voice gate must close at or below the level where it opens")


Decision = tuple[Literal["speech"], NDArray[np.float32]] | tuple[Literal["end"], None]


class VoiceGate:
    """Passes speech, with the moment before it, and says when it ends. Independent of how the sound is cut.

    The noise floor follows the quietest frames of the last seconds: it falls at once and rises 3 dB a second.
    Digital silence does not move it.
    """

    def __init__(self, rate: int, options: GateOptions | None = None) -> None:
        self._options = options or GateOptions()
        self._frame = to_samples(FRAME_MS, rate)
        self._rest = np.zeros(0, np.float32)
        self._preroll: deque[NDArray[np.float32]] = deque(maxlen=self._options.preroll_ms // FRAME_MS)
        self._noise_db = max(self._options.floor_db, _START_DB)
        self._quiet_frames = 0
        self.is_open = False

    def feed(self, samples: NDArray[np.float32]) -> Iterator[Decision]:
        """Decisions for (N,) float32 samples, in order. They are kept and given on as they are: nobody may
        write to them any more."""
        joined = np.concatenate([self._rest, samples]) if len(self._rest) else samples
        whole = len(joined) // self._frame * self._frame
        self._rest = joined[whole:]
        frames = joined[:whole].reshape(-1, self._frame)
        exact = frames.astype(np.float64)
        for frame, energy in zip(frames, np.vecdot(exact, exact).tolist(), strict=True):
            yield from self._decide(frame, 10 * math.log10(energy / self._frame + 1e-12))

    def _decide(self, frame: NDArray[np.float32], level_db: float) -> Iterator[Decision]:
        self._follow_noise(level_db)
        above = level_db - self._noise_db
        if not self.is_open:
            if above < self._options.open_db:
                self._preroll.append(frame)
                return
            self.is_open = True
            self._quiet_frames = 0
            yield "speech", np.concatenate([*self._preroll, frame])
            self._preroll.clear()
            return
        self._quiet_frames = 0 if above >= self._options.close_db else self._quiet_frames + 1
        yield "speech", frame
        if self._quiet_frames * FRAME_MS >= self._options.hang_ms:
            self.is_open = False
            yield "end", None

    def _follow_noise(self, level_db: float) -> None:
        if level_db < _MUTED_DB:
            return
        rise = 3.0 * FRAME_MS / 1000
        self._noise_db = max(self._options.floor_db, min(level_db, self._noise_db + rise))
