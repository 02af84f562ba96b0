# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""The warp network's own steps as Triton kernels; `warp_twins` says what each does."""

from typing import Final

import triton
import triton.language as tl
from torch import Tensor

from . import conv_kernels, layers
from .conv_tiles import readable
from .sampling_kernels import deform, motion_input
from .tile import Tile

__all__ = ["convolved", "deform", "depth_sum", "leak", "motion_input", "occlude"]

TILES: Final[dict[str, Tile]] = {
    "depth_sum": Tile(cells=16, channels=64),
    "leak": Tile(cells=16, channels=256),
    "occlude": Tile(cells=16, channels=256),
}
"""By kernel; `scripts/bench_kernels` tries others."""


def convolved(x: Tensor, weight: Tensor, *, out: Tensor) -> None:
    """As a kernel, or, of what that does not take, as cuDNN's."""
    if not readable(x):
        out.copy_(layers.convolved(x, weight))
    elif conv_kernels.is_uneven(weight):
        conv_kernels.uneven(x, weight, out=out)
    else:
        conv_kernels.convolved(x, weight, None, out=out)


@triton.jit
def _depth_sum(
    found,
    bias,
    beside,
    out,
    D,
    H,
    W,
    C,
    FOUND: tl.constexpr,
    EXTRA: tl.constexpr,
    TAPS: tl.constexpr,
    POOL: tl.constexpr,
    ENLARGE: tl.constexpr,
    SUMS: tl.constexpr,
    CELLS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """A program owns CELLS of the H by W cells of a slice that is written, and CHANNELS of its C summed
    channels, or of the EXTRA that stand beside them."""
    slice_ = tl.program_id(1)
    depth = slice_ % D
    cell = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    inside = cell < H * W
    part = tl.program_id(2)
    channel = part * CHANNELS + tl.arange(0, CHANNELS)
    row = (slice_.to(tl.int64) * (H * W) + cell)[:, None] * (C + EXTRA)
    if part < SUMS:
        wanted = channel < C
        shift = tl.load(bias + channel, mask=wanted, other=0.0)
        y = cell // W
        x = cell % W
        total = tl.zeros([CELLS, CHANNELS], tl.float32)
        for pooled in tl.static_range(POOL * POOL):
            if ENLARGE == 2:
                at = ((y + 1) // 2) * (W // 2 + 1) + (x + 1) // 2
                first = ((y % 2) * 2 + x % 2) * (TAPS * C)
                area = (H // 2 + 1) * (W // 2 + 1)
            else:
                at = (y * POOL + pooled // POOL) * (W * POOL) + x * POOL + pooled % POOL
                first = x * 0
                area = H * W * POOL * POOL
            one = tl.zeros([CELLS, CHANNELS], tl.float32)
            for tap in tl.static_range(TAPS):
                other = depth + tap - TAPS // 2
                there = (other >= 0) & (other < D)
                place = (slice_ + tap - TAPS // 2).to(tl.int64) * area + at
                place = found + place[:, None] * FOUND + (first + tap * C)[:, None] + channel[None, :]
                reads = inside[:, None] & wanted[None, :] & there
                one += tl.load(place, mask=reads, other=0.0).to(tl.float32)
            total += tl.maximum(one + shift[None, :], 0.0)
        total = total * (1.0 / (POOL * POOL))
        writes = inside[:, None] & wanted[None, :]
        tl.store(out + row + channel[None, :], total.to(out.dtype.element_ty), mask=writes)
    else:
        channel -= SUMS * CHANNELS
        moves = inside[:, None] & (channel < EXTRA)[None, :]
        place = beside + (slice_.to(tl.int64) * (H * W) + cell)[:, None] * EXTRA + channel[None, :]
        value = tl.load(place, mask=moves, other=0.0)
        tl.store(out + row + C + channel[None, :], value, mask=moves)


def depth_sum(
    found: Tensor,
    bias: Tensor,
    *,
    depth: int,
    taps: int,
    out: Tensor,
    pool: int = 1,
    enlarge: int = 1,
    beside: Tensor | None = None,
) -> None:
    slices, height, width, _ = out.shape
    channels, extra = bias.shape[0], 0 if beside is None else beside.shape[-1]
    tile = TILES["depth_sum"]
    width_of_tile = min(tile.channels, triton.next_power_of_2(channels))
    sums, copies = triton.cdiv(channels, width_of_tile), triton.cdiv(extra, width_of_tile)
    _depth_sum[(triton.cdiv(height * width, tile.cells), slices, sums + copies)](
        found,
        bias,
        found if beside is None else beside,
        out,
        depth,
        height,
        width,
        channels,
        found.shape[-1],
        extra,
        taps,
        pool,
        enlarge,
        sums,
        tile.cells,
        width_of_tile,
        num_warps=tile.warps,
    )


@triton.jit
def _leak(x, bias, slope, CELLS_IN_ALL, C, CELLS: tl.constexpr, CHANNELS: tl.constexpr):
    cell = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    channel = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    wanted = channel < C
    place = x + cell.to(tl.int64)[:, None] * C + channel[None, :]
    inside = (cell < CELLS_IN_ALL)[:, None] & wanted[None, :]
    value = tl.load(place, mask=inside, other=0.0).to(tl.float32)
    value += tl.load(bias + channel, mask=wanted, other=0.0)[None, :]
    tl.store(place, tl.where(value > 0, value, value * slope).to(x.dtype.element_ty), mask=inside)


def leak(x: Tensor, bias: Tensor, slope: float) -> None:
    tile, channels = TILES["leak"], x.shape[-1]
    cells, width = x.numel() // channels, min(tile.channels, triton.next_power_of_2(channels))
    _leak[(triton.cdiv(cells, tile.cells), triton.cdiv(channels, width))](
        x, bias, slope, cells, channels, tile.cells, width, num_warps=tile.warps
    )


@triton.jit
def _occlude(
    x,
    bias,
    found,
    hidden_bias,
    out,
    FIRST: tl.constexpr,
    D: tl.constexpr,
    AREA,
    C,
    FOUND: tl.constexpr,
    CELLS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """A program owns CELLS cells of a slot, and CHANNELS of their channels."""
    slot = tl.program_id(1)
    cell = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    inside = cell < AREA
    hidden = tl.zeros([CELLS], tl.float32)
    for depth in tl.static_range(D):
        place = found + ((slot * D + depth).to(tl.int64) * AREA + cell) * FOUND + FIRST + depth
        hidden += tl.load(place, mask=inside, other=0.0).to(tl.float32)
    seen = 1.0 / (1.0 + tl.exp(-(hidden + tl.load(hidden_bias))))
    channel = tl.program_id(2) * CHANNELS + tl.arange(0, CHANNELS)
    wanted = channel < C
    place = (slot.to(tl.int64) * AREA + cell)[:, None] * C + channel[None, :]
    both = inside[:, None] & wanted[None, :]
    value = tl.load(x + place, mask=both, other=0.0).to(tl.float32)
    value += tl.load(bias + channel, mask=wanted, other=0.0)[None, :]
    tl.store(out + place, (value * seen[:, None]).to(out.dtype.element_ty), mask=both)


def occlude(
    x: Tensor, bias: Tensor, found: Tensor, hidden_bias: Tensor, *, first: int, depth: int, out: Tensor
) -> None:
    batch, height, width, channels = x.shape
    tile = TILES["occlude"]
    across = min(tile.channels, triton.next_power_of_2(channels))
    _occlude[(triton.cdiv(height * width, tile.cells), batch, triton.cdiv(channels, across))](
        x,
        bias,
        found,
        hidden_bias,
        out,
        first,
        depth,
        height * width,
        channels,
        found.shape[-1],
        tile.cells,
        across,
        num_warps=tile.warps,
    )
