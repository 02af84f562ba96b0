"""The ditto engine draws the same frames however its slots are mixed, late by what it says and no more."""

import pickle
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support.ticks import tick
from support.tiny import STEPS, avatar, engine, networks
from visavis.render.avatar import find_avatar
from visavis.render.ditto.checkpoints import RandomWeights
from visavis.render.ditto.engine import DittoEngine, live_options
from visavis.render.ditto.live_options import LiveOptions
from visavis.render.ditto.windows import WindowShape
from visavis.render.engine import Crop, Due
from visavis.render.weights import file_named
from visavis.stream.controls import Controls
from visavis.stream.errors import AvatarError, DeviceError, UsageError
from visavis.stream.link import EngineCounts
from visavis.stream.stage import pipeline_latency

Pictures = dict[int, NDArray[np.uint8]]
SIZE = (720, 1280)


def heard(index: int, seed: int = 0) -> Due:
    sound = np.random.default_rng((seed, index)).normal(0, 0.1, 640).astype(np.float32)
    return Due(0, replace(tick(index), heard=sound), draw=True)


def opened(one: DittoEngine, slot: int = 0, *, face: int = 7, seed: int = 1, index: int = 0) -> DittoEngine:
    one.open(slot, avatar(face), size=SIZE, seed=seed, index=index)
    return one


def delay(one: DittoEngine) -> int:
    return one.spec.lookahead // one.spec.hop


def played(one: DittoEngine, ticks: Iterable[Due], first: int = 0) -> Pictures:
    """The pictures of frames from `first` on, of slot 0."""
    found: Pictures = {}
    for due in ticks:
        ready = due.audio.index - delay(one) >= first
        (crop,) = one.step([replace(due, draw=ready)])
        if crop is not None:
            found[crop.index] = crop.pixels
    return found


def same(one: Pictures, other: Pictures) -> list[int]:
    """Frames that are equal to the last bit."""
    return [index for index in one if np.array_equal(one[index], other[index])]


def test_what_is_settled_is_drawn_first_and_the_rest_once_its_motion_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, done = engine(2, 2, slots=2), list[tuple[str, list[int]]]()
    for slot in (0, 1):
        opened(one, slot)
    paint, hear, join = one._painter.paint, one._mover.hear, one._mover.join

    def noted(name: str, slots: list[int]) -> None:
        done.append((name, slots))

    monkeypatch.setattr(
        one._painter, "paint", lambda due: (noted("draw", [each.slot for each in due]), paint(due))[1]
    )
    monkeypatch.setattr(
        one._mover, "hear", lambda sound: (noted("hear", [slot for slot, _ in sound]), hear(sound))[1]
    )
    monkeypatch.setattr(one._mover, "join", lambda: (noted("join", []), join())[1])
    for index in range(20):
        due = [replace(heard(index), slot=0, draw=index >= delay(one))]
        if index:
            due.append(replace(heard(index - 1), slot=1, draw=index > delay(one)))
        one.step(due)
    drawn = [entry for entry in done if entry[1] or entry[0] == "join"]
    assert drawn[-8:] == [
        *(("draw", [0]), ("hear", [0, 1]), ("join", []), ("draw", [1])),
        *(("draw", [1]), ("hear", [0, 1]), ("join", []), ("draw", [0])),
    ]


@pytest.mark.parametrize(
    ("hop", "fuse", "milliseconds"),
    [(2, 2, 240), (5, 5, 480), (10, 10, 880), (1, 1, 160), (4, 2, 320), (40, 40, 3280)],
)
def test_delay_is_hop_fuse_and_look_ahead(hop: int, fuse: int, milliseconds: int) -> None:
    assert 1000 * pipeline_latency([engine(hop, fuse).spec]) == milliseconds


@pytest.mark.parametrize(("hop", "fuse"), [(2, 2), (3, 1), (5, 5)])
def test_a_frame_hears_no_further_ahead_than_the_delay(hop: int, fuse: int) -> None:
    """Wherever in a hop the sound changes."""
    plain = played(opened(engine(hop, fuse)), (heard(index) for index in range(40)))
    for change in range(20, 20 + hop):
        ticks = (heard(index, seed=9 * (index >= change)) for index in range(40))
        equal = set(same(plain, played(opened(engine(hop, fuse)), ticks)))
        assert len(equal) < len(plain)
        assert set(range(change - delay(engine(hop, fuse)))) <= equal


def test_each_tick_past_the_delay_draws_its_frame() -> None:
    one = opened(engine(), index=100)
    pictures = played(one, (heard(index) for index in range(100, 130)), first=100)
    assert list(pictures) == list(range(100, 130 - delay(one)))
    assert pictures[100].shape == (64, 64, 3)


