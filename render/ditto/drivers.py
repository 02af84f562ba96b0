"""From feature rows to rows of motion: one frame out for each in, and how the reference goes about it.

A driver sees one clip. Motion rows leave bounded, as they are unpacked.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from .delay import LENGTH, WindowShape
from .hops import HopStage, HopState, Sample, Turn
from .motion import RIGID, WIDTH
from .smoothing import moving_mean
from .windows import WindowOptions, WindowState

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


class _Run:
    """Slots in step that go from window to window, the first of which begins with condition rows `before`
    (B, overlap, D)."""

    def __init__(
        self,
        shape: WindowShape,
        sample: Sample,
        options: WindowOptions,
        before: Tensor,
        *,
        leads_on: bool = False,
    ) -> None:
        self.shape, self.windows = shape, 0
        self._sample, self._options = sample, options
        self._stage = HopStage(shape, before.shape[2], leads_on=leads_on, device=before.device)
        self._state: HopState = self._stage.init(len(before))
        self._stage.begin(self._state, self._turn, options, before)

    def step(self, rows: Tensor) -> WindowState:
        """What there is after a window that hears condition rows (B, hop, D) more."""
        after = self._stage.step(self._state, self._turn, rows, self._options, sample=self._sample)
        self.windows += 1
        return after

    def latest(self) -> WindowState:
        """What there is."""
        return self._stage.latest(self._state, self._turn)

    def finished(self, after: WindowState) -> Tensor:
        """The rows (B, hop, 265) that left with the window after which things are so, not bounded."""
        return self._stage.windows.finished(after)

    @property
    def _turn(self) -> Turn:
        return Turn.alone(self.windows, len(self._options.anchor))


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
        leads_on: bool = False,
    ) -> None:
        """`before` (1, overlap, D): the features of silence before the first row; `leads_on` as for
        `Windows`."""
        self._cadence, self._conditions, self._options = Cadence(shape), conditions, options
        self._run = _Run(shape, sample, options, conditions(before, -shape.overlap), leads_on=leads_on)
        self._waiting = before[:, :0]
        self._last = before[:, -1:]
        self._rows = 0

    def put(self, features: Tensor) -> Tensor:
        """The motion (1, n, 265) that `features` (1, m, D), m from 0 on, are enough for."""
        self._rows += features.shape[1]
        self._waiting = torch.cat((self._waiting, features), dim=1)
        self._last = self._waiting[:, -1:] if features.shape[1] else self._last
        return self._until(self._cadence.ready(self._rows))

    def close(self) -> Tensor:
        """The rest of the motion (1, n, 265)."""
        total, end = self._cadence.total(self._rows), self._rows
        missing = total * self._cadence.shape.hop - end
        if missing > 0:
            self._waiting = torch.cat((self._waiting, self._last.expand(-1, missing, -1)), dim=1)
        return self._until(total)

    def _until(self, total: int) -> Tensor:
        hop, out = self._cadence.shape.hop, [self._options.anchor[:, None][:, :0]]
        while (window := self._run.windows) < total:
            fresh, self._waiting = self._waiting[:, :hop], self._waiting[:, hop:]
            finished = self._run.finished(self._run.step(self._conditions(fresh, window * hop)))
            frames = self._cadence.leaving(window)
            first, last = max(0, -frames.start), min(len(frames), self._rows - frames.start)
            out.append(self._options.bounded(finished[:, first : max(first, last)]))
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
        self._shape, self._conditions, self._options = shape, conditions, options
        self._run = _Run(shape, sample, options, conditions(before, -shape.overlap))
        self._nothing = options.anchor[:, None][:, :0]
        self._last = before[:, -1:]
        self._side = self._waiting = before[:, :0]

    def put(self, features: Tensor) -> Tensor:
        """The motion (1, n, 265) that leaves after a block of `features` (1, m, D)."""
        self._side = torch.cat((self._side, features), dim=1)
        return self._nothing if self._side.shape[1] < self._shape.hop else self._due()

    def close(self) -> Tensor:
        """The motion (1, n, 265) that leaves at the end."""
        out, hop = self._due(), self._shape.hop
        left = self._waiting.shape[1]
        if not self._shape.overlap + left:
            return out
        filled = torch.cat((self._waiting, self._last.expand(-1, hop - left, -1)), dim=1)
        return torch.cat((out, self._window(filled, self._shape.overlap + left)), dim=1)

    @property
    def first(self) -> Tensor:
        """The first row (1, 265) of the first window, bounded."""
        return self._options.bounded(self._run.latest().first[:, None])[:, 0]

    def _due(self) -> Tensor:
        self._waiting = torch.cat((self._waiting, self._side), dim=1)
        if self._side.shape[1]:
            self._last = self._side[:, -1:]
        self._side = self._side[:, :0]
        hop, out = self._shape.hop, [self._nothing]
        while self._waiting.shape[1] >= hop:
            out.append(self._window(self._waiting[:, :hop], hop))
            self._waiting = self._waiting[:, hop:]
        return torch.cat(out, dim=1)

    def _window(self, features: Tensor, count: int) -> Tensor:
        """Of a window that hears `features` (1, hop, D) more, up to `count` rows that did not leave yet."""
        window = self._run.windows
        after = self._run.step(self._conditions(features, window * self._shape.hop))
        if not window:
            return self._nothing
        begin = self._shape.kept - self._shape.fuse - self._shape.hop
        return self._options.bounded(after.rows[:, begin : begin + count])


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
    run = _Run(shape, sample, options, heard[:, : shape.overlap])
    after = run.latest()
    settled = shape.kept - shape.fuse
    out: list[Tensor] = []
    for begin in range(shape.overlap, shape.overlap + count * shape.hop, shape.hop):
        after = run.step(heard[:, begin : begin + shape.hop])
        out.append(run.finished(after) if out else after.rows[:, shape.reach : settled])
    return torch.cat((*out, after.rows[:, settled:]), dim=1), after.lead


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
