"""Windows of motion as the engine asks for them: as `MotionSampler` gives them, replayed on a GPU."""

from copy import deepcopy

import torch
from torch import Tensor

from ..lmdm import MotionDecoder
from ..motion import WIDTH
from ..schedule import Schedule
from ..seams import LENGTH, Hold
from ..windows import WindowShape
from .lane import FIRST
from .motion import MotionWindow, motion_ops
from .motion_plan import MotionPlan
from .motion_room import MotionInputs, MotionRoom, plain_zeros, rows_left
from .replay import BUCKETS, Replay

MOST = BUCKETS[-1]


class WindowSampler:
    """Takes its memory once, for as many windows as run at a time."""

    def __init__(
        self,
        model: MotionDecoder,
        schedule: Schedule,
        shape: WindowShape,
        *,
        leads_on: bool,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        """Of windows that lie as `shape` says, blended or led on, computed in `dtype` on `device`: that keeps
        nothing of the `model` but a plan."""
        plan = MotionPlan.of(deepcopy(model).to(device), schedule, dtype)
        zeros, left = plain_zeros(plan.device), rows_left(shape, leads_on=leads_on)
        room = MotionRoom.of(plan, MOST, zeros)
        self._inputs = MotionInputs.zeros(plan, MOST, zeros, left=left)
        self._out = zeros("motion.out", MOST, LENGTH, WIDTH, dtype=torch.float32)
        self._window = {
            count: MotionWindow(plan, room.at(count), motion_ops(plan.device, count, dtype))
            for count in range(1, MOST + 1)
        }
        self._replay = Replay(self._sample, plan.device, priority=FIRST)

    def warm(self) -> None:
        """Compile and capture all that a call runs."""
        self._replay.capture()

    @torch.no_grad()
    def __call__(
        self, lead: Tensor, conditions: Tensor, start: Tensor, noise: Tensor, *, hold: Hold | None = None
    ) -> Tensor:
        """Windows (k, 80, 265) float32. Arguments as for `MotionSampler`; `hold` is that of `Windows`."""
        assert hold is not None, "windows are led on or blended, and say so"
        found = [
            self._some(lead[some], conditions[some], start[some], noise[:, some], hold.at(some))
            for first in range(0, len(lead), MOST)
            for some in (slice(first, first + MOST),)
        ]
        return torch.cat(found)

    def _some(self, lead: Tensor, conditions: Tensor, start: Tensor, noise: Tensor, hold: Hold) -> Tensor:
        count, given = len(lead), self._inputs.at(len(lead))
        given.lead.copy_(lead)
        given.conditions.copy_(conditions)
        given.start.copy_(start)
        given.noise.copy_(noise)
        given.held.old.copy_(hold.old)
        given.held.follows.copy_(hold.follows)
        self._replay(count)
        return self._out[:count]

    def _sample(self, count: int) -> None:
        self._window[count](self._inputs.at(count), self._out[:count])
