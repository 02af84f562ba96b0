"""Shoulders that follow the head: later, softer and by a part of its turn."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]

MEMORY_FRAMES: Final = 21
_SHARE: Final = np.array([0.40, 0.42])
"""Of the head's yaw and roll, what the shoulders do in the end."""
_MOST_DEG: Final = np.array([4.6, 2.2])
"""Yaw and roll that a plate can be moved by and still look whole."""
_SLOW_FRAMES = 2.4


def _weights() -> NDArray[np.float64]:
    """How much the head of k frames ago counts, MEMORY_FRAMES + 1 numbers of sum 1: three slow followers in
    a row."""
    age = np.arange(MEMORY_FRAMES + 1) + 0.5
    weight = age * age * np.exp(-age / _SLOW_FRAMES) * (1 - age / (MEMORY_FRAMES + 1))
    return weight / weight.sum()


_WEIGHTS: Final = _weights()


def follow(heads: Sequence[tuple[float, float]]) -> F32:
    """(2,) yaw and roll of the shoulders in degrees after `heads`, yaw and roll of up to MEMORY_FRAMES + 1
    frames, the present first; before them the head is taken to have been still."""
    known = np.array(heads[: MEMORY_FRAMES + 1])
    weight = _WEIGHTS[: len(known)].copy()
    weight[-1] += 1 - weight.sum()
    turn = _SHARE * (weight @ known) / _MOST_DEG
    return (_MOST_DEG * turn / np.sqrt(1 + turn * turn)).astype(np.float32)
