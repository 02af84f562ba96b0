# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""The composite as one Triton kernel: bit for bit what `composite_twins` does."""

from typing import Final

import torch
import triton
import triton.language as tl
from torch import Tensor

from .composite import FINE_BITS, FRACTION_BITS, HALF_UNIT, NOWHERE, UNIT, Column, Extent
from .tile import Tile

TILES: Final[dict[str, Tile]] = {"composite": Tile(cells=128)}
"""By kernel; `scripts/bench_kernels.py` tries others. A cell is a square of 2 x 2 pixels."""
_ACROSS: Final = 32
"""Squares of a block beside each other, at most."""

_COLUMNS = tl.constexpr(len(Column))
_SURFACE = tl.constexpr(int(Column.SURFACE))
_PITCH = tl.constexpr(int(Column.PITCH))
_CHROMA = tl.constexpr(int(Column.CHROMA))
_PLATE = tl.constexpr(int(Column.PLATE))
_STRIDE = tl.constexpr(int(Column.STRIDE))
_LEFT = tl.constexpr(int(Column.LEFT))
_TOP = tl.constexpr(int(Column.TOP))
_RIGHT = tl.constexpr(int(Column.RIGHT))
_BOTTOM = tl.constexpr(int(Column.BOTTOM))
_X = tl.constexpr(int(Column.X))
_Y = tl.constexpr(int(Column.Y))
_COLOR = tl.constexpr(int(Column.COLOR))
_NOWHERE = tl.constexpr(NOWHERE)
_WHOLE = tl.constexpr(FRACTION_BITS)
_FINE = tl.constexpr(FRACTION_BITS - FINE_BITS)
_FINE_MASK = tl.constexpr((1 << FINE_BITS) - 1)
_FINE_UNIT = tl.constexpr(2.0**-FINE_BITS)
_UNIT = tl.constexpr(UNIT)
_HALF_UNIT = tl.constexpr(HALF_UNIT)
_BEYOND = tl.constexpr(0x4B000000)


def composite(
    pictures: Tensor,
    table: Tensor,
    colors: Tensor,
    plates: Tensor,
    *,
    out: Tensor,
    extent: Extent,
) -> None:
    """See the twin."""
    tile = TILES["composite"]
    across = min(tile.cells, _ACROSS)
    down = tile.cells // across
    grid = triton.cdiv(extent.width, 2 * across), triton.cdiv(extent.height, 2 * down), table.shape[0]
    half = pictures.dtype == torch.float16
    _composite[grid](
        pictures.view(torch.int64) if half else pictures,
        table,
        colors,
        plates.view(torch.int64),
        out.view(torch.int16),
        SIDE=pictures.shape[1],
        HALF=half,
        COLUMNS=across,
        ROWS=down,
        num_warps=tile.warps,
        # Each sum is rounded by itself, as everywhere else: a plate's pixel gets the level that it has there.
        enable_fp_fusion=False,
    )


