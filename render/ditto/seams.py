"""Where a window meets the ones before it: blended, as the reference has it, or led on from what has left.

A window drawn anew need not fit the rows that have left, and a blend over a few rows is a step. So `LedOn`
shows the sampler what has left: each clean estimate but the last is made to agree with it, and so is, in
place and in speed, the window itself. What agreement asks for fades from row to row.
"""

from collections.abc import Callable
from typing import Final, Protocol

import torch
from torch import Tensor

from .delay import LENGTH

FADE: Final = 3.0
"""Rows in which a difference from what has left sinks to a third."""
Hold = Callable[[Tensor], Tensor]
"""Clean estimates of windows (B, 80, 265), made to agree with what has left."""


class Seam(Protocol):
    """How windows are joined. `old` (B, 80, 265) are the rows of a window as they are before it: its last
    `hop` rows are new, and 0."""

    def hold(self, old: Tensor, follows: Tensor) -> Hold:
        """What the sampler does to its estimates. `follows` (B,) bool: which windows are not the first."""
        ...

    def join(self, old: Tensor, window: Tensor) -> Tensor:
        """The rows (B, 80, 265) as they are after `window` of that shape."""
        ...


def free(estimates: Tensor) -> Tensor:
    """`Hold` that leaves them as they are."""
    return estimates


class Blend:
    """Old rows become new ones evenly over `fuse` rows."""

    def __init__(self, hop: int, fuse: int, device: torch.device | str = "cpu") -> None:
        since = torch.arange(LENGTH, device=device) - (LENGTH - hop - fuse)
        self._share = ((since / fuse).clamp(0, 1) if fuse else (since >= 0).float())[:, None]
        """Of the new window in each row."""

    def hold(self, old: Tensor, follows: Tensor) -> Hold:
        return free

    def join(self, old: Tensor, window: Tensor) -> Tensor:
        return old * (1 - self._share) + window * self._share


class LedOn:
    """Rows that have left stay, those after them go on from there."""

    def __init__(self, hop: int, fuse: int, device: torch.device | str = "cpu") -> None:
        """At least two rows of a window must have left before it: its place and its speed."""
        self._left = LENGTH - hop - fuse
        if self._left < 2:
            raise ValueError(f"hop {hop} and fuse {fuse} leave fewer than two rows that left before")
        self._since = torch.arange(1, LENGTH - self._left + 1, device=device)[:, None]
        """Rows since the last that has left."""
        self._fade = torch.exp(-self._since / FADE)

    def hold(self, old: Tensor, follows: Tensor) -> Hold:
        left, last = old[:, : self._left], self._left - 1

        def held(estimates: Tensor) -> Tensor:
            off = left[:, last:] - estimates[:, last : last + 1]
            led = torch.cat((left, estimates[:, self._left :] + off * self._fade), dim=1)
            return torch.where(follows[:, None, None], led, estimates)

        return held

    def join(self, old: Tensor, window: Tensor) -> Tensor:
        """Differences fade as a critically damped spring comes to rest."""
        off = (old - window)[:, self._left - 2 : self._left]
        place, speed = off[:, 1:], off[:, 1:] - off[:, :1]
        carried = (place + (speed + place / FADE) * self._since) * self._fade
        return torch.cat((old[:, : self._left], window[:, self._left :] + carried), dim=1)