def test_a_seed_makes_a_clip_again_to_the_last_bit() -> None:
    ticks = [heard(index) for index in range(24)]
    first, again = (played(opened(engine()), ticks) for _ in range(2))
    assert same(first, again) == list(first)
    other = played(opened(engine(), seed=2), ticks)
    assert len(same(first, other)) < len(first) / 2


def test_slots_in_a_batch_draw_what_they_draw_alone() -> None:
    """Two sessions of two avatars, the second one opened later and out of phase with the first one's hops."""
    alone = [
        played(opened(engine(3, 3), face=face, seed=face), (heard(index, face) for index in range(30)))
        for face in (1, 2)
    ]
    both = opened(engine(3, 3), 2, face=1, seed=1)
    opened(both, 0, face=2, seed=2, index=4)
    late = delay(both)
    for index in range(30):
        due = [Due(2, heard(index, 1).audio, draw=index >= late)]
        if index >= 4:
            sound = replace(heard(index - 4, 2).audio, index=index)
            due.insert(index % 2, Due(0, sound, draw=index - 4 >= late))
        for one, crop in zip(due, both.step(due), strict=True):
            if crop is not None:
                expected = alone[0][crop.index] if one.slot == 2 else alone[1][crop.index - 4]
                assert np.abs(crop.pixels.astype(int) - expected).max() <= 1


def test_an_interrupt_goes_on_from_the_frame_that_was_sent() -> None:
    one = opened(engine())
    before = played(one, (heard(index) for index in range(30)))
    one.interrupt(0, 20)
    after = played(one, (heard(index, seed=3) for index in range(21, 60)), first=21)
    assert list(after) == list(range(21, 60 - delay(one)))
    steps = [distance(before[index], before[index + 1]) for index in range(10, 20)]
    assert distance(before[20], after[21]) <= 1.5 * max(steps)


def test_an_interrupt_before_the_first_frame_begins_anew() -> None:
    one = opened(engine())
    played(one, (heard(index) for index in range(3)))
    one.interrupt(0, -1)
    assert list(played(one, (heard(index) for index in range(20)))) == list(range(20 - delay(one)))


