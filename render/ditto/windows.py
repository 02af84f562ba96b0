"""Windows of motion that overlap become one endless row after row: fused, smoothed, and led on.

A window of 80 rows begins `hop` rows after the one before. Its last `hop` rows are new, and the `fuse` rows
before them change with it. What will not change any more leaves, `hop` rows a window.
"""

from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from .delay import LENGTH, WindowShape
from .motion import RIGID, WIDTH
from .seams import Blend, Hold, LedOn, Seam


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """What can differ between slots.

    `anchor` (B, 265), the source's motion, leads the first window. After each `fix_every`-th window, (B,)
    int64 and 0 for never, the lead is the anchor again, save in columns `follow` (B, 265) bool. `low` and
    `high` (B, 265) bound rows as they are unpacked, and only then.
    """

    anchor: Tensor
    fix_every: Tensor
    follow: Tensor
    low: Tensor
    high: Tensor

    @classmethod
    def plain(cls, anchor: Tensor) -> Self:
        """Never back to the anchor, and no bounds."""
        never = torch.zeros(anchor.shape[0], dtype=torch.int64, device=anchor.device)
        return cls(
            anchor,
            never,
            torch.zeros_like(anchor, dtype=torch.bool),
            torch.full_like(anchor, -torch.inf),
            torch.full_like(anchor, torch.inf),
        )

    def at(self, slots: Tensor) -> Self:
        """Those of `slots` (k,) int64."""
        return type(self)(*(getattr(self, field.name)[slots] for field in fields(self)))

    def bounded(self, rows: Tensor) -> Tensor:
        """`rows` (B, T, 265) as they are unpacked."""
        return rows.clamp(self.low[:, None], self.high[:, None])


@dataclass(frozen=True, slots=True)
class WindowState:
    """What is left of the windows so far.

    `rows` (B, kept, 265) float32, the last ones, the newest at the end; `lead` (B, 265), the row that the
    next window follows; `first` (B, 265), the first row of the first window; `windows` (B,) int64.
    """

    rows: Tensor
    lead: Tensor
    first: Tensor
    windows: Tensor

    def taken(self, places: Tensor) -> Self:
        """A copy of what is at `places` (k,) int64."""
        return type(self)(*(getattr(self, field.name)[places] for field in fields(self)))

    def put(self, places: Tensor, other: Self) -> None:
        """Have `other`, of k slots, at `places` (k,) int64."""
        for field in fields(self):
            getattr(self, field.name)[places] = getattr(other, field.name)


class Windows:
    """The stage. All slots of a call share a `shape`."""

    def __init__(
        self, shape: WindowShape, device: torch.device | str = "cpu", *, leads_on: bool = False
    ) -> None:
        """Windows are blended as in the reference, or, where two rows of one have left before it, led on."""
        self.shape = shape
        place = torch.arange(shape.kept, device=device)
        self._place = place
        seam = shape.kept - shape.hop - shape.fuse
        joint = LedOn if leads_on and shape.overlap - shape.fuse >= 2 else Blend
        self._seam: Seam = joint(shape.hop, shape.fuse, device)
        self._again = (place >= seam) & (place <= seam + shape.fuse)
        """Rows smoothed after each window: the seam and, as the reference has it, the first new row."""

    def init(self, slots: int) -> WindowState:
        """Fresh slots; `reset` them before their first window."""
        device = self._place.device
        return WindowState(
            torch.zeros(slots, self.shape.kept, WIDTH, device=device),
            torch.zeros(slots, WIDTH, device=device),
            torch.zeros(slots, WIDTH, device=device),
            torch.zeros(slots, dtype=torch.int64, device=device),
        )

    def reset(self, state: WindowState, options: WindowOptions, slots: Tensor) -> None:
        """Begin again where `slots` (B,) bool says."""
        state.rows.masked_fill_(slots[:, None, None], 0)
        state.lead.copy_(torch.where(slots[:, None], options.anchor, state.lead))
        state.windows.masked_fill_(slots, 0)

    def step(self, state: WindowState, window: Tensor, options: WindowOptions, active: Tensor) -> None:
        """Take in the `window` (B, 80, 265) float32 of each slot `active` (B,) bool; others stay as they are.

        `finished` then gives what leaves, and `state.lead` leads the next window.
        """
        shape = self.shape
        is_first = state.windows == 0
        before, old = self._moved(state).split([shape.reach, LENGTH], dim=1)
        joined = torch.where(is_first[:, None, None], window, self._seam.join(old, window))
        rows = torch.cat((before, joined), dim=1)

        total = LENGTH + shape.hop * state.windows
        there = self._place >= shape.kept - total[:, None]
        again = torch.where(is_first[:, None], there, self._again)
        smooth = torch.cat((_smoothed(rows[..., RIGID], shape.reach, there), rows[..., RIGID.stop :]), dim=-1)
        rows = torch.where(again[..., None], smooth, rows)

        state.rows.copy_(torch.where(active[:, None, None], rows, state.rows))
        self._lead(state, options, active, is_first)

    def hold(self, state: WindowState) -> Hold:
        """What the sampler of the next windows does to its estimates."""
        return self._seam.hold(self._moved(state)[:, self.shape.reach :], state.windows > 0)

    def finished(self, state: WindowState) -> Tensor:
        """(B, hop, 265): the rows that no later window changes, and that did not leave before.

        After window w (from 0) the first is frame w hop - fuse; frame 0 is the first of the first window's
        last `hop` rows. Frames below 0 belong to what was before the first sound.
        """
        end = self.shape.kept - self.shape.fuse
        return state.rows[:, end - self.shape.hop : end]

    def _moved(self, state: WindowState) -> Tensor:
        """The rows (B, kept, 265), a hop later."""
        return functional.pad(state.rows[:, self.shape.hop :], (0, 0, 0, self.shape.hop))

    def _lead(self, state: WindowState, options: WindowOptions, active: Tensor, is_first: Tensor) -> None:
        opening = (active & is_first)[:, None]
        state.first.copy_(torch.where(opening, state.rows[:, self.shape.reach], state.first))
        state.windows.add_(active)
        back = (options.fix_every > 0) & (state.windows % options.fix_every.clamp(min=1) == 0)
        row = state.rows[:, self.shape.kept - self.shape.overlap - 1]
        led = torch.where(back[:, None] & ~options.follow, options.anchor, row)
        state.lead.copy_(torch.where(active[:, None], led, state.lead))


def _smoothed(rows: Tensor, reach: int, there: Tensor) -> Tensor:
    """Means of `rows` (B, T, D) over `reach` rows to each side, of those that are `there` (B, T) bool."""
    length = rows.shape[1]
    present = torch.where(there[..., None], rows, 0)
    wide = functional.pad(present, (0, 0, reach, reach))
    wide_counted = functional.pad(there[..., None].to(rows.dtype), (0, 0, reach, reach))
    sums, counts = wide[:, :length], wide_counted[:, :length]
    for shift in range(1, 2 * reach + 1):
        sums = sums + wide[:, shift : shift + length]
        counts = counts + wide_counted[:, shift : shift + length]
    return sums / counts.clamp(min=1)
