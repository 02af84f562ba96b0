"""Heads do not jerk: a limit on how fast pitch, yaw and roll may change their speed."""

from dataclasses import dataclass
from typing import Final, Self

import torch
from torch import Tensor

LIMIT_DEG: Final = 1.5
"""Degrees a frame, by which the speed of an angle may change from frame to frame: a nod of 6 degrees to
either side, twice a second, just passes."""
ANGLES: Final = 3


@dataclass(frozen=True, slots=True)
class LimiterState:
    """The heads of B slots, written in place.

    `angles` (B, 3) degrees as they were last shown, moving at `speed` (B, 3) a frame; `wanted` (B, 3) as they
    were last asked for. All mean nothing until `begun` (B,) bool.
    """

    angles: Tensor
    speed: Tensor
    wanted: Tensor
    begun: Tensor

    @classmethod
    def init(cls, slots: int, device: torch.device | str = "cpu") -> Self:
        """Heads that take any pose at first."""
        angles, speed, wanted = (torch.zeros(slots, ANGLES, device=device) for _ in range(3))
        return cls(angles, speed, wanted, torch.zeros(slots, dtype=torch.bool, device=device))

    def reset(self, slot: int) -> None:
        """`slot` takes any pose next."""
        self.begun[slot].zero_()

    def resume(self, slot: int, angles: Tensor, speed: Tensor) -> None:
        """`slot` goes on from `angles` (3,) degrees, moving at `speed` (3,) a frame."""
        self.angles[slot] = angles
        self.speed[slot] = speed
        self.wanted[slot] = angles
        self.begun[slot].fill_(True)


def limited(state: LimiterState, wanted: Tensor, active: Tensor, *, limit: float = LIMIT_DEG) -> Tensor:
    """`wanted` (B, 3) degrees of the next frame, or as near as the limit allows, for slots `active` (B,)
    bool.

    What never asks for more than the limit passes to the last bit. What falls behind catches up no faster
    than it can brake, so it does not swing past where it should be.
    """
    behind = state.wanted - state.angles
    # In n frames, each slower by the limit than the one before, the head just makes up for what is behind.
    brakes = ((0.25 + 2 * behind.abs() / limit).sqrt() - 0.5).ceil().clamp(min=1)
    catch = behind.abs() / brakes + limit * (brakes - 1) / 2
    speed = wanted - state.wanted + behind.clamp(-catch, catch)
    least, most = state.speed - limit, state.speed + limit
    free = (behind.abs() <= catch) & (speed >= least) & (speed <= most) | ~state.begun[:, None]
    angles = torch.where(free, wanted, state.angles + speed.clamp(least, most))
    moved = torch.where(state.begun[:, None], angles - state.angles, 0)
    for kept, new in ((state.speed, moved), (state.angles, angles), (state.wanted, wanted)):
        kept.copy_(torch.where(active[:, None], new, kept))
    state.begun.logical_or_(active)
    return angles
