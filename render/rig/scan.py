"""Cutting triangles into spans of pixels: the first half of all drawing, without colours.

Coordinates count pixel edges: the centre of pixel (x, y) is (x + 0.5, y + 0.5), and a triangle covers the
pixels whose centres it holds. A span is one row of such pixels; two coordinates and the depth run along it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numba import int64, njit
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]

BOTH, FRONT = 0, 1
"""Which sides of triangles are seen."""
ONE: Final = 65536
"""Coordinates along spans are integers in steps of 1/65536."""
_SPANS = 2048
"""Spans at which a turn ends; those of its last triangle still find room."""
_LEAST_AREA = np.float32(1e-5)
_POINT5 = np.float32(0.5)
_FIXED = np.float32(ONE)
_CEILING = ONE - 1


@dataclass(frozen=True, slots=True)
class Scratch:
    """Spans of one turn. `spans` (S, 7) int32: first pixel, the one after the last, triangle, coordinates
    and their steps; `depths` (S, 2) float32: depth and its step."""

    spans: I32
    depths: F32


def scratch(height: int) -> Scratch:
    """Room for drawing pictures of up to `height` rows."""
    rows = _SPANS + height
    return Scratch(np.zeros((rows, 7), np.int32), np.zeros((rows, 2), np.float32))


@njit(nogil=True, fastmath=True, error_model="numpy")
def scan(
    screen: F32,
    triangles: I32,
    turn: int,
    sides: int,
    coordinates: F32,
    shares: bool,
    across_most: int,
    down_most: int,
    bias: float,
    width: int,
    height: int,
    spans: I32,
    depths: F32,
) -> tuple[int, int]:
    """Cut `triangles` (T, 3) from number `turn` on until the table is full, as compiled code only.

    Returns the number to go on with and the count of spans. `coordinates` (V, 2) run along the spans, in
    texels and half a texel less; with `shares` they are the shares of a triangle's second and third corner
    instead. They are kept in 0..`across_most` and 0..`down_most`, in steps of 1/65536.
    """
    count = 0
    total = triangles.shape[0]
    while turn < total and count < _SPANS:
        a, b, c = triangles[turn, 0], triangles[turn, 1], triangles[turn, 2]
        turn += 1
        x0, y0, x1, y1, x2, y2 = (
            screen[a, 0],
            screen[a, 1],
            screen[b, 0],
            screen[b, 1],
            screen[c, 0],
            screen[c, 1],
        )
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if (sides == FRONT and area >= 0.0) or abs(area) < _LEAST_AREA:
            continue
        tx, ty, mx, my, lx, ly = x0, y0, x1, y1, x2, y2
        if my < ty:
            tx, ty, mx, my = mx, my, tx, ty
        if ly < my:
            mx, my, lx, ly = lx, ly, mx, my
            if my < ty:
                tx, ty, mx, my = mx, my, tx, ty
        row = max(0, int64(np.ceil(ty - _POINT5)))
        stop = min(height, int64(np.ceil(ly - _POINT5)))
        if row >= stop:
            continue
        middle = min(max(int64(np.ceil(my - _POINT5)), row), stop)
        scale = np.float32(1.0) / area
        gx1, gx2, gy1, gy2 = (y2 - y0) * scale, (y0 - y1) * scale, (x0 - x2) * scale, (x1 - x0) * scale
        z0, z1, z2 = screen[a, 2] + np.float32(bias), screen[b, 2] - screen[a, 2], screen[c, 2] - screen[a, 2]
        if shares:
            u0, u1, u2, v0, v1, v2 = (
                np.float32(0.0),
                np.float32(1.0),
                np.float32(0.0),
                np.float32(0.0),
                np.float32(0.0),
                np.float32(1.0),
            )
        else:
            u0, v0 = coordinates[a, 0], coordinates[a, 1]
            u1, u2 = coordinates[b, 0] - u0, coordinates[c, 0] - u0
            v1, v2 = coordinates[b, 1] - v0, coordinates[c, 1] - v0
        dzx, dzy = z1 * gx1 + z2 * gx2, z1 * gy1 + z2 * gy2
        dux, duy, dvx, dvy = (
            u1 * gx1 + u2 * gx2,
            u1 * gy1 + u2 * gy2,
            v1 * gx1 + v2 * gx2,
            v1 * gy1 + v2 * gy2,
        )
        column = int64(tx)
        dx, dy = np.float32(column) + _POINT5 - x0, np.float32(row) + _POINT5 - y0
        z, u, v = (
            z0 + dx * dzx + dy * dzy,
            int64((u0 + dx * dux + dy * duy) * _FIXED),
            int64((v0 + dx * dvx + dy * dvy) * _FIXED),
        )
        du, dv, row_u, row_v = (
            int64(dux * _FIXED),
            int64(dvx * _FIXED),
            int64(duy * _FIXED),
            int64(dvy * _FIXED),
        )
        long_slope = (lx - tx) / (ly - ty)
        long = int64((tx + (np.float32(row) + _POINT5 - ty) * long_slope - _POINT5) * _FIXED) + _CEILING
        long_step = int64(long_slope * _FIXED)
        long_left = (mx - tx) * (ly - ty) > (lx - tx) * (my - ty)
        for part in range(2):
            if part == 0:
                end, fromx, fromy, tox, toy = middle, tx, ty, mx, my
            else:
                end, fromx, fromy, tox, toy = stop, mx, my, lx, ly
            if row >= end:
                continue
            slope = (tox - fromx) / (toy - fromy)
            short = int64((fromx + (np.float32(row) + _POINT5 - fromy) * slope - _POINT5) * _FIXED) + _CEILING
            short_step = int64(slope * _FIXED)
            while row < end:
                if long_left:
                    left, right = long >> 16, short >> 16
                else:
                    left, right = short >> 16, long >> 16
                left, right = max(left, 0), min(right, width)
                if left < right:
                    reach, further = left - column, right - left - 1
                    su, sv, eu, ev = u + reach * du, v + reach * dv, du, dv
                    su, sv = min(max(su, 0), across_most), min(max(sv, 0), down_most)
                    over_u, over_v = su + further * du, sv + further * dv
                    if over_u < 0 or over_u > across_most:
                        eu = (min(max(over_u, 0), across_most) - su) // max(further, 1)
                    if over_v < 0 or over_v > down_most:
                        ev = (min(max(over_v, 0), down_most) - sv) // max(further, 1)
                    spans[count, 0] = row * width + left
                    spans[count, 1] = row * width + right
                    spans[count, 2] = turn - 1
                    spans[count, 3] = su
                    spans[count, 4] = sv
                    spans[count, 5] = eu
                    spans[count, 6] = ev
                    depths[count, 0] = z + np.float32(reach) * dzx
                    depths[count, 1] = dzx
                    count += 1
                row += 1
                long += long_step
                short += short_step
                u, v, z = u + row_u, v + row_v, z + dzy
    return turn, count
