# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""How convolutions go through their inputs: what their kernels share, and how much a program owns.

A program owns `cells` of a slot's picture, one or two rows or part of one, and `channels` of what is
written. It goes through the kernel's places and the input's channels, `inputs` at a time, which the chip's
copy engine brings: it gives zeros beyond a picture's borders. Channels must come in whole 16 bytes. Programs
of the same cells follow one another, so that what they read is still near.
"""

from dataclasses import dataclass
from typing import Final

import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from .tile import ConvTile

TILES: Final[dict[str, ConvTile]] = {
    "convolved": ConvTile(cells=128, channels=128, inputs=64, warps=4, stages=3),
    "uneven": ConvTile(cells=128, channels=128, inputs=64, warps=8, stages=2),
    "uneven_3": ConvTile(cells=128, channels=128, inputs=64, warps=4, stages=2),
    "convolved_8": ConvTile(cells=128, channels=128, inputs=128, warps=4, stages=3),
    "modulated": ConvTile(cells=128, channels=64, inputs=64, warps=4, stages=3),
    "modulated_8": ConvTile(cells=128, channels=64, inputs=128, warps=4, stages=3),
}
"""By kernel, `_8` for what has 8 bits, `_3` for weights three places wide; `scripts/bench_kernels` tries
others."""
MANY: Final = 128
"""Programs that keep a card busy."""
FEWEST: Final = 16
"""Of each side that tensor cores multiply."""
FEWEST_BYTES: Final = 32
"""Of the inputs that they sum at a time."""
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
def place(tile, H, W, ROWS: tl.constexpr, ACROSS: tl.constexpr):
    """Slot, row and column where a tile of cells begins."""
    wide = (W + ACROSS - 1) // ACROSS
    high = (H + ROWS - 1) // ROWS
    slot = tile // (wide * high)
    tile = tile % (wide * high)
    return slot, tile // wide * ROWS, tile % wide * ACROSS


@triton.jit
def cells(slot, y, column, H, W, ACROSS: tl.constexpr):
    """Which (ACROSS,) cells of all slots' pictures a row of a tile is, and whether each is one."""
    column += tl.arange(0, ACROSS)
    return (slot.to(tl.int64) * H + y) * W + column, (y < H) & (column < W)


@triton.jit
def taps(x, slot, y, column, tap, channel, SIDE: tl.constexpr, ACROSS: tl.constexpr, INPUTS: tl.constexpr):
    """(ACROSS, INPUTS) of what a tap of the kernel sees of a row of cells; zeros beyond the picture."""
    seen = x.load([slot, y + tap // SIDE - SIDE // 2, column + tap % SIDE - SIDE // 2, channel])
    return tl.reshape(seen, [ACROSS, INPUTS])


@triton.jit
def added(found, left, right, INPUTS: tl.constexpr):
    """`found` and the products, in float32, or in whole numbers of whole numbers.

    Products of 8-bit floats are summed by the chip in fewer bits than float32 has; after each step they join
    those before in float32."""
    if left.dtype.is_fp8():
        found = tl.dot(left, right, found, max_num_imprecise_acc=INPUTS)
    else:
        found = tl.dot(left, right, found, input_precision="ieee", out_dtype=found.dtype)
    return found


@triton.jit
def products(
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
        left = taps(x, slot, y, column, tap, channel, SIDE, ACROSS, INPUTS)
        found = added(found, left, right, INPUTS)
        if ROWS == 2:
            left = taps(x, slot, y + 1, column, tap, channel, SIDE, ACROSS, INPUTS)
            below = added(below, left, right, INPUTS)
    return found, below


@triton.jit
def put(found, out, cell, inside, output, wanted, OUT):
    """Write outputs of cells."""
    target = out + cell[:, None] * OUT + output[None, :]
    tl.store(target, found.to(out.dtype.element_ty), mask=inside[:, None] & wanted[None, :])


def readable(x: Tensor) -> bool:
    """Whether kernels take `x`: of no more than 16 bits, of which programs hold enough, and whole 16 bytes a
    cell."""
    return x.element_size() <= 2 and x.shape[-1] * x.element_size() % BYTES == 0


@dataclass(frozen=True, slots=True)
class Cut:
    """Of a picture into tiles of `rows`, one or two, of `across` cells: so many `tiles`."""

    rows: int
    across: int
    tiles: int


def cut(tile: ConvTile, height: int, width: int) -> Cut:
    """For programs of `tile`: a row of its cells, or two rows where pictures are less wide."""
    across = min(tile.cells, 1 << (width - 1).bit_length())
    rows = 1 if across == tile.cells else 2
    return Cut(rows, across, triton.cdiv(width, across) * triton.cdiv(height, rows))


def seen(x: Tensor, across: int, inputs: int) -> TensorDescriptor:
    """`x` (B, H, W, C) as the copy engine reads it: `across` cells of a row by `inputs`."""
    return TensorDescriptor.from_tensor(x, [1, 1, across, inputs])


def weights(weight: Tensor, outputs: int, inputs: int) -> TensorDescriptor:
    """`weight` (O, I, h, w), channels last, in tiles of `outputs` by `inputs` of a place of the kernel."""
    flat = weight.permute(0, 2, 3, 1).flatten(1)
    return TensorDescriptor.from_tensor(flat, [outputs, inputs])


def tile_for(kernel: str, x: Tensor, outputs: int) -> ConvTile:
    """The tile of `kernel` where it reads `x`, no larger than there is to do."""
    inputs, size = x.shape[-1], x.element_size()
    tile = TILES[kernel if size > 1 else f"{kernel}_8"]
    channels = max(FEWEST, min(tile.channels, triton.next_power_of_2(outputs)))
    programs = triton.cdiv(x.shape[:-1].numel(), tile.cells) * triton.cdiv(outputs, channels)
    return ConvTile(
        tile.cells if programs >= MANY else max(FEWEST, tile.cells // 2),
        channels,
        max(FEWEST, FEWEST_BYTES // size, min(tile.inputs, triton.next_power_of_2(inputs))),
        tile.warps,
        tile.stages,
    )
