from dataclasses import replace

import pytest
import torch
from support.motion import model_inputs, normal, tiny_model
from torch import Tensor
from visavis.render.ditto.core.motion_sampler import WindowSampler
from visavis.render.ditto.motion import WIDTH
from visavis.render.ditto.sampler import MotionSampler
from visavis.render.ditto.schedule import Schedule
from visavis.render.ditto.seams import LENGTH, Hold
from visavis.render.ditto.windows import Windows, WindowShape

STEPS = 4
SHAPE = WindowShape(5, 5)


def given(slots: int, *, leads_on: bool) -> tuple[tuple[Tensor, Tensor, Tensor, Tensor], Hold]:
    """What windows are sampled from, every second of which follows another."""
    _, lead, conditions, _ = model_inputs(slots)
    drawn = normal(8, STEPS, slots, LENGTH, WIDTH)
    windows = Windows(SHAPE, leads_on=leads_on)
    state = windows.init(slots)
    state.rows.copy_(normal(9, *state.rows.shape))
    state.windows[::2] = 3
    return (lead, conditions, drawn[0], drawn[1:]), windows.hold(state)


def sampler() -> WindowSampler:
    return WindowSampler(tiny_model(), Schedule.of(STEPS), dtype=torch.float32, device=torch.device("cpu"))


@pytest.mark.parametrize("leads_on", [True, False], ids=["led on", "blended"])
@pytest.mark.parametrize("slots", [1, 3])
def test_windows_are_those_of_the_plain_sampler(slots: int, leads_on: bool) -> None:
    inputs, hold = given(slots, leads_on=leads_on)
    expected = MotionSampler(tiny_model(), Schedule.of(STEPS))(*inputs, hold=hold)
    got = sampler()(*inputs, hold=hold)
    torch.testing.assert_close(got, expected, atol=2e-5, rtol=0)


def test_what_is_read_may_lie_scattered() -> None:
    inputs, hold = given(3, leads_on=True)
    one = sampler()
    expected = one(*inputs, hold=hold).clone()
    wide = torch.cat((hold.old, hold.old), -1)
    scattered = [torch.stack((part, part), -1)[..., 0] for part in inputs]
    assert not scattered[1].is_contiguous()
    got = one(*scattered, hold=replace(hold, old=wide[..., :WIDTH]))
    assert torch.equal(got, expected)


def test_a_call_leaves_nothing_to_the_next() -> None:
    inputs, hold = given(3, leads_on=True)
    one = sampler()
    first = one(*inputs, hold=hold).clone()
    other, other_hold = given(2, leads_on=True)
    one(*other, hold=other_hold)
    assert torch.equal(one(*inputs, hold=hold), first)
