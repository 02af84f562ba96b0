"""Noise that belongs to the frame: what frame f sees at step i follows from the session's seed, i and f.

So windows that overlap see the same noise where they overlap, no chunking changes it, sessions cannot disturb
each other, and going back to an earlier frame is drawing it again.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .core.mirror import sent
from .delay import LENGTH
from .hops import HopStage, Turn, Where
from .motion import WIDTH

F32 = NDArray[np.float32]

BEFORE: Final = 1 << 32
"""Blocks before that of frame 0 that have noise of their own: windows begin before the first sound."""
TOGETHER: Final = 16
"""Frames whose noise is drawn at once, each such block from a counter of its own."""
FRAME, REFERENCE_START, REFERENCE_STEPS = range(3)


class FrameNoise:
    """Noise that belongs to the frame. Of a window that follows another only the new frames are drawn."""

    def __init__(self, stage: HopStage, *, slots: int, draws: int) -> None:
        self._stage = stage
        self._rows = torch.zeros(draws, slots, stage.frames, WIDTH, device=stage.device)
        """Those of frame f at f modulo their number."""
        self._seeds = [0] * slots
        self._drawn = [range(0)] * slots
        self._blocks: list[tuple[int, F32] | None] = [None] * slots
        """The last of each slot: its next frames will be wanted too."""

    def begin(self, slot: int, seed: int) -> None:
        self._seeds[slot], self._drawn[slot], self._blocks[slot] = seed, range(0), None

    def prepare(self, turn: Turn) -> None:
        firsts = self._stage.first_frames(turn).tolist()
        slots, frames, drawn = list[int](), list[int](), list[F32]()
        for slot, first in zip(turn.slots.tolist(), firsts, strict=True):
            missing = self._missing(slot, first)
            for block, part in _parts(missing):
                drawn.append(self._block(slot, block)[:, part])
            slots += [slot] * len(missing)
            frames += missing
        if drawn:
            places = np.stack((np.array(slots), np.array(frames) % self._stage.frames))
            at = sent(places, self._stage.device)
            self._rows[:, at[0], at[1]] = sent(np.concatenate(drawn, axis=1), self._rows.device)

    def at(self, where: Where) -> Tensor:
        return self._rows[:, where.slots[:, None], where.frames]

    def _missing(self, slot: int, first: int) -> range:
        """The frames of a window of `slot` that are not there, and are from now on."""
        there, end = self._drawn[slot], first + LENGTH
        if not there.start <= first <= there.stop:
            there = range(first, first)
        missing = range(there.stop, end)
        stop = max(there.stop, end)
        self._drawn[slot] = range(max(there.start, stop - self._stage.frames), stop)
        return missing

    def _block(self, slot: int, block: int) -> F32:
        last = self._blocks[slot]
        if last is None or last[0] != block:
            last = self._blocks[slot] = block, _block(self._seeds[slot], block, len(self._rows))
        return last[1]


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
    wanted = range(first_frame, first_frame + frames)
    parts = [_block(seed, block, draws)[:, part] for block, part in _parts(wanted)]
    return torch.from_numpy(np.concatenate(parts, axis=1))


def draw_reference(seed: int, window: int, draws: int) -> Tensor:
    """(draws, 80, 265) as the reference has it: a fresh start for each window, the same z for all of them."""
    start = _normal(seed, REFERENCE_START, window, LENGTH)
    steps = _normal(seed, REFERENCE_STEPS, 0, (draws - 1) * LENGTH).reshape(-1, LENGTH, WIDTH)
    return torch.from_numpy(np.concatenate((start[None], steps)))


def _parts(frames: range) -> Iterator[tuple[int, slice]]:
    """The blocks that hold `frames`, and which of each are among them."""
    first = frames.start
    while first < frames.stop:
        block, offset = divmod(first, TOGETHER)
        count = min(TOGETHER - offset, frames.stop - first)
        yield block, slice(offset, offset + count)
        first += count


def _block(seed: int, block: int, draws: int) -> F32:
    """(draws, TOGETHER, 265), of frames from `block` TOGETHER on."""
    return _normal(seed, FRAME, block, draws * TOGETHER).reshape(draws, TOGETHER, WIDTH)


def _normal(seed: int, kind: int, index: int, rows: int) -> F32:
    """(rows, 265). Fewer rows are the beginning of more."""
    counter = np.array([0, 0, index + BEFORE, kind], dtype=np.uint64)
    bits = np.random.Philox(key=np.array([seed & 0xFFFFFFFFFFFFFFFF, 0], dtype=np.uint64), counter=counter)
    return np.random.Generator(bits).standard_normal((rows, WIDTH), dtype=np.float32)
