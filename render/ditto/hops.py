"""From condition rows to rows of motion, a hop at a time: what every driver of the motion model shares.

Slots that are due are gathered, moved as one batch, and put back. What a slot was some windows ago is kept,
so that it can go back there and on from it as if nothing had come after.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .core.mirror import sent
from .delay import LENGTH, WindowShape
from .seams import Hold
from .windows import WindowOptions, Windows, WindowState

I64 = NDArray[np.int64]
Sample = Callable[[Tensor, Tensor, Hold], Tensor]
"""Windows of motion (k, 80, 265) that follow `lead` (k, 265) and hear condition rows (k, 80, D), whose
estimates are held."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The next window of some slots, in the host's memory.

    `slots` (k,); `windows` (k,), how many each has had; `origins` (k,), the frame that its first window's
    first new row is of.
    """

    slots: I64
    windows: I64
    origins: I64

    @classmethod
    def of(cls, turns: Sequence[tuple[int, int, int]]) -> Self:
        """Of a slot, its windows and its origin each."""
        return cls(*np.ascontiguousarray(np.array(turns, np.int64).reshape(-1, 3).T))

    @classmethod
    def alone(cls, windows: int, slots: int = 1) -> Self:
        """All of `slots`, which are in step, and whose first new row is of frame 0."""
        return cls.of([(slot, windows, 0) for slot in range(slots)])

    @property
    def next(self) -> Self:
        """The windows after."""
        return type(self)(self.slots, self.windows + 1, self.origins)

    def at(self, which: Sequence[int]) -> Self:
        """Those at the places `which`."""
        return type(self)(self.slots[which], self.windows[which], self.origins[which])


@dataclass(frozen=True, slots=True)
class Where:
    """Where the next window of k slots is read and written, int64.

    `slots` (k,); `first` (k,), the frames that the windows begin with. Of condition rows: `frames` (k, 80),
    those that it hears, of which `new` (k, hop) are new; `leaving` (k, hop), those of the rows of motion that
    are finished with it; all modulo what is kept. Of what a slot carries: `now` (k,), and `after` (k,) the
    window.
    """

    slots: Tensor
    first: Tensor
    frames: Tensor
    new: Tensor
    leaving: Tensor
    now: Tensor
    after: Tensor

    def on(self, device: torch.device) -> Self:
        """The same there."""
        return type(self)(*(sent(getattr(self, one.name), device) for one in fields(self)))

    def at(self, count: int) -> Self:
        """Of the first slots."""
        return type(self)(*(getattr(self, one.name)[:count] for one in fields(self)))


@dataclass(frozen=True, slots=True)
class HopState:
    """What B slots carry from hop to hop, written in place.

    `heard` (B, R, D) float32 holds the condition row of frame f at f modulo R. `windows` holds what slot b
    was before its window w at (w modulo depth) B + b.
    """

    heard: Tensor
    windows: WindowState


@dataclass(frozen=True, slots=True)
class Made:
    """What a hop made of a slot that was as it had been: enough to have it again.

    `heard` (hop, D), its condition rows; `rows` (n, 265), the rows of motion that it changed or added;
    `lead` (265,), the row that the next window follows.
    """

    heard: Tensor
    rows: Tensor
    lead: Tensor

    @property
    def nbytes(self) -> int:
        """Of memory that this takes."""
        return sum(part.nbytes for part in (self.heard, self.rows, self.lead))


class HopStage:
    """The stage. All slots share a `shape`; condition rows have `width` columns."""

    def __init__(
        self,
        shape: WindowShape,
        width: int,
        *,
        history: int = 0,
        leads_on: bool = False,
        device: torch.device | str = "cpu",
    ) -> None:
        """The last `history` windows of a slot can be taken back. `leads_on` as for `Windows`."""
        self.shape = shape
        self.device = torch.device(device)
        self.windows = Windows(shape, device, leads_on=leads_on)
        self.frames = LENGTH + history * shape.hop
        """That the condition rows are kept of."""
        self._width = width
        self._depth = history + 1

    def init(self, slots: int) -> HopState:
        """Fresh slots; each must `begin` before its first window."""
        return HopState(
            torch.zeros(slots, self.frames, self._width, device=self.device),
            self.windows.init(slots * self._depth),
        )

    def begin(self, state: HopState, turn: Turn, options: WindowOptions, before: Tensor) -> None:
        """Begin runs of `turn`, which have had no window, after condition rows `before` (k, overlap, D).

        `options` are those of all slots, here and below.
        """
        own, every = options.at(self._on_device(turn.slots)), len(turn.slots)
        fresh = self.windows.init(every)
        self.windows.reset(fresh, own, torch.ones(every, dtype=torch.bool, device=self.device))
        state.windows.put(self._places(state, turn, 0), fresh)
        frames = turn.origins[:, None] + np.arange(-self.shape.overlap, 0)
        self._put_heard(state, turn, frames, before)

    def step(
        self, state: HopState, turn: Turn, rows: Tensor, options: WindowOptions, *, sample: Sample
    ) -> WindowState:
        """Move the slots of `turn` on by a window that hears `rows` (k, hop, D) more. What they are after
        it."""
        where = self.where(turn, len(state.heard)).on(self.device)
        return self.move(state, where, rows, options, sample=sample)

    def move(
        self, state: HopState, where: Where, rows: Tensor, options: WindowOptions, *, sample: Sample
    ) -> WindowState:
        """As `step`, and nothing of it on the host."""
        slots = where.slots[:, None]
        state.heard[slots, where.new] = rows
        now = state.windows.taken(where.now)
        window = sample(now.lead, state.heard[slots, where.frames], self.windows.hold(now))
        active = torch.ones_like(where.slots, dtype=torch.bool)
        self.windows.step(now, window, options.at(where.slots), active)
        state.windows.put(where.after, now)
        return now

    def where(self, turn: Turn, slots: int) -> Where:
        """Of the windows of `turn`, in the host's memory, where there are so many `slots` in all."""
        first = self.first_frames(turn)
        parts = (
            turn.slots,
            first,
            (first[:, None] + np.arange(LENGTH)) % self.frames,
            self.new_frames(turn) % self.frames,
            self.leaving(turn) % self.frames,
            self._place(turn, 0, slots),
            self._place(turn, 1, slots),
        )
        return Where(*(torch.from_numpy(part) for part in parts))

    def first_frames(self, turn: Turn) -> I64:
        """(k,) the frames that the windows begin with."""
        return turn.origins + turn.windows * self.shape.hop - self.shape.overlap

    def new_frames(self, turn: Turn) -> I64:
        """(k, hop) the frames of the last rows of the windows."""
        return (self.first_frames(turn) + self.shape.overlap)[:, None] + np.arange(self.shape.hop)

    def leaving(self, turn: Turn) -> I64:
        """(k, hop) the frames that are `finished` with the windows; those before the origin are from before
        the first sound."""
        return self.new_frames(turn) - self.shape.fuse

    def latest(self, state: HopState, turn: Turn) -> WindowState:
        """A copy of what the slots of `turn` are before its windows."""
        return state.windows.taken(self._places(state, turn, 0))

    def made(self, state: HopState, turn: Turn, after: WindowState) -> list[Made]:
        """What the step of `turn`, which gave `after`, has made of each of its slots."""
        slots = self._on_device(turn.slots)
        heard = state.heard[slots[:, None], self._on_device(self.new_frames(turn) % self.frames)]
        changed = [
            after.rows[row, -self._changed(windows) :].clone()
            for row, windows in enumerate(turn.windows.tolist())
        ]
        parts = _copies(heard), changed, _copies(after.lead)
        return [Made(*one) for one in zip(*parts, strict=True)]

    def repeat(self, state: HopState, turn: Turn, made: Sequence[Made]) -> WindowState:
        """Move the slots of `turn`, all of which have had a window or none of which has, on by what was
        `made` of each. What they are after it."""
        self._put_heard(state, turn, self.new_frames(turn), torch.stack([one.heard for one in made]))
        before = state.windows.taken(self._places(state, turn, 0))
        changed = torch.stack([one.rows for one in made])
        end = self.shape.kept + self.shape.hop - changed.shape[1]
        rows = torch.cat((before.rows[:, self.shape.hop : end], changed), dim=1)
        first = before.first if turn.windows[0] else rows[:, self.shape.reach]
        lead = torch.stack([one.lead for one in made])
        after = WindowState(rows, lead, first, before.windows + 1)
        state.windows.put(self._places(state, turn, 1), after)
        return after

    def _changed(self, windows: int) -> int:
        """Rows that the window after so many is not handed down."""
        return self.shape.hop + self.shape.fuse if windows else self.shape.kept

    def _put_heard(self, state: HopState, turn: Turn, frames: I64, rows: Tensor) -> None:
        slots = self._on_device(turn.slots)[:, None]
        state.heard[slots, self._on_device(frames % self.frames)] = rows

    def _places(self, state: HopState, turn: Turn, further: int) -> Tensor:
        """Where what the slots are after `further` windows of `turn` is kept."""
        return self._on_device(self._place(turn, further, len(state.heard)))

    def _place(self, turn: Turn, further: int, slots: int) -> I64:
        return (turn.windows + further) % self._depth * slots + turn.slots

    def _on_device(self, index: I64) -> Tensor:
        return sent(index, self.device)


def _copies(rows: Tensor) -> tuple[Tensor, ...]:
    """One of each row."""
    return cast("tuple[Tensor, ...]", torch.unbind_copy(rows))
