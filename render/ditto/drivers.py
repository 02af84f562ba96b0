"""From feature rows to rows of motion: one frame out for each in, and how the reference goes about it.

A driver sees one clip. Motion rows leave bounded, as they are unpacked.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from .motion import RIGID, WIDTH
from .smoothing import moving_mean
from .windows import LENGTH, WindowOptions, Windows, WindowShape, WindowState, slide

Sample = Callable[[Tensor, Tensor], Tensor]
"""Windows of motion (B, 80, 265) that follow `lead` (B, 265) and hear condition rows (B, 80, D)."""
Conditions = Callable[[Tensor, int], Tensor]
"""Condition rows (B, T, D) of features (B, T, 1024), the first of which is this frame."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """Which window needs what, and which frames leave with it: as many frames as feature rows, none lost."""

    shape: WindowShape

    def ready(self, rows: int) -> int:
        """Windows that can run once `rows` feature rows are there."""
        return rows // self.shape.hop

    def total(self, rows: int) -> int:
        """Windows that it takes until the frames of `rows` feature rows have left; past the end, the last
        row is repeated."""
        return -(-(rows + self.shape.fuse) // self.shape.hop) if rows else 0

    def heard(self, window: int) -> range:
        """The frames of `window`: its feature rows, and its noise."""
        return range(window * self.shape.hop - self.shape.overlap, (window + 1) * self.shape.hop)

    def leaving(self, window: int) -> range:
        """The frames in what is `finished` after `window`; those below 0 are from before the first sound."""
        first = window * self.shape.hop - self.shape.fuse
        return range(first, first + self.shape.hop)


class LiveDriver:
    """Feature rows of one clip in blocks of any size; frame n is the motion of row n."""

    def __init__(
        self,
        shape: WindowShape,
        sample: Sample,
        conditions: Conditions,
        options: WindowOptions,
        *,
        before: Tensor,
    ) -> None:
        """`before` (1, overlap, D): the features of silence before the first row."""
        self._cadence, self._sample, self._conditions, self._options = (
            Cadence(shape),
            sample,
            conditions,
            options,
        )
        self._windows, self._state = _begin(shape, options)
        self._active = torch.ones(1, dtype=torch.bool, device=before.device)
        heard = conditions(before, -shape.overlap)
        self._heard = functional.pad(heard, (0, 0, shape.hop, 0))
        self._waiting = before[:, :0]
        self._last = before[:, -1:]
        self._ran = self._rows = 0

    def put(self, features: Tensor) -> Tensor:
        """The motion (1, n, 265) that `features` (1, m, D), m from 0 on, are enough for."""
        self._rows += features.shape[1]
        self._waiting = torch.cat((self._waiting, features), dim=1)
        self._last = self._waiting[:, -1:] if features.shape[1] else self._last
        return self._run(self._cadence.ready(self._rows))

    def close(self) -> Tensor:
        """The rest of the motion (1, n, 265)."""
        total, end = self._cadence.total(self._rows), self._rows
        missing = total * self._cadence.shape.hop - end
        if missing > 0:
            self._waiting = torch.cat((self._waiting, self._last.expand(-1, missing, -1)), dim=1)
        return self._run(total)

    def _run(self, until: int) -> Tensor:
        shape, out = self._cadence.shape, [self._state.rows[:, :0]]
        while self._ran < until:
            fresh, self._waiting = self._waiting[:, : shape.hop], self._waiting[:, shape.hop :]
            slide(self._heard, self._conditions(fresh, self._ran * shape.hop), self._active)
            window = self._sample(self._state.lead, self._heard)
            self._windows.step(self._state, window, self._options, self._active)
            frames = self._cadence.leaving(self._ran)
            first, last = max(0, -frames.start), min(len(frames), self._rows - frames.start)
            finished = self._windows.finished(self._state)[:, first : max(first, last)]
            out.append(self._options.bounded(finished))
            self._ran += 1
        return torch.cat(out, dim=1)


class ReferenceDriver:
    """As the reference's online worker: nothing comes out for less than a hop, surplus frames at the end, and
    the first are lost where windows overlap by less than a hop."""

    def __init__(
        self,
        shape: WindowShape,
        sample: Sample,
        conditions: Conditions,
        options: WindowOptions,
        *,
        before: Tensor,
    ) -> None:
        """`before` (1, overlap, D): the features of silence before the first row."""
        self._shape, self._sample, self._conditions, self._options = shape, sample, conditions, options
        self._windows, self.state = _begin(shape, options)
        self._active = torch.ones(1, dtype=torch.bool, device=before.device)
        self._heard = before
        self._waiting = before[:, :0]
        self._frame = -shape.overlap

    def put(self, features: Tensor) -> Tensor:
        """The motion (1, n, 265) that leaves after a block of `features` (1, m, D)."""
        self._waiting = torch.cat((self._waiting, features), dim=1)
        if self._waiting.shape[1] < self._shape.hop:
            return self.state.rows[:, :0]
        return self._run()

    def close(self) -> Tensor:
        """The motion (1, n, 265) that leaves at the end."""
        out = self._run()
        left = self._heard.shape[1]
        if not left:
            return out
        filled = torch.cat((self._heard, self._heard[:, -1:].expand(-1, LENGTH - left, -1)), dim=1)
        return torch.cat((out, self._window(filled, left)), dim=1)

    def _run(self) -> Tensor:
        self._heard = torch.cat((self._heard, self._waiting), dim=1)
        self._waiting = self._waiting[:, :0]
        out = [self.state.rows[:, :0]]
        while self._heard.shape[1] >= LENGTH:
            out.append(self._window(self._heard[:, :LENGTH], self._shape.hop))
            self._heard = self._heard[:, self._shape.hop :]
            self._frame += self._shape.hop
        return torch.cat(out, dim=1)

    def _window(self, heard: Tensor, count: int) -> Tensor:
        """Of a window on features `heard` (1, 80, D), up to `count` rows that did not leave yet."""
        is_first = not int(self.state.windows[0])
        window = self._sample(self.state.lead, self._conditions(heard, self._frame))
        self._windows.step(self.state, window, self._options, self._active)
        if is_first:
            return self.state.rows[:, :0]
        begin = self._shape.kept - self._shape.fuse - self._shape.hop
        return self._options.bounded(self.state.rows[:, begin : begin + count])


def joined(
    shape: WindowShape,
    sample: Sample,
    conditions: Tensor,
    options: WindowOptions,
    *,
    count: int,
) -> tuple[Tensor, Tensor]:
    """Motion rows (B, L, 265), not bounded, of `count` windows on condition rows (B, T, D), the last of which
    is repeated; and the row (B, 265) that a further window would follow."""
    missing = max(0, LENGTH + (count - 1) * shape.hop - conditions.shape[1])
    heard = torch.cat((conditions, conditions[:, -1:].expand(-1, missing, -1)), dim=1)
    windows, state = _begin(shape, options)
    active = torch.ones(heard.shape[0], dtype=torch.bool, device=heard.device)
    settled = shape.kept - shape.fuse
    out: list[Tensor] = []
    for index in range(count):
        begin = index * shape.hop
        windows.step(state, sample(state.lead, heard[:, begin : begin + LENGTH]), options, active)
        out.append((windows.finished(state) if index else state.rows[:, shape.reach : settled]).clone())
    return torch.cat((*out, state.rows[:, settled:]), dim=1), state.lead


def reference_clip(
    shape: WindowShape,
    sample: Sample,
    conditions: Tensor,
    options: WindowOptions,
) -> Tensor:
    """Motion rows (B, T, 265), bounded, for condition rows (B, T, D): the reference's offline run."""
    length = conditions.shape[1]
    rows, _ = joined(shape, sample, conditions, options, count=-(-length // shape.hop))
    return options.bounded(smoothed(rows[:, :length], shape.smooth))


def smoothed(rows: Tensor, frames: int) -> Tensor:
    """`rows` (B, T, 265) with all but the expression as means over `frames` rows."""
    rigid, expression = rows.split([RIGID.stop, WIDTH - RIGID.stop], dim=-1)
    return torch.cat((moving_mean(rigid, frames), expression), dim=-1)


def _begin(shape: WindowShape, options: WindowOptions) -> tuple[Windows, WindowState]:
    slots = len(options.anchor)
    windows = Windows(shape, options.anchor.device)
    state = windows.init(slots)
    windows.reset(state, options, torch.ones(slots, dtype=torch.bool, device=options.anchor.device))
    return windows, state