def distance(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    return float(np.abs(one.astype(float) - other).mean())


def test_ticks_are_fed_in_order() -> None:
    one = opened(engine())
    with pytest.raises(UsageError, match="expects tick 0, not 1"):
        one.step([heard(1)])


def test_a_rig_is_nothing_that_it_can_draw() -> None:
    with pytest.raises(AvatarError, match="of kind rig"):
        engine().open(0, find_avatar("ruby"), size=SIZE, seed=0, index=0)


def test_a_slot_can_be_used_again() -> None:
    ticks = [heard(index) for index in range(16)]
    one = opened(engine())
    first = played(one, ticks)
    one.close(0)
    assert same(first, played(opened(one), ticks)) == list(first)


def test_the_mask_has_the_size_of_the_crop_and_the_matrix_puts_its_middle_there() -> None:
    one = opened(engine())
    assert one.mask(0).shape == (64, 64)
    crop: Crop | None = None
    for index in range(delay(one) + 1):
        (crop,) = one.step([replace(heard(index), draw=index >= delay(one))])
    assert crop is not None
    middle = crop.matrix @ np.array([31.5, 31.5, 1])
    assert middle == pytest.approx([0.5 * 255.5 + 100, 0.5 * 255.5 + 50])


def test_without_a_configuration_among_the_weights_there_is_nothing_to_take_from_it(tmp_path: Path) -> None:
    for source in (RandomWeights(1), tmp_path):
        assert torch.isinf(live_options(source).low).all()


@pytest.mark.parametrize("name", ["configuration", "configuration_online"])
def test_the_official_configuration_says_how_lids_shut_and_what_bounds_motion(
    tmp_path: Path, name: str
) -> None:
    lids = np.zeros((15, 63), np.float32)
    lids[7, 34] = 0.05
    limits = np.stack([np.full(265, sign * 0.5, np.float32) for sign in (-1, 1)])
    options = {"delta_eye_arr": lids, "v_min_max_for_clip": limits, "overall_ctrl_info": {"delta_pitch": 2}}
    parts = {"base_cfg": {}, "audio2motion_cfg": {}, "default_kwargs": options}
    path = tmp_path / file_named(name).path
    path.parent.mkdir(parents=True)
    path.write_bytes(pickle.dumps(parts, protocol=4))
    found = live_options(tmp_path)
    assert found.blink.at(1)[34] == np.float32(0.05)
    assert found.manner(1).bearing == (2, 0, 0)
    assert found.bounded(torch.ones(265)).max() == 0.5


def test_motion_stays_within_the_bounds_of_the_configuration() -> None:
    bound = torch.full((265,), 0.01)
    narrow = replace(LiveOptions.of(), low=-bound, high=bound)
    one = DittoEngine(networks(), shape=WindowShape(hop=2, fuse=2), steps=STEPS, options=narrow)
    free = engine()
    for each in (one, free):
        played(opened(each), (heard(index) for index in range(16)))
    rest = torch.from_numpy(np.array(avatar(7).tensors["motion"][:, 202:]))
    held, wild = (each.face(0, 8).expression.sub(rest)[0, 18:21].abs() for each in (one, free))
    assert held.max() <= 0.021
    assert wild.max() > held.max()


def test_the_source_leads_windows_again_as_the_configuration_has_it() -> None:
    plain, online = LiveOptions.of(), replace(LiveOptions.of(), restart_every=1, restart_keeps=(0, 202))
    shape, runs = WindowShape(hop=2, fuse=2), list[Pictures]()
    for options, cache_bytes in ((plain, 0), (online, 0), (online, 1 << 20)):
        one = DittoEngine(networks(), shape=shape, steps=STEPS, options=options, cache_bytes=cache_bytes)
        runs.append(played(opened(one), (heard(index) for index in range(16))))
        assert bool(one._mover.cache.counts.misses) == bool(cache_bytes)
    assert same(runs[1], runs[2]) == list(runs[1])
    assert same(runs[0], runs[1]) != list(runs[1])


def test_what_was_heard_before_is_counted_as_a_hit_and_what_is_no_sound_as_mended() -> None:
    one = engine()
    assert one.counts() == EngineCounts()
    ticks = [heard(index) for index in range(12)]
    played(opened(one), ticks)
    first = one.counts()
    assert (first.cache_hits, first.mended_samples) == (0, 0)
    assert first.cache_misses > 0
    assert first.cache_bytes > 0
    one.close(0)
    played(opened(one), ticks)
    again = one.counts()
    assert (again.cache_hits, again.cache_misses) == (first.cache_misses, first.cache_misses)
    loud = replace(heard(12), audio=replace(heard(12).audio, heard=np.full(640, 1.5, np.float32)))
    one.step([loud])
    assert one.counts().mended_samples == 640


def test_a_gpu_that_fails_is_lost_for_the_whole_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    one = opened(engine())

    def failing(_sound: object) -> list[int]:
        raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered\nmore lines")

    monkeypatch.setattr(one._mover, "hear", failing)
    with pytest.raises(
        DeviceError, match=r"^the GPU failed: CUDA error: an illegal memory access was en\w+$"
    ):
        one.step([heard(0)])


@pytest.mark.parametrize(
    ("part", "call"),
    [
        ("_painter.open", lambda one: opened(one, slot=1)),
        ("_painter.resume", lambda one: one.interrupt(0, 0)),
        ("_painter.close", lambda one: one.close(0)),
        ("_parking.offload", lambda one: one.offload()),
        ("_parking.park", lambda one: one.park()),
    ],
    ids=["open", "interrupt", "close", "offload", "park"],
)
def test_a_gpu_may_fail_whenever_it_is_used(
    part: str, call: Callable[[DittoEngine], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = opened(engine())

    def failing(*_: object) -> None:
        raise torch.AcceleratorError("CUDA error: unspecified launch failure")

    owner, _, name = part.partition(".")
    monkeypatch.setattr(getattr(one, owner), name, failing)
    with pytest.raises(DeviceError, match="unspecified launch failure"):
        call(one)


def test_it_says_for_how_many_it_has_room() -> None:
    assert engine(slots=3).most_slots == 3


@pytest.mark.parametrize("told_at", [None, 0, 5, 13])
def test_ticks_that_are_heard_at_once_are_those_that_are_heard_one_by_one(told_at: int | None) -> None:
    """In moods that change at one of them, too."""
    one, other = (opened(engine(2, 2)) for _ in range(2))
    ticks, last = [heard(index) for index in range(20)], 18
    for due in ticks[:last]:
        if due.audio.index == told_at:
            one.control(0, Controls(emotion="happy"))
        one.step([replace(due, draw=False)])
    first = told_at or last
    for some in (ticks[:first], ticks[first:last]):
        if some and some[0].audio.index == told_at:
            other.control(0, Controls(emotion="happy"))
        if some:
            before = tuple(due.audio for due in some[:-1])
            other.step([replace(some[-1], draw=False, before=before)])
    for due in ticks[last:]:
        (mine,), (theirs,) = one.step([due]), other.step([due])
        assert mine is not None
        assert theirs is not None
        assert np.array_equal(mine.pixels, theirs.pixels)


def test_ticks_that_are_not_in_order_are_refused_and_not_heard() -> None:
    one = opened(engine(2, 2))
    good = replace(heard(3), before=tuple(heard(index).audio for index in range(3)))
    with pytest.raises(UsageError, match="expects tick 2, not 3"):
        one.step([replace(good, before=good.before[:-1])])
    one.step([good])
