"""What a bench of motion sampling times, plain and fused, and how far half precision is from full.

Random weights, 10 steps unless told otherwise. On a card the core's rows are replays of graphs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import torch
from torch import Tensor

from ..lmdm import LmdmSize, MotionDecoder
from ..random_weights import loaded
from ..sampler import MotionSampler
from ..schedule import Schedule
from ..seams import LedOn
from . import motion_twins
from .motion import MotionOps, MotionWindow, motion_ops
from .motion_plan import MotionPlan
from .motion_room import MotionInputs, MotionRoom, plain_zeros
from .motion_tiles import MIX, NARROW, SQUARE, WIDEN, Tile, Tiles, tiles_for

Call = Callable[[], object]
OFFICIAL: Final = LmdmSize()
HOP, FUSE = 5, 5
LEFT: Final = 70
"""Rows that have left, at that hop."""
WARM_CALLS: Final = 2


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
            rows[f"motion kernels {steps} {batch}"] = _captured(plan, given, motion_ops(device, batch))
    return rows


def tile_rows(
    device: torch.device, batch: int, *, steps: int = 10, size: LmdmSize = OFFICIAL
) -> Iterator[tuple[str, Tiles, Call]]:
    """For a card: each of `variants` with a call that samples by it, made when it is asked for."""
    from .motion_launch import MotionKernels

    plan = MotionPlan.of(_model(size, device), Schedule.of(steps), torch.float16)
    given = _inputs(plan, batch)
    for name, tiles in variants(tiles_for(batch)):
        yield name, tiles, _captured(plan, given, MotionKernels(tiles))


def variants(tiles: Tiles) -> Iterator[tuple[str, Tiles]]:
    """`tiles`, and others that differ in one thing."""
    yield "as it is", tiles
    yield "early", replace(tiles, early=not tiles.early)
    yield "levels", replace(tiles, levels_within=not tiles.levels_within)
    for queries in (16, 32, 64, 128):
        yield f"queries {queries}", replace(tiles, queries=queries)
    for warps in (2, 4, 8):
        yield f"attend warps {warps}", replace(tiles, attend_warps=warps)
        yield f"look warps {warps}", replace(tiles, look_warps=warps)
    for rows in (1, 2, 8):
        yield f"level rows {rows}", replace(tiles, level_rows=rows)
    for columns in (16, 32, 64):
        yield f"leave columns {columns}", replace(tiles, leave_columns=columns)
    shapes = {"mix": MIX, "widen": WIDEN, "square": SQUARE, "narrow": NARROW}
    few = tiles.levels_within or tiles.of(*SQUARE).rows <= 32
    for name, shape in shapes.items():
        for tile in _FEW if few else _MANY:
            yield f"{name} {tile}", replace(tiles, by_shape={**tiles.by_shape, shape: tile})
    if few:
        once = {SQUARE: Tile(16, 32, 512), NARROW: Tile(16, 32, 1024, 8)}
        yield "weights at once, early", replace(tiles, early=True, by_shape={**tiles.by_shape, **once})


_FEW: Final = (
    Tile(16, 32, 128),
    Tile(16, 64, 64),
    Tile(16, 64, 128, 8),
    Tile(16, 128, 128, 8, 3),
    Tile(32, 32, 128),
    Tile(32, 64, 128, 8, 3),
)
_MANY: Final = (
    Tile(64, 64, 64, 4, 3),
    Tile(64, 128, 64, 4, 3),
    Tile(128, 64, 64, 4, 3),
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
    ops: dict[str, MotionOps] = {"twins": motion_twins, "kernels": motion_ops(device, batch)}
    for name, own in ops.items():
        sampling = MotionWindow(plan, MotionRoom.of(plan, batch, plain_zeros(device)), own)
        whole, turned = torch.empty_like(given.start), torch.empty_like(given.start)
        sampling(given, whole)
        found[name] = _error(whole, exact)
        sampling(_rolled(given), turned)
        found[f"{name} place"] = float((turned.roll(1, 0) - whole).abs().max())
    return found


def _model(size: LmdmSize, device: torch.device) -> MotionDecoder:
    return loaded(MotionDecoder(size), "lmdm", 1).to(device)


def _inputs(plan: MotionPlan, batch: int) -> MotionInputs:
    """Every other slot follows what has left."""
    given = MotionInputs.zeros(plan, batch, plain_zeros(plan.device), left=LEFT)
    random = np.random.default_rng(batch)
    for part in (given.lead, given.conditions, given.start, given.noise, given.held.old):
        part.copy_(torch.from_numpy(random.standard_normal(part.shape, np.float32)))
    given.held.follows[::2] = True
    return given


def _plain(sampler: MotionSampler, given: MotionInputs) -> Callable[[], Tensor]:
    hold = LedOn(HOP, FUSE, given.start.device).hold(given.held.old, given.held.follows)
    return lambda: sampler(given.lead, given.conditions, given.start, given.noise, hold=hold)


def _captured(plan: MotionPlan, given: MotionInputs, ops: MotionOps) -> Call:
    """The call itself where there is no card."""
    room = MotionRoom.of(plan, len(given.lead), plain_zeros(plan.device))
    sampling, out = MotionWindow(plan, room, ops), torch.empty_like(given.start)
    if plan.device.type != "cuda":
        return lambda: sampling(given, out)
    for _ in range(WARM_CALLS):
        sampling(given, out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        sampling(given, out)
    return graph.replay


def _rolled(given: MotionInputs) -> MotionInputs:
    """Every slot one place back."""
    held = replace(given.held, old=given.held.old.roll(-1, 0), follows=given.held.follows.roll(-1, 0))
    moved = [part.roll(-1, 0) for part in (given.lead, given.conditions, given.start)]
    return MotionInputs(*moved, noise=given.noise.roll(-1, 1), held=held)


def _error(found: Tensor, exact: Tensor) -> float:
    return float((found - exact).norm() / exact.norm())
