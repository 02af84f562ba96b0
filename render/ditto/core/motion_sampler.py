"""Windows of motion as the engine asks for them: as `MotionSampler` gives them, of so many at a time."""

from copy import deepcopy
from dataclasses import replace
from typing import Final

import torch
from torch import Tensor

from ..lmdm import MotionDecoder
from ..motion import WIDTH
from ..schedule import Schedule
from ..seams import LENGTH, Hold
from .motion import MotionWindow, motion_ops
from .motion_plan import MotionPlan
from .motion_room import MotionInputs, MotionRoom, plain_zeros
from .replay import BUCKETS

MOST: Final = BUCKETS[-1]
"""Windows at a time: with more a card gains nothing."""


class WindowSampler:
    """Takes its memory once. On a GPU it can be captured: a call does nothing on the host."""

    def __init__(
        self, model: MotionDecoder, schedule: Schedule, *, dtype: torch.dtype, device: torch.device
    ) -> None:
        """Computes in `dtype` on `device`: that keeps nothing of the `model` but a plan."""
        plan = MotionPlan.of(deepcopy(model).to(device), schedule, dtype)
        zeros = plain_zeros(plan.device)
        room = MotionRoom.of(plan, MOST, zeros)
        self._out = zeros("motion.out", MOST, LENGTH, WIDTH, dtype=torch.float32)
        self._window = {
            count: MotionWindow(plan, room.at(count), motion_ops(plan.device, count, dtype))
            for count in range(1, MOST + 1)
        }

    @torch.no_grad()
    def __call__(
        self, lead: Tensor, conditions: Tensor, start: Tensor, noise: Tensor, *, hold: Hold | None = None
    ) -> Tensor:
        """Windows (k, 80, 265) float32, up to `MOST`, valid until the next call. Arguments as for
        `MotionSampler`; `hold` is that of `Windows`."""
        assert hold is not None, "windows are led on or blended, and say so"
        given = MotionInputs(
            lead.contiguous(),
            conditions.contiguous(),
            start.contiguous(),
            noise.contiguous(),
            replace(hold, old=hold.old.contiguous()),
        )
        out = self._out[: len(lead)]
        self._window[len(lead)](given, out)
        return out
