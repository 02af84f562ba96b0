"""The painter draws each slot's own face, however many share the call, and goes on from what was shown."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support import tiny
from torch import Tensor
from visavis.render.ditto.controls import Following, FrameControls
from visavis.render.ditto.limiter import LIMIT_DEG
from visavis.render.ditto.motion import WIDTH, Motion, Source
from visavis.render.ditto.painter import BATCH, Appearance, Painter, Stroke
from visavis.render.ditto.past import EASE_FRAMES

Pixels = NDArray[np.uint8]
Moved = tuple[Stroke, Tensor]


def appearance(seed: int, frames: int = 1) -> Appearance:
    """`frames` different frames of one size."""
    faces = [
        {
            name: torch.from_numpy(np.array(value))
            for name, value in tiny.avatar(seed + 100 * k).tensors.items()
        }
        for k in range(frames)
    ]
    volumes, motion, canonical = (
        torch.cat([face[name] for face in faces]) for name in ("appearance", "motion", "canonical")
    )
    return Appearance(volumes, Source(Motion.from_rows(motion), canonical))


def rows(seed: int, count: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(0, 0.3, (count, 265)).astype(np.float32))


class Rows(Painter):
    """Is given each row of motion with the frame that it moves."""

    def __init__(self, slots: int = 4) -> None:
        bound = torch.full((WIDTH,), torch.inf)
        self.motion = torch.zeros(slots, 3, WIDTH)
        super().__init__(tiny.networks(), self.motion, low=-bound, high=bound)

    def draw(self, moved: Sequence[Moved]) -> Pixels:
        for stroke, row in moved:
            self.motion[stroke.slot, stroke.place] = row
        return self.paint([stroke for stroke, _ in moved])


def painter(*faces: tuple[int, int], frames: int = 1) -> Rows:
    """With the face of a seed in each slot: (slot, seed)."""
    one = Rows()
    for slot, seed in faces:
        one.open(slot, appearance(seed, frames), Following())
    return one


def stroke(
    slot: int, row: Tensor, frame: int = 0, *, shown: int = 0, brings: FrameControls | None = None
) -> Moved:
    return Stroke(slot, frame, shown, frame % 3, brings or FrameControls()), row


def near(one: Pixels, other: Pixels) -> bool:
    return int(np.abs(one.astype(int) - other).max()) <= 1


def test_slots_look_the_same_alone_and_together() -> None:
    first, second = rows(1, 5), rows(2, 5)
    alone = painter((0, 1)), painter((3, 2))
    both = painter((0, 1), (3, 2))
    for step in range(5):
        one = alone[0].draw([stroke(0, first[step], step)])[0]
        other = alone[1].draw([stroke(3, second[step], step + 7)])[0]
        found = both.draw([stroke(3, second[step], step + 7), stroke(0, first[step], step)])
        assert near(found[0], other)
        assert near(found[1], one)


def test_more_than_a_batch_is_drawn_in_parts() -> None:
    count = BATCH + 3
    many, few = Rows(count), Rows(count)
    for one in many, few:
        for slot in range(count):
            one.open(slot, appearance(slot % 3), Following())
    moved = [stroke(slot, row) for slot, row in enumerate(rows(1, count))]
    found = many.draw(moved)
    assert len(found) == count
    for slot in (0, 2, 3, count - 1):
        assert near(found[slot : slot + 1], few.draw([moved[slot]]))


def test_a_slot_that_is_not_painted_stays_where_it_was() -> None:
    moved = rows(1, 3)
    one, other = painter((0, 1), (1, 2)), painter((0, 1), (1, 2))
    one.draw([stroke(0, moved[0])])
    one.draw([stroke(1, moved[1])])
    other.draw([stroke(1, moved[1])])
    last = stroke(1, moved[2], 1)
    assert np.array_equal(one.draw([last]), other.draw([last]))


def test_the_row_that_motion_starts_from_leaves_the_face_as_it_is() -> None:
    one, other = painter((0, 1)), painter((0, 1))
    start, far = rows(5, 2)
    one.start_from(0, start)
    other.start_from(0, far)
    assert np.array_equal(one.draw([stroke(0, start)]), other.draw([stroke(0, far)]))
    assert not np.array_equal(one.draw([stroke(0, far, 1)]), other.draw([stroke(0, start, 1)]))


def test_what_a_frame_brings_reaches_the_picture() -> None:
    row = rows(1, 1)[0]
    turned = stroke(0, row, brings=FrameControls(delta=(0.0, 15.0, 0.0)))
    assert not np.array_equal(painter((0, 1)).draw([stroke(0, row)]), painter((0, 1)).draw([turned]))


def test_each_frame_of_a_clip_has_its_own_face() -> None:
    one, row = painter((0, 1), frames=3), rows(1, 1)[0]
    one.start_from(0, row)
    pictures = [
        one.draw([stroke(0, row, frame, shown=shown)])[0] for frame, shown in enumerate((0, 1, 2, 2, 1, 0))
    ]
    assert not near(pictures[0], pictures[1])
    assert not near(pictures[1], pictures[2])
    assert not near(pictures[2], pictures[4]), "the head is still on its way"


def heads(one: Rows, path: list[float]) -> Tensor:
    """(T,) degrees of yaw that are shown when `path` is asked for."""
    return torch.stack([one.face(0, frame).angles[0, 1] for frame in walked(one, path)])


def walked(one: Rows, path: list[float], first: int = 0) -> list[int]:
    row = rows(1, 1)[0]
    one.start_from(0, row)
    frames = list(range(first, first + len(path)))
    for frame, yaw in zip(frames, path, strict=True):
        one.draw([stroke(0, row, frame, brings=FrameControls(delta=(0.0, yaw, 0.0)))])
    return frames


def test_heads_do_not_jerk() -> None:
    path = heads(painter((0, 1)), [0.0] * 3 + [20.0] * 12)
    assert path.diff().diff().abs().max() <= LIMIT_DEG + 1e-4
    assert path[-1] - path[0] == pytest.approx(20, abs=1e-4)


def test_after_an_interrupt_the_face_leaves_the_one_that_was_sent_and_no_other() -> None:
    one = painter((0, 1))
    moving = [2.0 * (1 - np.cos(frame / 2)) for frame in range(20)]
    before = heads(one, moving)
    one.resume(0, 12)
    assert one.has_drawn(0)
    frames = walked(one, [0.0] * (2 * EASE_FRAMES), 13)
    after = torch.stack([one.face(0, frame).angles[0, 1] for frame in frames])
    path = torch.cat((before[:13], after))
    assert path.diff().abs().max() <= before.diff().abs().max()
    assert path.diff().diff().abs().max() <= LIMIT_DEG + 1e-4
    assert after[-1] == pytest.approx(float(before[0]), abs=1e-3)


def test_an_interrupt_before_anything_was_shown_begins_anew() -> None:
    one, row = painter((0, 1)), rows(1, 1)[0]
    first = one.draw([stroke(0, row, 5)])
    one.resume(0, 4)
    assert not one.has_drawn(0)
    assert np.array_equal(one.draw([stroke(0, row, 5)]), first)


def test_crops_are_eight_times_as_wide_as_the_volume() -> None:
    assert painter((0, 1)).side == 8 * tiny.CELLS


def test_a_closed_slot_leaves_nothing_to_the_next() -> None:
    one = painter((0, 1))
    one.draw([stroke(0, row, frame) for frame, row in enumerate(rows(9, 1))])
    one.resume(0, 0)
    one.close(0)
    one.open(0, appearance(2), Following())
    again = stroke(0, rows(1, 1)[0], 1)
    assert np.array_equal(one.draw([again]), painter((0, 2)).draw([again]))
