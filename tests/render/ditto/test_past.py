"""A face goes on from what was shown, eases away from it, and passes unchanged otherwise."""

import pytest
import torch
from visavis.render.ditto.motion_stitch import Driven
from visavis.render.ditto.past import EASE_FRAMES, KEPT_FRAMES, Past

SLOTS = 3


def driven(value: float) -> Driven:
    """Faces all of whose numbers are `value`, a hundred more in each slot."""
    base = value + 100 * torch.arange(SLOTS)[:, None]
    return Driven(*(base.expand(-1, width).clone() for width in (3, 1, 3, 63, 63)))


def shown(past: Past, frames: range, *, slot: int = 1) -> None:
    """`slot` has shown `frames`, whose numbers are their own."""
    active = torch.arange(SLOTS) == slot
    for frame in frames:
        places = torch.tensor([past.place(slot, frame) if row == slot else 0 for row in range(SLOTS)])
        past.keep(driven(frame), torch.full((SLOTS, 3), 0.5), places, active)


def eased(past: Past, frame: int, value: float) -> float:
    share = torch.tensor([past.share(slot, frame) for slot in range(SLOTS)])
    return float(past.eased(driven(value), share).expression[1, 0]) - 100


def test_what_was_never_interrupted_passes_to_the_last_bit() -> None:
    past = Past.init(SLOTS)
    shown(past, range(5))
    found = past.eased(driven(0.1), torch.tensor([past.share(slot, 5) for slot in range(SLOTS)]))
    assert torch.equal(found.expression, driven(0.1).expression)


def test_an_interrupt_goes_on_from_the_frame_that_was_sent() -> None:
    past = Past.init(SLOTS)
    shown(past, range(40))
    face = past.resume(1, 33)
    assert face is not None
    angles, speed = face
    assert angles.tolist() == [133.0] * 3
    assert speed.tolist() == [0.5] * 3
    path = [eased(past, frame, 0.0) for frame in range(34, 34 + EASE_FRAMES + 2)]
    assert 30 < path[0] < 33
    assert path == sorted(path, reverse=True)
    assert path[EASE_FRAMES - 1] > 0
    assert path[EASE_FRAMES:] == [0, 0]


def test_a_frame_that_was_not_drawn_is_stood_in_for_by_the_one_before() -> None:
    past = Past.init(SLOTS)
    shown(past, range(0, 20, 3))
    face = past.resume(1, 17)
    assert face is not None
    assert face[0].tolist() == [115.0] * 3


def test_frames_drawn_in_vain_are_forgotten() -> None:
    past = Past.init(SLOTS)
    shown(past, range(20))
    past.resume(1, 10)
    shown(past, range(11, 13))
    face = past.resume(1, 19)
    assert face is not None
    assert face[0].tolist() == [112.0] * 3


@pytest.mark.parametrize("frames", [range(0), range(5, 9)])
def test_there_may_be_nothing_to_go_on_from(frames: range) -> None:
    past = Past.init(SLOTS)
    shown(past, frames)
    assert past.resume(1, 4) is None
    assert not past.has_shown(1)
    assert past.share(1, 5) == 1


def test_a_slot_that_is_opened_anew_has_no_past() -> None:
    past = Past.init(SLOTS)
    shown(past, range(3))
    past.resume(1, 2)
    past.reset(1)
    assert not past.has_shown(1)
    assert past.share(1, 3) == 1


def test_only_active_slots_are_kept_in_place_and_the_ring_turns() -> None:
    past = Past.init(SLOTS)
    place = past.faces.data_ptr()
    shown(past, range(2 * KEPT_FRAMES), slot=1)
    assert not past.faces[[0, 2]].any()
    assert past.faces.data_ptr() == place
    face = past.resume(1, KEPT_FRAMES + 4)
    assert face is not None
    assert face[0].tolist() == [100.0 + KEPT_FRAMES + 4] * 3
