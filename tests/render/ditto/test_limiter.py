"""Heads pass as they are wanted, or are held within the limit and come to rest where they should."""

from dataclasses import fields

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from visavis.render.ditto.limiter import LIMIT_DEG, LimiterState, limited

ONE = torch.ones(1, dtype=torch.bool)
paths = st.lists(st.floats(-40, 40, width=32), min_size=3, max_size=60)


def shown(path: Tensor, state: LimiterState | None = None) -> Tensor:
    """(T, 3) of one slot that is asked for `path` (T,) with all its angles."""
    state = state or LimiterState.init(1)
    return torch.cat([limited(state, angle.expand(1, 3), ONE) for angle in path])


def bends(path: Tensor) -> Tensor:
    return path.diff(dim=0).diff(dim=0).abs()


@given(paths)
def test_speed_never_changes_by_more_than_the_limit(path: list[float]) -> None:
    found = shown(torch.tensor([path[0], *path]))
    assert bends(torch.cat((found[:1], found))).max() <= LIMIT_DEG + 1e-4


@given(paths, st.floats(-20, 20, width=32))
def test_a_head_comes_to_rest_where_it_should_without_swinging_past(path: list[float], end: float) -> None:
    found = shown(torch.tensor([*path, *[end] * 60]))
    assert torch.equal(found[-1], torch.full((3,), end))


@given(st.floats(-30, 30, width=32), st.floats(-30, 30, width=32))
def test_a_jump_is_not_overshot(start: float, end: float) -> None:
    found = shown(torch.tensor([start] * 3 + [end] * 40))[:, 0]
    assert found.min() >= min(start, end) - 1e-3
    assert found.max() <= max(start, end) + 1e-3


@given(st.floats(-90, 90, width=32), st.integers(1, 30))
def test_what_stands_still_passes_unchanged(angle: float, frames: int) -> None:
    assert torch.equal(shown(torch.full((frames,), angle)), torch.full((frames, 3), angle))


@given(st.floats(-40, 40), st.lists(st.floats(-0.99 * LIMIT_DEG, 0.99 * LIMIT_DEG), max_size=40))
def test_what_is_smooth_already_passes_to_the_last_bit(start: float, changes: list[float]) -> None:
    speed = torch.tensor([0.0, 0.0, *changes], dtype=torch.float64).cumsum(0)
    path = (start + speed.cumsum(0)).float()
    assert torch.equal(shown(path), path[:, None].expand(-1, 3))


def test_a_quick_nod_passes() -> None:
    at = torch.arange(50) / 25
    path = 5.9 * (1 - torch.cos(2 * torch.pi * 2 * at))
    assert torch.equal(shown(path)[:, 0], path)


def test_slots_that_are_not_active_keep_their_state() -> None:
    state = LimiterState.init(2)
    limited(state, torch.tensor([[1.0, 2, 3], [4, 5, 6]]), torch.tensor([True, True]))
    kept = [getattr(state, each.name)[1].clone() for each in fields(state)]
    places = [getattr(state, each.name).data_ptr() for each in fields(state)]
    limited(state, torch.full((2, 3), 9.0), torch.tensor([True, False]))
    for each, value, place in zip(fields(state), kept, places, strict=True):
        assert torch.equal(getattr(state, each.name)[1], value)
        assert getattr(state, each.name).data_ptr() == place


@given(paths, paths)
def test_slots_do_not_disturb_each_other(one: list[float], other: list[float]) -> None:
    state, frames = LimiterState.init(2), min(len(one), len(other))
    both = torch.tensor([one[:frames], other[:frames]]).T
    found = torch.stack([limited(state, row[:, None].expand(2, 3), ONE.expand(2)) for row in both])
    assert torch.equal(found[:, 0], shown(both[:, 0]))
    assert torch.equal(found[:, 1], shown(both[:, 1]))


def test_a_slot_goes_on_from_where_it_is_told_and_as_fast() -> None:
    state = LimiterState.init(1)
    state.resume(0, torch.tensor([10.0, 0, 0]), torch.tensor([1.0, 0, 0]))
    found = limited(state, torch.full((1, 3), 50.0), ONE)[0]
    assert found.tolist() == [11.0 + LIMIT_DEG, LIMIT_DEG, LIMIT_DEG]
    state.reset(0)
    assert limited(state, torch.full((1, 3), -50.0), ONE).tolist() == [[-50.0] * 3]
