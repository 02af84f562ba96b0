"""Motion that was made before comes again to the last bit, without the networks."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support import tiny
from support.ticks import tick
from torch import Tensor
from visavis.render.ditto import conditions
from visavis.render.ditto.conditions import Character
from visavis.render.ditto.hops import Made
from visavis.render.ditto.motion_cache import MotionCache, chained
from visavis.render.ditto.mover import Mover
from visavis.render.ditto.windows import WindowShape
from visavis.render.engine import Due

F32 = NDArray[np.float32]
TICKS = 40
SHAPES = pytest.mark.parametrize(
    "shape", [WindowShape(2, 2), WindowShape(5, 3), WindowShape(10, 10)], ids=str
)


def made(rows: int) -> Made:
    return Made(torch.zeros(1, 4), torch.zeros(rows, 4), torch.zeros(4))


class Counting:
    """An audio encoder that counts the windows it hears."""

    def __init__(self) -> None:
        self.windows = 0
        self._encoder = tiny.Attentive(tiny.SEED)

    def __call__(self, samples: Tensor) -> Tensor:
        self.windows += len(samples)
        return self._encoder(samples)


def mover(shape: WindowShape, cache_bytes: int = 1 << 26) -> tuple[Mover, Counting]:
    encoder = Counting()
    networks = replace(tiny.networks(), audio=encoder)
    return Mover(networks, shape, slots=3, steps=tiny.STEPS, cache_bytes=cache_bytes), encoder


def character(seed: int = 1) -> Character:
    random = np.random.default_rng(seed)
    parts = [(1, 2), (1, 6), (63,), (265,)]
    return Character(*(torch.from_numpy(random.normal(0, 0.3, part).astype(np.float32)) for part in parts))


def sound(seed: int = 1) -> F32:
    return np.random.default_rng(seed).normal(0, 0.1, (TICKS, 640)).astype(np.float32)


def played(one: Mover, ticks: F32, slot: int = 0, *, seed: int = 1, face: int = 1) -> Tensor:
    """(T, 265) of a run that is opened and closed for it."""
    one.open(slot, character(face), seed=seed)
    rows: list[Tensor] = []
    for index, samples in enumerate(ticks):
        one.hear([(slot, samples)])
        if index >= one.delay:
            rows.append(one.settled(slot, index - one.delay).clone())
    one.close(slot)
    return torch.stack(rows)


@SHAPES
def test_a_clip_that_was_made_comes_again_without_the_networks(shape: WindowShape) -> None:
    one, encoder = mover(shape)
    first = played(one, sound())
    heard, hops = encoder.windows, (TICKS - 2) // shape.hop
    assert (one.cache.counts.hits, one.cache.counts.misses) == (0, hops)
    assert torch.equal(played(one, sound(), slot=2), first)
    assert encoder.windows == heard
    assert (one.cache.counts.hits, one.cache.counts.misses) == (hops, hops)
    off, _ = mover(shape, 0)
    assert torch.equal(played(off, sound()), first)


@SHAPES
@pytest.mark.parametrize("same", [1, 17, 30])
def test_a_clip_that_goes_on_otherwise_is_what_it_would_have_been(shape: WindowShape, same: int) -> None:
    ticks = np.concatenate((sound(1)[:same], sound(2)[same:]))
    one, _ = mover(shape)
    played(one, sound(1))
    got = played(one, ticks)
    assert one.cache.counts.hits == max(0, same - 2) // shape.hop
    off, _ = mover(shape, 0)
    assert torch.equal(got, played(off, ticks))


@SHAPES
def test_a_run_that_goes_back_finds_what_it_made(shape: WindowShape) -> None:
    one, encoder = mover(shape)
    expected = played(one, sound())
    one.open(0, character(), seed=1)
    for samples in sound()[:30]:
        one.hear([(0, samples)])
    one.rewind(0, 25)
    for samples in sound(2)[25:30]:
        one.hear([(0, samples)])
    one.rewind(0, 25)
    heard = encoder.windows
    for index in range(25, TICKS):
        one.hear([(0, sound()[index])])
    assert encoder.windows == heard
    for frame in range(25, TICKS - one.delay):
        assert torch.equal(one.settled(0, frame), expected[frame])


@pytest.mark.parametrize(
    "other",
    [{"seed": 2}, {"face": 2}, {"emotion": 3}, {"origin": 4}, {"restarts": 1}],
    ids=lambda other: next(iter(other)),
)
def test_what_moves_otherwise_is_not_taken_for_it(other: dict[str, int]) -> None:
    one, _ = mover(WindowShape(2, 2))
    played(one, sound())
    one.open(
        0,
        character(other.get("face", 1)),
        seed=other.get("seed", 1),
        restart_every=other.get("restarts", 0),
    )
    if "emotion" in other:
        one.tell(0, conditions.emotion_vectors(other["emotion"])[0])
    if "origin" in other:
        one.rewind(0, other["origin"])
    for samples in sound():
        one.hear([(0, samples)])
    assert one.cache.counts.hits == 0


def test_found_and_unknown_runs_share_a_tick() -> None:
    one, _ = mover(WindowShape(2, 2))
    expected = played(one, sound(1))
    for slot in (0, 1, 2):
        one.open(slot, character(), seed=1)
    for first, second in zip(sound(1), sound(2), strict=True):
        one.hear([(0, first), (1, second), (2, first)])
    for frame in range(TICKS - one.delay - 8, TICKS - one.delay):
        assert torch.equal(one.settled(0, frame), expected[frame])
        assert torch.equal(one.settled(2, frame), expected[frame])
        assert not torch.equal(one.settled(1, frame), expected[frame])


def test_what_was_not_wanted_for_longest_makes_room() -> None:
    cache = MotionCache(3 * made(2).nbytes)
    for key in (b"a", b"b", b"c"):
        assert cache.find(key) is None
        cache.keep(key, made(2))
    assert cache.find(b"a") is not None
    cache.keep(b"d", made(2))
    assert cache.find(b"b") is None
    assert all(cache.find(key) for key in (b"a", b"c", b"d"))
    counts = cache.counts
    assert (counts.hits, counts.misses, counts.evictions) == (4, 4, 1)
    assert counts.used_bytes == 3 * made(2).nbytes
    cache.keep(b"d", made(1))
    assert counts.used_bytes == 2 * made(2).nbytes + made(1).nbytes


def test_what_is_larger_than_all_room_is_not_kept() -> None:
    cache = MotionCache(made(2).nbytes)
    cache.keep(b"a", made(3))
    assert cache.find(b"a") is None
    assert cache.counts.used_bytes == 0


def test_no_room_is_no_cache() -> None:
    cache = MotionCache(0)
    cache.keep(b"a", made(1))
    assert not cache.is_on
    assert cache.find(b"a") is None
    assert cache.counts.misses == 0


def test_keys_tell_where_one_part_ends_and_the_next_begins() -> None:
    keys = [chained(b"", b"ab", b"c"), chained(b"", b"a", b"bc"), chained(b"x", b"ab", b"c"), chained(b"")]
    assert len(set(keys)) == 4
    assert chained(b"k", np.ones(3, np.float32)) == chained(b"k", np.ones(3, np.float32).tobytes())


def test_pictures_of_a_greeting_that_was_drawn_before_are_the_same_to_the_last_bit() -> None:
    one, face = tiny.engine(2, 2, slots=1), tiny.avatar()
    runs: list[list[NDArray[np.uint8]]] = []
    for _ in range(2):
        one.open(0, face, size=(720, 1280), seed=1, index=0)
        due = [
            Due(0, replace(tick(index), heard=heard), draw=index > 5) for index, heard in enumerate(sound())
        ]
        crops = [one.step([each])[0] for each in due]
        runs.append([crop.pixels for crop in crops if crop is not None])
        one.close(0)
    assert len(runs[0]) == TICKS - 6
    assert all(np.array_equal(first, second) for first, second in zip(*runs, strict=True))
    assert one._mover.cache.counts.hits == (TICKS - 2) // 2
