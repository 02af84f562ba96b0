"""What a face does on its own: blinks, head drift, breathing, gaze and brows, from one seed a session.

Every value is a pure function of the seed and the absolute frame index, so any frame can be asked for again
and no state has to be kept or restored. Random numbers belong to places on a lattice; nothing ever repeats.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .clock import FRAME_RATE
from .easing import hermite

F64 = NDArray[np.float64]

_FRAMES_PER_MINUTE = int(60 * FRAME_RATE.per_second)
_BLOCK = 16
"""Blinks, or fixations, that are drawn together."""
_BLINK_CLOSE, _BLINK_HOLD, _BLINK_OPEN = 2.6, 0.8, 5.6
"""Frames that the lids take to fall, stay and rise."""
_BLINK_SPAN = _BLINK_CLOSE + _BLINK_HOLD + _BLINK_OPEN
_SHORTEST_INTERVAL = 0.28
"""Of the mean time between blinks."""
_FIXATION_FRAMES = 46.0
"""Mean time that the eyes rest on one point."""
_SACCADE_FRAMES = 2.0


@dataclass(frozen=True, slots=True)
class Life:
    """`blink` 0 open to 1 shut; `head` (3,) yaw, pitch, roll in degrees; `gaze` (2,) in -1..1, right and up;
    `brow` 0 at rest to 1 raised."""

    blink: float
    head: F64
    gaze: F64
    brow: float


@dataclass(frozen=True, slots=True)
class BlinkRate:
    """From frame `start`, where `phase` blink intervals have gone by, there are `per_minute` blinks a
    minute."""

    start: int
    phase: float
    per_minute: float

    def phase_at(self, index: float) -> float:
        return self.phase + (index - self.start) * self.per_minute / _FRAMES_PER_MINUTE

    def index_at(self, phase: float) -> float:
        return self.start + (phase - self.phase) * _FRAMES_PER_MINUTE / self.per_minute

    def changed(self, start: int, per_minute: float) -> "BlinkRate":
        """Another rate from frame `start` on, without a jump in phase."""
        return BlinkRate(start, self.phase_at(start), per_minute)


class LifeProcess:
    """The free-running life of one session."""

    def __init__(self, seed: int) -> None:
        self._seed = seed & 0xFFFFFFFFFFFFFFFF
        self._blinks = lru_cache(maxsize=8)(self._blink_block)
        self._fixations = lru_cache(maxsize=8)(self._fixation_block)
        self._lattice = lru_cache(maxsize=256)(self._lattice_values)

    def at(self, index: int, *, speaking: float, rate: BlinkRate) -> Life:
        """Life at frame `index`. `speaking` 0..1 adds movement and nods."""
        head = self._head(index, speaking)
        brow = 0.10 + 0.10 * self._noise(index, "brow", 61.0)
        brow += speaking * max(0.0, 0.12 + 0.30 * self._noise(index, "accent", 17.0))
        return Life(self._blink(index, rate), head, self._gaze(index), float(np.clip(brow, 0.0, 1.0)))

    def _head(self, index: int, speaking: float) -> F64:
        slow = np.array(
            [self._noise(index, f"slow{k}", period) for k, period in enumerate((83.0, 71.0, 97.0))]
        )
        fast = np.array(
            [self._noise(index, f"fast{k}", period) for k, period in enumerate((23.0, 19.0, 29.0))]
        )
        nod = self._noise(index, "nod", 9.0) + 0.5 * self._noise(index, "beat", 6.0)
        breath = np.sin(2 * np.pi * (index / 103.0 + 0.35 * self._noise(index, "breath", 211.0)))
        idle = slow * (2.2, 1.3, 1.3) + fast * (0.45, 0.35, 0.30) + (0.0, 0.22 * breath, 0.0)
        talk = slow * (0.6, 0.3, 0.4) + fast * (1.5, 0.9, 0.9) + (0.0, 1.15 * nod, 0.0)
        return idle + speaking * talk

    def _blink(self, index: int, rate: BlinkRate) -> float:
        if rate.per_minute <= 0:
            return 0.0
        reach = _BLINK_SPAN * rate.per_minute / _FRAMES_PER_MINUTE
        phase = rate.phase_at(index)
        first, last = int((phase - reach) // _BLOCK), int(phase // _BLOCK)
        lids = 0.0
        for block in range(first, last + 1):
            for moment, depth in self._blinks(block):
                if phase - reach <= moment <= phase:
                    lids = max(lids, depth * _lid_curve(index - rate.index_at(moment)))
        return lids

    def _gaze(self, index: int) -> F64:
        step = index / _FIXATION_FRAMES
        block = int(step // _BLOCK)
        points = self._fixations(block - 1) + self._fixations(block)
        past = [k for k, (moment, _, _) in enumerate(points) if moment <= step]
        now = past[-1]
        since = (step - points[now][0]) * _FIXATION_FRAMES
        share = hermite(since / _SACCADE_FRAMES)
        here, before = np.array(points[now][1:]), np.array(points[now - 1][1:])
        return before + (here - before) * share

    def _noise(self, index: int, channel: str, period: float) -> float:
        """Band-limited noise of unit spread whose lattice has one point each `period` frames: a cubic
        B-spline."""
        place = index / period
        cell = int(place // 1)
        t = place - cell
        weights = np.array(
            [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3],
        )
        values = [self._lattice(channel, cell + k) for k in (-1, 0, 1, 2)]
        return float(weights @ values) * _SPLINE_GAIN / 6

    def _lattice_values(self, channel: str, cell: int) -> float:
        return float(self._generator(channel, cell).uniform(-1.0, 1.0))

    def _blink_block(self, block: int) -> tuple[tuple[float, float], ...]:
        """(moment, depth) of the blinks in `block`, moments in mean intervals."""
        random = self._generator("blink", block)
        free = random.gamma(1.6, size=_BLOCK)
        gaps = _SHORTEST_INTERVAL + (1 - _SHORTEST_INTERVAL) * free * (_BLOCK / free.sum())
        moments = block * _BLOCK + np.cumsum(gaps) - gaps * random.uniform(0.2, 0.8)
        depths = np.where(random.random(_BLOCK) < 0.12, random.uniform(0.55, 0.8, _BLOCK), 1.0)
        return tuple(zip(moments.tolist(), depths.tolist(), strict=True))

    def _fixation_block(self, block: int) -> list[tuple[float, float, float]]:
        """(moment, right, up) of the points looked at in `block`, moments in mean fixations."""
        random = self._generator("gaze", block)
        free = random.gamma(2.0, size=_BLOCK)
        gaps = 0.2 + 0.8 * free * (_BLOCK / free.sum())
        moments = block * _BLOCK + np.cumsum(gaps) - gaps
        away = random.random(_BLOCK) < 0.18
        right = random.normal(0.0, np.where(away, 0.34, 0.07))
        up = random.normal(0.0, np.where(away, 0.20, 0.05))
        return list(
            zip(moments.tolist(), right.clip(-0.8, 0.8).tolist(), up.clip(-0.6, 0.6).tolist(), strict=True)
        )

    def _generator(self, channel: str, cell: int) -> np.random.Generator:
        key = int.from_bytes(channel.encode()[:8].ljust(8, b"\0"), "little")
        sequence = np.random.SeedSequence((self._seed, key, cell & 0xFFFFFFFFFFFFFFFF))
        return np.random.Generator(np.random.PCG64(sequence))


_SPLINE_GAIN = 2.0


def _lid_curve(frames: float) -> float:
    """How shut the lids are `frames` after a blink began: they fall fast and rise slowly."""
    if frames <= _BLINK_CLOSE:
        return hermite(frames / _BLINK_CLOSE)
    late = frames - _BLINK_CLOSE - _BLINK_HOLD
    return 1.0 - hermite(late / _BLINK_OPEN) ** 0.75 if late > 0 else 1.0
