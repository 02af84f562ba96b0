import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

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


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize(
    ("batch", "dtype", "allowed"),
    [(1, torch.float32, 2e-6), (3, torch.float32, 2e-6), (2, torch.float16, 3e-3)],
)
def test_a_window_by_kernels_is_that_by_their_twins(
    batch: int, dtype: torch.dtype, allowed: float, within: bool
) -> None:
    plan = MotionPlan.of(tiny_model(), Schedule.of(2), dtype)
    kernels = MotionKernels(replace(TILES, levels_within=within, looks_within=within))
    given = inputs(batch, 2)
    found = sampled(window(plan, batch, kernels), given)
    assert error(found, sampled(window(plan, batch), given)) < allowed


@pytest.mark.parametrize("within", [False, True])
def test_kernels_work_in_a_part_of_the_room_of_more_slots(within: bool) -> None:
    plan = MotionPlan.of(tiny_model(), Schedule.of(1), torch.float32)
    kernels = MotionKernels(replace(TILES, levels_within=within, looks_within=within))
    large, given = window(plan, 3, kernels), inputs(3, 1)
    found = sampled(replace(large, room=large.room.at(2)), given.at(2))
    assert error(found, sampled(window(plan, 2), given.at(2))) < 2e-6


COMPILE = """
import json, sys
from dataclasses import replace
import torch
from support.no_card import no_card
from support.windows_of_motion import inputs, sampled, window
from visavis.render.ditto.core.motion_launch import MotionKernels
from visavis.render.ditto.core.motion_plan import MotionPlan
from visavis.render.ditto.core.motion_tiles import tiles_for
from visavis.render.ditto.lmdm import LmdmSize, MotionDecoder
from visavis.render.ditto.schedule import Schedule

slots, early = int(sys.argv[1]), sys.argv[2] == "early"
model = MotionDecoder(LmdmSize(layers=1, encoders=1)).requires_grad_(False)
plan = MotionPlan.of(model, Schedule.of(2), torch.float16)
kernels = no_card()
sampled(window(plan, slots, MotionKernels(replace(tiles_for(slots), early=early))), inputs(slots, 2))
taken = [
    (
        one.name, one.registers, one.spilled_bytes, one.shared_bytes, "wgmma.mma" in one.ptx,
        "griddepcontrol.wait" in one.ptx,
    )
    for one in kernels
]
print(json.dumps(taken))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("slots", "start"), [(1, "late"), (1, "early"), (4, "late"), (16, "late")])
def test_kernels_of_official_size_compile_for_an_h200_and_fit(slots: int, start: str, tmp_path: Path) -> None:
    """In a process that does not interpret; no card is needed to compile."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])}
    told = subprocess.run(
        [sys.executable, "-c", COMPILE, str(slots), start], env=environment, capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr[-2000:]
    kernels = json.loads(told.stdout)
    names = {name for name, *_ in kernels}
    assert names >= {"project", "project_into", "attend", "enter", "leave"}
    assert names & {"level", "look", "level_project"} == (
        {"look", "level_project"} if slots == 1 else {"level"}
    )
    for name, _, spilled_bytes, shared_bytes, is_wide, waits in kernels:
        assert spilled_bytes == 0, name
        assert shared_bytes <= HELD_BYTES, name
        assert waits == (start == "early"), name
        assert is_wide or slots < 16 or name == "level", name
