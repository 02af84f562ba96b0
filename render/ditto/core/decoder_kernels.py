# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""The decoder's own steps as Triton kernels; `decoder_twins` says what each does.

Each program owns a block of cells of one slot's picture, and some channels of them. Sums over a picture go by
blocks whose number depends on the picture alone, so a slot's are the same in any batch.
"""

from collections.abc import Sequence
from typing import Final

import torch
import triton
import triton.language as tl
from torch import Tensor

from . import conv_kernels, layers
from .conv_tiles import readable, stored
from .decoder_twins import EPSILON
from .tile import Tile

TILES: Final[dict[str, Tile]] = {
    "shared": Tile(cells=16, channels=128),
    "settle": Tile(cells=64, channels=64, warps=2),
    "statistics": Tile(cells=0, channels=16, warps=2),
    "modulate": Tile(cells=16, channels=128),
    "picture": Tile(cells=128, warps=2),
}
"""By kernel; `scripts/bench_kernels` tries others."""
MOST_BLOCKS: Final = 128
"""That sums over a picture go by."""


@triton.jit
def _shared(
    found,
    bias,
    out,
    fit,
    H,
    W,
    C,
    FACTOR: tl.constexpr,
    KINDS: tl.constexpr,
    CELLS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """A program owns CELLS of the enlarged map of a slot, and CHANNELS of them."""
    slot = tl.program_id(1).to(tl.int64)
    cell = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    across = W * FACTOR
    inside = cell < H * FACTOR * across
    y, x = cell // across, cell % across
    down, right = y % FACTOR, x % FACTOR
    if FACTOR == 1:
        at = (slot * H * W + cell) * C
    else:
        row = y // FACTOR + (down == FACTOR - 1).to(tl.int32)
        column = x // FACTOR + (right == FACTOR - 1).to(tl.int32)
        if FACTOR == 4:
            down, right = (down + 1) // 2, (right + 1) // 2
        at = (slot * (H + 1) + row) * (W + 1) + column
        at = at * (KINDS * KINDS * C) + (down * KINDS + right) * C
    channel = tl.program_id(2) * CHANNELS + tl.arange(0, CHANNELS)
    wanted = channel < C
    both = inside[:, None] & wanted[None, :]
    value = tl.load(found + at[:, None] + channel[None, :], mask=both, other=0.0).to(tl.float32)
    value += tl.load(bias + channel, mask=wanted, other=0.0)[None, :]
    place = out + (slot * (H * FACTOR * across) + cell)[:, None] * C + channel[None, :]
    tl.store(place, stored(tl.maximum(value, 0.0), fit, out.dtype.element_ty), mask=both)


def shared(found: Tensor, bias: Tensor, *, factor: int, out: Tensor, fit: float = 1.0) -> None:
    batch, height, width, channels = out.shape
    tile = TILES["shared"]
    across = min(tile.channels, triton.next_power_of_2(channels))
    _shared[(triton.cdiv(height * width, tile.cells), batch, triton.cdiv(channels, across))](
        found,
        bias,
        out,
        fit,
        height // factor,
        width // factor,
        channels,
        factor,
        {1: 1, 2: 2, 4: 3}[factor],
        tile.cells,
        across,
        num_warps=tile.warps,
    )


@triton.jit
def _settle(
    x,
    bias,
    plus,
    plus_pitch,
    more,
    more_pitch,
    out,
    parts,
    slope,
    AREA,
    C,
    OTHERS: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    WRITES: tl.constexpr,
    MEASURES: tl.constexpr,
    ROUNDS: tl.constexpr,
    CELLS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """A program owns ROUNDS times CELLS of a slot's picture, and CHANNELS of them: their sum with all that is
    added, and the sums of that and of its squares."""
    block, slot = tl.program_id(0), tl.program_id(2).to(tl.int64)
    channel = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    wanted = channel < C
    shift = tl.zeros([CHANNELS], tl.float32)
    if HAS_BIAS:
        shift = tl.load(bias + channel, mask=wanted, other=0.0)
    sums = tl.zeros([CHANNELS], tl.float32)
    squares = tl.zeros([CHANNELS], tl.float32)
    for turn in range(ROUNDS):
        cell = (block * ROUNDS + turn) * CELLS + tl.arange(0, CELLS)
        both = (cell < AREA)[:, None] & wanted[None, :]
        row = slot * AREA + cell
        place = row[:, None] * C + channel[None, :]
        value = tl.load(x + place, mask=both, other=0.0).to(tl.float32) + shift[None, :]
        if OTHERS > 0:
            other = plus + row[:, None] * plus_pitch + channel[None, :]
            value += tl.load(other, mask=both, other=0.0).to(tl.float32)
        if OTHERS > 1:
            other = more + row[:, None] * more_pitch + channel[None, :]
            value += tl.load(other, mask=both, other=0.0).to(tl.float32)
        if WRITES:
            leaked = tl.where(value > 0, value, value * slope)
            tl.store(out + place, leaked.to(out.dtype.element_ty), mask=both)
        if MEASURES:
            value = tl.where(both, value, 0.0)
            sums += tl.sum(value, 0)
            squares += tl.sum(value * value, 0)
    if MEASURES:
        place = parts + (slot * tl.num_programs(0) + block) * (2 * C) + channel
        tl.store(place, sums, mask=wanted)
        tl.store(place + C, squares, mask=wanted)


@triton.jit
def _statistics(parts, stats, AREA, C, epsilon, BLOCKS, MOST: tl.constexpr, CHANNELS: tl.constexpr):
    """A program owns CHANNELS of a slot: all blocks' sums become mean and one over the deviation."""
    slot = tl.program_id(1).to(tl.int64)
    channel = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)
    wanted = channel < C
    block = tl.arange(0, MOST)
    place = parts + (slot * BLOCKS + block)[:, None] * (2 * C) + channel[None, :]
    both = (block < BLOCKS)[:, None] & wanted[None, :]
    mean = tl.sum(tl.load(place, mask=both, other=0.0), 0) / AREA
    squares = tl.sum(tl.load(place + C, mask=both, other=0.0), 0) / AREA
    place = stats + slot * (2 * C) + channel
    tl.store(place, mean, mask=wanted)
    variance = tl.maximum(squares - mean * mean, 0.0)
    tl.store(place + C, 1.0 / tl.sqrt(variance + epsilon), mask=wanted)


