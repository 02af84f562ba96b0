from dataclasses import fields, replace

import pytest
import torch
from support.motion import tiny_model
from support.windows_of_motion import at, error, expected, inputs, sampled, window
from torch import Tensor
from visavis.render.ditto import random_weights
from visavis.render.ditto.core import motion_twins
from visavis.render.ditto.core.motion import MotionWindow
from visavis.render.ditto.core.motion_plan import MotionPlan
from visavis.render.ditto.core.motion_room import MotionInputs, MotionRoom, plain_zeros
from visavis.render.ditto.lmdm import LmdmSize, MotionDecoder
from visavis.render.ditto.schedule import Schedule

FULL = torch.float32


def tiny(batch: int, steps: int, dtype: torch.dtype = FULL) -> MotionWindow:
    return window(MotionPlan.of(tiny_model(), Schedule.of(steps), dtype), batch)


@pytest.mark.parametrize("follows", [(True, False), (False,)], ids=["held", "free"])
@pytest.mark.parametrize("steps", [4, 5, 10])
@pytest.mark.parametrize("batch", [1, 3])
def test_windows_are_those_of_the_plain_sampler(batch: int, steps: int, follows: tuple[bool, ...]) -> None:
    given = inputs(batch, steps, follows=follows)
    assert error(sampled(tiny(batch, steps), given), expected(tiny_model(), steps, given)) < 2e-6


def test_where_windows_are_blended_nothing_is_held() -> None:
    given = inputs(2, 4, follows=(True,))
    blended = replace(given, held=replace(given.held, left=0))
    found = sampled(tiny(2, 4), blended)
    assert error(found, expected(tiny_model(), 4, blended)) < 2e-6
    assert error(found, sampled(tiny(2, 4), given)) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("batch", "steps"), [(1, 4), (1, 5), (3, 4), (3, 10)])
def test_windows_of_official_size_are_those_of_the_plain_sampler(batch: int, steps: int) -> None:
    model = random_weights.loaded(MotionDecoder(), "lmdm", 7)
    given = inputs(batch, steps)
    sampling = window(MotionPlan.of(model, Schedule.of(steps), FULL), batch)
    assert error(sampled(sampling, given), expected(model, steps, given)) < 2e-6


def test_half_weights_stay_near_the_full_ones() -> None:
    given = inputs(2, 5)
    plan = MotionPlan.of(tiny_model(), Schedule.of(5), torch.float16)
    found = sampled(window(plan, 2), given)
    assert found.dtype == torch.float32
    assert error(found, expected(tiny_model(), 5, given)) < 3e-3


def test_a_slot_does_not_depend_on_the_others_to_the_bit() -> None:
    sampling, given = tiny(3, 4), inputs(3, 4, follows=(True, True, False))
    whole = sampled(sampling, given)
    others = at(given, [0, 0, 0])
    for name in ("lead", "conditions", "start"):
        getattr(others, name)[1] = getattr(given, name)[1]
    others.noise[:, 1], others.held.old[1] = given.noise[:, 1], given.held.old[1]
    assert torch.equal(sampled(sampling, others)[1], whole[1])


def test_a_slot_may_be_in_any_place() -> None:
    sampling, given = tiny(3, 4), inputs(3, 4)
    whole = sampled(sampling, given)
    order = [2, 0, 1]
    torch.testing.assert_close(sampled(sampling, at(given, order)), whole[order], atol=1e-5, rtol=0)


def test_what_a_window_leaves_behind_changes_no_other() -> None:
    sampling, given = tiny(2, 4), inputs(2, 4)
    first = sampled(sampling, given)
    kept = [getattr(given, field.name) for field in fields(given)][:4]
    before = [part.clone() for part in kept]
    sampled(sampling, at(given, [1, 0]))
    assert torch.equal(sampled(sampling, given), first)
    assert all(torch.equal(part, same) for part, same in zip(kept, before, strict=True))


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_fewer_slots_may_have_a_part_of_the_room_of_more(batch: int) -> None:
    large, given = tiny(4, 4), inputs(4, 4)
    sampled(large, given)
    small = replace(large, room=large.room.at(batch))
    assert torch.equal(sampled(small, given.at(batch)), sampled(tiny(batch, 4), given.at(batch)))
    assert small.room.film.data_ptr() == large.room.film.data_ptr()


def test_sampling_never_asks_for_a_value() -> None:
    """Nothing on the meta device has one, and nothing of another device may meet it."""
    with torch.device("meta"):
        plan = MotionPlan.of(MotionDecoder(LmdmSize.tiny()), Schedule.of(4), torch.float16)
        zeros = plain_zeros(torch.device("meta"))
        given = MotionInputs.zeros(plan, 5, zeros, left=70)
        MotionWindow(plan, MotionRoom.of(plan, 5, zeros), motion_twins)(given, torch.empty_like(given.start))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="a graph needs a card")
def test_on_a_card_a_graph_replays_what_the_function_does() -> None:
    device = torch.device("cuda")
    plan = MotionPlan.of(tiny_model().to(device), Schedule.of(4), torch.float16)
    sampling, given = window(plan, 2), MotionInputs.zeros(plan, 2, plain_zeros(device), left=70)
    out = torch.empty_like(given.start)

    def fill(other: MotionInputs) -> None:
        for mine, new in zip(_tensors(given), _tensors(other), strict=True):
            mine.copy_(new)

    fill(inputs(2, 4))
    sampling(given, out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        sampling(given, out)
    fill(at(inputs(2, 4), [1, 0]))
    graph.replay()
    replayed = out.clone()
    sampling(given, out)
    assert torch.equal(replayed, out)


def _tensors(given: MotionInputs) -> list[Tensor]:
    return [
        given.lead, given.conditions, given.start, given.noise, given.held.old, given.held.follows,
    ]  # fmt: skip
