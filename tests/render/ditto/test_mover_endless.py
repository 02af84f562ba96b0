"""Motion goes on for hours, and depends on the sound alone, not on how it arrives."""

import gc
import resource
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support import tiny
from torch import Tensor
from visavis.render.ditto.conditions import Character
from visavis.render.ditto.mover import Mover
from visavis.render.ditto.windows import WindowShape

F32 = NDArray[np.float32]
TICKS = 120
MOST_GROWTH_BYTES = 4 << 20


def opened(shape: WindowShape, **options: int) -> Mover:
    one = Mover(tiny.networks(), shape, slots=1, steps=1, **options)  # type: ignore[arg-type]
    random = np.random.default_rng(1)
    parts = [(1, 2), (1, 6), (63,), (265,)]
    face = Character(*(torch.from_numpy(random.normal(0, 0.3, part).astype(np.float32)) for part in parts))
    one.open(0, face, seed=1)
    return one


def sound(ticks: int, seed: int = 1) -> F32:
    return np.random.default_rng(seed).normal(0, 0.1, ticks * 640).astype(np.float32)


def moved(one: Mover, pieces: list[F32]) -> Tensor:
    """(T, 265) of all frames that settle, each taken as soon as it is promised."""
    rows: list[Tensor] = []
    heard = 0
    for piece in pieces:
        one.hear([(0, piece)])
        heard += len(piece)
        while len(rows) + one.delay < heard // 640:
            rows.append(one.settled(0, len(rows)).clone())
    return torch.stack(rows)


@cache
def in_ticks(shape: WindowShape) -> Tensor:
    """As a live session hears it."""
    return moved(opened(shape, cache_bytes=0), np.split(sound(TICKS), TICKS))


@pytest.mark.parametrize("shape", [WindowShape(2, 2), WindowShape(10, 10), WindowShape(40, 10)], ids=str)
@given(st.lists(st.integers(1, 16_000), min_size=1, max_size=8), st.booleans())
@settings(max_examples=3, deadline=None)
def test_any_split_of_the_sound_gives_the_same_motion(
    shape: WindowShape, cuts: list[int], cached: bool
) -> None:
    heard = sound(TICKS)
    whole = in_ticks(shape)
    at = np.cumsum(np.resize(cuts, 1 + len(heard) // min(cuts)))
    pieces = np.split(heard, at[at < len(heard)])
    assert torch.equal(moved(opened(shape, cache_bytes=cached << 24), pieces), whole)


@pytest.mark.slow
def test_an_hour_takes_no_more_memory_than_a_minute() -> None:
    """Each frame is there in its tick, and motion of the last minute is as much as in the first.

    With hops of 40 frames, one step and the tiny network: hops of 10 would take the networks five minutes.
    """
    shape, ticks, cache_bytes = WindowShape(40, 10), 90_000, 1 << 20
    one = opened(shape, cache_bytes=cache_bytes)
    minute = sound(1500).reshape(-1, 640)
    spread: list[float] = []
    rows: list[Tensor] = []
    before = 0
    for tick in range(ticks):
        told = one.hear([(0, minute[(7 * tick) % 1500])])
        assert told == ([0] if tick == shape.hop + 1 else [])
        if tick >= one.delay:
            rows.append(one.settled(0, tick - one.delay).clone())
        if tick % 1500 == 1499:
            seen = torch.stack(rows)
            assert torch.isfinite(seen).all()
            spread.append(float(seen.std(0).mean()))
            rows.clear()
        if tick == 3000:
            before = resident_bytes()
    assert resident_bytes() - before < MOST_GROWTH_BYTES
    assert one.cache.counts.used_bytes <= cache_bytes
    assert max(spread[1:]) / min(spread[1:]) < 1.2


def resident_bytes() -> int:
    """Of memory that this process takes now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
