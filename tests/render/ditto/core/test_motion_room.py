import pytest
import torch
from support.motion import normal, tiny_model
from torch import Tensor
from visavis.render.ditto.core.motion_plan import MotionPlan
from visavis.render.ditto.core.motion_room import (
    MotionInputs,
    MotionRoom,
    plain_zeros,
)
from visavis.render.ditto.motion import WIDTH
from visavis.render.ditto.schedule import Schedule
from visavis.render.ditto.seams import LENGTH
from visavis.render.ditto.windows import Windows, WindowShape

CPU = torch.device("cpu")
SLOTS = 3


def plan() -> MotionPlan:
    return MotionPlan.of(tiny_model(), Schedule.of(4), torch.float16)


@pytest.mark.parametrize("leads_on", [True, False])
@pytest.mark.parametrize(("hop", "fuse"), [(2, 2), (5, 5), (10, 10), (70, 8), (70, 9), (80, 0)])
def test_estimates_are_held_as_windows_of_that_shape_hold_them(hop: int, fuse: int, leads_on: bool) -> None:
    shape = WindowShape(hop, fuse)
    windows = Windows(shape, leads_on=leads_on)
    state = windows.init(SLOTS)
    state.rows.copy_(normal(1, SLOTS, shape.kept, WIDTH))
    state.windows.copy_(torch.tensor([2, 0, 1]))
    hold = windows.hold(state)
    mine = MotionInputs.zeros(plan(), SLOTS, plain_zeros(CPU), left=hold.left).held
    mine.old.copy_(hold.old)
    mine.follows.copy_(hold.follows)
    clean = normal(2, SLOTS, LENGTH, WIDTH)
    assert torch.equal(mine(clean), hold(clean))


def test_all_memory_is_taken_by_name_and_once() -> None:
    taken: dict[str, Tensor] = {}

    def zeros(name: str, *shape: int, dtype: torch.dtype) -> Tensor:
        assert name not in taken
        taken[name] = torch.zeros(shape, dtype=dtype)
        return taken[name]

    MotionRoom.of(plan(), SLOTS, zeros)
    MotionInputs.zeros(plan(), SLOTS, zeros, left=70)
    assert all(name.startswith("motion.") for name in taken)
    assert taken["motion.hidden"].shape == (2 * SLOTS, LENGTH, 32)
    assert taken["motion.noise"].shape == (3, SLOTS, LENGTH, 265)


def test_what_all_slots_share_is_there_from_the_start() -> None:
    made = plan()
    room = MotionRoom.of(made, SLOTS, plain_zeros(CPU))
    assert torch.equal(room.memory[0], made.deaf_memory)
    assert torch.equal(room.film[0], made.deaf_film)
    assert not room.memory[1:].any()


def test_what_layers_add_to_is_full() -> None:
    room = MotionRoom.of(plan(), 1, plain_zeros(CPU))
    assert room.hidden.dtype == room.heard.dtype == room.noisy.dtype == torch.float32
