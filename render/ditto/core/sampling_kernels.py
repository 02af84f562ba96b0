# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""Kernels that read a volume at places between its cells; `warp_twins` says what each does."""

from typing import Final

import triton
import triton.language as tl
from torch import Tensor

from ..dense_motion import KEYPOINTS, MOTIONS
from .tile import Tile

LANES: Final = 32
"""The next power of two from the number of motions on."""
TILES: Final[dict[str, Tile]] = {
    "motion_input": Tile(cells=16),
    "deform": Tile(cells=32, warps=2),
}
"""By kernel; `scripts/bench_kernels` tries others."""


@triton.jit
def _place(index, cells):
    """Of the cell's middle, -1..1 from the first to the last."""
    return 2.0 * (index.to(tl.float32) / (cells - 1)) - 1.0


@triton.jit
def _cell(place, cells):
    """The cell that a place lies in, where the ends are the outer edges, and the share of the next one."""
    at = ((place + 1.0) * cells - 1.0) * 0.5
    low = tl.floor(at)
    return low.to(tl.int32), at - low


@triton.jit
def _corner(corner: tl.constexpr, x0, y0, z0, wx, wy, wz, D, H, W):
    """Of the eight cells round a place that `corner`'s bits name: its index, its share, and whether it is in
    the volume."""
    x = x0 + (corner & 1)
    y = y0 + ((corner >> 1) & 1)
    z = z0 + (corner >> 2)
    share = wx if corner & 1 else 1.0 - wx
    share = share * (wy if (corner >> 1) & 1 else 1.0 - wy)
    share = share * (wz if corner >> 2 else 1.0 - wz)
    there = (x >= 0) & (x < W) & (y >= 0) & (y < H) & (z >= 0) & (z < D)
    return (z * H + y) * W + x, share, there


