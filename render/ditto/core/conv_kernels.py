# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""Convolutions with what follows them, as Triton kernels; `conv_twins` says what each does.

A program owns `cells` of all slots' pictures, in a row, and `channels` of what is written. It goes through
the kernel's places and the input's channels, `inputs` at a time. Programs of the same cells follow one
another, so that what they read is still near.
"""

from typing import Final

import torch
import triton
import triton.language as tl
from torch import Tensor

from .tile import ConvTile

TILES: Final[dict[str, ConvTile]] = {
    "convolved": ConvTile(cells=128, channels=256, inputs=64, warps=8, stages=3),
    "convolved_8": ConvTile(cells=128, channels=128, inputs=128, warps=8, stages=3),
    "modulated": ConvTile(cells=128, channels=128, inputs=64, warps=8, stages=3),
    "modulated_8": ConvTile(cells=128, channels=64, inputs=128, warps=8, stages=3),
}
"""By kernel, `_8` for what has 8 bits; `scripts/bench_gpu` tries others."""
FEWEST: Final = 16
"""Of each side that tensor cores multiply."""
EVEN = tl.constexpr(12582912.0)
"""Above it float32 holds whole numbers alone: added and taken away again, it rounds, halves to even."""


@triton.jit
def stored(value, fit, DTYPE: tl.constexpr):
    """`value` float32 in DTYPE: one of 8 bits gets it times `fit`, and its largest for what is too large."""
    if tl.float8e4nv == DTYPE:
        # The chip's own cast stops at the largest; compiled code is tested for that one.
        value = value * fit
    elif tl.int8 == DTYPE:
        value = tl.minimum(tl.maximum(value * fit, -127.0), 127.0)
        value = (value + EVEN) - EVEN
    return value.to(DTYPE)


@triton.jit
def _taps(x, cell, y, column, total, H, W, step, IN: tl.constexpr, SIDE: tl.constexpr, INPUTS: tl.constexpr):
    """(cells, INPUTS) of the step's row of the kernel, along which places and their channels are one run."""
    steps: tl.constexpr = (SIDE * IN + INPUTS - 1) // INPUTS
    down = step // steps - SIDE // 2
    inside = (cell < total) & (y + down >= 0) & (y + down < H)
    row = x + (cell + down * W - SIDE // 2).to(tl.int64)[:, None] * IN
    if IN % INPUTS == 0:
        right = (step % steps) // (IN // INPUTS) - SIDE // 2
        there = (inside & (column + right >= 0) & (column + right < W))[:, None]
        at = (step % steps) * INPUTS + tl.arange(0, INPUTS)
    else:
        at = (step % steps) * INPUTS + tl.arange(0, INPUTS)
        place = column[:, None] + (at // IN - SIDE // 2)[None, :]
        there = inside[:, None] & (place >= 0) & (place < W) & (at < SIDE * IN)[None, :]
    return tl.load(row + at[None, :], mask=there, other=0.0)


@triton.jit
def _row(weight, output, wanted, step, IN: tl.constexpr, SIDE: tl.constexpr, INPUTS: tl.constexpr):
    """(INPUTS, outputs) of the same."""
    steps: tl.constexpr = (SIDE * IN + INPUTS - 1) // INPUTS
    at = (step % steps) * INPUTS + tl.arange(0, INPUTS)
    place = weight + output[None, :] * (SIDE * SIDE * IN) + (step // steps) * (SIDE * IN) + at[:, None]
    return tl.load(place, mask=wanted[None, :] & (at < SIDE * IN)[:, None], other=0.0)


@triton.jit
def _products(
    x,
    weight,
    output,
    wanted,
    cell,
    total,
    H,
    W,
    IN: tl.constexpr,
    SIDE: tl.constexpr,
    CELLS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    """(CELLS, OUTPUTS) of the cells by those rows of `weight`: float32, whole numbers of whole numbers.

    Products of 8-bit floats are summed by the chip in fewer bits than float32 has; after each step they join
    those before in float32."""
    y = (cell // W) % H
    column = cell % W
    found = tl.zeros([CELLS, OUTPUTS], tl.int32 if x.dtype.element_ty == tl.int8 else tl.float32)
    for step in range(SIDE * ((SIDE * IN + INPUTS - 1) // INPUTS)):
        left = _taps(x, cell, y, column, total, H, W, step, IN, SIDE, INPUTS)
        right = _row(weight, output, wanted, step, IN, SIDE, INPUTS)
        if x.dtype.element_ty.is_fp8():
            found = tl.dot(left, right, found, max_num_imprecise_acc=INPUTS)
        else:
            found = tl.dot(left, right, found, input_precision="ieee", out_dtype=found.dtype)
    return found


@triton.jit
def _convolved(
    x,
    weight,
    scale,
    out,
    sums,
    total,
    H,
    W,
    OUT,
    IN: tl.constexpr,
    SIDE: tl.constexpr,
    MEASURES: tl.constexpr,
    CELLS: tl.constexpr,
    CHANNELS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    groups = (OUT + CHANNELS - 1) // CHANNELS
    block = tl.program_id(0) // groups
    output = (tl.program_id(0) % groups) * CHANNELS + tl.arange(0, CHANNELS)
    wanted = output < OUT
    cell = block * CELLS + tl.arange(0, CELLS)
    found = _products(x, weight, output, wanted, cell, total, H, W, IN, SIDE, CELLS, CHANNELS, INPUTS)
    found = found.to(tl.float32) * tl.load(scale + output, mask=wanted, other=0.0)[None, :]
    both = (cell < total)[:, None] & wanted[None, :]
    tl.store(
        out + cell.to(tl.int64)[:, None] * OUT + output[None, :], found.to(out.dtype.element_ty), mask=both
    )
    if MEASURES:
        found = tl.where(both, found, 0.0)
        place = sums + block * (2 * OUT) + output
        tl.store(place, tl.sum(found, 0), mask=wanted)
        tl.store(place + OUT, tl.sum(found * found, 0), mask=wanted)


def measurable(x: Tensor) -> bool:
    """Whether `convolved` of `x` can give sums: where blocks of cells do not span slots."""
    return x.shape[1] * x.shape[2] % _tile("convolved", x).cells == 0


def convolved(x: Tensor, weight: Tensor, scale: Tensor, *, out: Tensor, sums: Tensor | None = None) -> None:
    """`sums` are for what is `measurable`."""
    batch, height, width, inputs = x.shape
    outputs, total = weight.shape[0], batch * height * width
    tile = _fitting(_tile("convolved", x), outputs, inputs)
    blocks = triton.cdiv(total, tile.cells)
    assert sums is None or measurable(x)
    parts = out if sums is None else torch.empty(batch, blocks // batch, 2, outputs, device=x.device)
    _convolved[(blocks * triton.cdiv(outputs, tile.channels),)](
        x,
        weight,
        scale,
        out,
        parts,
        total,
        height,
        width,
        outputs,
        inputs,
        weight.shape[-1],
        sums is not None,
        tile.cells,
        tile.channels,
        tile.inputs,
        num_warps=tile.warps,
        num_stages=tile.stages,
    )
    if sums is not None:
        torch.sum(parts, 1, out=sums)


@triton.jit
def _modulated(
    shared,
    weight,
    undo,
    bias,
    x,
    stats,
    out,
    slope,
    fit,
    total,
    H,
    W,
    C,
    S: tl.constexpr,
    ENLARGE: tl.constexpr,
    ALONE: tl.constexpr,
    UNDOES: tl.constexpr,
    CELLS: tl.constexpr,
    CHANNELS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    groups = (C + CHANNELS - 1) // CHANNELS
    block = tl.program_id(0) // groups
    channel = (tl.program_id(0) % groups) * CHANNELS + tl.arange(0, CHANNELS)
    wanted = channel < C
    cell = block * CELLS + tl.arange(0, CELLS)
    row = (tl.program_id(0) % groups) * (2 * CHANNELS) + tl.arange(0, 2 * CHANNELS)
    found = _products(shared, weight, row, row < 2 * C, cell, total, H, W, S, 3, CELLS, 2 * CHANNELS, INPUTS)
    by, to = tl.split(tl.reshape(found, [CELLS, CHANNELS, 2]))
    if UNDOES:
        by = by.to(tl.float32) * tl.load(undo + 2 * channel, mask=wanted, other=0.0)[None, :]
        to = to.to(tl.float32) * tl.load(undo + 2 * channel + 1, mask=wanted, other=0.0)[None, :]
    both = (cell < total)[:, None] & wanted[None, :]
    slot, y, column = cell // (H * W), (cell // W) % H, cell % W
    source = (slot * (H // ENLARGE) + y // ENLARGE) * (W // ENLARGE) + column // ENLARGE
    value = tl.load(x + source.to(tl.int64)[:, None] * C + channel[None, :], mask=both, other=0.0).to(
        tl.float32
    )
    if ALONE:
        own = stats + (block * CELLS // (H * W)) * (2 * C) + channel
        mean = tl.load(own, mask=wanted, other=0.0)[None, :]
        steepness = tl.load(own + C, mask=wanted, other=0.0)[None, :]
    else:
        own = stats + slot[:, None] * (2 * C) + channel[None, :]
        mean = tl.load(own, mask=both, other=0.0)
        steepness = tl.load(own + C, mask=both, other=0.0)
    value = (value - mean) * steepness
    value = value * (by + tl.load(bias + channel, mask=wanted, other=0.0)[None, :])
    value += to + tl.load(bias + C + channel, mask=wanted, other=0.0)[None, :]
    value = stored(tl.where(value > 0, value, value * slope), fit, out.dtype.element_ty)
    tl.store(out + cell.to(tl.int64)[:, None] * C + channel[None, :], value, mask=both)


def modulated(
    shared: Tensor,
    weight: Tensor,
    bias: Tensor,
    x: Tensor,
    stats: Tensor,
    *,
    enlarge: int,
    slope: float,
    out: Tensor,
    fit: float = 1.0,
    undo: Tensor | None = None,
) -> None:
    batch, height, width, channels = out.shape
    inputs, total = shared.shape[-1], batch * height * width
    tile = _fitting(_tile("modulated", shared), channels, inputs)
    _modulated[(triton.cdiv(total, tile.cells) * triton.cdiv(channels, tile.channels),)](
        shared,
        weight,
        bias if undo is None else undo,
        bias,
        x,
        stats,
        out,
        slope,
        fit,
        total,
        height,
        width,
        channels,
        inputs,
        enlarge,
        height * width % tile.cells == 0,
        undo is not None,
        tile.cells,
        tile.channels,
        tile.inputs,
        num_warps=tile.warps,
        num_stages=tile.stages,
    )


def _tile(kernel: str, x: Tensor) -> ConvTile:
    return TILES[kernel if x.element_size() > 1 else f"{kernel}_8"]


def _fitting(tile: ConvTile, outputs: int, inputs: int) -> ConvTile:
    """`tile`, no larger than there is to do."""
    return ConvTile(
        tile.cells,
        max(FEWEST, min(tile.channels, triton.next_power_of_2(outputs))),
        max(FEWEST, min(tile.inputs, triton.next_power_of_2(inputs))),
        tile.warps,
        tile.stages,
    )
