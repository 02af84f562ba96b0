"""The kernel draws what its twin draws."""

import pytest
import torch
from support import interpreter
from visavis.render.ditto.core import noise_kernels, noise_twins

assert interpreter.triton

SEEDS = [0, 1, -1, -(2**63), 2**63 - 1, 0x1234_5678_9ABC_DEF0]
FIRSTS = [0, -79, 5, 10**9, -1, 2**31 - 90]


def both(device: str, *, draws: int, frames: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    seeds, firsts = torch.tensor(SEEDS, device=device), torch.tensor(FIRSTS, device=device)
    found = [
        one.normal(seeds, firsts, draws=draws, frames=frames, width=width)
        for one in (noise_kernels, noise_twins)
    ]
    return found[0], found[1]


@pytest.mark.parametrize(("draws", "frames", "width"), [(3, 4, 265), (1, 1, 1), (2, 3, 600)])
def test_a_kernel_draws_as_its_twin(draws: int, frames: int, width: int) -> None:
    kernel, twin = both("cpu", draws=draws, frames=frames, width=width)
    assert kernel.shape == (draws, len(SEEDS), frames, width)
    assert float((kernel - twin).abs().max()) < 1e-5
