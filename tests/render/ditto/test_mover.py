"""Rows of motion settle when the delay says, as the driver of one clip makes them."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support import tiny
from torch import Tensor
from visavis.render.ditto import conditions, features, noise
from visavis.render.ditto.conditions import Character, ConditionState
from visavis.render.ditto.drivers import LiveDriver
from visavis.render.ditto.features import Cadence, Chunk
from visavis.render.ditto.mover import Mover
from visavis.render.ditto.sampler import MotionSampler
from visavis.render.ditto.schedule import Schedule
from visavis.render.ditto.windows import LENGTH, WindowOptions, WindowShape

F32 = NDArray[np.float32]
SHAPES = [WindowShape(2, 2), WindowShape(3, 1), WindowShape(10, 10)]
EACH_SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.hop}-{shape.fuse}")
TICKS = 48


def character(seed: int = 1) -> Character:
    random = np.random.default_rng(seed)
    parts = [(1, 2), (1, 6), (63,), (265,)]
    return Character(*(torch.from_numpy(random.normal(0, 0.3, part).astype(np.float32)) for part in parts))


def sound(seed: int = 1) -> F32:
    """(TICKS, 640)."""
    return np.random.default_rng(seed).normal(0, 0.1, (TICKS, 640)).astype(np.float32)


def mover(shape: WindowShape, slots: int = 1) -> Mover:
    return Mover(tiny.networks(), shape, slots=slots, steps=tiny.STEPS)


def moved(shape: WindowShape, heard: F32, *, seed: int = 1, slot: int = 0, slots: int = 1) -> Tensor:
    """(T, 265): each row taken at the tick from which on it is promised."""
    one = mover(shape, slots)
    one.open(slot, character(), seed=seed)
    rows: list[Tensor] = []
    for index, samples in enumerate(heard):
        one.hear([(slot, samples)])
        if index >= one.delay:
            rows.append(one.settled(slot, index - one.delay).clone())
    return torch.stack(rows)


def driven(shape: WindowShape, heard: F32, *, seed: int = 1) -> Tensor:
    """(T, 265) of the driver of one clip, from features of the whole sound, 80 samples early."""
    networks = tiny.networks()
    audio = np.concatenate([np.zeros(features.TAIL_SAMPLES, np.float32), heard.ravel()])
    told = ConditionState.init(1)
    told.set_character(0, character())
    sampler = MotionSampler(networks.lmdm, Schedule.of(tiny.STEPS))
    first = [-shape.overlap]

    def sample(lead: Tensor, rows: Tensor) -> Tensor:
        drawn = noise.draw(seed, first[0], LENGTH, tiny.STEPS)[:, None]
        first[0] += shape.hop
        return sampler(lead, rows, drawn[0], drawn[1:])

    def rows(found: Tensor, frame: int) -> Tensor:
        return conditions.rows(told, found, conditions.window(torch.tensor([frame]), found.shape[1]))

    silence = np.zeros(shape.overlap * 640, np.float32)
    before = features.offline(networks.audio, silence, Chunk())
    driver = LiveDriver(
        shape, sample, rows, WindowOptions.plain(character().start[None]), before=before[None]
    )
    return driver.put(features.whole(networks.audio, audio, Cadence(shape.hop))[None, :TICKS])[0]


@EACH_SHAPE
def test_motion_is_what_the_driver_of_one_clip_makes(shape: WindowShape) -> None:
    rows = moved(shape, sound())
    assert len(rows) == TICKS - mover(shape).delay
    torch.testing.assert_close(rows, driven(shape, sound())[: len(rows)], atol=2e-5, rtol=0)


@EACH_SHAPE
def test_a_frame_hears_exactly_as_far_ahead_as_the_delay(shape: WindowShape) -> None:
    """Over all places that a change can have in a hop. The first row of a seam feels it by smoothing."""
    plain, reach = moved(shape, sound()), []
    for change in range(TICKS - 2 * shape.hop, TICKS - shape.hop):
        heard = sound()
        heard[change:] = sound(9)[change:]
        different = (moved(shape, heard) != plain).any(dim=1)
        reach.append(change - int(different.int().argmax()))
    assert max(reach) == mover(shape).delay


def test_slots_move_as_they_do_alone() -> None:
    shape = WindowShape(3, 2)
    alone = [moved(shape, sound(seed), seed=seed) for seed in (1, 2)]
    both = mover(shape, slots=3)
    both.open(2, character(), seed=1)
    for index in range(TICKS):
        if index == 4:
            both.open(0, character(), seed=2)
        late = [(0, sound(2)[index - 4])] if index >= 4 else []
        both.hear([(2, sound(1)[index]), *late])
        for slot, begun, rows in ((2, 0, alone[0]), (0, 4, alone[1])):
            frame = index - begun - both.delay
            if frame >= 0:
                torch.testing.assert_close(both.settled(slot, frame), rows[frame], atol=2e-5, rtol=0)


def test_the_first_window_is_told_once_and_begins_at_its_first_row() -> None:
    one = mover(WindowShape(4, 2))
    one.open(0, character(), seed=1)
    told = [index for index in range(20) if one.hear([(0, sound()[index])])]
    assert told == [4 - 1 + 2]
    assert one.first(0).shape == (265,)
