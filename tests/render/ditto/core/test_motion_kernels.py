from dataclasses import replace

import pytest
import support.interpreter
import torch
from support.motion import normal
from torch import Tensor
from visavis.render.ditto.attention import Rotary
from visavis.render.ditto.core import motion_twins as twins
from visavis.render.ditto.core.motion_launch import MotionKernels
from visavis.render.ditto.core.motion_plan import Level, Linear
from visavis.render.ditto.core.motion_room import Memory
from visavis.render.ditto.core.motion_tiles import Tile, Tiles
from visavis.render.ditto.schedule import Schedule
from visavis.render.ditto.seams import Hold

assert support.interpreter.triton

SPLIT = MotionKernels(
    Tiles(other=Tile(16, 16, 16), level_rows=8, queries=16, leave_columns=16, leave_depth=16)
)
WITHIN = MotionKernels(replace(SPLIT.tiles, levels_within=True, looks_within=True))
BOTH = pytest.mark.parametrize("kernels", [SPLIT, WITHIN], ids=["levels apart", "levels within"])
TYPES = pytest.mark.parametrize(
    ("dtype", "allowed"), [(torch.float32, 3e-6), (torch.float16, 4e-3)], ids=["fp32", "fp16"]
)
SIZES = pytest.mark.parametrize(("slots", "length"), [(1, 5), (3, 7)])
WIDTH, HEADS, FEED, MOTION = 32, 4, 48, 21


def linear(outputs: int, inputs: int, dtype: torch.dtype) -> Linear:
    return Linear(normal(1, outputs, inputs, scale=inputs**-0.5).to(dtype), normal(2, outputs))


def level() -> Level:
    rotary = Rotary(WIDTH, 18)
    return Level(1 + 0.1 * normal(3, WIDTH), normal(4, WIDTH, scale=0.1), rotary.cosine, rotary.sine)


def near(found: Tensor, wanted: Tensor, allowed: float) -> None:
    """Both in their type; `allowed` of the largest."""
    assert found.dtype == wanted.dtype
    found, wanted = found.float(), wanted.float()
    torch.testing.assert_close(found, wanted, atol=allowed * float(wanted.abs().max()), rtol=0)


@TYPES
@pytest.mark.parametrize("activation", ["none", "gelu", "silu"])
@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(5, 32, 48), (20, 21, 32), (17, 48, 21)])
def test_project(
    rows: int, inputs: int, outputs: int, activation: twins.Activation, dtype: torch.dtype, allowed: float
) -> None:
    layer = linear(outputs, inputs + -inputs % 16, dtype)
    layer.weight[:, inputs:] = 0
    given = normal(5, rows, inputs)
    found, wanted = (torch.full((rows, outputs), torch.nan, dtype=dtype) for _ in range(2))
    SPLIT.project(given, layer, activation=activation, out=found)
    twins.project(given, layer, activation=activation, out=wanted)
    near(found, wanted, allowed)


@BOTH
@TYPES
@SIZES
@pytest.mark.parametrize("turned", [0, 2 * WIDTH, 3 * WIDTH])
def test_level_project(
    kernels: MotionKernels, slots: int, length: int, turned: int, dtype: torch.dtype, allowed: float
) -> None:
    layer, given = linear(3 * WIDTH, WIDTH, dtype), 2 + 3 * normal(5, slots, length, WIDTH)
    levelled = torch.full((2, slots + 1, length, WIDTH), torch.nan, dtype=dtype)
    found, wanted = (torch.full((slots, length, 3 * WIDTH), torch.nan, dtype=dtype) for _ in range(2))
    for ops, out in ((kernels, found), (twins, wanted)):
        ops.level_project(given, level(), layer, turned=turned, activation="gelu", levelled=levelled, out=out)
    near(found, wanted, allowed)


@TYPES
@SIZES
@pytest.mark.parametrize("case", ["plain", "film", "film of one branch for both"])
def test_project_into(case: str, slots: int, length: int, dtype: torch.dtype, allowed: float) -> None:
    layer, films = linear(WIDTH, FEED, dtype), normal(6, 1 + slots, 3, 2, WIDTH).to(dtype)
    given = normal(5, slots if case.endswith("both") else 2 * slots, length, FEED).to(dtype)
    film = None if case == "plain" else films[:, 1]
    found, wanted = (normal(7, 2 * slots, length, WIDTH) for _ in range(2))
    SPLIT.project_into(given, layer, film=film, out=found)
    twins.project_into(given, layer, film=film, out=wanted)
    near(found, wanted, allowed)


@TYPES
@pytest.mark.parametrize(
    "tile", [Tile(16, 16, 32), Tile(64, 64, 16), Tile(64, 64, 32)], ids=["at once", "large", "large at once"]
)
def test_products_may_be_cut_in_other_ways(tile: Tile, dtype: torch.dtype, allowed: float) -> None:
    """All of the sum at once, and so much a warp that nothing is asked for ahead."""
    kernels, slots, length = MotionKernels(Tiles(other=tile)), 3, 7
    layer, film = linear(WIDTH, WIDTH, dtype), normal(6, 1 + slots, 2, WIDTH).to(dtype)
    given = normal(5, 2 * slots, length, WIDTH).to(dtype)
    found, wanted = (normal(7, 2 * slots, length, WIDTH) for _ in range(2))
    for ops, out in ((kernels, found), (twins, wanted)):
        ops.project_into(given, layer, film=film, out=out)
    near(found, wanted, allowed)
    for ops, out in ((kernels, found), (twins, wanted)):
        ops.project(given, layer, out=out)
    near(found, wanted, allowed)
    for ops, out in ((kernels, found), (twins, wanted)):
        ops.enter(given[:slots].float(), layer.weight, film[1:, 0].float().contiguous(), out=out)
    near(found, wanted, allowed)


