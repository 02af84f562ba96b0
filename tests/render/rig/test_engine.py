from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import HOP, SMALL, avatar, heard, speech, spoken
from visavis.render.engine import Crop, Due, Engine
from visavis.render.rig.engine import RigEngine
from visavis.stream.controls import Controls
from visavis.stream.errors import AvatarError, UsageError
from visavis.stream.media import TickAudio

U8 = NDArray[np.uint8]


@pytest.fixture(scope="module")
def engine() -> RigEngine:
    return RigEngine()


def play(engine: Engine, slot: int, ticks: list[TickAudio]) -> list[U8]:
    """The pictures of `ticks`."""
    pictures: list[U8] = []
    for tick in ticks:
        (crop,) = engine.step([Due(slot, tick, True)])
        assert crop is not None
        pictures.append(crop.pixels.copy())
    return pictures


def opened(engine: Engine, slot: int, name: str = "ruby", *, seed: int = 1, index: int = 0) -> int:
    engine.open(slot, avatar(name), size=SMALL, seed=seed, index=index)
    return slot


def test_the_delay_is_three_ticks(engine: RigEngine) -> None:
    assert engine.kind == "rig"
    assert engine.max_batch == 1
    assert engine.spec.lookahead == 3 * engine.spec.hop == 1920
    assert engine.spec.window >= engine.spec.hop
    assert engine.spec.latency == Fraction(4 * 640, 16_000)


def test_the_sound_of_a_tick_gives_the_picture_three_before(engine: RigEngine) -> None:
    slot = opened(engine, 0, index=7)
    crops = [engine.step([Due(slot, heard(index), True)])[0] for index in range(7, 10)]
    assert [crop.index for crop in crops if crop is not None] == [4, 5, 6]
    engine.close(slot)


def test_a_crop_lies_on_whole_pixels_of_the_plate(engine: RigEngine) -> None:
    slot = opened(engine, 0)
    (crop,) = engine.step([Due(slot, heard(0), True)])
    assert isinstance(crop, Crop)
    x, y, width, height = avatar().view(SMALL).crop
    assert crop.pixels.shape == (height, width, 3)
    assert crop.pixels.dtype == np.uint8
    assert np.array_equal(crop.matrix, np.array([[1, 0, x], [0, 1, y]], np.float32))
    assert engine.mask(slot).shape == (height, width)
    engine.close(slot)


def test_what_is_not_drawn_moves_the_state_all_the_same(engine: RigEngine) -> None:
    ticks = spoken(0, speech()[: 40 * HOP])
    every = play(engine, opened(engine, 0), ticks)
    slot = opened(engine, 1)
    assert engine.step([Due(slot, tick, False) for tick in ticks[:-1]]) == [None] * 39
    last = play(engine, slot, ticks[-1:])
    assert np.array_equal(every[-1], last[0])
    engine.close(0)
    engine.close(1)


def test_two_slots_interleaved_equal_their_solo_runs(engine: RigEngine) -> None:
    one, other = spoken(0, speech()[: 30 * HOP]), spoken(50, speech()[40 * HOP : 70 * HOP])
    solo = play(engine, opened(engine, 0), one)
    solo_other = play(engine, opened(engine, 1, "marcus", seed=9, index=50), other)
    opened(engine, 0)
    opened(engine, 1, "marcus", seed=9, index=50)
    for k, (tick, tick_other) in enumerate(zip(one, other, strict=True)):
        first, second = engine.step([Due(0, tick, True), Due(1, tick_other, True)])
        assert first is not None
        assert second is not None
        assert np.array_equal(first.pixels, solo[k])
        assert np.array_equal(second.pixels, solo_other[k])
    engine.close(0)
    engine.close(1)


