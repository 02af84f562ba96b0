"""Leaving out what is hidden: triangles laid under an opaque picture that lie in whole tiles of it, and those
above and below a gap through which they would be seen."""

import numpy as np
from numba import int64, njit, types
from numpy.typing import NDArray

from .lanes import GROUP, all_of

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

TILE = GROUP
"""Side of a tile in pixels."""
_FULL = np.uint32(0xFF000000)

_F2, _I2 = types.float32[:, ::1], types.int32[:, ::1]
_U1, _B2 = types.uint32[::1], types.uint8[:, ::1]


@njit(_B2(_U1, *(int64,) * 5), cache=True, nogil=True, error_model="numpy")
def open_tiles(out: U32, width: int, left: int, top: int, right: int, bottom: int) -> U8:
    """1 for each tile of `out` (H * width,) that has a pixel in a box which is not opaque, 0 for the others,
    (H, W) in tiles."""
    height = out.shape[0] // width
    tiles = np.zeros(((height + TILE - 1) // TILE, (width + TILE - 1) // TILE), np.uint8)
    for row in range(top // TILE, (bottom + TILE - 1) // TILE):
        for column in range(left // TILE, (right + TILE - 1) // TILE):
            x, whole = column * TILE, _FULL
            if x + TILE <= width:
                for y in range(row * TILE, min(row * TILE + TILE, height)):
                    whole &= all_of(out, y * width + x)
            else:
                whole = np.uint32(0)
            tiles[row, column] = whole < _FULL
    return tiles


@njit(_I2(_F2, _I2, _B2), cache=True, nogil=True, fastmath=True, error_model="numpy")
def under_tiles(screen: F32, triangles: I32, tiles: U8) -> I32:
    """Those of `triangles` (T, 3) on the `screen` (V, 3) that touch one of the `tiles` that are 1."""
    kept, count = np.empty(triangles.shape, np.int32), 0
    rows, columns = tiles.shape
    scale = np.float32(1.0 / TILE)
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        left, right = (
            min(screen[a, 0], screen[b, 0], screen[c, 0]),
            max(screen[a, 0], screen[b, 0], screen[c, 0]),
        )
        top, bottom = (
            min(screen[a, 1], screen[b, 1], screen[c, 1]),
            max(screen[a, 1], screen[b, 1], screen[c, 1]),
        )
        first, last = max(int64(left * scale), 0), min(int64(right * scale), columns - 1)
        seen = False
        for y in range(max(int64(top * scale), 0), min(int64(bottom * scale), rows - 1) + 1):
            for x in range(first, last + 1):
                seen |= tiles[y, x] != 0
        if seen:
            kept[count, 0], kept[count, 1], kept[count, 2] = a, b, c
            count += 1
    return kept[:count]


@njit(_I2(_F2, _I2, types.float64, types.float64), cache=True, nogil=True, fastmath=True, error_model="numpy")
def within_rows(screen: F32, triangles: I32, top: float, bottom: float) -> I32:
    """Those of `triangles` (T, 3) on the `screen` (V, 3) that reach between the rows `top` and `bottom`."""
    kept, count = np.empty(triangles.shape, np.int32), 0
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        first, last = screen[a, 1], screen[a, 1]
        first, last = min(first, screen[b, 1]), max(last, screen[b, 1])
        first, last = min(first, screen[c, 1]), max(last, screen[c, 1])
        if last >= top and first <= bottom:
            kept[count, 0], kept[count, 1], kept[count, 2] = a, b, c
            count += 1
    return kept[:count]
