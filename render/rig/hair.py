"""Hair ends that trail the head: a slightly under-damped swing after the head's last second of turns."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.clock import FRAME_RATE

F32 = NDArray[np.float32]

MEMORY_FRAMES: Final = 24
_SWING_HZ, _DAMPING = 2.1, 0.55


def _response() -> list[float]:
    """What is left, MEMORY_FRAMES long, of one degree of lag k frames after the head turned by it."""
    seconds = np.arange(MEMORY_FRAMES) / float(FRAME_RATE.per_second)
    speed = 2 * np.pi * _SWING_HZ
    decay, swing = _DAMPING * speed, speed * np.sqrt(1 - _DAMPING**2)
    wave = np.cos(swing * seconds) + decay / swing * np.sin(swing * seconds)
    return (np.exp(-decay * seconds) * wave * np.linspace(1, 0, MEMORY_FRAMES) ** 0.25).tolist()


_RESPONSE: Final = _response()


def trail(heads: Sequence[tuple[float, float]]) -> F32:
    """(2,) yaw and roll in degrees by which the ends have turned less than the head.

    `heads` are yaw and roll of up to MEMORY_FRAMES + 1 frames, the present first; before them the head is
    taken to have been still.
    """
    yaw = roll = 0.0
    for left, (now, before) in zip(_RESPONSE, pairwise(heads), strict=False):
        yaw += left * (now[0] - before[0])
        roll += left * (now[1] - before[1])
    return np.array((yaw, roll), np.float32)