def concluded(parts: Tensor, stats: Tensor, area: int) -> None:
    """From `parts` (B, blocks, 2, C), the sums of so many cells, to `stats`."""
    batch, blocks, _, channels = parts.shape
    across = min(TILES["statistics"].channels, triton.next_power_of_2(channels))
    _statistics[(triton.cdiv(channels, across), batch)](
        parts,
        stats,
        area,
        channels,
        EPSILON,
        blocks,
        triton.next_power_of_2(blocks),
        across,
        num_warps=TILES["statistics"].warps,
    )


def settle(
    x: Tensor, bias: Tensor, *, plus: Sequence[Tensor] = (), out: Tensor, stats: Tensor | None = None
) -> None:
    _add(x, bias, plus, out, stats, slope=1.0)


def measure(x: Tensor, *, stats: Tensor) -> None:
    _add(x, None, (), None, stats, slope=1.0)


def rectify(x: Tensor, bias: Tensor, *, plus: Sequence[Tensor], slope: float, out: Tensor) -> None:
    _add(x, bias, plus, out, None, slope=slope)


def _add(
    x: Tensor,
    bias: Tensor | None,
    plus: Sequence[Tensor],
    out: Tensor | None,
    stats: Tensor | None,
    *,
    slope: float,
) -> None:
    batch, height, width, channels = x.shape
    tile, area = TILES["settle"], height * width
    across = min(tile.channels, triton.next_power_of_2(channels))
    blocks = min(MOST_BLOCKS, triton.cdiv(area, tile.cells))
    rounds = triton.cdiv(area, tile.cells * blocks)
    parts = x if stats is None else torch.empty(batch, blocks, 2, channels, device=x.device)
    first, second = (*plus, x, x)[:2]
    _settle[(blocks, triton.cdiv(channels, across), batch)](
        x,
        x if bias is None else bias,
        first,
        first.stride(2),
        second,
        second.stride(2),
        x if out is None else out,
        parts,
        slope,
        area,
        channels,
        len(plus),
        bias is not None,
        out is not None,
        stats is not None,
        rounds,
        tile.cells,
        across,
        num_warps=tile.warps,
    )
    if stats is not None:
        concluded(parts, stats, area)


