"""Rows of motion settle when the delay says, as the driver of one clip makes them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support import tiny
from torch import Tensor
from visavis.render.ditto import conditions, features, noise
from visavis.render.ditto.conditions import Character, ConditionState
from visavis.render.ditto.drivers import LiveDriver
from visavis.render.ditto.features import Cadence, Chunk
from visavis.render.ditto.mover import HORIZON, Mover
from visavis.render.ditto.sampler import MotionSampler
from visavis.render.ditto.schedule import Schedule
from visavis.render.ditto.seams import LENGTH, Hold
from visavis.render.ditto.windows import WindowOptions, WindowShape

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


def drawn_by_frame(first: int) -> Tensor:
    return noise.draw(1, first, LENGTH, tiny.STEPS)


def driven(
    shape: WindowShape,
    heard: F32,
    *,
    draw: Callable[[int], Tensor] = drawn_by_frame,
    options: WindowOptions | None = None,
    leads_on: bool = True,
) -> Tensor:
    """(T, 265) of the driver of one clip, from features of the whole sound, 80 samples early; `draw` gives
    the noise of the window that begins with a frame."""
    networks = tiny.networks()
    audio = np.concatenate([np.zeros(features.TAIL_SAMPLES, np.float32), heard.ravel()])
    told = ConditionState.init(1)
    told.set_character(0, character())
    sampler = MotionSampler(networks.lmdm, Schedule.of(tiny.STEPS))
    first = [-shape.overlap]

    def sample(lead: Tensor, rows: Tensor, hold: Hold) -> Tensor:
        drawn = draw(first[0])[:, None]
        first[0] += shape.hop
        return sampler(lead, rows, drawn[0], drawn[1:], hold=hold)

    def rows(found: Tensor, frame: int) -> Tensor:
        return conditions.rows(told, found, conditions.window(torch.tensor([frame]), found.shape[1]))

    silence = np.zeros(shape.overlap * 640, np.float32)
    before = features.offline(networks.audio, silence, Chunk())
    options = options or WindowOptions.plain(character().start[None])
    driver = LiveDriver(shape, sample, rows, options, before=before[None], leads_on=leads_on)
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


@EACH_SHAPE
def test_a_row_that_is_settled_stays_as_it_is_and_no_other_is_told_to_be(shape: WindowShape) -> None:
    one, settled = mover(shape), dict[int, Tensor]()
    one.open(0, character(), seed=1)
    for index, samples in enumerate(sound()):
        assert not one.has_settled(0, index - 1)
        told = [frame for frame in range(index) if one.has_settled(0, frame)]
        settled |= {frame: one.settled(0, frame).clone() for frame in told if frame not in settled}
        one.hear([(0, samples)])
        recent = [frame for frame in told if frame > index - one.delay - HORIZON]
        assert all(torch.equal(one.settled(0, frame), settled[frame]) for frame in recent)
        assert index < one.delay or one.has_settled(0, index - one.delay)
    assert len(settled) > TICKS // 2


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


@pytest.mark.parametrize("cache_bytes", [0, 1 << 24], ids=["afresh", "cached"])
@given(st.sampled_from([WindowShape(1, 1), *SHAPES]), st.integers(0, 30), st.data())
@settings(max_examples=8, deadline=None)
def test_sound_that_is_taken_back_has_never_been(
    cache_bytes: int, shape: WindowShape, kept: int, data: st.DataObject
) -> None:
    """To the last bit, twice over, at any place of a hop, as far as the horizon goes back."""
    one, other = (
        Mover(tiny.networks(), shape, slots=2, steps=1, cache_bytes=each) for each in (cache_bytes, 0)
    )
    for each in (one, other):
        each.open(1, character(), seed=5)
    hear_all(one, sound(1)[:kept])
    for seed in (2, 3):
        hear_all(one, sound(seed)[: data.draw(st.integers(0, HORIZON + one.delay))])
        one.rewind(1, kept)
    hear_all(other, sound(1)[:kept])
    then = sound(4)[: 2 * shape.hop + one.delay]
    assert hear_all(one, then) == hear_all(other, then)
    assert torch.equal(one.first(1), other.first(1))
    for frame in range(max(0, kept - shape.hop - shape.fuse), kept + len(then) - one.delay):
        assert torch.equal(one.settled(1, frame), other.settled(1, frame))


def hear_all(one: Mover, ticks: F32, slot: int = 1) -> list[int]:
    """At which of `ticks` the first window was made."""
    return [index for index, samples in enumerate(ticks) if one.hear([(slot, samples)])]


@pytest.mark.parametrize("frame", [3, TICKS + 7], ids=["long ago", "ahead"])
def test_a_run_that_goes_back_too_far_or_ahead_comes_out_of_silence_there(frame: int) -> None:
    one, other = mover(WindowShape(2, 2), slots=2), mover(WindowShape(2, 2), slots=2)
    for each in (one, other):
        each.open(1, character(), seed=5)
    hear_all(one, sound())
    for each in (one, other):
        each.rewind(1, frame)
        assert hear_all(each, sound(3)[:30]) == [3]
    for index in range(frame, frame + 30 - one.delay):
        assert torch.equal(one.settled(1, index), other.settled(1, index))
    assert torch.isfinite(one.settled(1, frame)).all()


def test_noise_of_the_reference_moves_as_its_draws_do() -> None:
    shape = WindowShape(10, 10)
    one = Mover(tiny.networks(), shape, slots=1, steps=tiny.STEPS, noise="upstream")
    one.open(0, character(), seed=1)
    drawn = iter(range(100))

    def reference(first: int) -> Tensor:
        return noise.draw_reference(1, next(drawn), tiny.STEPS)

    expected = driven(shape, sound(), draw=reference, leads_on=False)
    hear_all(one, sound(), slot=0)
    for frame in range(TICKS - one.delay):
        torch.testing.assert_close(one.settled(0, frame), expected[frame], atol=2e-5, rtol=0)


@EACH_SHAPE
@pytest.mark.parametrize(("every", "keeps"), [(1, (0, 202)), (3, (0, 0))])
def test_the_character_leads_again_after_as_many_windows_as_asked(
    shape: WindowShape, every: int, keeps: tuple[int, int]
) -> None:
    """In a slot that was another's before, and is one that never goes back after."""
    plain = WindowOptions.plain(character().start[None])
    follow = (torch.arange(265) >= keeps[0]) & (torch.arange(265) < keeps[1])
    again = replace(plain, fix_every=torch.tensor([every]), follow=follow[None])
    one = mover(shape)
    for options, asked in (
        (plain, {}),
        (again, {"restart_every": every, "keeps": keeps}),
        (plain, {}),
    ):
        one.open(0, character(), seed=1, **asked)  # type: ignore[arg-type]
        expected = driven(shape, sound(), options=options)
        hear_all(one, sound(), slot=0)
        for frame in range(TICKS - 2 * one.delay, TICKS - one.delay):
            torch.testing.assert_close(one.settled(0, frame), expected[frame], atol=2e-5, rtol=0)
        one.close(0)


