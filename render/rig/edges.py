"""Smooth outlines: a fringe one pixel wide along every edge where a surface turns out of sight.

A pixel beside the outline is covered by what its distance leaves of one pixel, so that a head, a lip or a lid
ends softly on whatever is behind it, wherever it turns.
"""

from dataclasses import dataclass

import numpy as np
from numba import float32, int64, njit, types
from numpy.typing import NDArray

from .lanes import mix, over, sample
from .scan import BOTH, ONE, scan

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]

_WELD = 2e-4
"""Vertices as close as this, in model units, are one point of the surface."""
_BIAS = 0.004
"""A fringe lies so much behind its edge, in model units, and never on the surface beside it."""
_TRAIL = 1 << 14
"""The most pixels of a fringe that are remembered."""
_OUT_PX, _IN_PX, _HALF = np.float32(2.0), np.float32(1.5), np.float32(0.5)
"""From a pixel of the fringe to one outside of it and one inside."""
_WHITE, _GREEN, _ALPHA = np.uint32(255), np.uint32(8), np.uint32(24)
_NEXT = np.uint64(1)
_F1, _F2 = float32[::1], float32[:, ::1]
_I1, _I2, _B1 = types.int32[::1], types.int32[:, ::1], types.uint8[::1]
_U1, _U2 = types.uint32[::1], types.uint32[:, ::1]


@dataclass(frozen=True, slots=True)
class Outline:
    """The edges of a surface that two triangles share: `ends` (E, 4) vertices, as the first triangle has them
    and as the second has the same two points, for its texels may be others; `sides` (E, 2) triangles, `point`
    (V,) which vertices are one point, `points` their number."""

    ends: I32
    sides: I32
    point: I32
    points: int


@dataclass(frozen=True, slots=True)
class Fringe:
    """Buffers for one outline: `facing` (T,), `chosen` (E,) edges that show, `normal` (P, 2), and the corners
    of what is drawn: `corners` (4 E, 3) on the screen, `coordinates` (4 E, 3) texels and cover, `triangles`
    (2 E, 3). `trail` (N, 3) are the pixels drawn, one beside each outside of the fringe and one inside,
    `colors` (N, 3) what is laid on them, what they were after that and what the one inside was."""

    facing: U8
    chosen: I32
    normal: F32
    corners: F32
    coordinates: F32
    triangles: I32
    trail: I32
    colors: U32


def load_outline(vertices: F32, triangles: I32) -> Outline:
    """The outline of `triangles` (T, 3) over `vertices` (V, 3) at rest."""
    _, point = np.unique(np.round(vertices / _WELD).astype(np.int64), axis=0, return_inverse=True)
    point = point.reshape(-1).astype(np.int32)
    corner = np.concatenate([triangles[:, (0, 1)], triangles[:, (1, 2)], triangles[:, (2, 0)]])
    owner = np.tile(np.arange(len(triangles)), 3)
    key = np.sort(point[corner], 1).astype(np.int64)
    code = key[:, 0] * (len(vertices) + 1) + key[:, 1]
    order = np.argsort(code, kind="stable")
    same = np.flatnonzero((code[order][1:] == code[order][:-1]) & (key[order][1:, 0] != key[order][1:, 1]))
    first, second = order[same], order[same + 1]
    turned = point[corner[first, 0]] != point[corner[second, 0]]
    other = np.where(turned[:, None], corner[second, ::-1], corner[second])
    return Outline(
        np.ascontiguousarray(np.hstack([corner[first], other]).astype(np.int32)),
        np.ascontiguousarray(np.stack([owner[first], owner[second]], 1).astype(np.int32)),
        point,
        int(point.max(initial=-1)) + 1,
    )


def fringe(outline: Outline, triangles: I32) -> Fringe:
    """Buffers for `outline`, whose quads of triangles are numbered once and for all."""
    most = len(outline.ends)
    quads = 4 * np.arange(most, dtype=np.int32)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    return Fringe(
        np.zeros(len(triangles), np.uint8),
        np.zeros(most, np.int32),
        np.zeros((outline.points, 2), np.float32),
        np.zeros((4 * most, 3), np.float32),
        np.zeros((4 * most, 3), np.float32),
        np.ascontiguousarray(quads.reshape(-1, 3)),
        np.zeros((_TRAIL, 3), np.int32),
        np.zeros((_TRAIL, 3), np.uint32),
    )