@triton.jit
def _modulate(
    x,
    stats,
    scale,
    shift,
    bias,
    out,
    slope,
    fit,
    H,
    W,
    C,
    PITCH,
    STEP: tl.constexpr,
    ENLARGE: tl.constexpr,
    SHIFTS: tl.constexpr,
    CELLS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """A program owns CELLS of a slot's picture, and CHANNELS of them."""
    slot = tl.program_id(2).to(tl.int64)
    channel = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    wanted = channel < C
    cell = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    both = (cell < H * W)[:, None] & wanted[None, :]
    source = ((cell // W) // ENLARGE) * (W // ENLARGE) + (cell % W) // ENLARGE
    source = slot * (H // ENLARGE) * (W // ENLARGE) + source
    value = tl.load(x + source[:, None] * C + channel[None, :], mask=both, other=0.0).to(tl.float32)
    mean = tl.load(stats + slot * 2 * C + channel, mask=wanted, other=0.0)
    steepness = tl.load(stats + slot * 2 * C + C + channel, mask=wanted, other=0.0)
    row = (slot * H * W + cell)[:, None]
    by = tl.load(scale + row * PITCH + (channel * STEP)[None, :], mask=both, other=0.0).to(tl.float32)
    by += tl.load(bias + channel, mask=wanted, other=0.0)[None, :]
    value = (value - mean[None, :]) * steepness[None, :] * by
    if SHIFTS:
        to = tl.load(shift + row * PITCH + (channel * STEP)[None, :], mask=both, other=0.0).to(tl.float32)
        value += to + tl.load(bias + C + channel, mask=wanted, other=0.0)[None, :]
    value = tl.where(value > 0, value, value * slope)
    tl.store(out + row * C + channel[None, :], stored(value, fit, out.dtype.element_ty), mask=both)


def modulate(
    x: Tensor,
    stats: Tensor,
    scale: Tensor,
    shift: Tensor | None,
    bias: Tensor,
    *,
    enlarge: int,
    slope: float,
    out: Tensor,
    fit: float = 1.0,
) -> None:
    batch, height, width, channels = out.shape
    tile = TILES["modulate"]
    across = min(tile.channels, triton.next_power_of_2(channels))
    _modulate[(triton.cdiv(height * width, tile.cells), triton.cdiv(channels, across), batch)](
        x,
        stats,
        scale,
        scale if shift is None else shift,
        bias,
        out,
        slope,
        fit,
        height,
        width,
        channels,
        scale.stride(2),
        scale.stride(3),
        enlarge,
        shift is not None,
        tile.cells,
        across,
        num_warps=tile.warps,
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
    """As one kernel, or, of what that does not take, as cuDNN's convolution and what follows it."""
    if readable(shared):
        fused = conv_kernels.modulated
        fused(shared, weight, bias, x, stats, enlarge=enlarge, slope=slope, out=out, fit=fit, undo=undo)
        return
    found = layers.convolved(shared, weight)
    scale, shift = found[..., ::2], found[..., 1::2]
    modulate(x, stats, scale, shift, bias, enlarge=enlarge, slope=slope, out=out, fit=fit)


def convolved(
    x: Tensor, weight: Tensor, undo: Tensor | None, *, out: Tensor, stats: Tensor | None = None
) -> None:
    """Sums for the statistics come with it. What the kernel does not take is cuDNN's."""
    if not readable(x):
        assert undo is None, "what has 8 bits is readable"
        out.copy_(layers.convolved(x, weight))
        if stats is not None:
            measure(out, stats=stats)
        return
    if stats is None:
        conv_kernels.convolved(x, weight, undo, out=out)
        return
    batch, height, width, channels = out.shape
    sums = torch.empty(batch, 2, channels, device=x.device)
    conv_kernels.convolved(x, weight, undo, out=out, sums=sums)
    concluded(sums[:, None], stats, height * width)


@triton.jit
def _picture(found, bias, mask, out, H, W, HALF: tl.constexpr, FOUND: tl.constexpr, CELLS: tl.constexpr):
    """A program owns CELLS of a slot's small picture, four places of four lanes each. `mask` and `out` are
    read and written as whole numbers: bits that are copied are none that are computed with."""
    slot = tl.program_id(1).to(tl.int64)
    cell = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    inside = cell < H * W
    lane = tl.arange(0, 4)
    colors = lane < 3
    for place in tl.static_range(4):
        both = inside[:, None] & colors[None, :]
        at = found + (slot * H * W + cell)[:, None] * FOUND + (lane * 4 + place)[None, :]
        value = tl.load(at, mask=both, other=0.0).to(tl.float32)
        value += tl.load(bias + lane * 4 + place, mask=colors, other=0.0)[None, :]
        value = 1.0 / (1.0 + tl.exp(-value))
        bits = value.to(tl.float16 if HALF else tl.float32).to(out.dtype.element_ty, bitcast=True)
        pixel = (2 * (cell // W) + place // 2) * (2 * W) + 2 * (cell % W) + place % 2
        weight = tl.load(mask + pixel, mask=inside, other=0)
        bits = tl.where(colors[None, :], bits, weight[:, None])
        target = out + (slot * (4 * H * W) + pixel)[:, None] * 4 + lane[None, :]
        tl.store(target, bits, mask=inside[:, None] & (lane < 4)[None, :])


def picture(found: Tensor, bias: Tensor, mask: Tensor, *, out: Tensor) -> None:
    batch, height, width, channels = found.shape
    tile, half = TILES["picture"], out.dtype == torch.float16
    bits = torch.int16 if half else torch.int32
    _picture[(triton.cdiv(height * width, tile.cells), batch)](
        found,
        bias,
        mask.view(bits),
        out.view(bits),
        height,
        width,
        half,
        channels,
        tile.cells,
        num_warps=tile.warps,
    )
