"""The painter draws each slot's own face, however many share the call."""

import numpy as np
import torch
from support import tiny
from torch import Tensor
from visavis.render.ditto.controls import Following, FrameControls
from visavis.render.ditto.motion import Motion, Source
from visavis.render.ditto.painter import Appearance, Painter


def appearance(seed: int) -> Appearance:
    tensors = {name: torch.from_numpy(np.array(value)) for name, value in tiny.avatar(seed).tensors.items()}
    return Appearance(
        tensors["appearance"], Source(Motion.from_rows(tensors["motion"]), tensors["canonical"])
    )


def rows(seed: int, count: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(0, 0.3, (count, 265)).astype(np.float32))


def painter(*faces: tuple[int, int]) -> Painter:
    """With the face of a seed in each slot: (slot, seed)."""
    one = Painter(tiny.networks(), 4)
    for slot, seed in faces:
        one.open(slot, appearance(seed), Following())
    return one


def test_slots_look_the_same_alone_and_together() -> None:
    first, second = rows(1, 5), rows(2, 5)
    alone = painter((0, 1)), painter((3, 2))
    both = painter((0, 1), (3, 2))
    for step in range(5):
        expected = alone[0].paint([0], first[step : step + 1]), alone[1].paint([3], second[step : step + 1])
        found = both.paint([3, 0], torch.stack((second[step], first[step])))
        assert np.abs(found[0].astype(int) - expected[1][0]).max() <= 1
        assert np.abs(found[1].astype(int) - expected[0][0]).max() <= 1


def test_a_slot_that_is_not_painted_stays_where_it_was() -> None:
    moved = rows(1, 3)
    one, other = painter((0, 1), (1, 2)), painter((0, 1), (1, 2))
    one.paint([0], moved[:1])
    one.paint([1], moved[1:2])
    other.paint([1], moved[1:2])
    assert np.array_equal(one.paint([1], moved[2:]), other.paint([1], moved[2:]))


def test_the_row_that_motion_starts_from_leaves_the_face_as_it_is() -> None:
    one, other = painter((0, 1)), painter((0, 1))
    start, far = rows(5, 2)
    one.start_from(0, start)
    other.start_from(0, far)
    assert np.array_equal(one.paint([0], start[None]), other.paint([0], far[None]))
    assert not np.array_equal(one.paint([0], far[None]), other.paint([0], start[None]))


def test_controls_reach_the_picture() -> None:
    one, other = painter((0, 1)), painter((0, 1))
    row = rows(1, 1)
    other.controls.touch(0, FrameControls(delta=(0.0, 15.0, 0.0)))
    assert not np.array_equal(one.paint([0], row), other.paint([0], row))


def test_crops_are_eight_times_as_wide_as_the_volume() -> None:
    assert painter((0, 1)).side(0) == 8 * tiny.CELLS


def test_a_closed_slot_holds_no_volume() -> None:
    one = painter((0, 1))
    one.close(0)
    one.open(0, appearance(2), Following())
    assert np.array_equal(one.paint([0], rows(1, 1)), painter((0, 2)).paint([0], rows(1, 1)))