@njit(types.int64(_F2, _I2, _I2, _B1, _I1), cache=True, nogil=True, fastmath=True, error_model="numpy")
def find_outline(screen: F32, triangles: I32, sides: I32, facing: U8, chosen: I32) -> int:
    """Write which `triangles` (T, 3) face the viewer, `facing` (T,), and the numbers of the edges between one
    that does and one that does not into `chosen`. Returns their count."""
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        x0, y0 = screen[a, 0], screen[a, 1]
        area = (screen[b, 0] - x0) * (screen[c, 1] - y0) - (screen[c, 0] - x0) * (screen[b, 1] - y0)
        facing[t] = area < 0.0
    count = 0
    for e in range(sides.shape[0]):
        if facing[sides[e, 0]] != facing[sides[e, 1]]:
            chosen[count] = e
            count += 1
    return count


@njit(
    types.void(_F2, _I2, _I2, _I1, _B1, _I1, _F2, _F2, _F2, _F2),
    cache=True,
    nogil=True,
    fastmath=True,
    error_model="numpy",
)
def grow_fringe(
    screen: F32,
    ends: I32,
    sides: I32,
    point: I32,
    facing: U8,
    chosen: I32,
    uv: F32,
    normal: F32,
    corners: F32,
    coordinates: F32,
) -> None:
    """Lay a quad of one pixel's width along each of the `chosen` (N,) edges: its four `corners` on the screen
    (4 N, 3), and their texels and cover, the `coordinates` (4 N, 3)."""
    for k in range(chosen.shape[0]):
        for end in range(2):
            p = point[ends[chosen[k], end]]
            normal[p, 0] = normal[p, 1] = 0.0
    for k in range(chosen.shape[0]):
        e = chosen[k]
        i, j = ends[e, 0], ends[e, 1]
        out = np.float32(1.0) if facing[sides[e, 0]] else np.float32(-1.0)
        nx, ny = (screen[i, 1] - screen[j, 1]) * out, (screen[j, 0] - screen[i, 0]) * out
        for v in (i, j):
            normal[point[v], 0] += nx
            normal[point[v], 1] += ny
    for k in range(chosen.shape[0]):
        e = chosen[k]
        seen = 0 if facing[sides[e, 0]] else 2
        for corner in range(4):
            v = ends[e, seen + 1] if corner == 1 or corner == 2 else ends[e, seen]
            nx, ny = normal[point[v], 0], normal[point[v], 1]
            grow = np.float32(0.0)
            if corner >= 2:
                grow = np.float32(1.0) / np.sqrt(nx * nx + ny * ny + np.float32(1e-9))
            at = 4 * k + corner
            corners[at, 0], corners[at, 1] = screen[v, 0] + nx * grow, screen[v, 1] + ny * grow
            corners[at, 2] = screen[v, 2]
            coordinates[at, 0], coordinates[at, 1] = uv[v, 0], uv[v, 1]
            coordinates[at, 2] = 0.0 if corner >= 2 else 1.0


@njit(nogil=True, inline="always")
def _pixel(column: int, row: int, width: int, height: int) -> int:
    """The number of a pixel in a picture, or of the nearest one to where it would be."""
    return min(max(row, 0), height - 1) * width + min(max(column, 0), width - 1)


@njit(nogil=True, inline="always")
def _light(pixel: np.uint32) -> np.int64:
    """How bright a pixel is, by its green alone."""
    return int64((pixel >> _GREEN) & _WHITE)


