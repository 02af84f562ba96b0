"""Sound to test with, and every way to cut it."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Sound = NDArray[np.float32]


def sine(hz: float, rate: int, count: int, *, level: float = 0.5) -> Sound:
    """(count,) float32 of a sine that starts at 0."""
    return (level * np.sin(2 * np.pi * hz / rate * np.arange(count))).astype(np.float32)


def noise(count: int, *, level_db: float, seed: int = 1) -> Sound:
    """(count,) float32 of white noise at `level_db` dBFS."""
    spread = 10 ** (level_db / 20)
    return np.random.default_rng(seed).normal(0, spread, count).astype(np.float32)


def level_db(samples: Sound) -> float:
    """Loudness in dBFS."""
    return 10 * float(np.log10(np.mean(np.square(samples, dtype=np.float64)) + 1e-20))


def cuts(length: int, *, most: int = 12) -> st.SearchStrategy[list[int]]:
    """Places to cut something of `length`, in order; empty pieces included."""
    return st.lists(st.integers(0, length), max_size=most).map(sorted)


def pieces(samples: Sound, at: Sequence[int]) -> list[Sound]:
    """`samples` cut at `at`."""
    return np.split(samples, at)


def byte_pieces(stream: bytes, at: Sequence[int]) -> list[bytes]:
    """`stream` cut at `at`."""
    edges = [0, *at, len(stream)]
    return [stream[start:end] for start, end in pairwise(edges)]
