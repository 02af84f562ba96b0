"""Noise that belongs to the frame: what frame f sees at step i follows from the session's seed, i and f.

So windows that overlap see the same noise where they overlap, no chunking changes it, sessions cannot disturb
each other, and going back to an earlier frame is drawing it again. It comes from counters, and nothing of it
is kept.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .core import noise_twins
from .core.mirror import sent
from .delay import LENGTH
from .hops import HopStage, Turn, Where
from .motion import WIDTH

F32 = NDArray[np.float32]

REFERENCE_START, REFERENCE_STEPS = range(2)


class FrameNoise:
    """Noise that belongs to the frame, drawn where it is read."""

    def __init__(self, stage: HopStage, *, slots: int, draws: int) -> None:
        self._seeds = torch.zeros(slots, dtype=torch.int64, device=stage.device)
        self._normal = _normal_for(stage.device)
        self._draws = draws

    def begin(self, slot: int, seed: int) -> None:
        self._seeds[slot].fill_(_signed(seed))

    def prepare(self, turn: Turn) -> None:
        pass

    def at(self, where: Where) -> Tensor:
        seeds = self._seeds[where.slots]
        return self._normal(seeds, where.first, draws=self._draws, frames=LENGTH, width=WIDTH)


class ReferenceNoise:
    """Noise as the reference has it."""

    def __init__(self, stage: HopStage, *, slots: int, draws: int) -> None:
        self._rows = torch.zeros(draws, slots, LENGTH, WIDTH, device=stage.device)
        """Of each slot's window in `_windows`."""
        self._seeds = [0] * slots
        self._windows: list[int | None] = [None] * slots

    def begin(self, slot: int, seed: int) -> None:
        self._seeds[slot], self._windows[slot] = seed, None

    def prepare(self, turn: Turn) -> None:
        for slot, window in zip(turn.slots.tolist(), turn.windows.tolist(), strict=True):
            if window != self._windows[slot]:
                self._windows[slot] = window
                drawn = draw_reference(self._seeds[slot], window, len(self._rows))
                self._rows[:, slot] = sent(drawn, self._rows.device)

    def at(self, where: Where) -> Tensor:
        return self._rows[:, where.slots]


NOISES: Final = {"frame": FrameNoise, "upstream": ReferenceNoise}


def draw(seed: int, first_frame: int, frames: int, draws: int) -> Tensor:
    """(draws, frames, 265) float32 normal noise of frames from `first_frame` on.

    Row 0 is the start; row i + 1 is z_i, the noise that step i adds: as many rows as there are steps.
    """
    seeds, firsts = torch.tensor([_signed(seed)]), torch.tensor([first_frame])
    return noise_twins.normal(seeds, firsts, draws=draws, frames=frames, width=WIDTH)[:, 0]


def draw_reference(seed: int, window: int, draws: int) -> Tensor:
    """(draws, 80, 265) as the reference has it: a fresh start for each window, the same z for all of them."""
    start = _normal(seed, REFERENCE_START, window, LENGTH)
    steps = _normal(seed, REFERENCE_STEPS, 0, (draws - 1) * LENGTH).reshape(-1, LENGTH, WIDTH)
    return torch.from_numpy(np.concatenate((start[None], steps)))


def _normal_for(device: torch.device) -> Callable[..., Tensor]:
    """What draws there."""
    if device.type != "cuda":
        return noise_twins.normal
    # Triton is not there where no GPU is.
    from .core import noise_kernels

    return noise_kernels.normal


def _signed(seed: int) -> int:
    """The 64 bits of `seed` as torch holds them."""
    return int(np.uint64(seed & 0xFFFFFFFFFFFFFFFF).astype(np.int64))


def _normal(seed: int, kind: int, index: int, rows: int) -> F32:
    """(rows, 265). Fewer rows are the beginning of more."""
    counter = np.array([0, 0, index, kind], dtype=np.uint64)
    bits = np.random.Philox(key=np.array([seed & 0xFFFFFFFFFFFFFFFF, 0], dtype=np.uint64), counter=counter)
    return np.random.Generator(bits).standard_normal((rows, WIDTH), dtype=np.float32)
