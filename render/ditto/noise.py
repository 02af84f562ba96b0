"""Noise that belongs to the frame: what frame f sees at step i follows from the session's seed, i and f.

So windows that overlap see the same noise where they overlap, no chunking changes it, sessions cannot disturb
each other, and going back to an earlier frame is drawing it again.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor

from .motion import WIDTH
from .windows import LENGTH

FRAMES_BEFORE: Final = 1 << 32
"""Frames before frame 0 that have noise of their own: windows begin before the first sound."""
FRAME, REFERENCE_START, REFERENCE_STEPS = range(3)


def draw(seed: int, first_frame: int, frames: int, draws: int) -> Tensor:
    """(draws, frames, 265) float32 normal noise of frames from `first_frame` on.

    Row 0 is the start; row i + 1 is z_i, the noise that step i adds: as many rows as there are steps.
    """
    return torch.from_numpy(
        np.stack([_normal(seed, FRAME, first_frame + index, draws) for index in range(frames)], axis=1)
    )


def draw_reference(seed: int, window: int, draws: int) -> Tensor:
    """(draws, 80, 265) as the reference has it: a fresh start for each window, the same z for all of them."""
    start = _normal(seed, REFERENCE_START, window, LENGTH)
    steps = _normal(seed, REFERENCE_STEPS, 0, (draws - 1) * LENGTH).reshape(-1, LENGTH, WIDTH)
    return torch.from_numpy(np.concatenate((start[None], steps)))


def _normal(seed: int, kind: int, index: int, rows: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """(rows, 265). Fewer rows are the beginning of more."""
    counter = np.array([0, 0, index + FRAMES_BEFORE, kind], dtype=np.uint64)
    bits = np.random.Philox(key=np.array([seed & 0xFFFFFFFFFFFFFFFF, 0], dtype=np.uint64), counter=counter)
    return np.random.Generator(bits).standard_normal((rows, WIDTH), dtype=np.float32)
