# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""Convolutions with what follows them, as Triton kernels; `conv_twins` says what each does."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from .conv_tiles import (
    FEWEST,
    TILES,
    added,
    cells,
    cut,
    place,
    products,
    put,
    seen,
    stored,
    taps,
    tile_for,
    weights,
)
from .tile import ConvTile


@triton.jit
def _convolved(
    x,
    weight,
    scale,
    out,
    sums,
    H,
    W,
    OUT,
    IN: tl.constexpr,
    SIDE: tl.constexpr,
    WHOLE: tl.constexpr,
    SCALES: tl.constexpr,
    MEASURES: tl.constexpr,
    ROWS: tl.constexpr,
    ACROSS: tl.constexpr,
    CHANNELS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    groups = (OUT + CHANNELS - 1) // CHANNELS
    tile = tl.program_id(0) // groups
    first = tl.program_id(0) % groups * CHANNELS
    slot, y, column = place(tile, H, W, ROWS, ACROSS)
    found, below = products(
        x, weight, first, slot, y, column, WHOLE, IN, SIDE, ROWS, ACROSS, CHANNELS, INPUTS
    )
    output = first + tl.arange(0, CHANNELS)
    wanted = output < OUT
    by = tl.load(scale + output, mask=wanted, other=0.0)[None, :] if SCALES else 1.0
    cell, inside = cells(slot, y, column, H, W, ACROSS)
    found = tl.where(inside[:, None], found.to(tl.float32) * by, 0.0)
    put(found, out, cell, inside, output, wanted, OUT)
    if ROWS == 2:
        cell, inside = cells(slot, y + 1, column, H, W, ACROSS)
        below = tl.where(inside[:, None], below.to(tl.float32) * by, 0.0)
        put(below, out, cell, inside, output, wanted, OUT)
    if MEASURES:
        total = tl.sum(found, 0)
        squares = tl.sum(found * found, 0)
        if ROWS == 2:
            total += tl.sum(below, 0)
            squares += tl.sum(below * below, 0)
        target = sums + tile * (2 * OUT) + output
        tl.store(target, total, mask=wanted)
        tl.store(target + OUT, squares, mask=wanted)


def convolved(
    x: Tensor, weight: Tensor, scale: Tensor | None, *, out: Tensor, sums: Tensor | None = None
) -> None:
    batch, height, width, inputs = x.shape
    outputs = weight.shape[0]
    tile = tile_for("convolved", x, outputs)
    laid = cut(tile, height, width)
    parts = out if sums is None else torch.empty(batch, laid.tiles, 2, outputs, device=x.device)
    _convolved[(batch * laid.tiles * triton.cdiv(outputs, tile.channels),)](
        seen(x, laid.across, tile.inputs),
        weights(weight, tile.channels, tile.inputs),
        out if scale is None else scale,
        out,
        parts,
        height,
        width,
        outputs,
        inputs,
        weight.shape[-1],
        x.dtype == torch.int8,
        scale is not None,
        sums is not None,
        laid.rows,
        laid.across,
        tile.channels,
        tile.inputs,
        num_warps=tile.warps,
        num_stages=tile.stages,
    )
    if sums is not None:
        torch.sum(parts, 1, out=sums)


@triton.jit
def _apart(
    found,
    more,
    below,
    more_below,
    x,
    weight,
    weight_more,
    first,
    slot,
    y,
    column,
    tap,
    channel,
    IN: tl.constexpr,
    SIDE: tl.constexpr,
    ROWS: tl.constexpr,
    ACROSS: tl.constexpr,
    CHANNELS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    """With the products of INPUTS channels at one place of the kernel: of CHANNELS outputs from `first` on
    and of `more`, of a row and of the one `below`."""
    right = weight.load([first, tap * IN + channel]).T
    right_more = weight_more.load([first + CHANNELS, tap * IN + channel]).T
    left = taps(x, slot, y, column, tap, channel, SIDE, ACROSS, INPUTS)
    found = added(found, left, right, INPUTS)
    more = added(more, left, right_more, INPUTS)
    if ROWS == 2:
        left = taps(x, slot, y + 1, column, tap, channel, SIDE, ACROSS, INPUTS)
        below = added(below, left, right, INPUTS)
        more_below = added(more_below, left, right_more, INPUTS)
    return found, more, below, more_below


@triton.jit
def _uneven(
    x,
    x_rest,
    weight,
    weight_more,
    weight_rest,
    weight_both,
    out,
    H,
    W,
    OUT,
    IN: tl.constexpr,
    SIDE: tl.constexpr,
    ROWS: tl.constexpr,
    ACROSS: tl.constexpr,
    CHANNELS: tl.constexpr,
    MORE: tl.constexpr,
    INPUTS: tl.constexpr,
    REST: tl.constexpr,
):
    """A program owns outputs of its cells: CHANNELS of them, and MORE. It reads INPUTS channels at a time of
    all places, then the REST of all."""
    groups = (OUT + CHANNELS + MORE - 1) // (CHANNELS + MORE)
    first = tl.program_id(0) % groups * (CHANNELS + MORE)
    slot, y, column = place(tl.program_id(0) // groups, H, W, ROWS, ACROSS)
    found = tl.zeros([ACROSS, CHANNELS], tl.float32)
    more = tl.zeros([ACROSS, MORE], tl.float32)
    below = tl.zeros([ACROSS, CHANNELS], tl.float32)
    more_below = tl.zeros([ACROSS, MORE], tl.float32)
    steps: tl.constexpr = IN // INPUTS
    for step in range(SIDE * SIDE * steps):
        tap = step // steps
        channel = step % steps * INPUTS
        found, more, below, more_below = _apart(
            *(found, more, below, more_below, x, weight, weight_more, first, slot, y, column, tap, channel),
            *(IN, SIDE, ROWS, ACROSS, CHANNELS, INPUTS),
        )
    for tap in range(SIDE * SIDE):
        found, more, below, more_below = _apart(
            *(
                found,
                more,
                below,
                more_below,
                x_rest,
                weight_rest,
                weight_both,
                first,
                slot,
                y,
                column,
                tap,
                IN - REST,
            ),
            *(IN, SIDE, ROWS, ACROSS, CHANNELS, REST),
        )
    output = first + tl.arange(0, CHANNELS)
    further = first + CHANNELS + tl.arange(0, MORE)
    cell, inside = cells(slot, y, column, H, W, ACROSS)
    put(found, out, cell, inside, output, output < OUT, OUT)
    put(more, out, cell, inside, further, further < OUT, OUT)
    if ROWS == 2:
        cell, inside = cells(slot, y + 1, column, H, W, ACROSS)
        put(below, out, cell, inside, output, output < OUT, OUT)
        put(more_below, out, cell, inside, further, further < OUT, OUT)


def is_uneven(weight: Tensor) -> bool:
    """Whether `uneven` takes it: its outputs are more than one tile, its inputs some tiles and a part that is
    a power of two."""
    (outputs, inputs), tile = weight.shape[:2], _tile(weight)
    rest = inputs % tile.inputs
    return outputs > tile.channels and rest >= FEWEST and rest & (rest - 1) == 0


def _tile(weight: Tensor) -> ConvTile:
    return TILES["uneven" if weight.shape[-1] > 3 else "uneven_3"]


def beside(outputs: int, channels: int) -> int:
    """Outputs of a program beside `channels`, a power of two, such that all programs of a cell have the
    fewest that are none."""
    sizes = [1 << power for power in range(FEWEST.bit_length() - 1, channels.bit_length())]
    return min(sizes, key=lambda more: -(-outputs // (channels + more)) * (channels + more))


def uneven(x: Tensor, weight: Tensor, *, out: Tensor) -> None:
    """As `convolved`, for inputs that are a little more than a power of two, and outputs that make no whole
    tiles."""
    batch, height, width, inputs = x.shape
    outputs, tile = weight.shape[0], _tile(weight)
    more, rest = beside(outputs, tile.channels), inputs % tile.inputs
    laid = cut(tile, height, width)
    _uneven[(batch * laid.tiles * triton.cdiv(outputs, tile.channels + more),)](
        seen(x, laid.across, tile.inputs),
        seen(x, laid.across, rest),
        weights(weight, tile.channels, tile.inputs),
        weights(weight, more, tile.inputs),
        weights(weight, tile.channels, rest),
        weights(weight, more, rest),
        out,
        height,
        width,
        outputs,
        inputs,
        weight.shape[-1],
        laid.rows,
        laid.across,
        tile.channels,
        more,
        tile.inputs,
        rest,
        num_warps=tile.warps,
        num_stages=tile.stages,
    )


@triton.jit
def _modulate(
    found,
    undo,
    bias,
    x,
    stats,
    out,
    slope,
    fit,
    slot,
    y,
    column,
    first,
    H,
    W,
    C,
    ENLARGE: tl.constexpr,
    UNDOES: tl.constexpr,
    ACROSS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """Write a row of cells that scales and shifts `found` in turns are for."""
    by, to = tl.split(tl.reshape(found, [ACROSS, CHANNELS, 2]))
    channel = first + tl.arange(0, CHANNELS)
    wanted = channel < C
    if UNDOES:
        by = by.to(tl.float32) * tl.load(undo + 2 * channel, mask=wanted, other=0.0)[None, :]
        to = to.to(tl.float32) * tl.load(undo + 2 * channel + 1, mask=wanted, other=0.0)[None, :]
    cell, inside = cells(slot, y, column, H, W, ACROSS)
    source = (slot.to(tl.int64) * (H // ENLARGE) + y // ENLARGE) * (W // ENLARGE)
    source += (column + tl.arange(0, ACROSS)) // ENLARGE
    both = inside[:, None] & wanted[None, :]
    value = tl.load(x + source[:, None] * C + channel[None, :], mask=both, other=0.0).to(tl.float32)
    own = stats + slot * (2 * C) + channel
    mean = tl.load(own, mask=wanted, other=0.0)[None, :]
    steepness = tl.load(own + C, mask=wanted, other=0.0)[None, :]
    value = (value - mean) * steepness
    value = value * (by + tl.load(bias + channel, mask=wanted, other=0.0)[None, :])
    value += to + tl.load(bias + C + channel, mask=wanted, other=0.0)[None, :]
    value = stored(tl.where(value > 0, value, value * slope), fit, out.dtype.element_ty)
    put(value, out, cell, inside, channel, wanted, C)


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
    H,
    W,
    C,
    S: tl.constexpr,
    WHOLE: tl.constexpr,
    ENLARGE: tl.constexpr,
    UNDOES: tl.constexpr,
    ROWS: tl.constexpr,
    ACROSS: tl.constexpr,
    CHANNELS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    groups = (C + CHANNELS - 1) // CHANNELS
    first = tl.program_id(0) % groups * CHANNELS
    slot, y, column = place(tl.program_id(0) // groups, H, W, ROWS, ACROSS)
    found, below = products(
        shared, weight, 2 * first, slot, y, column, WHOLE, S, 3, ROWS, ACROSS, 2 * CHANNELS, INPUTS
    )
    for row in tl.static_range(ROWS):
        _modulate(
            found if row == 0 else below,
            undo,
            bias,
            x,
            stats,
            out,
            slope,
            fit,
            slot,
            y + row,
            column,
            first,
            H,
            W,
            C,
            ENLARGE,
            UNDOES,
            ACROSS,
            CHANNELS,
        )


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
    inputs = shared.shape[-1]
    tile = tile_for("modulated", shared, channels)
    laid = cut(tile, height, width)
    _modulated[(batch * laid.tiles * triton.cdiv(channels, tile.channels),)](
        seen(shared, laid.across, tile.inputs),
        weights(weight, 2 * tile.channels, tile.inputs),
        bias if undo is None else undo,
        bias,
        x,
        stats,
        out,
        slope,
        fit,
        height,
        width,
        channels,
        inputs,
        shared.dtype == torch.int8,
        enlarge,
        undo is not None,
        laid.rows,
        laid.across,
        tile.channels,
        tile.inputs,
        num_warps=tile.warps,
        num_stages=tile.stages,
    )