def test_slots_may_step_on_different_threads_at_once(engine: RigEngine) -> None:
    ticks = spoken(0, speech()[: 25 * HOP])
    alone = play(engine, opened(engine, 0), ticks)
    slots = [opened(engine, slot) for slot in range(4)]
    with ThreadPoolExecutor(len(slots)) as threads:
        together = list(threads.map(lambda slot: play(engine, slot, ticks), slots))
    for pictures in together:
        assert all(np.array_equal(a, b) for a, b in zip(alone, pictures, strict=True))
    for slot in slots:
        engine.close(slot)


def test_an_interrupt_goes_on_from_the_last_picture_sent(engine: RigEngine) -> None:
    slot = opened(engine, 0)
    before = play(engine, slot, spoken(0, speech()[: 45 * HOP]))
    sent = 38
    engine.interrupt(slot, sent)
    late = [engine.step([Due(slot, heard(sent + 1 + k), False)]) for k in range(3)]
    assert late == [[None]] * 3
    after = play(engine, slot, [heard(sent + 4 + k) for k in range(12)])
    pictures = [before[sent + 3], *after]
    steps = [np.abs(a.astype(int) - b).mean() for a, b in pairwise(pictures)]
    usual = max(np.abs(a.astype(int) - b).mean() for a, b in pairwise(before))
    assert steps[0] <= usual
    engine.close(slot)


def test_a_face_is_prepared_once_for_all_slots(engine: RigEngine) -> None:
    masks = [engine.mask(opened(engine, slot)) for slot in (0, 1)]
    assert masks[0] is masks[1]
    engine.close(0)
    engine.close(1)


def test_controls_reach_the_face(engine: RigEngine) -> None:
    ticks = [heard(index) for index in range(20)]
    plain = play(engine, opened(engine, 0), ticks)
    engine.control(opened(engine, 1), Controls(head_yaw=10.0))
    turned = play(engine, 1, ticks)
    assert np.abs(plain[-1].astype(int) - turned[-1]).mean() > 2
    engine.close(0)
    engine.close(1)


def test_ticks_out_of_order_are_refused(engine: RigEngine) -> None:
    slot = opened(engine, 0, index=5)
    with pytest.raises(UsageError, match="expects tick 5, not 6"):
        engine.step([Due(slot, heard(6), True)])
    engine.close(slot)


def test_a_size_that_the_avatar_lacks_is_refused(engine: RigEngine) -> None:
    with pytest.raises(AvatarError, match="choose one of"):
        engine.open(0, avatar(), size=(100, 100), seed=1, index=0)


def test_an_avatar_of_another_kind_is_refused_with_what_draws_it(engine: RigEngine) -> None:
    rigged = avatar()
    other = replace(rigged, manifest=msgspec.structs.replace(rigged.manifest, kind="ditto"))
    with pytest.raises(AvatarError, match=r"of kind ditto, which engine rig cannot draw.*--engine ditto"):
        engine.open(0, other, size=SMALL, seed=1, index=0)


def test_a_warm_engine_steps_as_a_cold_one_does() -> None:
    warm = RigEngine()
    warm.warm()
    opened(warm, 0)
    assert len(play(warm, 0, [heard(0)])) == 1


def test_it_counts_nothing(engine: RigEngine) -> None:
    play(engine, opened(engine, 0), [heard(0, np.full(HOP, 2, np.float32))])
    assert engine.counts() is None


def test_ticks_that_are_heard_at_once_are_those_that_are_heard_one_by_one(engine: RigEngine) -> None:
    ticks = spoken(0, speech()[: 40 * HOP])
    every = play(engine, opened(engine, 0), ticks)
    slot = opened(engine, 1)
    with pytest.raises(UsageError, match="expects tick 0, not 1"):
        engine.step([Due(slot, ticks[-1], True, before=tuple(ticks[1:-1]))])
    (crop,) = engine.step([Due(slot, ticks[-1], True, before=tuple(ticks[:-1]))])
    assert crop is not None
    assert np.array_equal(every[-1], crop.pixels)
    engine.close(0)
    engine.close(1)
