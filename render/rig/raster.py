"""The inner loops of the rig: posing a mesh and drawing textured triangles, compiled once and cached.

Textures are premultiplied RGBA packed into uint32, red lowest. Coordinates count pixel edges: the centre of pixel
(x, y) is (x + 0.5, y + 0.5).
"""

from typing import Final

import numpy as np
from numba import float32, int64, njit, types, uint64
from numpy.typing import NDArray

F32 = NDArray[np.float32]
U32 = NDArray[np.uint32]

SKIN, LID, EYE, SHADE, HAIR, BACK = range(6)
"""How a triangle is drawn: textured; cross-faded to closed lids; eyeball; mouth interior; blended layers."""
TEETH, TONGUE, CAVITY = range(3)
"""What the mouth interior is made of."""

FAR: Final = np.float32(1e9)
_LANES = 0x00FF00FF
_ALL = 0x00FF00FF00FF00FF
_HALF = 0x0080008000800080

_F1, _F2, _F3 = float32[::1], float32[:, ::1], float32[:, :, ::1]
_I1, _I2 = types.int32[::1], types.int32[:, ::1]
_B1, _B3 = types.uint8[::1], types.uint8[:, :, ::1]
_T2 = types.uint32[:, ::1]


@njit(
    types.void(_F2, _I1, _I1, _F2, _F1, _B1, _F3, _F1, _F2, _F1, _F2, _F2),
    cache=True,
    nogil=True,
    fastmath=True,
)
def pose(
    rest: F32,
    shape_start: NDArray[np.int32],
    shape_vertex: NDArray[np.int32],
    shape_delta: F32,
    units: F32,
    head_weight: NDArray[np.uint8],
    turns: F32,
    pivot: F32,
    camera: F32,
    lens: F32,
    world: F32,
    screen: F32,
) -> None:
    """`rest` (V, 3) moved by `units` (52,) and turned by `turns` (256, 3, 3), one matrix for each head weight.

    Writes `world` (V, 3) and `screen` (V, 3): x and y in crop pixels, depth along the view. `lens` is focal length
    and principal point in crop pixels: (fx, fy, cx, cy).
    """
    count = rest.shape[0]
    for i in range(count):
        world[i, 0], world[i, 1], world[i, 2] = rest[i, 0], rest[i, 1], rest[i, 2]
    for k in range(units.shape[0]):
        w = units[k]
        if abs(w) > 1e-4:
            for j in range(shape_start[k], shape_start[k + 1]):
                i = shape_vertex[j]
                world[i, 0] += w * shape_delta[j, 0]
                world[i, 1] += w * shape_delta[j, 1]
                world[i, 2] += w * shape_delta[j, 2]
    for i in range(count):
        m = turns[head_weight[i]]
        x, y, z = world[i, 0] - pivot[0], world[i, 1] - pivot[1], world[i, 2] - pivot[2]
        a = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + pivot[0]
        b = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + pivot[1]
        c = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + pivot[2]
        world[i, 0], world[i, 1], world[i, 2] = a, b, c
        a, b, c = a - camera[0, 0], b - camera[0, 1], c - camera[0, 2]
        depth = a * camera[3, 0] + b * camera[3, 1] + c * camera[3, 2]
        right = a * camera[1, 0] + b * camera[1, 1] + c * camera[1, 2]
        up = a * camera[2, 0] + b * camera[2, 1] + c * camera[2, 2]
        screen[i, 0] = lens[2] + lens[0] * right / depth
        screen[i, 1] = lens[3] - lens[1] * up / depth
        screen[i, 2] = depth


