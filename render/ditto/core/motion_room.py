"""The memory that sampling windows of motion works in: all of it is taken once, for one number of slots."""

from dataclasses import dataclass, replace
from typing import Protocol, Self

import torch
from torch import Tensor

from ..seams import Hold, fading
from .motion_plan import FILMS, MotionPlan


class Zeros(Protocol):
    """Takes memory by name, as an arena does."""

    def __call__(self, name: str, *shape: int, dtype: torch.dtype) -> Tensor: ...


def plain_zeros(device: torch.device) -> Zeros:
    """`Zeros` of torch's own."""

    def zeros(name: str, *shape: int, dtype: torch.dtype) -> Tensor:
        return torch.zeros(shape, dtype=dtype, device=device)

    return zeros


@dataclass(frozen=True, slots=True)
class Memory:
    """What a layer looks at in a step, strided views.

    `keys` and `values` (1 + B, T, D), the first of which the B rows of the unconditional branch share;
    `late_keys` and `late_values` (2, D), which follow them in all rows.
    """

    keys: Tensor
    values: Tensor
    late_keys: Tensor
    late_values: Tensor


@dataclass(frozen=True, slots=True)
class MotionInputs:
    """What windows of B slots are sampled from, all float32 but `held.follows`.

    `lead` (B, 265); `conditions` (B, T, 1103); `start` (B, T, 265) and `noise` (S - 1, B, T, 265).
    """

    lead: Tensor
    conditions: Tensor
    start: Tensor
    noise: Tensor
    held: Hold

    @classmethod
    def zeros(cls, plan: MotionPlan, batch: int, zeros: Zeros, *, left: int) -> Self:
        """To be written in place."""
        size, steps, full = plan.size, len(plan.schedule.steps), torch.float32
        window = (batch, size.rows, size.motion)
        fade = zeros("motion.fade", size.rows, dtype=full)
        fade.copy_(fading(left, plan.device))
        return cls(
            lead=zeros("motion.lead", batch, size.motion, dtype=full),
            conditions=zeros("motion.conditions", batch, size.rows, size.condition, dtype=full),
            start=zeros("motion.start", *window, dtype=full),
            noise=zeros("motion.noise", steps - 1, *window, dtype=full),
            held=Hold(
                zeros("motion.old", *window, dtype=full),
                zeros("motion.follows", batch, dtype=torch.bool),
                fade,
                left,
            ),
        )

    def at(self, batch: int) -> Self:
        """The first `batch` slots, in the same memory."""
        some = slice(batch)
        held = replace(self.held, old=self.held.old[some], follows=self.held.follows[some])
        return type(self)(self.lead[some], self.conditions[some], self.start[some], self.noise[:, some], held)


@dataclass(frozen=True, slots=True)
class MotionRoom:
    """What is written while windows of B slots are sampled. Of 2 B rows the first B are the unconditional
    branch; of 1 + B rows the first is, for all slots.

    `noisy` (B, T, 265) float32. `hidden` (2 B, T, D), what layers add to; `levelled` (2, 2 B, T, D), it as
    normed, and turned too; `mixed` (2 B, T, 3 D) queries, keys and values; `asked` (2 B, T, D) queries;
    `seen` (2 B, T, D) what attention finds; `fed` (2 B, T, feed).

    Made once a window: `heard` (B, T, D), `pooled` (2, B, D), `lead` (B, D), `activated` (B, S, D), `memory`
    (1 + B, T, 2 L, D) and `film` (1 + B, S, L, 3, 2, D).
    """

    noisy: Tensor
    hidden: Tensor
    levelled: Tensor
    mixed: Tensor
    asked: Tensor
    seen: Tensor
    fed: Tensor
    heard: Tensor
    pooled: Tensor
    lead: Tensor
    activated: Tensor
    memory: Tensor
    film: Tensor

    @classmethod
    def of(cls, plan: MotionPlan, batch: int, zeros: Zeros) -> Self:
        """What layers add to is float32: half precision would lose what is small."""
        size, steps, half = plan.size, len(plan.schedule.steps), plan.dtype
        width, rows = size.width, (2 * batch, size.rows)

        def take(name: str, *shape: int, dtype: torch.dtype = half) -> Tensor:
            return zeros(f"motion.{name}", *shape, dtype=dtype)

        room = cls(
            noisy=take("noisy", batch, size.rows, size.motion, dtype=torch.float32),
            hidden=take("hidden", *rows, width, dtype=torch.float32),
            levelled=take("levelled", 2, *rows, width),
            mixed=take("mixed", *rows, 3 * width),
            asked=take("asked", *rows, width),
            seen=take("seen", *rows, width),
            fed=take("fed", *rows, size.feed),
            heard=take("heard", batch, size.rows, width, dtype=torch.float32),
            pooled=take("pooled", 2, batch, width),
            lead=take("lead_row", batch, width, dtype=torch.float32),
            activated=take("activated", batch, steps, width),
            memory=take("memory", 1 + batch, size.rows, 2 * size.layers, width),
            film=take("film", 1 + batch, steps, size.layers, FILMS, 2, width),
        )
        room.memory[0].copy_(plan.deaf_memory)
        room.film[0].copy_(plan.deaf_film)
        return room

    def at(self, batch: int) -> Self:
        """Room for the first `batch` slots, in the same memory."""
        some, both, shared = slice(batch), slice(2 * batch), slice(1 + batch)
        return type(self)(
            noisy=self.noisy[some],
            hidden=self.hidden[both],
            levelled=self.levelled[:, both],
            mixed=self.mixed[both],
            asked=self.asked[both],
            seen=self.seen[both],
            fed=self.fed[both],
            heard=self.heard[some],
            pooled=self.pooled[:, some],
            lead=self.lead[some],
            activated=self.activated[some],
            memory=self.memory[shared],
            film=self.film[shared],
        )