@njit(
    int64(_F2, _I2, _F2, _U1, int64, _U1, _F1, int64, _I2, _F2, _I2, _U2),
    cache=True,
    nogil=True,
    fastmath=True,
    error_model="numpy",
)
def draw_fringe(
    screen: F32,
    triangles: I32,
    coordinates: F32,
    texture: U32,
    stride: int,
    out: U32,
    depth: F32,
    width: int,
    spans: I32,
    depths: F32,
    trail: I32,
    colors: U32,
) -> int:
    """Triangles (T, 3) laid over `out` where they are nearer, with the texels and the cover in 0..1 that
    `coordinates` (V, 3) give them; no depth is left. Writes the pixels to `trail` (N, 3), what it
    lays on them to `colors` (N, 3), and returns their count."""
    height, drawn = out.shape[0] // width, 0
    step, scale = np.float32(1.0 / ONE), np.float32(256.0)
    turn = 0
    while turn < triangles.shape[0]:
        turn, count = scan(
            screen, triangles, turn, BOTH, screen, True, ONE, ONE, _BIAS, width, height, spans, depths
        )
        for k in range(count):
            at, last = np.uint64(spans[k, 0]), np.uint64(spans[k, 1])
            a, b, c = triangles[spans[k, 2], 0], triangles[spans[k, 2], 1], triangles[spans[k, 2], 2]
            w1, w2 = np.float32(spans[k, 3]) * step, np.float32(spans[k, 4]) * step
            d1, d2 = np.float32(spans[k, 5]) * step, np.float32(spans[k, 6]) * step
            z, dz = depths[k, 0], depths[k, 1]
            quad, y = a & ~3, int64(spans[k, 0]) // width
            nx, ny = screen[quad + 3, 0] - screen[quad, 0], screen[quad + 3, 1] - screen[quad, 1]
            out_x, out_y = int64(np.floor(nx * _OUT_PX + _HALF)), int64(np.floor(ny * _OUT_PX + _HALF))
            in_x, in_y = int64(np.floor(nx * _IN_PX + _HALF)), int64(np.floor(ny * _IN_PX + _HALF))
            while at < last:
                if z < depth[at]:
                    w0 = max(np.float32(1.0) - w1 - w2, np.float32(0.0))
                    u = int64(
                        (w0 * coordinates[a, 0] + w1 * coordinates[b, 0] + w2 * coordinates[c, 0]) * scale
                    )
                    v = int64(
                        (w0 * coordinates[a, 1] + w1 * coordinates[b, 1] + w2 * coordinates[c, 1]) * scale
                    )
                    cover = w0 * coordinates[a, 2] + w1 * coordinates[b, 2] + w2 * coordinates[c, 2]
                    pixel = sample(texture, (v >> 8) * stride + (u >> 8), stride, u & 255, v & 255)
                    faint = mix(np.uint32(0), pixel, int64(min(cover, np.float32(1.0)) * scale))
                    out[at] = over(faint, out[at])
                    if drawn < trail.shape[0]:
                        x = int64(at) - y * width
                        trail[drawn, 0] = at
                        trail[drawn, 1] = _pixel(x + out_x, y + out_y, width, height)
                        trail[drawn, 2] = _pixel(x - in_x, y - in_y, width, height)
                        colors[drawn, 0] = faint
                        drawn += 1
                w1, w2, z = w1 + d1, w2 + d2, z + dz
                at += _NEXT
    return drawn


@njit(types.void(_U1, _I2, _U2, int64), cache=True, nogil=True, error_model="numpy")
def remember(out: U32, trail: I32, colors: U32, count: int) -> None:
    """Write how a picture (H * width,) is on the first `count` pixels of a fringe and inside of them."""
    for k in range(count):
        colors[k, 1], colors[k, 2] = out[trail[k, 0]], out[trail[k, 2]]


@njit(types.void(_U1, _I2, _U2, int64), cache=True, nogil=True, error_model="numpy")
def mend(out: U32, trail: I32, colors: U32, count: int) -> None:
    """Lay the first `count` pixels of a fringe on a picture (H * width,) again where something that is behind
    them was drawn over them later but not over the skin: they cover what is outside of them."""
    for k in range(count):
        at, beside, inside = np.uint64(trail[k, 0]), np.uint64(trail[k, 1]), np.uint64(trail[k, 2])
        if out[at] == colors[k, 1] or out[inside] != colors[k, 2]:
            continue
        skin, pixel = _light(colors[k, 2]), over(colors[k, 0], out[beside])
        nearer = abs(_light(pixel) - skin) < abs(_light(out[at]) - skin)
        if nearer and pixel >> _ALPHA >= out[at] >> _ALPHA:
            out[at] = pixel
