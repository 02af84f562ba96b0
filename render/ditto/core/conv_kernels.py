# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""Convolutions with what follows them, as Triton kernels; `conv_twins` says what each does.

A program owns `cells` of a slot's picture, one or two rows or part of one, and `channels` of what is
written. It goes through the kernel's places and the input's channels, `inputs` at a time, which the chip's
copy engine brings: it gives zeros beyond a picture's borders. Channels must come in whole 16 bytes. Programs
of the same cells follow one another, so that what they read is still near.
"""

from typing import Final

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from .tile import ConvTile

TILES: Final[dict[str, ConvTile]] = {
    "convolved": ConvTile(cells=128, channels=256, inputs=64, warps=8, stages=3),
    "uneven": ConvTile(cells=128, channels=128, inputs=64, warps=8, stages=2),
    "convolved_8": ConvTile(cells=128, channels=128, inputs=128, warps=4, stages=3),
    "modulated": ConvTile(cells=128, channels=64, inputs=64, warps=4, stages=3),
    "modulated_8": ConvTile(cells=128, channels=64, inputs=128, warps=4, stages=3),
}
"""By kernel, `_8` for what has 8 bits; `scripts/bench_kernels` tries others."""
FEWEST: Final = 16
"""Of each side that tensor cores multiply."""
BYTES: Final = 16
"""That the copy engine brings at a time."""
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
def _place(tile, H, W, ROWS: tl.constexpr, ACROSS: tl.constexpr):
    """Slot, row and column where a tile of cells begins."""
    wide = (W + ACROSS - 1) // ACROSS
    high = (H + ROWS - 1) // ROWS
    slot = tile // (wide * high)
    tile = tile % (wide * high)
    return slot, tile // wide * ROWS, tile % wide * ACROSS


@triton.jit
def _cells(slot, y, column, H, W, ACROSS: tl.constexpr):
    """Which (ACROSS,) cells of all slots' pictures a row of a tile is, and whether each is one."""
    column += tl.arange(0, ACROSS)
    return (slot.to(tl.int64) * H + y) * W + column, (y < H) & (column < W)


