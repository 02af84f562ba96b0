# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""Convolutions with what follows them, as Triton kernels; `conv_twins` says what each does.

A program owns `cells` of a slot's picture, whole rows or part of one, and `channels` of what is written. It
goes through the kernel's places and the input's channels, `inputs` at a time, which the chip's copy engine
brings: it gives zeros beyond a picture's borders. Channels must come in whole 16 bytes. Programs of the same
cells follow one another, so that what they read is still near.
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
    "uneven": ConvTile(cells=256, channels=128, inputs=64, warps=16, stages=3),
    "convolved_8": ConvTile(cells=128, channels=128, inputs=128, warps=8, stages=3),
    "modulated": ConvTile(cells=128, channels=128, inputs=64, warps=8, stages=3),
    "modulated_8": ConvTile(cells=128, channels=64, inputs=128, warps=8, stages=3),
}
"""By kernel, `_8` for what has 8 bits; `scripts/bench_gpu` tries others."""
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
def _place(tile, H, W, ACROSS: tl.constexpr, CELLS: tl.constexpr):
    """Slot, row and column where a tile of cells begins: CELLS // ACROSS rows of ACROSS cells."""
    wide = (W + ACROSS - 1) // ACROSS
    high = (H + CELLS // ACROSS - 1) // (CELLS // ACROSS)
    slot = tile // (wide * high)
    tile = tile % (wide * high)
    return slot, tile // wide * (CELLS // ACROSS), tile % wide * ACROSS


@triton.jit
def _cells(y, column, H, W, ACROSS: tl.constexpr, CELLS: tl.constexpr):
    """Row and column of each cell of a tile, and whether it is one of the picture."""
    at = tl.arange(0, CELLS)
    y += at // ACROSS
    column += at % ACROSS
    return y, column, (y < H) & (column < W)


@triton.jit
def _taps(x, slot, y, column, tap, channel, SIDE: tl.constexpr, CELLS: tl.constexpr, INPUTS: tl.constexpr):
    """(CELLS, INPUTS) of what a tap of the kernel sees of a tile; zeros beyond picture and channels."""
    seen = x.load([slot, y + tap // SIDE - SIDE // 2, column + tap % SIDE - SIDE // 2, channel])
    return tl.reshape(seen, [CELLS, INPUTS])


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
    CELLS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    """(CELLS, OUTPUTS) of a tile by the rows of `weight` from `first` on: float32, or whole numbers."""
    found = tl.zeros([CELLS, OUTPUTS], tl.int32 if WHOLE else tl.float32)
    steps: tl.constexpr = (IN + INPUTS - 1) // INPUTS
    for step in range(SIDE * SIDE * steps):
        tap = step // steps
        channel = step % steps * INPUTS
        left = _taps(x, slot, y, column, tap, channel, SIDE, CELLS, INPUTS)
        right = weight.load([first, tap * IN + channel]).T
        found = _added(found, left, right, INPUTS)
    return found


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
    ACROSS: tl.constexpr,
    CELLS: tl.constexpr,
    CHANNELS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    groups = (OUT + CHANNELS - 1) // CHANNELS
    tile = tl.program_id(0) // groups
    first = tl.program_id(0) % groups * CHANNELS
    slot, y, column = _place(tile, H, W, ACROSS, CELLS)
    found = _products(x, weight, first, slot, y, column, WHOLE, IN, SIDE, CELLS, CHANNELS, INPUTS)
    output = first + tl.arange(0, CHANNELS)
    wanted = output < OUT
    found = found.to(tl.float32)
    if SCALES:
        found *= tl.load(scale + output, mask=wanted, other=0.0)[None, :]
    y, column, inside = _cells(y, column, H, W, ACROSS, CELLS)
    both = inside[:, None] & wanted[None, :]
    cell = slot.to(tl.int64) * H * W + y * W + column
    tl.store(out + cell[:, None] * OUT + output[None, :], found.to(out.dtype.element_ty), mask=both)
    if MEASURES:
        found = tl.where(both, found, 0.0)
        place = sums + tile * (2 * OUT) + output
        tl.store(place, tl.sum(found, 0), mask=wanted)
        tl.store(place + OUT, tl.sum(found * found, 0), mask=wanted)


def convolved(
    x: Tensor, weight: Tensor, scale: Tensor | None, *, out: Tensor, sums: Tensor | None = None
) -> None:
    batch, height, width, inputs = x.shape
    outputs = weight.shape[0]
    tile = _fitting(_tile("convolved", x), outputs, inputs)
    seen, across = _seen(x, tile.cells, tile.inputs)
    tiles = triton.cdiv(width, across) * triton.cdiv(height, tile.cells // across)
    parts = out if sums is None else torch.empty(batch, tiles, 2, outputs, device=x.device)
    _convolved[(batch * tiles * triton.cdiv(outputs, tile.channels),)](
        seen,
        _rows(weight, tile.channels, tile.inputs),
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
        across,
        tile.cells,
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
    ACROSS: tl.constexpr,
    CELLS: tl.constexpr,
    CHANNELS: tl.constexpr,
    MORE: tl.constexpr,
    INPUTS: tl.constexpr,
    REST: tl.constexpr,
):
    """A program owns CELLS, all their outputs: CHANNELS of them, and MORE. It reads INPUTS channels at a time
    of all places, then the REST of all."""
    slot, y, column = _place(tl.program_id(0), H, W, ACROSS, CELLS)
    found = tl.zeros([CELLS, CHANNELS], tl.float32)
    more = tl.zeros([CELLS, MORE], tl.float32)
    steps: tl.constexpr = IN // INPUTS
    for step in range(SIDE * SIDE * steps):
        tap = step // steps
        channel = step % steps * INPUTS
        left = _taps(x, slot, y, column, tap, channel, SIDE, CELLS, INPUTS)
        found = _added(found, left, weight.load([0, tap * IN + channel]).T, INPUTS)
        more = _added(more, left, weight_more.load([CHANNELS, tap * IN + channel]).T, INPUTS)
    for tap in range(SIDE * SIDE):
        left = _taps(x_rest, slot, y, column, tap, IN - REST, SIDE, CELLS, REST)
        found = _added(found, left, weight_rest.load([0, tap * IN + IN - REST]).T, REST)
        more = _added(more, left, weight_both.load([CHANNELS, tap * IN + IN - REST]).T, REST)
    y, column, inside = _cells(y, column, H, W, ACROSS, CELLS)
    target = out + (slot.to(tl.int64) * H * W + y * W + column)[:, None] * OUT
    output = tl.arange(0, CHANNELS)
    tl.store(target + output[None, :], found.to(out.dtype.element_ty), mask=inside[:, None])
    output = CHANNELS + tl.arange(0, MORE)
    both = inside[:, None] & (output < OUT)[None, :]
    tl.store(target + output[None, :], more.to(out.dtype.element_ty), mask=both)


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
    seen, across = _seen(x, tile.cells, tile.inputs)
    tiles = triton.cdiv(width, across) * triton.cdiv(height, tile.cells // across)
    _uneven[(batch * tiles,)](
        seen,
        _seen(x, tile.cells, rest)[0],
        _rows(weight, tile.channels, tile.inputs),
        _rows(weight, more, tile.inputs),
        _rows(weight, tile.channels, rest),
        _rows(weight, more, rest),
        out,
        height,
        width,
        outputs,
        inputs,
        weight.shape[-1],
        across,
        tile.cells,
        tile.channels,
        more,
        tile.inputs,
        rest,
        num_warps=tile.warps,
        num_stages=tile.stages,
    )


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
    ACROSS: tl.constexpr,
    CELLS: tl.constexpr,
    CHANNELS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    groups = (C + CHANNELS - 1) // CHANNELS
    first = tl.program_id(0) % groups * CHANNELS
    slot, y, column = _place(tl.program_id(0) // groups, H, W, ACROSS, CELLS)
    found = _products(shared, weight, 2 * first, slot, y, column, WHOLE, S, 3, CELLS, 2 * CHANNELS, INPUTS)
    by, to = tl.split(tl.reshape(found, [CELLS, CHANNELS, 2]))
    channel = first + tl.arange(0, CHANNELS)
    wanted = channel < C
    if UNDOES:
        by = by.to(tl.float32) * tl.load(undo + 2 * channel, mask=wanted, other=0.0)[None, :]
        to = to.to(tl.float32) * tl.load(undo + 2 * channel + 1, mask=wanted, other=0.0)[None, :]
    y, column, inside = _cells(y, column, H, W, ACROSS, CELLS)
    both = inside[:, None] & wanted[None, :]
    source = (slot * (H // ENLARGE) + y // ENLARGE) * (W // ENLARGE) + column // ENLARGE
    value = tl.load(x + source.to(tl.int64)[:, None] * C + channel[None, :], mask=both, other=0.0)
    own = stats + slot * (2 * C) + channel
    mean = tl.load(own, mask=wanted, other=0.0)[None, :]
    steepness = tl.load(own + C, mask=wanted, other=0.0)[None, :]
    value = (value.to(tl.float32) - mean) * steepness
    value = value * (by + tl.load(bias + channel, mask=wanted, other=0.0)[None, :])
    value += to + tl.load(bias + C + channel, mask=wanted, other=0.0)[None, :]
    value = stored(tl.where(value > 0, value, value * slope), fit, out.dtype.element_ty)
    cell = slot.to(tl.int64) * H * W + y * W + column
    tl.store(out + cell[:, None] * C + channel[None, :], value, mask=both)


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
    seen, across = _seen(shared, tile.cells, tile.inputs)
    tiles = triton.cdiv(width, across) * triton.cdiv(height, tile.cells // across)
    _modulated[(batch * tiles * triton.cdiv(channels, tile.channels),)](
        seen,
        _rows(weight, 2 * tile.channels, tile.inputs),
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
        across,
        tile.cells,
        tile.channels,
        tile.inputs,
        num_warps=tile.warps,
        num_stages=tile.stages,
    )


def readable(x: Tensor) -> bool:
    """Whether kernels take `x`: of no more than 16 bits, of which programs hold enough, and whole 16 bytes a
    cell."""
    return x.element_size() <= 2 and x.shape[-1] * x.element_size() % BYTES == 0


def _seen(x: Tensor, cells: int, inputs: int) -> tuple[TensorDescriptor, int]:
    """`x` (B, H, W, C) as the copy engine reads it, in tiles of `cells` by `inputs`; and how many cells
    of a tile lie side by side."""
    across = min(cells, 1 << (x.shape[2] - 1).bit_length())
    return TensorDescriptor.from_tensor(x, [1, cells // across, across, inputs]), across


def _rows(weight: Tensor, outputs: int, inputs: int) -> TensorDescriptor:
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
