"""Windows of motion for B slots, from noise to sample, as one function that a CUDA graph can capture.

The same as `MotionSampler` to rounding. Both branches of the guidance are one batch of 2 B rows, the first B
unconditional. No host work, no shape that depends on a value, and all memory is in a `MotionRoom`.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from ..schedule import Step
from ..seams import Hold
from . import motion_twins
from .motion_plan import DecoderPlan, EncoderPlan, Level, Linear, MotionPlan
from .motion_room import Memory, MotionInputs, MotionRoom
from .motion_twins import Activation, levelled_rows


class MotionOps(Protocol):
    """The steps; `motion_twins` says what each does."""

    def project(
        self, rows: Tensor, layer: Linear, *, activation: Activation = "none", out: Tensor
    ) -> None: ...

    def level_project(
        self,
        rows: Tensor,
        level: Level,
        layer: Linear,
        *,
        turned: int = 0,
        activation: Activation = "none",
        levelled: Tensor,
        out: Tensor,
    ) -> None: ...

    def project_into(
        self, rows: Tensor, layer: Linear, *, film: Tensor | None = None, out: Tensor
    ) -> None: ...

    def attend(self, mixed: Tensor, *, heads: int, out: Tensor) -> None: ...

    def look(
        self,
        rows: Tensor,
        level: Level,
        query: Linear,
        memory: Memory,
        *,
        heads: int,
        levelled: Tensor,
        asked: Tensor,
        out: Tensor,
    ) -> None: ...

    def enter(self, noisy: Tensor, weight: Tensor, lead: Tensor, *, out: Tensor) -> None: ...

    def leave(
        self,
        hidden: Tensor,
        layer: Linear,
        step: Step,
        *,
        noisy: Tensor,
        fresh: Tensor | None,
        held: Hold,
        out: Tensor,
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class MotionWindow:
    """The sampling of windows with `plan`, in `room`, by `ops`."""

    plan: MotionPlan
    room: MotionRoom
    ops: MotionOps

    @torch.no_grad()
    def __call__(self, inputs: MotionInputs, out: Tensor) -> None:
        """Into `out` (B, T, 265) float32 the windows of `inputs`."""
        self.hear(inputs.conditions)
        self.ops.project(inputs.lead, self.plan.lead, out=self.room.lead)
        noisy, steps = inputs.start, self.plan.schedule.steps
        for index, step in enumerate(steps):
            is_last = index == len(steps) - 1
            self.denoise(noisy, index)
            target = out if is_last else self.room.noisy
            fresh = None if is_last else inputs.noise[index]
            self.ops.leave(
                self.room.hidden,
                self.plan.leave,
                step,
                noisy=noisy,
                fresh=fresh,
                held=inputs.held,
                out=target,
            )
            noisy = target

    def hear(self, conditions: Tensor) -> None:
        """Once a window: all that the steps share of `conditions` (B, T, 1103)."""
        plan, room, ops, slots = self.plan, self.room, self.ops, len(conditions)
        ops.project(conditions, plan.hear, out=room.heard)
        for encoder in plan.encoders:
            self._encode(encoder)
        ops.level_project(
            room.heard,
            plan.memory_level,
            plan.memory,
            turned=plan.size.layers * plan.size.width,
            levelled=room.levelled,
            out=room.memory[1:].flatten(2),
        )
        level, first, second = plan.pooled
        pooled, vector = room.pooled
        pooled.copy_(levelled_rows(room.heard.mean(dim=1, dtype=torch.float32), level))
        ops.project(pooled, first, activation="silu", out=vector)
        ops.project(vector, second, out=pooled)
        room.activated.copy_(F.mish(pooled[:, None].float() + plan.times))
        ops.project(room.activated, plan.film, out=room.film[1:].view(slots, len(plan.times), -1))

    def denoise(self, noisy: Tensor, index: int) -> None:
        """Into `room.hidden` what the layers make of `noisy` (B, T, 265) at the step of this index."""
        self.ops.enter(noisy, self.plan.enter, self.room.lead, out=self.room.hidden)
        for number, layer in enumerate(self.plan.layers):
            self._decode(layer, number, index)

    def _encode(self, layer: EncoderPlan) -> None:
        room, ops, size = self.room, self.ops, self.plan.size
        rows = room.heard
        mixed, seen, fed = (part[: len(rows)] for part in (room.mixed, room.seen, room.fed))
        ops.level_project(
            rows, layer.first, layer.mix, turned=2 * size.width, levelled=room.levelled, out=mixed
        )
        ops.attend(mixed, heads=size.heads, out=seen)
        ops.project_into(seen, layer.close, out=rows)
        ops.level_project(rows, layer.last, layer.widen, activation="gelu", levelled=room.levelled, out=fed)
        ops.project_into(fed, layer.narrow, out=rows)

    def _decode(self, layer: DecoderPlan, number: int, index: int) -> None:
        """Layer `number` at step `index`. Until the first layer looks at what is heard, both branches are the
        same: it mixes the rows of one."""
        room, ops, size = self.room, self.ops, self.plan.size
        rows = room.hidden
        once = slice(len(rows) // 2 if number == 0 else None)
        films = room.film[:, index, number].unbind(1)
        ops.level_project(
            rows[once],
            layer.first,
            layer.mix,
            turned=2 * size.width,
            levelled=room.levelled,
            out=room.mixed[once],
        )
        ops.attend(room.mixed[once], heads=size.heads, out=room.seen[once])
        ops.project_into(room.seen[once], layer.close, film=films[0], out=rows)

        ops.look(
            rows,
            layer.second,
            layer.query,
            self._memory(number, index),
            heads=size.heads,
            levelled=room.levelled,
            asked=room.asked,
            out=room.seen,
        )
        ops.project_into(room.seen, layer.recall, film=films[1], out=rows)

        ops.level_project(
            rows, layer.last, layer.widen, activation="gelu", levelled=room.levelled, out=room.fed
        )
        ops.project_into(room.fed, layer.narrow, film=films[2], out=rows)

    def _memory(self, number: int, index: int) -> Memory:
        keys, values = number, self.plan.size.layers + number
        stored, late = self.room.memory, self.plan.late[index]
        return Memory(stored[:, :, keys], stored[:, :, values], late[:, keys], late[:, values])


def motion_ops(device: torch.device, slots: int, dtype: torch.dtype) -> MotionOps:
    """Kernels on a card, cut up for so many `slots`; their twins anywhere else, and in full precision, of
    which a card's shared memory does not hold enough."""
    if device.type != "cuda" or dtype == torch.float32:
        return motion_twins
    # Triton is not there where no card is.
    from .motion_launch import MotionKernels
    from .motion_tiles import tiles_for

    return MotionKernels(tiles_for(slots))
