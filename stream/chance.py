"""Random numbers that belong to places: from one seed, any of them can be asked for again, in any order.

Nothing here ever repeats: each channel is a row of cells without end, each cell a generator of its own.
"""

from functools import lru_cache
from typing import Final

import numpy as np

BLOCK: Final = 16
"""Moments of a renewal process, and points of a noise, that are drawn together."""
_MASK = 0xFFFFFFFFFFFFFFFF
_SPLINE_GAIN = 2.0 / 6.0


def seed_for(seed: int, name: str) -> int:
    """A seed for `name` alone, so that two of them do not move alike though both were given `seed`."""
    key = int.from_bytes(name.encode()[:32], "little")
    words = np.random.SeedSequence((seed & _MASK, key)).generate_state(1, np.uint64)
    return int(words[0])


class Chance:
    """The random numbers of one seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed & _MASK
        self._points = lru_cache(maxsize=96)(self._draw_points)
        self._cubic = lru_cache(maxsize=96)(self._fit_cubic)

    def generator(self, channel: str, cell: int) -> np.random.Generator:
        key = int.from_bytes(channel.encode()[:8].ljust(8, b"\0"), "little")
        sequence = np.random.SeedSequence((self._seed, key, cell & _MASK))
        return np.random.Generator(np.random.PCG64(sequence))

    def noise(self, channel: str, index: float, period: float) -> float:
        """Smooth noise in -2..2, mostly within -1..1, with one random point each `period`: a cubic
        B-spline."""
        place = index / period
        cell = int(place // 1)
        t = place - cell
        still, first, second, third = self._cubic(channel, cell)
        return still + t * (first + t * (second + t * third))

    def gaps(self, random: np.random.Generator, *, shape: float, shortest: float) -> list[float]:
        """BLOCK times between moments, of mean 1 and none under `shortest`; together they last BLOCK."""
        free = random.gamma(shape, size=BLOCK)
        return (shortest + (1 - shortest) * free * (BLOCK / free.sum())).tolist()

    def _fit_cubic(self, channel: str, cell: int) -> tuple[float, float, float, float]:
        """Its coefficients in a cell, by the four points around that."""
        block, place = divmod(cell - 1, BLOCK)
        points = self._points(channel, block)
        if place + 4 > BLOCK:
            points += self._points(channel, block + 1)
        a, b, c, d = points[place : place + 4]
        sums = a + 4 * b + c, 3 * (c - a), 3 * (a - 2 * b + c), d - a + 3 * (b - c)
        still, first, second, third = (_SPLINE_GAIN * each for each in sums)
        return still, first, second, third

    def _draw_points(self, channel: str, block: int) -> tuple[float, ...]:
        return tuple(self.generator(channel, block).uniform(-1.0, 1.0, BLOCK).tolist())
