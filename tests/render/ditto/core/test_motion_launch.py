from dataclasses import replace

import pytest
import support.interpreter
import torch
from support.motion import tiny_model
from support.windows_of_motion import error, inputs, sampled, window
from visavis.render.ditto.core.motion_launch import MotionKernels
from visavis.render.ditto.core.motion_plan import MotionPlan
from visavis.render.ditto.core.motion_tiles import Tile, Tiles
from visavis.render.ditto.schedule import Schedule

assert support.interpreter.triton

TILES = Tiles(other=Tile(64, 32, 32), level_rows=64, queries=64, leave_columns=128, leave_depth=32)
HELD_BYTES = 227 * 1024
"""Shared memory of a program, at most, on an H200."""


@pytest.mark.parametrize("levels_within", [False, True])
@pytest.mark.parametrize(
    ("batch", "dtype", "allowed"),
    [(1, torch.float32, 2e-6), (3, torch.float32, 2e-6), (2, torch.float16, 3e-3)],
)
def test_a_window_by_kernels_is_that_by_their_twins(
    batch: int, dtype: torch.dtype, allowed: float, levels_within: bool
) -> None:
    plan = MotionPlan.of(tiny_model(), Schedule.of(2), dtype)
    kernels = MotionKernels(replace(TILES, levels_within=levels_within))
    given = inputs(batch, 2)
    found = sampled(window(plan, batch, kernels), given)
    assert error(found, sampled(window(plan, batch), given)) < allowed