@njit(types.void(_F2, _I2, _F2), cache=True, nogil=True, fastmath=True)
def normals(world: F32, triangles: NDArray[np.int32], normal: F32) -> None:
    """Smooth unit normals (V, 3) of the vertices that `triangles` use; the others keep what they had."""
    for t in range(triangles.shape[0]):
        for k in range(3):
            i = triangles[t, k]
            normal[i, 0] = normal[i, 1] = normal[i, 2] = 0.0
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, uy, uz = world[b, 0] - world[a, 0], world[b, 1] - world[a, 1], world[b, 2] - world[a, 2]
        vx, vy, vz = world[c, 0] - world[a, 0], world[c, 1] - world[a, 1], world[c, 2] - world[a, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        for k in range(3):
            i = triangles[t, k]
            normal[i, 0] += nx
            normal[i, 1] += ny
            normal[i, 2] += nz
    for t in range(triangles.shape[0]):
        for k in range(3):
            i = triangles[t, k]
            x, y, z = normal[i, 0], normal[i, 1], normal[i, 2]
            scale = 1.0 / np.sqrt(x * x + y * y + z * z + 1e-12)
            normal[i, 0], normal[i, 1], normal[i, 2] = x * scale, y * scale, z * scale


@njit(uint64(types.uint32), cache=True, nogil=True, inline="always")
def _spread(p):  # pyright: ignore[reportMissingParameterType]
    """Four bytes into four 16-bit lanes: red, blue, green, alpha from the lowest."""
    q = np.uint64(p)
    return (q & np.uint64(_LANES)) | ((q & np.uint64(0xFF00FF00)) << np.uint64(24))


@njit(uint64(_T2, int64, int64), cache=True, nogil=True, inline="always")
def _sample(texture, u, v):  # pyright: ignore[reportMissingParameterType]
    """Bilinear sample at 16.16 fixed-point texel edges, as lanes."""
    x, y = u >> 16, v >> 16
    fx, fy = np.uint64((u >> 8) & 255), np.uint64((v >> 8) & 255)
    gx, gy = np.uint64(256) - fx, np.uint64(256) - fy
    a, b = _spread(texture[y, x]), _spread(texture[y, x + 1])
    c, d = _spread(texture[y + 1, x]), _spread(texture[y + 1, x + 1])
    half, keep, eight = np.uint64(_HALF), np.uint64(_ALL), np.uint64(8)
    top = ((a * gx + b * fx + half) >> eight) & keep
    low = ((c * gx + d * fx + half) >> eight) & keep
    return ((top * gy + low * fy + half) >> eight) & keep


@njit(types.void(_B3, int64, int64, uint64), cache=True, nogil=True, inline="always")
def _put(out, y, x, p):  # pyright: ignore[reportMissingParameterType]
    """Lay premultiplied lanes over a pixel."""
    alpha = int64(p >> np.uint64(48))
    r, g, b = (
        int64(p & np.uint64(255)),
        int64((p >> np.uint64(32)) & np.uint64(255)),
        int64((p >> np.uint64(16)) & np.uint64(255)),
    )
    if alpha < 255:
        rest = 255 - alpha
        s = int64(out[y, x, 0]) * rest + 128
        r = min(r + ((s + (s >> 8)) >> 8), 255)
        s = int64(out[y, x, 1]) * rest + 128
        g = min(g + ((s + (s >> 8)) >> 8), 255)
        s = int64(out[y, x, 2]) * rest + 128
        b = min(b + ((s + (s >> 8)) >> 8), 255)
    out[y, x, 0], out[y, x, 1], out[y, x, 2] = np.uint8(r), np.uint8(g), np.uint8(b)


@njit(
    types.void(_F2, _I2, _B1, _B1, _F2, _F2, _T2, _T2, _T2, _T2, _T2, _F1, _F2, _F2, _F1, _B3, _F2),
    cache=True,
    nogil=True,
    fastmath=True,
)
def draw(
    screen: F32,
    triangles: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    marks: NDArray[np.uint8],
    uv: F32,
    uv_closed: F32,
    head: U32,
    closed: U32,
    eyes: U32,
    hair: U32,
    back: U32,
    blink: F32,
    gaze: F32,
    tone: F32,
    bias: F32,
    out: NDArray[np.uint8],
    depth: F32,
) -> None:
    """Draw `triangles` (T, 3) in order over `out` (H, W, 3), with `depth` (H, W) as z-buffer.

    `kinds` (T,) says how; `marks` (T,) is the side of a lid or an eye. `uv` and `uv_closed` (V, 2) are in texels,
    `blink` (2,) mixes the closed lids in, `gaze` (2, 2) shifts the eyes in texels, `tone` (V, 3) colours the
    mouth, `bias` (6,) is added to the depth by kind.
    """
    height, width = depth.shape
    one = np.float32(65536.0)
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        x0, y0, x1, y1, x2, y2 = (
            screen[a, 0],
            screen[a, 1],
            screen[b, 0],
            screen[b, 1],
            screen[c, 0],
            screen[c, 1],
        )
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        kind = kinds[t]
        if (kind <= SHADE and area >= 0.0) or abs(area) < 1e-5:
            continue
        low, high = min(y0, min(y1, y2)), max(y0, max(y1, y2))
        row, stop = max(0, int(np.ceil(low - 0.5))), min(height, int(np.ceil(high - 0.5)))
        if row >= stop:
            continue
        inv = np.float32(1.0) / area
        gx1, gx2, gy1, gy2 = (y2 - y0) * inv, -(y1 - y0) * inv, -(x2 - x0) * inv, (x1 - x0) * inv
        z0, dz1, dz2 = screen[a, 2] + bias[kind], screen[b, 2] - screen[a, 2], screen[c, 2] - screen[a, 2]
        dzx, dzy = dz1 * gx1 + dz2 * gx2, dz1 * gy1 + dz2 * gy2
        u0, v0 = uv[a, 0], uv[a, 1]
        dux = (uv[b, 0] - u0) * gx1 + (uv[c, 0] - u0) * gx2
        duy = (uv[b, 0] - u0) * gy1 + (uv[c, 0] - u0) * gy2
        dvx = (uv[b, 1] - v0) * gx1 + (uv[c, 1] - v0) * gx2
        dvy = (uv[b, 1] - v0) * gy1 + (uv[c, 1] - v0) * gy2
        if kind == EYE:
            u0, v0 = u0 + gaze[marks[t], 0], v0 + gaze[marks[t], 1]
        mix = np.uint64(0)
        p0 = q0 = dpx = dpy = dqx = dqy = np.float32(0.0)
        if kind == LID:
            mix = np.uint64(min(max(blink[marks[t]], np.float32(0.0)), np.float32(1.0)) * np.float32(256.0))
            if mix > 0:
                p0, q0 = uv_closed[a, 0], uv_closed[a, 1]
                dpx = (uv_closed[b, 0] - p0) * gx1 + (uv_closed[c, 0] - p0) * gx2
                dpy = (uv_closed[b, 0] - p0) * gy1 + (uv_closed[c, 0] - p0) * gy2
                dqx = (uv_closed[b, 1] - q0) * gx1 + (uv_closed[c, 1] - q0) * gx2
                dqy = (uv_closed[b, 1] - q0) * gy1 + (uv_closed[c, 1] - q0) * gy2
        for y in range(row, stop):
            yc = y + np.float32(0.5)
            left, right = np.float32(1e9), np.float32(-1e9)
            for e in range(3):
                if e == 0:
                    xa, ya, xb, yb = x0, y0, x1, y1
                elif e == 1:
                    xa, ya, xb, yb = x1, y1, x2, y2
                else:
                    xa, ya, xb, yb = x2, y2, x0, y0
                if ya > yb:
                    xa, ya, xb, yb = xb, yb, xa, ya
                if ya <= yc < yb:
                    x = xa + (yc - ya) * ((xb - xa) / (yb - ya))
                    left, right = min(left, x), max(right, x)
            start, end = max(0, int(np.ceil(left - 0.5))), min(width, int(np.ceil(right - 0.5)))
            if start >= end:
                continue
            dx, dy = start + np.float32(0.5) - x0, yc - y0
            z = z0 + dx * dzx + dy * dzy
            if kind == SHADE:
                for x_ in range(start, end):
                    if z < depth[y, x_]:
                        w1 = (x_ + np.float32(0.5) - x0) * gx1 + dy * gy1
                        w2 = (x_ + np.float32(0.5) - x0) * gx2 + dy * gy2
                        w0 = np.float32(1.0) - w1 - w2
                        depth[y, x_] = z
                        for k in range(3):
                            out[y, x_, k] = np.uint8(w0 * tone[a, k] + w1 * tone[b, k] + w2 * tone[c, k])
                    z += dzx
                continue
            u = int64((u0 + dx * dux + dy * duy - np.float32(0.5)) * one) + 128
            v = int64((v0 + dx * dvx + dy * dvy - np.float32(0.5)) * one) + 128
            du, dv = int64(dux * one), int64(dvx * one)
            if kind == HAIR or kind == BACK:
                texture = hair if kind == HAIR else back
                for x_ in range(start, end):
                    if kind == BACK or z < depth[y, x_]:
                        p = _sample(texture, u, v)
                        if p >> np.uint64(48):
                            _put(out, y, x_, p)
                    u, v, z = u + du, v + dv, z + dzx
            elif mix > 0:
                s = int64((p0 + dx * dpx + dy * dpy - np.float32(0.5)) * one) + 128
                r = int64((q0 + dx * dqx + dy * dqy - np.float32(0.5)) * one) + 128
                ds, dr = int64(dpx * one), int64(dqx * one)
                for x_ in range(start, end):
                    if z < depth[y, x_]:
                        p, q = _sample(head, u, v), _sample(closed, s, r)
                        p = (
                            (p * (np.uint64(256) - mix) + q * mix + np.uint64(_HALF)) >> np.uint64(8)
                        ) & np.uint64(_ALL)
                        if p >> np.uint64(48):
                            _put(out, y, x_, p)
                        if (p >> np.uint64(48)) > np.uint64(127):
                            depth[y, x_] = z
                    u, v, s, r, z = u + du, v + dv, s + ds, r + dr, z + dzx
            else:
                texture = eyes if kind == EYE else head
                for x_ in range(start, end):
                    if z < depth[y, x_]:
                        p = _sample(texture, u, v)
                        if p >> np.uint64(48):
                            _put(out, y, x_, p)
                        if (p >> np.uint64(48)) > np.uint64(127):
                            depth[y, x_] = z
                    u, v, z = u + du, v + dv, z + dzx
