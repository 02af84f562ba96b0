from collections.abc import Sequence

import numpy as np
import pytest
import torch
from support import nv12
from support.nv12 import noise_face, noise_plate, turned
from visavis.render.color import color_space
from visavis.render.composite import Compositor
from visavis.render.ditto.core import composite_twins
from visavis.render.ditto.core.composite import Extent, weight_lane
from visavis.render.ditto.core.pictures import Pictures, Showing
from visavis.render.ditto.core.transfers import PlainTransfers
from visavis.render.ditto.putback import feather
from visavis.render.surface import Surface
from visavis.stream.errors import AvatarError, CapacityError

SIDE = 64
LARGEST = (160, 120)
SIZES = {0: (128, 96), 1: (90, 146)}


def pictures(slots: int = 2, largest: tuple[int, int] = LARGEST) -> Pictures:
    return Pictures(
        composite_twins, PlainTransfers(), slots=slots, largest=largest, side=SIDE, dtype=torch.float16
    )


def a_scene(slot: int, frame: int = 0) -> nv12.Scene:
    width, height = SIZES[slot]
    place = turned(SIDE, (width / 2 + 3 * frame, height / 2), 1.1 - 0.3 * slot, 5 + 9 * frame)
    return nv12.Scene(
        noise_plate(width, height, slot), noise_face(SIDE, 10 + slot), feather(SIDE, SIDE), place
    )


def opened(*slots: int) -> Pictures:
    found = pictures()
    for slot in slots:
        matrices = np.stack([a_scene(slot, frame).matrix for frame in range(3)])
        found.open(slot, a_scene(slot).plate, matrices)
    return found


def show(made: Pictures, showings: Sequence[Showing]) -> None:
    faces = torch.zeros(len(showings), SIDE, SIDE, 4, dtype=torch.float16)
    for index, one in enumerate(showings):
        scene = a_scene(one.slot, one.frame)
        faces[index, ..., :3] = torch.from_numpy(scene.face)
        faces[index, ..., 3] = weight_lane(scene.mask, torch.float16)
    made.composite(faces, torch.tensor(made.rows(showings)), made.extent)
    made.send(showings)


def off_by(surface: Surface, scene: nv12.Scene) -> float:
    """Most levels between what is shown and the exact picture."""
    luma, chroma = nv12.exact(scene)
    planes = (surface.y, luma), (surface.u, chroma[..., 0]), (surface.v, chroma[..., 1])
    return max(float(np.abs(np.floor(want + 0.5) - have).max()) for have, want in planes)


def test_an_open_slot_shows_its_plate() -> None:
    made = opened(0, 1)
    for slot in (0, 1):
        plate = Compositor(a_scene(slot).plate, color_space(*SIZES[slot])).surface()
        for surface in made.surfaces(slot, 3):
            assert surface.layout == made.layout == "nv12"
            for mine, theirs in ((surface.y, plate.y), (surface.u, plate.u), (surface.v, plate.v)):
                assert (mine == theirs).all()


def test_faces_of_slots_with_plates_of_other_sizes_arrive_on_their_surfaces() -> None:
    made = opened(0, 1)
    surfaces = {slot: made.surfaces(slot, 3) for slot in (0, 1)}
    for turn in range(5):
        frame = turn % 3
        show(made, [Showing(slot, frame, surfaces[slot][frame]) for slot in ((1, 0) if turn % 2 else (0, 1))])
    for slot in (0, 1):
        for frame in range(3):
            surfaces[slot][frame].wait()
            assert off_by(surfaces[slot][frame], a_scene(slot, frame)) <= 1


def test_nothing_of_an_earlier_frame_stays_where_the_face_was() -> None:
    made = opened(0)
    used, fresh = made.surfaces(0, 2)
    for frame in (2, 1, 0):
        show(made, [Showing(0, frame, used)])
    show(made, [Showing(0, 0, fresh)])
    assert (used.buffer == fresh.buffer).all()


def test_a_slot_alone_and_beside_another_shows_the_same() -> None:
    alone, both = opened(1), opened(0, 1)
    mine = alone.surfaces(1, 1)[0]
    beside = [both.surfaces(slot, 1)[0] for slot in (0, 1)]
    show(alone, [Showing(1, 2, mine)])
    show(both, [Showing(slot, 2, beside[slot]) for slot in (0, 1)])
    assert (mine.buffer == beside[1].buffer).all()


def test_the_extent_is_that_of_the_open_slots() -> None:
    both = opened(0, 1)
    first, second = opened(0).extent, opened(1).extent
    assert first.width > second.width
    assert both.extent == Extent(first.width, max(first.height, second.height))
    both.close(0)
    assert both.extent == second
    both.close(1)
    assert both.extent == Extent(0, 0)


def test_all_memory_is_counted_and_what_the_device_has_is_taken_at_once() -> None:
    made = pictures(slots=3)
    area = LARGEST[0] * LARGEST[1]
    before = made.device_bytes
    assert 3 * (4 * area + 2 * area * 3 // 2) <= before <= 3 * 7.2 * area + SIDE * SIDE * 8
    assert made.host_bytes == 0
    made.open(1, a_scene(1).plate, a_scene(1).matrix[None])
    made.surfaces(1, 4)
    assert made.device_bytes == before
    assert made.host_bytes == 4 * SIZES[1][0] * SIZES[1][1] * 3 // 2
    made.close(1)
    assert made.host_bytes == 0


def test_a_slot_that_is_opened_again_shows_nothing_of_its_past() -> None:
    made = opened(0)
    show(made, [Showing(0, 1, made.surfaces(0, 1)[0])])
    made.close(0)
    made.open(0, a_scene(1).plate, a_scene(1).matrix[None])
    (surface,) = made.surfaces(0, 1)
    plate = Compositor(a_scene(1).plate, color_space(*SIZES[1])).surface()
    assert (surface.y == plate.y).all()


def test_a_plate_that_is_too_large_is_refused() -> None:
    with pytest.raises(CapacityError, match="200x100"):
        pictures().open(0, noise_plate(200, 100, 1), a_scene(0).matrix[None])


def test_a_placement_without_area_is_refused_and_leaves_the_slot_closed() -> None:
    made = pictures()
    with pytest.raises(AvatarError, match="no area"):
        made.open(0, a_scene(0).plate, np.zeros((1, 2, 3), np.float32))
    assert made.extent == Extent(0, 0)


def test_a_failed_drawing_can_be_repeated() -> None:
    made = opened(0)
    (surface,) = made.surfaces(0, 1)
    showings = [Showing(0, 1, surface)]
    made.rows(showings)
    made.abandon(showings)
    show(made, showings)
    assert off_by(surface, a_scene(0, 1)) <= 1
