"""From noise to a window of motion. Noise is given from outside; nothing here draws any."""

from collections.abc import Callable

import torch
from torch import Tensor

from .lmdm import MotionDecoder
from .schedule import Schedule
from .seams import Hold

Denoise = Callable[[Tensor, int], Tensor]
"""The estimate (B, 80, 265) of clean windows from noisy ones at the step of this index."""


def sample(
    denoise: Denoise, schedule: Schedule, start: Tensor, noise: Tensor, *, hold: Hold | None = None
) -> Tensor:
    """Clean windows (B, 80, 265) from `start` of that shape, and `noise` (steps - 1, B or 1, 80, 265).

    All estimates but the last, which is the result, are made to agree with `hold`, where there is one.
    """
    noisy = start
    for index, step in enumerate(schedule.steps[:-1]):
        clean = denoise(noisy, index)
        if hold is not None:
            clean = hold(clean)
        estimate = step.of_noisy * noisy - clean / step.of_clean
        noisy = step.clean * clean + step.noise * estimate + step.fresh * noise[index]
    return denoise(noisy, len(schedule.steps) - 1)


class MotionSampler:
    """A motion model with a schedule, whose constants it makes once: load and move the model first."""

    def __init__(self, model: MotionDecoder, schedule: Schedule) -> None:
        self.model, self.schedule = model, schedule
        times = torch.tensor(schedule.times, device=model.final_layer.weight.device)
        with torch.no_grad():
            self._moments = model.moments(times)

    @torch.no_grad()
    def __call__(
        self, lead: Tensor, conditions: Tensor, start: Tensor, noise: Tensor, *, hold: Hold | None = None
    ) -> Tensor:
        """Windows (B, 80, 265) float32 that follow `lead` (B, 265) and hear `conditions` (B, 80, 1103).

        `start`, `noise` and `hold` as for `sample`, float32 whatever the model is in.
        """
        encoded = self.model.encode(conditions)

        def denoise(noisy: Tensor, index: int) -> Tensor:
            return self.model.step(noisy, lead, encoded, self._moments.at(index))

        return sample(denoise, self.schedule, start, noise, hold=hold)