@triton.jit
def _composite(
    pictures,
    table,
    colors,
    plates,
    out,
    SIDE: tl.constexpr,
    HALF: tl.constexpr,
    COLUMNS: tl.constexpr,
    ROWS: tl.constexpr,
):
    """A block owns COLUMNS x ROWS squares of 2 x 2 pixels of one slot's box, a thread one square: four levels
    of Y, one of Cb and of Cr. Pixels are read and written by twos: all places but the face's are of pairs."""
    slot = tl.program_id(2)
    row = table + slot * _COLUMNS
    surface = tl.load(row + _SURFACE)
    right, bottom = tl.load(row + _RIGHT).to(tl.int32), tl.load(row + _BOTTOM).to(tl.int32)
    first_x = tl.load(row + _LEFT).to(tl.int32) + tl.program_id(0) * (2 * COLUMNS)
    first_y = tl.load(row + _TOP).to(tl.int32) + tl.program_id(1) * (2 * ROWS)
    if (surface != _NOWHERE) & (first_x < right) & (first_y < bottom):
        face = pictures + slot.to(tl.int64) * (SIDE * SIDE * (1 if HALF else 4))
        lane = tl.arange(0, COLUMNS * ROWS)
        x = first_x + 2 * (lane % COLUMNS)
        y = first_y + 2 * (lane // COLUMNS)
        across, along_x, down_x = _line(row + _X, x, y)
        down, along_y, down_y = _line(row + _Y, x, y)
        pitch, stride = (tl.load(row + _PITCH) // 2).to(tl.int32), (tl.load(row + _STRIDE) // 2).to(tl.int32)
        luma = out + surface // 2
        chroma = luma + tl.load(row + _CHROMA) // 2
        plate = plates + tl.load(row + _PLATE) // 2
        color = colors + tl.load(row + _COLOR) * 12
        y0, y1, y2, y3 = _color(color)
        u0, u1, u2, u3 = _color(color + 4)
        v0, v1, v2, v3 = _color(color + 8)
        inside = (x < right) & (y < bottom)
        red, green, blue = 0.0, 0.0, 0.0
        for below in tl.static_range(2):
            pixels = tl.load(plate + (y + below) * stride + x // 2, mask=inside, other=0)
            px, py = across + below * down_x, down + below * down_y
            r0, g0, b0 = _blended(face, pixels.to(tl.int32), px, py, SIDE, HALF)
            px, py = px + along_x, py + along_y
            r1, g1, b1 = _blended(face, (pixels >> 32).to(tl.int32), px, py, SIDE, HALF)
            levels = _level(r0, g0, b0, y0, y1, y2, y3) | (_level(r1, g1, b1, y0, y1, y2, y3) << 8)
            tl.store(luma + (y + below) * pitch + x // 2, levels.to(tl.int16), mask=inside)
            red, green, blue = red + (r0 + r1), green + (g0 + g1), blue + (b0 + b1)
        levels = _level(red, green, blue, u0, u1, u2, u3) | (_level(red, green, blue, v0, v1, v2, v3) << 8)
        tl.store(chroma + (y // 2) * pitch + x // 2, levels.to(tl.int16), mask=inside)


@triton.jit
def _line(line, x, y):
    """One coordinate in the face of the plate's pixels (`x`, `y`), and its steps along and down the plate."""
    along, down = tl.load(line + 1), tl.load(line + 2)
    return tl.load(line) + along * x + down * y, along, down


@triton.jit
def _color(row):
    return tl.load(row), tl.load(row + 1), tl.load(row + 2), tl.load(row + 3)


@triton.jit
def _blended(face, pixel, across, down, SIDE: tl.constexpr, HALF: tl.constexpr):
    """RGB 0..255 of the plate's `pixel`, with the face on it that has (`across`, `down`) there."""
    left, fx = _parted(across, 1.0)
    # Levels are 0..255: so are the shares of rows, which saves doing that to each colour.
    top, fy = _parted(down, 255.0)
    r0, g0, b0, w0 = _between(face, left, top, fx, 255.0 - fy, SIDE, HALF)
    r1, g1, b1, w1 = _between(face, left, top + 1, fx, fy, SIDE, HALF)
    weight = (w0 + w1) * (_HALF_UNIT if HALF else _UNIT)
    red = (pixel & 255).to(tl.float32)
    green = ((pixel >> 8) & 255).to(tl.float32)
    blue = ((pixel >> 16) & 255).to(tl.float32)
    red = red + weight * ((r0 + r1) - red)
    green = green + weight * ((g0 + g1) - green)
    blue = blue + weight * ((b0 + b1) - blue)
    return red, green, blue


@triton.jit
def _parted(position, whole: tl.constexpr):
    """The pixel before `position`, and how far it is from there, 0..`whole`."""
    fine = (position >> _FINE).to(tl.int32) & _FINE_MASK
    return (position >> _WHOLE).to(tl.int32), fine.to(tl.float32) * (whole * _FINE_UNIT)


@triton.jit
def _between(face, left, y, fx, share, SIDE: tl.constexpr, HALF: tl.constexpr):
    """The `share` of row `y` of the face, between column `left` and the next: RGB and the weight."""
    line = face + tl.minimum(tl.maximum(y, 0), SIDE - 1) * (SIDE if HALF else 4 * SIDE)
    r0, g0, b0, w0 = _tap(line, left, SIDE, HALF)
    r1, g1, b1, w1 = _tap(line, left + 1, SIDE, HALF)
    near, far = share * (1 - fx), share * fx
    return near * r0 + far * r1, near * g0 + far * g1, near * b0 + far * b1, near * w0 + far * w1


@triton.jit
def _tap(line, x, SIDE: tl.constexpr, HALF: tl.constexpr):
    """RGB and the weight of one of the face's pixels; beyond its edges those go on."""
    place = tl.minimum(tl.maximum(x, 0), SIDE - 1)
    if HALF:
        lanes = tl.load(line + place)
        low, high = lanes.to(tl.uint32), (lanes >> 32).to(tl.uint32)
        red, green, blue = _half(low), _half(low >> 16), _half(high)
        # The bits of a float of that value and 2^23, which is quicker than to convert it.
        weight = ((high >> 16) | _BEYOND).to(tl.float32, bitcast=True) - 8388608.0
    else:
        lanes = line + place * 4
        red, green, blue = tl.load(lanes), tl.load(lanes + 1), tl.load(lanes + 2)
        weight = tl.load(lanes + 3)
    return red, green, blue, weight


@triton.jit
def _half(lanes):
    """The lowest 16 bits, as a float32."""
    return lanes.to(tl.uint16).to(tl.float16, bitcast=True).to(tl.float32)


@triton.jit
def _level(red, green, blue, c0, c1, c2, c3):
    """One of Y, Cb and Cr, int32 of 8 bits."""
    return (c0 * red + c1 * green + c2 * blue + c3).to(tl.int32)