def test_what_a_run_is_told_is_felt_from_the_next_hop_on() -> None:
    happy = conditions.emotion_vectors(3)[0]
    look = torch.full((6,), 0.5)
    plain, changed = [], []
    for told in (False, True):
        one = mover(WindowShape(2, 2))
        one.open(0, character(), seed=1)
        hear_all(one, sound()[:20], slot=0)
        before = one.settled(0, 20 - one.delay - 1).clone()
        if told:
            one.tell(0, happy)
            one.eyes(0, torch.zeros(2), look)
        hear_all(one, sound()[20:40], slot=0)
        (changed if told else plain).extend((before, one.settled(0, 30).clone()))
    assert torch.equal(plain[0], changed[0])
    assert not torch.equal(plain[1], changed[1])


def test_eyes_are_those_of_the_first_frame_until_told_and_can_be_given_back() -> None:
    own = character()
    filmed = Character(
        own.eye_open.repeat(3, 1) * torch.arange(1, 4)[:, None],
        own.eye_ball.repeat(3, 1),
        own.canonical,
        own.start,
    )
    rows: list[Tensor] = []
    for who, ask in ((own, False), (filmed, False), (filmed, True)):
        one = mover(WindowShape(2, 2))
        one.open(0, who, seed=1)
        if ask:
            one.eyes(0, torch.ones(2), None)
            one.eyes(0, None, None)
        hear_all(one, sound()[:30], slot=0)
        rows.append(one.settled(0, 20).clone())
    assert torch.equal(rows[0], rows[1])
    assert not torch.equal(rows[1], rows[2])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 40.0, -1e30])
def test_sound_that_is_none_is_mended_and_nothing_spreads(bad: float) -> None:
    heard = np.stack((sound(1), sound(2)))
    broken = heard.copy()
    broken[1, 10, 100:300] = bad
    heard[1, 10, 100:300] = 0 if np.isnan(bad) else np.sign(bad)
    movers = [mover(WindowShape(3, 2), slots=2) for _ in range(2)]
    for one, slots in zip(movers, (heard, broken), strict=True):
        for slot in (0, 1):
            one.open(slot, character(), seed=slot)
        for tick in range(TICKS):
            one.hear([(slot, slots[slot, tick]) for slot in (0, 1)])
    for slot in (0, 1):
        for frame in range(TICKS - movers[0].delay):
            assert torch.equal(movers[0].settled(slot, frame), movers[1].settled(slot, frame))
    assert [one.mended_samples for one in movers] == [0, 200]


def test_tensors_stay_where_they_are() -> None:
    one = mover(WindowShape(2, 2), slots=2)
    one.open(0, character(), seed=1)
    kept = [*_tensors(one._state), *_tensors(one._state.windows), *_tensors(one._told), one.motion]
    places = [each.data_ptr() for each in kept]
    hear_all(one, sound(), slot=0)
    one.rewind(0, TICKS - 3)
    hear_all(one, sound(), slot=0)
    kept = [*_tensors(one._state), *_tensors(one._state.windows), *_tensors(one._told), one.motion]
    assert places == [each.data_ptr() for each in kept]


def _tensors(state: object) -> list[Tensor]:
    found = [getattr(state, name) for name in state.__slots__]  # type: ignore[attr-defined]
    return [each for each in found if isinstance(each, Tensor)]
