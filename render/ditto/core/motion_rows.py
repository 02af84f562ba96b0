"""What a bench of motion sampling times, plain and fused, and how far half precision is from full.

Random weights, 10 steps unless told otherwise. On a card the core's rows are replays of graphs.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Final

import numpy as np
import torch
from torch import Tensor

from ..lmdm import LmdmSize, MotionDecoder
from ..random_weights import loaded
from ..sampler import MotionSampler
from ..schedule import Schedule
from . import motion_twins
from .motion import MotionOps, MotionWindow, motion_ops
from .motion_plan import MotionPlan
from .motion_room import MotionInputs, MotionRoom, plain_zeros
from .motion_tiles import MIX, NARROW, SQUARE, WIDEN, Tile, Tiles, tiles_for
from .replay import Replay

Call = Callable[[], object]
Change = Callable[[Tiles], Tiles]
AS_IT_IS: Final = "as it is"
OFFICIAL: Final = LmdmSize()
LEFT: Final = 70
"""Rows of a window that have left, at a hop of 5."""


def motion_rows(
    device: torch.device, batches: Sequence[int], *, steps: int = 10, size: LmdmSize = OFFICIAL
) -> dict[str, Call]:
    """Calls by name, each of which samples a window for a batch: by the plain modules in half precision, by
    the twins, and where there is a card by kernels."""
    model, schedule = _model(size, device), Schedule.of(steps)
    plan, rows = MotionPlan.of(model, schedule, torch.float16), dict[str, Call]()
    plain = MotionSampler(_model(size, device).half(), schedule)
    for batch in batches:
        given = _inputs(plan, batch)
        rows[f"motion plain {steps} {batch}"] = _plain(plain, given)
        rows[f"motion twins {steps} {batch}"] = _captured(plan, given, motion_twins)
        if device.type == "cuda":
            kernels = motion_ops(device, batch, torch.float16)
            rows[f"motion kernels {steps} {batch}"] = _captured(plan, given, kernels)
    return rows


def tuned(
    device: torch.device,
    batch: int,
    ms: Callable[[Call], float],
    *,
    steps: int = 10,
    size: LmdmSize = OFFICIAL,
) -> Iterator[tuple[str, float, Tiles]]:
    """For a card: better tiles for a batch, one change at a time, kept where `ms` says that it is quicker.

    Each change by name, with its time and the best tiles so far; what the card has no room for is left out.
    """
    from triton.runtime.errors import OutOfResources

    from .motion_launch import MotionKernels

    plan = MotionPlan.of(_model(size, device), Schedule.of(steps), torch.float16)
    given, best, least = _inputs(plan, batch), tiles_for(batch), float("inf")
    for name, change in changes(best).items():
        tiles = change(best)
        if name != AS_IT_IS and tiles == best:
            continue
        try:
            spent = ms(_captured(plan, given, MotionKernels(tiles)))
        except OutOfResources:
            continue
        if spent < least:
            best, least = tiles, spent
        yield name, spent, best


def changes(tiles: Tiles) -> dict[str, Change]:
    """By name, what may make `tiles` quicker, what promises most first."""
    made: dict[str, Change] = {AS_IT_IS: lambda now: now}
    made["early"] = _with(early=True)
    for name, shape in {"mix": MIX, "widen": WIDEN, "square": SQUARE, "narrow": NARROW}.items():
        for tile in _FEW if tiles.levels_within else _MANY:
            made[f"{name} {tile}"] = _at(shape, tile)
    if tiles.levels_within:
        made["looks apart"] = _with(looks_within=False)
        made["levels apart"] = _with(levels_within=False)
        made["square weights at once"] = _at(SQUARE, Tile(16, 32, 512))
        made["narrow weights at once"] = _at(NARROW, Tile(16, 32, 1024, 8))
    for queries, warps in product((16, 32) if tiles.looks_within else (16, 32, 64, 128), (4, 8)):
        fields = {"queries": queries, "attend_warps": warps, "look_warps": warps}
        made[f"{queries} queries, {warps} warps"] = _with(**fields)
    for rows, warps in product((1, 2, 4, 8), (2, 4)):
        made[f"level {rows} rows, {warps} warps"] = _with(level_rows=rows, level_warps=warps)
    for columns, warps in product((16, 32, 64), (4, 8)):
        made[f"leave {columns} columns, {warps} warps"] = _with(leave_columns=columns, leave_warps=warps)
    return made


def _with(**fields: int) -> Change:
    return lambda now: replace(now, **fields)


def _at(shape: tuple[int, int], tile: Tile) -> Change:
    return lambda now: replace(now, by_shape={**now.by_shape, shape: tile})


_FEW: Final = (
    Tile(16, 32, 128),
    Tile(16, 64, 128),
    Tile(16, 64, 128, 8),
    Tile(16, 128, 64, 8),
    Tile(32, 64, 64, 8),
    Tile(32, 128, 64, 8),
)
_MANY: Final = (
    Tile(32, 64, 128),
    Tile(64, 64, 64),
    Tile(64, 128, 64),
    Tile(128, 64, 64),
    Tile(128, 128, 64, 8, 3),
    Tile(128, 128, 64, 4, 3),
    Tile(128, 256, 64, 8, 3),
)


def motion_errors(
    device: torch.device, batch: int, *, steps: int = 10, size: LmdmSize = OFFICIAL
) -> dict[str, float]:
    """Relative errors of windows in half precision against the plain modules in full; and `place`, how far a
    slot comes out elsewhere in the batch, which should be 0 for kernels."""
    model, schedule = _model(size, device), Schedule.of(steps)
    plan = MotionPlan.of(model, schedule, torch.float16)
    given, found = _inputs(plan, batch), dict[str, float]()
    exact = _plain(MotionSampler(model, schedule), given)()
    half = _plain(MotionSampler(_model(size, device).half(), schedule), given)()
    found["plain"] = _error(half, exact)
    ops: dict[str, MotionOps] = {"twins": motion_twins, "kernels": motion_ops(device, batch, plan.dtype)}
    for name, own in ops.items():
        whole, turned = torch.empty_like(given.start), torch.empty_like(given.start)
        sampling = MotionWindow(plan, MotionRoom.of(plan, batch, plain_zeros(device)), own)
        sampling(given, whole)
        found[name] = _error(whole, exact)
        sampling(_rolled(given), turned)
        found[f"{name} place"] = float((turned.roll(1, 0) - whole).abs().max())
    return found


def _model(size: LmdmSize, device: torch.device) -> MotionDecoder:
    return deepcopy(_drawn(size)).to(device)


@cache
def _drawn(size: LmdmSize) -> MotionDecoder:
    """Random weights take a second."""
    return loaded(MotionDecoder(size), "lmdm", 1)


def _inputs(plan: MotionPlan, batch: int) -> MotionInputs:
    """Every other slot follows what has left."""
    given = MotionInputs.zeros(plan, batch, plain_zeros(plan.device), left=LEFT)
    random = np.random.default_rng(batch)
    for part in (given.lead, given.conditions, given.start, given.noise, given.held.old):
        part.copy_(torch.from_numpy(random.standard_normal(part.shape, np.float32)))
    given.held.follows[::2] = True
    return given


def _plain(sampler: MotionSampler, given: MotionInputs) -> Callable[[], Tensor]:
    return lambda: sampler(given.lead, given.conditions, given.start, given.noise, hold=given.held)


def _captured(plan: MotionPlan, given: MotionInputs, ops: MotionOps) -> Call:
    """The call itself where there is no card."""
    room = MotionRoom.of(plan, len(given.lead), plain_zeros(plan.device))
    sampling, out = MotionWindow(plan, room, ops), torch.empty_like(given.start)
    batch = len(given.lead)
    replay = Replay(lambda _: sampling(given, out), plan.device, buckets=(batch,))
    replay.capture()
    return lambda: replay(batch)


def _rolled(given: MotionInputs) -> MotionInputs:
    """Every slot one place back."""
    held = replace(given.held, old=given.held.old.roll(-1, 0), follows=given.held.follows.roll(-1, 0))
    moved = [part.roll(-1, 0) for part in (given.lead, given.conditions, given.start)]
    return MotionInputs(*moved, noise=given.noise.roll(-1, 1), held=held)


def _error(found: Tensor, exact: Tensor) -> float:
    return float((found - exact).norm() / exact.norm())
