"""Smooth edges in motion space: Hermite steps, and how long one must last to stay within an acceleration."""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def hermite(t: float) -> float:
    """0 up to t = 0, 1 from t = 1, 3t² - 2t³ between: no jump in value or speed."""
    t = min(max(t, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


def edge(index: int, *, start: int, frames: int) -> float:
    """How far an edge over `frames` frames has come at frame `index`: 0 at `start`, 1 from `start + frames`
    on."""
    if frames < 1:
        return 0.0 if index < start else 1.0
    return hermite((index - start) / frames)


def edge_frames(change: float, limit: float, *, least: int) -> int:
    """Frames that a Hermite edge of size `change` needs so that its acceleration stays within `limit` a
    frame².

    Never fewer than `least`. The steepest second derivative of the edge is 6 * change / frames².
    """
    if limit <= 0:
        raise ValueError(f"an acceleration limit must be positive, not {limit}")
    return max(least, math.ceil(math.sqrt(6.0 * abs(change) / limit)))


@dataclass(frozen=True, slots=True)
class Glide:
    """Numbers (N,) on their way from `before`, where they move at `speed` a frame, to `after`, where they
    come to rest `frames` frames after `start`: no jump in value or speed, however often they are turned."""

    before: F64
    speed: F64
    after: F64
    start: int
    frames: int

    @classmethod
    def resting(cls, values: F64) -> Self:
        """Numbers that have always been `values`."""
        return cls(values, np.zeros_like(values), values, 0, 1)

    def at(self, index: int) -> F64:
        """The numbers at frame `index`."""
        t = min(max((index - self.start) / self.frames, 0.0), 1.0)
        share = hermite(t)
        if share >= 1:
            return self.after
        run = self.frames * t * (1.0 - t) ** 2
        return self.before + share * (self.after - self.before) + run * self.speed

    def speed_at(self, index: int) -> F64:
        """How far the numbers move a frame, at frame `index`."""
        t = (index - self.start) / self.frames
        if not 0 <= t < 1:
            return np.zeros_like(self.after)
        steep = 6.0 * t * (1.0 - t) / self.frames
        return steep * (self.after - self.before) + (1.0 - t) * (1.0 - 3.0 * t) * self.speed

    def turned(self, after: F64, index: int, frames: int) -> "Glide":
        """From frame `index` on, go to `after` instead, over `frames` frames."""
        if np.array_equal(after, self.after):
            return self
        return Glide(self.at(index), self.speed_at(index), after, index, frames)

    def begun_by(self, index: int) -> "Glide":
        """The same, but never begun later than at frame `index`."""
        return self if self.start <= index else replace(self, start=index)