@TYPES
@SIZES
def test_attend(slots: int, length: int, dtype: torch.dtype, allowed: float) -> None:
    mixed = normal(5, slots, length, 3 * WIDTH, scale=2).to(dtype)
    found, wanted = (torch.full((slots, length, WIDTH), torch.nan, dtype=dtype) for _ in range(2))
    SPLIT.attend(mixed, heads=HEADS, out=found)
    twins.attend(mixed, heads=HEADS, out=wanted)
    near(found, wanted, allowed)


def memory(slots: int, length: int, dtype: torch.dtype) -> Memory:
    stored, late = normal(6, 1 + slots, length, 4, WIDTH).to(dtype), normal(7, 2, 4, WIDTH).to(dtype)
    return Memory(stored[:, :, 1], stored[:, :, 3], late[:, 1], late[:, 3])


@BOTH
@TYPES
@SIZES
def test_look(kernels: MotionKernels, slots: int, length: int, dtype: torch.dtype, allowed: float) -> None:
    given, query = normal(5, 2 * slots, length, WIDTH, scale=3), linear(WIDTH, WIDTH, dtype)
    levelled = torch.empty(2, *given.shape, dtype=dtype)
    found, wanted = (torch.full(given.shape, torch.nan, dtype=dtype) for _ in range(2))
    for ops, out in ((kernels, found), (twins, wanted)):
        asked = torch.empty_like(out)
        ops.look(
            given, level(), query, memory(slots, length, dtype),
            heads=HEADS, levelled=levelled, asked=asked, out=out,
        )  # fmt: skip
    near(found, wanted, allowed)


@TYPES
@SIZES
def test_enter(slots: int, length: int, dtype: torch.dtype, allowed: float) -> None:
    weight = linear(WIDTH, 32, dtype).weight
    weight[:, MOTION:] = 0
    given, lead = normal(5, slots, length, MOTION), normal(6, slots, WIDTH)
    found, wanted = (torch.full((2 * slots, length, WIDTH), torch.nan) for _ in range(2))
    SPLIT.enter(given, weight, lead, out=found)
    twins.enter(given, weight, lead, out=wanted)
    near(found, wanted, allowed)


def held(slots: int, length: int, left: int) -> Hold:
    follows = torch.arange(slots) % 2 == 0
    return Hold(normal(8, slots, length, MOTION), follows, normal(9, length).abs(), left)


@TYPES
@SIZES
@pytest.mark.parametrize("left", [0, 2, 4])
@pytest.mark.parametrize("is_last", [False, True])
def test_leave(is_last: bool, left: int, slots: int, length: int, dtype: torch.dtype, allowed: float) -> None:
    hidden, layer = normal(5, 2 * slots, length, WIDTH), linear(MOTION, WIDTH, dtype)
    fresh = None if is_last else normal(7, slots, length, MOTION)
    step, bounds = Schedule.of(5).steps[2], held(slots, length, left)
    found, wanted = (normal(6, slots, length, MOTION) for _ in range(2))
    SPLIT.leave(hidden, layer, step, noisy=found, fresh=fresh, held=bounds, out=found)
    twins.leave(hidden, layer, step, noisy=wanted, fresh=fresh, held=bounds, out=wanted)
    near(found, wanted, allowed)


@BOTH
@pytest.mark.parametrize("length", [7, 16])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_slot_is_the_same_to_the_bit_beside_others(
    kernels: MotionKernels, dtype: torch.dtype, length: int
) -> None:
    """Three slots, then each of them with others. What numpy multiplies depends on a row's place in a tile,
    so here slots change places only where they fill whole tiles."""
    slots = 3
    query, layer, film = linear(WIDTH, WIDTH, dtype), linear(WIDTH, FEED, dtype), memory(slots, 2, dtype).keys
    rows, added = normal(5, 2 * slots, length, WIDTH), normal(6, 2 * slots, length, FEED).to(dtype)
    stored, last, bounds = memory(slots, length, dtype), linear(MOTION, WIDTH, dtype), held(slots, length, 3)
    windows = normal(7, slots, length, MOTION)

    def run(mine: list[int]) -> Tensor:
        both, own = [*mine, *(slots + slot for slot in mine)], [0, *(1 + slot for slot in mine)]
        out, noisy = rows[both], windows[mine]
        kernels.project_into(added[both], layer, film=film[own], out=out)
        found = torch.empty_like(out, dtype=dtype)
        seen = replace(stored, keys=stored.keys[own], values=stored.values[own])
        kernels.look(
            out, level(), query, seen, heads=HEADS,
            levelled=torch.empty(2, *out.shape, dtype=dtype), asked=torch.empty_like(found), out=found,
        )  # fmt: skip
        led = replace(bounds, old=bounds.old[mine], follows=bounds.follows[mine])
        step = Schedule.of(5).steps[2]
        kernels.leave(found.float(), last, step, noisy=noisy, fresh=noisy.clone(), held=led, out=noisy)
        return torch.cat((*found.float().chunk(2), *out.chunk(2), noisy), dim=-1)

    whole = run([0, 1, 2])
    for slot in range(slots):
        places = [slot if place == slot else (slot + 1) % slots for place in range(slots)]
        assert torch.equal(run(places)[slot], whole[slot])
    if length == 16:
        assert torch.equal(run([2, 0, 1]), whole[[2, 0, 1]])