@triton.jit
def _motion_input(
    small,
    which,
    source,
    driven,
    out,
    D,
    H,
    W,
    C: tl.constexpr,
    PITCH: tl.constexpr,
    K: tl.constexpr,
    KP: tl.constexpr,
    LANES: tl.constexpr,
    CELLS: tl.constexpr,
):
    """A program owns CELLS cells of a slot's volume, all motions of them."""
    slot = tl.program_id(1)
    cell = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    volume = D * H * W
    inside = cell < volume
    x = _place(cell % W, W)[:, None]
    y = _place((cell // W) % H, H)[:, None]
    z = _place(cell // (H * W), D)[:, None]
    motion = tl.arange(0, LANES)
    moves = (motion > 0) & (motion < K)
    at = slot * KP * 3 + (motion - 1) * 3
    sx = tl.load(source + at, mask=moves, other=0.0)[None, :]
    sy = tl.load(source + at + 1, mask=moves, other=0.0)[None, :]
    sz = tl.load(source + at + 2, mask=moves, other=0.0)[None, :]
    dx = tl.load(driven + at, mask=moves, other=0.0)[None, :]
    dy = tl.load(driven + at + 1, mask=moves, other=0.0)[None, :]
    dz = tl.load(driven + at + 2, mask=moves, other=0.0)[None, :]
    near = tl.exp(-50.0 * ((x - dx) * (x - dx) + (y - dy) * (y - dy) + (z - dz) * (z - dz)))
    far = tl.exp(-50.0 * ((x - sx) * (x - sx) + (y - sy) * (y - sy) + (z - sz) * (z - sz)))
    heat = tl.where(moves[None, :], near - far, 0.0)
    writes = inside[:, None] & (motion < K)[None, :]
    place = out + (slot.to(tl.int64) * volume + cell)[:, None] * PITCH + motion[None, :]
    tl.store(place, heat.to(out.dtype.element_ty), mask=writes)

    x0, wx = _cell(x - dx + sx, W)
    y0, wy = _cell(y - dy + sy, H)
    z0, wz = _cell(z - dz + sz, D)
    first = small + tl.load(which + slot) * volume * C
    for channel in tl.static_range(C):
        total = tl.zeros([CELLS, LANES], tl.float32)
        for corner in tl.static_range(8):
            index, share, there = _corner(corner, x0, y0, z0, wx, wy, wz, D, H, W)
            value = tl.load(first + index * C + channel, mask=writes & there, other=0.0)
            total += share * value.to(tl.float32)
        tl.store(place + (channel + 1) * K, total.to(out.dtype.element_ty), mask=writes)
    rest = tl.arange(0, 16)
    left_over = K * (C + 1) + rest
    base = out + (slot.to(tl.int64) * volume + cell)[:, None] * PITCH + left_over[None, :]
    zero = tl.zeros([CELLS, 16], tl.float32).to(out.dtype.element_ty)
    tl.store(base, zero, mask=inside[:, None] & (left_over < PITCH)[None, :])


def motion_input(small: Tensor, which: Tensor, source: Tensor, driven: Tensor, *, out: Tensor) -> None:
    _, depth, height, width, channels = small.shape
    tile, cells = TILES["motion_input"], depth * height * width
    assert out.shape[-1] - MOTIONS * (channels + 1) <= 16
    _motion_input[(triton.cdiv(cells, tile.cells), which.shape[0])](
        small,
        which,
        source,
        driven,
        out,
        depth,
        height,
        width,
        channels,
        out.shape[-1],
        MOTIONS,
        KEYPOINTS,
        LANES,
        tile.cells,
        num_warps=tile.warps,
    )


@triton.jit
def _deform(
    found,
    bias,
    source,
    driven,
    volume,
    which,
    out,
    D,
    H,
    W,
    C: tl.constexpr,
    CHANNELS: tl.constexpr,
    FOUND: tl.constexpr,
    TAPS: tl.constexpr,
    K: tl.constexpr,
    KP: tl.constexpr,
    LANES: tl.constexpr,
    CELLS: tl.constexpr,
):
    """A program owns CELLS of a depth slice of a slot: their shares, their place of origin, and what is
    there."""
    slice_ = tl.program_id(1)
    depth = slice_ % D
    slot = slice_ // D
    area = H * W
    cell = tl.program_id(0) * CELLS + tl.arange(0, CELLS)
    inside = cell < area
    motion = tl.arange(0, LANES)
    counts = motion < K
    score = tl.zeros([CELLS, LANES], tl.float32)
    for tap in tl.static_range(TAPS):
        other = depth + tap - TAPS // 2
        there = (other >= 0) & (other < D)
        place = (slice_ + tap - TAPS // 2).to(tl.int64) * area + cell
        place = found + place[:, None] * FOUND + tap * K + motion[None, :]
        reads = inside[:, None] & counts[None, :] & there
        score += tl.load(place, mask=reads, other=0.0).to(tl.float32)
    score += tl.load(bias + motion, mask=counts, other=0.0)[None, :]
    score = tl.where(counts[None, :], score, -1e30)
    weight = tl.exp(score - tl.max(score, 1)[:, None])
    share = weight / tl.sum(weight, 1)[:, None]

    moves = (motion > 0) & counts
    at = slot * KP * 3 + (motion - 1) * 3
    ox = tl.load(source + at, mask=moves, other=0.0) - tl.load(driven + at, mask=moves, other=0.0)
    oy = tl.load(source + at + 1, mask=moves, other=0.0) - tl.load(driven + at + 1, mask=moves, other=0.0)
    oz = tl.load(source + at + 2, mask=moves, other=0.0) - tl.load(driven + at + 2, mask=moves, other=0.0)
    x0, wx = _cell(_place(cell % W, W) + tl.sum(share * ox[None, :], 1), W)
    y0, wy = _cell(_place(cell // W, H) + tl.sum(share * oy[None, :], 1), H)
    z0, wz = _cell(_place(depth, D) + tl.sum(share * oz[None, :], 1), D)
    channel = tl.arange(0, CHANNELS)
    first = volume + tl.load(which + slot) * D * area * C
    total = tl.zeros([CELLS, CHANNELS], tl.float32)
    for corner in tl.static_range(8):
        index, part, there = _corner(corner, x0, y0, z0, wx, wy, wz, D, H, W)
        place = first + (index * C)[:, None] + channel[None, :]
        reads = (inside & there)[:, None] & (channel < C)[None, :]
        total += part[:, None] * tl.load(place, mask=reads, other=0.0).to(tl.float32)
    place = out + ((slot.to(tl.int64) * area + cell) * (D * C))[:, None] + depth * C + channel[None, :]
    writes = inside[:, None] & (channel < C)[None, :]
    tl.store(place, total.to(out.dtype.element_ty), mask=writes)


def deform(
    found: Tensor,
    bias: Tensor,
    source: Tensor,
    driven: Tensor,
    volume: Tensor,
    which: Tensor,
    *,
    taps: int,
    out: Tensor,
) -> None:
    _, depth, height, width, channels = volume.shape
    tile = TILES["deform"]
    _deform[(triton.cdiv(height * width, tile.cells), which.shape[0] * depth)](
        found,
        bias,
        source,
        driven,
        volume,
        which,
        out,
        depth,
        height,
        width,
        channels,
        triton.next_power_of_2(channels),
        found.shape[-1],
        taps,
        MOTIONS,
        KEYPOINTS,
        LANES,
        tile.cells,
        num_warps=tile.warps,
    )