@triton.jit
def _taps(x, slot, y, column, tap, channel, SIDE: tl.constexpr, ACROSS: tl.constexpr, INPUTS: tl.constexpr):
    """(ACROSS, INPUTS) of what a tap of the kernel sees of a row of cells; zeros beyond the picture."""
    seen = x.load([slot, y + tap // SIDE - SIDE // 2, column + tap % SIDE - SIDE // 2, channel])
    return tl.reshape(seen, [ACROSS, INPUTS])


@triton.jit
def _added(found, left, right, INPUTS: tl.constexpr):
    """`found` and the products, in float32, or in whole numbers of whole numbers.

    Products of 8-bit floats are summed by the chip in fewer bits than float32 has; after each step they join
    those before in float32."""
    if left.dtype.is_fp8():
        found = tl.dot(left, right, found, max_num_imprecise_acc=INPUTS)
    else:
        found = tl.dot(left, right, found, input_precision="ieee", out_dtype=found.dtype)
    return found


@triton.jit
def _products(
    x,
    weight,
    first,
    slot,
    y,
    column,
    WHOLE: tl.constexpr,
    IN: tl.constexpr,
    SIDE: tl.constexpr,
    ROWS: tl.constexpr,
    ACROSS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    """(ACROSS, OUTPUTS) of each of a tile's one or two rows by the rows of `weight` from `first` on: float32,
    or whole numbers. A row is a product of its own: two at once would go through registers."""
    found = tl.zeros([ACROSS, OUTPUTS], tl.int32 if WHOLE else tl.float32)
    below = tl.zeros([ACROSS, OUTPUTS], tl.int32 if WHOLE else tl.float32)
    steps: tl.constexpr = (IN + INPUTS - 1) // INPUTS
    for step in range(SIDE * SIDE * steps):
        tap = step // steps
        channel = step % steps * INPUTS
        right = weight.load([first, tap * IN + channel]).T
        left = _taps(x, slot, y, column, tap, channel, SIDE, ACROSS, INPUTS)
        found = _added(found, left, right, INPUTS)
        if ROWS == 2:
            left = _taps(x, slot, y + 1, column, tap, channel, SIDE, ACROSS, INPUTS)
            below = _added(below, left, right, INPUTS)
    return found, below


@triton.jit
def _put(found, out, cell, inside, output, wanted, OUT):
    """Write outputs of cells."""
    target = out + cell[:, None] * OUT + output[None, :]
    tl.store(target, found.to(out.dtype.element_ty), mask=inside[:, None] & wanted[None, :])


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
    MEASURES: tl.constexpr,
    ROWS: tl.constexpr,
    ACROSS: tl.constexpr,
    CHANNELS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    groups = (OUT + CHANNELS - 1) // CHANNELS
    tile = tl.program_id(0) // groups
    first = tl.program_id(0) % groups * CHANNELS
    slot, y, column = _place(tile, H, W, ROWS, ACROSS)
    found, below = _products(
        x, weight, first, slot, y, column, WHOLE, IN, SIDE, ROWS, ACROSS, CHANNELS, INPUTS
    )
    output = first + tl.arange(0, CHANNELS)
    wanted = output < OUT
    by = tl.load(scale + output, mask=wanted, other=0.0)[None, :]
    cell, inside = _cells(slot, y, column, H, W, ACROSS)
    found = tl.where(inside[:, None], found.to(tl.float32) * by, 0.0)
    _put(found, out, cell, inside, output, wanted, OUT)
    if ROWS == 2:
        cell, inside = _cells(slot, y + 1, column, H, W, ACROSS)
        below = tl.where(inside[:, None], below.to(tl.float32) * by, 0.0)
        _put(below, out, cell, inside, output, wanted, OUT)
    if MEASURES:
        total = tl.sum(found, 0)
        squares = tl.sum(found * found, 0)
        if ROWS == 2:
            total += tl.sum(below, 0)
            squares += tl.sum(below * below, 0)
        place = sums + tile * (2 * OUT) + output
        tl.store(place, total, mask=wanted)
        tl.store(place + OUT, squares, mask=wanted)


def convolved(x: Tensor, weight: Tensor, scale: Tensor, *, out: Tensor, sums: Tensor | None = None) -> None:
    batch, height, width, inputs = x.shape
    outputs = weight.shape[0]
    tile = _fitting(_tile("convolved", x), outputs, inputs)
    rows, across = rows_of(tile, width)
    tiles = triton.cdiv(width, across) * triton.cdiv(height, rows)
    parts = out if sums is None else torch.empty(batch, tiles, 2, outputs, device=x.device)
    _convolved[(batch * tiles * triton.cdiv(outputs, tile.channels),)](
        _seen(x, across, tile.inputs),
        _weights(weight, tile.channels, tile.inputs),
        scale,
        out,
        parts,
        height,
        width,
        outputs,
        inputs,
        weight.shape[-1],
        x.dtype == torch.int8,
        sums is not None,
        rows,
        across,
        tile.channels,
        tile.inputs,
        num_warps=tile.warps,
        num_stages=tile.stages,
    )
    if sums is not None:
        torch.sum(parts, 1, out=sums)


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
    """A program owns all outputs of its cells: CHANNELS of them, and MORE. It reads INPUTS channels at a time
    of all places, then the REST of all."""
    slot, y, column = _place(tl.program_id(0), H, W, ROWS, ACROSS)
    found = tl.zeros([ACROSS, CHANNELS], tl.float32)
    more = tl.zeros([ACROSS, MORE], tl.float32)
    below = tl.zeros([ACROSS, CHANNELS], tl.float32)
    more_below = tl.zeros([ACROSS, MORE], tl.float32)
    steps: tl.constexpr = IN // INPUTS
    for step in range(SIDE * SIDE * steps):
        tap = step // steps
        channel = step % steps * INPUTS
        right = weight.load([0, tap * IN + channel]).T
        right_more = weight_more.load([CHANNELS, tap * IN + channel]).T
        left = _taps(x, slot, y, column, tap, channel, SIDE, ACROSS, INPUTS)
        found = _added(found, left, right, INPUTS)
        more = _added(more, left, right_more, INPUTS)
        if ROWS == 2:
            left = _taps(x, slot, y + 1, column, tap, channel, SIDE, ACROSS, INPUTS)
            below = _added(below, left, right, INPUTS)
            more_below = _added(more_below, left, right_more, INPUTS)
    for tap in range(SIDE * SIDE):
        right = weight_rest.load([0, tap * IN + IN - REST]).T
        right_more = weight_both.load([CHANNELS, tap * IN + IN - REST]).T
        left = _taps(x_rest, slot, y, column, tap, IN - REST, SIDE, ACROSS, REST)
        found = _added(found, left, right, REST)
        more = _added(more, left, right_more, REST)
        if ROWS == 2:
            left = _taps(x_rest, slot, y + 1, column, tap, IN - REST, SIDE, ACROSS, REST)
            below = _added(below, left, right, REST)
            more_below = _added(more_below, left, right_more, REST)
    output = tl.arange(0, CHANNELS)
    further = CHANNELS + tl.arange(0, MORE)
    cell, inside = _cells(slot, y, column, H, W, ACROSS)
    _put(found, out, cell, inside, output, output < OUT, OUT)
    _put(more, out, cell, inside, further, further < OUT, OUT)
    if ROWS == 2:
        cell, inside = _cells(slot, y + 1, column, H, W, ACROSS)
        _put(below, out, cell, inside, output, output < OUT, OUT)
        _put(more_below, out, cell, inside, further, further < OUT, OUT)


def is_uneven(weight: Tensor) -> bool:
    """Whether `uneven` takes it: its outputs are one tile and a part of one more, its inputs some tiles and a
    part that is a power of two."""
    (outputs, inputs), tile = weight.shape[:2], TILES["uneven"]
    rest = inputs % tile.inputs
    return tile.channels < outputs <= 2 * tile.channels and rest >= FEWEST and rest & (rest - 1) == 0


def uneven(x: Tensor, weight: Tensor, *, out: Tensor) -> None:
    """As `convolved`, for numbers of inputs and outputs that are each a little more than a power of two."""
    batch, height, width, inputs = x.shape
    outputs, tile = weight.shape[0], TILES["uneven"]
    more, rest = triton.next_power_of_2(outputs - tile.channels), inputs % tile.inputs
    rows, across = rows_of(tile, width)
    _uneven[(batch * triton.cdiv(width, across) * triton.cdiv(height, rows),)](
        _seen(x, across, tile.inputs),
        _seen(x, across, rest),
        _weights(weight, tile.channels, tile.inputs),
        _weights(weight, more, tile.inputs),
        _weights(weight, tile.channels, rest),
        _weights(weight, more, rest),
        out,
        height,
        width,
        outputs,
        inputs,
        weight.shape[-1],
        rows,
        across,
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
    cell, inside = _cells(slot, y, column, H, W, ACROSS)
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
    _put(value, out, cell, inside, channel, wanted, C)


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
    slot, y, column = _place(tl.program_id(0) // groups, H, W, ROWS, ACROSS)
    found, below = _products(
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
    tile = _fitting(_tile("modulated", shared), channels, inputs)
    rows, across = rows_of(tile, width)
    tiles = triton.cdiv(width, across) * triton.cdiv(height, rows)
    _modulated[(batch * tiles * triton.cdiv(channels, tile.channels),)](
        _seen(shared, across, tile.inputs),
        _weights(weight, 2 * tile.channels, tile.inputs),
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
        rows,
        across,
        tile.channels,
        tile.inputs,
        num_warps=tile.warps,
        num_stages=tile.stages,
    )


def readable(x: Tensor) -> bool:
    """Whether kernels take `x`: of no more than 16 bits, of which programs hold enough, and whole 16 bytes a
    cell."""
    return x.element_size() <= 2 and x.shape[-1] * x.element_size() % BYTES == 0


def rows_of(tile: ConvTile, width: int) -> tuple[int, int]:
    """Of a program's cells in pictures so wide: one row, or two where that is shorter; and how long it is."""
    across = min(tile.cells, 1 << (width - 1).bit_length())
    return (1 if across == tile.cells else 2), across


def _seen(x: Tensor, across: int, inputs: int) -> TensorDescriptor:
    """`x` (B, H, W, C) as the copy engine reads it: `across` cells of a row by `inputs`."""
    return TensorDescriptor.from_tensor(x, [1, 1, across, inputs])


def _weights(weight: Tensor, outputs: int, inputs: int) -> TensorDescriptor:
    """`weight` (O, I, h, w), channels last, in tiles of `outputs` by `inputs` of a place of the kernel."""
    flat = weight.permute(0, 2, 3, 1).flatten(1)
    return TensorDescriptor.from_tensor(flat, [outputs, inputs])


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
