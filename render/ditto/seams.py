"""Where a window meets the ones before it: blended, as the reference has it, or led on from what has left.

A window drawn anew need not fit the rows that have left, and a blend over a few rows is a step. So `LedOn`
shows the sampler what has left: each clean estimate but the last is made to agree with it, and so is, in
place and in speed, the window itself. What agreement asks for fades from row to row.
"""

from dataclasses import dataclass
from typing import Final, Protocol

import torch
from torch import Tensor

from .delay import LENGTH

FADE: Final = 3.0
"""Rows in which a difference from what has left sinks to a third."""


@dataclass(frozen=True, slots=True)
class Hold:
    """What estimates of windows are made to agree with.

    `old` (B, 80, 265) float32, rows of which the first `left` have left; `follows` (B,) bool, whether there
    are any. `fade` (80,) float32 is how much of the difference at the last of them is left in each row.
    """

    old: Tensor
    follows: Tensor
    fade: Tensor
    left: int

    def __call__(self, estimates: Tensor) -> Tensor:
        """Clean `estimates` (B, 80, 265) that agree."""
        if not self.left:
            return estimates
        last = self.left - 1
        off = self.old[:, last : self.left] - estimates[:, last : self.left]
        after = estimates[:, self.left :] + off * self.fade[self.left :, None]
        led = torch.cat((self.old[:, : self.left], after), dim=1)
        return torch.where(self.follows[:, None, None], led, estimates)


class Seam(Protocol):
    """How windows are joined. `old` (B, 80, 265) are the rows of a window as they are before it: its last
    `hop` rows are new, and 0."""

    def hold(self, old: Tensor, follows: Tensor) -> Hold:
        """What the sampler does to its estimates. `follows` (B,) bool: which windows are not the first."""
        ...

    def join(self, old: Tensor, window: Tensor) -> Tensor:
        """The rows (B, 80, 265) as they are after `window` of that shape."""
        ...


class Blend:
    """Old rows become new ones evenly over `fuse` rows."""

    def __init__(self, hop: int, fuse: int, device: torch.device | str = "cpu") -> None:
        since = torch.arange(LENGTH, device=device) - (LENGTH - hop - fuse)
        self._share = ((since / fuse).clamp(0, 1) if fuse else (since >= 0).float())[:, None]
        """Of the new window in each row."""
        self._fade = torch.zeros(LENGTH, device=device)

    def hold(self, old: Tensor, follows: Tensor) -> Hold:
        """Estimates stay as they are."""
        return Hold(old, follows, self._fade, 0)

    def join(self, old: Tensor, window: Tensor) -> Tensor:
        return old * (1 - self._share) + window * self._share


class LedOn:
    """Rows that have left stay, those after them go on from there."""

    def __init__(self, hop: int, fuse: int, device: torch.device | str = "cpu") -> None:
        """At least two rows of a window must have left before it: its place and its speed."""
        self._left = LENGTH - hop - fuse
        if self._left < 2:
            raise ValueError(f"hop {hop} and fuse {fuse} leave fewer than two rows that left before")
        self._since = torch.arange(1 - self._left, LENGTH - self._left + 1, device=device)
        """Rows since the last that has left."""
        self._fade = fading(self._left, device)

    def hold(self, old: Tensor, follows: Tensor) -> Hold:
        return Hold(old, follows, self._fade, self._left)

    def join(self, old: Tensor, window: Tensor) -> Tensor:
        """Differences fade as a critically damped spring comes to rest."""
        off = (old - window)[:, self._left - 2 : self._left]
        place, speed = off[:, 1:], off[:, 1:] - off[:, :1]
        since, fade = self._since[self._left :, None], self._fade[self._left :, None]
        carried = (place + (speed + place / FADE) * since) * fade
        return torch.cat((old[:, : self._left], window[:, self._left :] + carried), dim=1)


def fading(left: int, device: torch.device | str = "cpu") -> Tensor:
    """Of a difference at the last of `left` rows, how much is left in each row (80,); those that have left do
    not use theirs."""
    since = torch.arange(1 - left, LENGTH - left + 1, device=device)
    return torch.exp(-since / FADE)
