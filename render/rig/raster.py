"""Drawing textured triangles in scanlines, compiled once and cached.

Pixels are premultiplied RGBA packed into uint32, red lowest; the four channels of one are blended at once as
16-bit lanes of a uint64. Coordinates count pixel edges: the centre of pixel (x, y) is (x + 0.5, y + 0.5).
Index arithmetic in the inner loops is unsigned throughout, which spares a test for negative indices at each
access.
"""

from typing import Final

import numpy as np
from numba import float32, njit, types
from numpy.typing import NDArray

F32 = NDArray[np.float32]
U32 = NDArray[np.uint32]

SKIN, LID, EYE, SHADE, HAIR, BACK = range(6)
"""How a triangle is drawn: textured; cross-faded to closed lids; eyeball; mouth interior; blended layers."""
PAGES = ("head", "closed", "eyes", "hair", "back")
"""Order of the textures in an atlas."""
FAR: Final = np.float32(1e9)

_PAGE_HEAD, _PAGE_CLOSED, _PAGE_EYES, _PAGE_HAIR, _PAGE_BACK = (np.uint64(k) for k in range(5))
_LANES = np.uint64(0x00FF00FF)
_ODD = np.uint64(0xFF00FF00)
_ALL = np.uint64(0x00FF00FF00FF00FF)
_HALF = np.uint64(0x0080008000800080)
_BYTE, _FULL, _SOLID = np.uint64(255), np.uint64(256), np.uint64(127)
_0, _1, _8, _16, _24, _48 = (np.uint64(k) for k in (0, 1, 8, 16, 24, 48))
_POINT5 = np.float32(0.5)
_FIXED = np.float32(65536.0)
_ROUND = np.float32(128.0)

_F1, _F2 = float32[::1], float32[:, ::1]
_I2, _B1, _U1 = types.int32[:, ::1], types.uint8[::1], types.uint32[::1]
_U64 = types.uint64


@njit(_U64(types.uint32), cache=True, nogil=True, inline="always")
def _lanes(pixel):  # pyright: ignore[reportMissingParameterType]
    """Four bytes as lanes: red, blue, green, alpha from the lowest."""
    p = np.uint64(pixel)
    return (p & _LANES) | ((p & _ODD) << _24)


@njit(types.uint32(_U64), cache=True, nogil=True, inline="always")
def _pixel(lanes):  # pyright: ignore[reportMissingParameterType]
    return np.uint32((lanes & _LANES) | ((lanes >> _24) & _ODD))


@njit(_U64(_U64, _U64, _U64), cache=True, nogil=True, inline="always")
def _mix(a, b, share):  # pyright: ignore[reportMissingParameterType]
    """Lanes `a` to `b` by `share` of 256."""
    return ((a * (_FULL - share) + b * share + _HALF) >> _8) & _ALL


@njit(_U64(_U1, _U64, _U64, _U64, _U64), cache=True, nogil=True, inline="always")
def _sample(atlas, page, stride, u, v):  # pyright: ignore[reportMissingParameterType]
    """Bilinear sample at 16.16 fixed-point texels, as lanes."""
    at = page + (v >> _16) * stride + (u >> _16)
    fx, fy = (u >> _8) & _BYTE, (v >> _8) & _BYTE
    below = at + stride
    top = _mix(_lanes(atlas[at]), _lanes(atlas[at + _1]), fx)
    low = _mix(_lanes(atlas[below]), _lanes(atlas[below + _1]), fx)
    return _mix(top, low, fy)


@njit(types.uint32(_U64, types.uint32), cache=True, nogil=True, inline="always")
def _over(lanes, under):  # pyright: ignore[reportMissingParameterType]
    """The pixel of premultiplied `lanes` laid over the opaque pixel `under`."""
    below = _lanes(under) * (_BYTE - (lanes >> _48)) + _HALF
    return _pixel(lanes + (((below + ((below >> _8) & _ALL)) >> _8) & _ALL))


@njit(types.uint32(_U64, types.uint32, types.uint32), cache=True, nogil=True, inline="always")
def _under(lanes, above, plate):  # pyright: ignore[reportMissingParameterType]
    """The picture `above`, whose alpha says how much of `plate` it covers, with `lanes` in between."""
    behind = _lanes(_over(lanes, plate))
    free = _BYTE - np.uint64(above >> np.uint32(24))
    if free == _BYTE:
        return _pixel(behind)
    over, below, pixel = _lanes(above), _lanes(plate), _0
    for k in range(4):
        shift = np.uint64(16 * k)
        gain = int(((behind >> shift) & _BYTE) * free) - int(((below >> shift) & _BYTE) * free)
        value = int((over >> shift) & _BYTE) + (gain + 127) // 255
        pixel |= np.uint64(min(max(value, 0), 255)) << shift
    return _pixel(pixel)


@njit(types.int64(float32), cache=True, nogil=True, inline="always")
def _first(edge):  # pyright: ignore[reportMissingParameterType]
    """The first pixel whose centre is not before `edge`."""
    return int(np.ceil(edge - _POINT5))


@njit(
    types.void(
        _F2, _I2, _B1, _B1, _F2, _F2, _U1, types.int64, _F1, _F2, _F2, _F1, _U1, _U1, _F1, types.int64
    ),
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
    atlas: U32,
    atlas_width: int,
    blink: F32,
    gaze: F32,
    tone: F32,
    bias: F32,
    plate: U32,
    out: U32,
    depth: F32,
    width: int,
) -> None:
    """Draw `triangles` (T, 3) in order over `out` (H * width,), with `depth` like it as z-buffer.

    `out` starts as `plate` (H * width,) with alpha 0; its alpha grows to how much of the plate is covered,
    so that the layer behind the head can be drawn last, where something is still free. It may also start,
    and `plate` be, all 0.

    `kinds` (T,) says how; `marks` (T,) is the side of a lid or an eye. `uv` and `uv_closed` (V, 2) are in
    texels of an `atlas` page, `blink` (2,) mixes the closed lids in, `gaze` (2, 2) shifts the eyes in texels,
    `tone` (V, 3) colours the mouth, `bias` (6,) is added to the depth by kind.
    """
    height = out.shape[0] // width
    stride, page = np.uint64(atlas_width), np.uint64(atlas.shape[0] // 5)
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
        tx, ty, mx, my, lx, ly = x0, y0, x1, y1, x2, y2
        if my < ty:
            tx, ty, mx, my = mx, my, tx, ty
        if ly < my:
            mx, my, lx, ly = lx, ly, mx, my
            if my < ty:
                tx, ty, mx, my = mx, my, tx, ty
        row, stop = max(0, _first(ty)), min(height, _first(ly))
        if row >= stop:
            continue
        long_slope = (lx - tx) / (ly - ty)
        top_slope = (mx - tx) / (my - ty) if my > ty else np.float32(0.0)
        low_slope = (lx - mx) / (ly - my) if ly > my else np.float32(0.0)

        scale = np.float32(1.0) / area
        gx1, gx2, gy1, gy2 = (y2 - y0) * scale, (y0 - y1) * scale, (x0 - x2) * scale, (x1 - x0) * scale
        z0, z1, z2 = screen[a, 2] + bias[kind], screen[b, 2] - screen[a, 2], screen[c, 2] - screen[a, 2]
        dzx, dzy = z1 * gx1 + z2 * gx2, z1 * gy1 + z2 * gy2
        u0, v0 = uv[a, 0], uv[a, 1]
        u1, u2, v1, v2 = uv[b, 0] - u0, uv[c, 0] - u0, uv[b, 1] - v0, uv[c, 1] - v0
        dux, duy, dvx, dvy = (
            u1 * gx1 + u2 * gx2,
            u1 * gy1 + u2 * gy2,
            v1 * gx1 + v2 * gx2,
            v1 * gy1 + v2 * gy2,
        )
        du, dv = np.uint64(int(dux * _FIXED)), np.uint64(int(dvx * _FIXED))
        base, share = page * _PAGE_HEAD, _0
        p0 = q0 = dpx = dpy = dqx = dqy = np.float32(0.0)
        dp = dq = _0
        if kind == EYE:
            base = page * _PAGE_EYES
            u0, v0 = u0 + gaze[marks[t], 0], v0 + gaze[marks[t], 1]
        elif kind == HAIR:
            base = page * _PAGE_HAIR
        elif kind == BACK:
            base = page * _PAGE_BACK
        elif kind == LID and blink[marks[t]] > 0.0:
            share = np.uint64(int(min(blink[marks[t]], np.float32(1.0)) * np.float32(256.0)))
            p0, q0 = uv_closed[a, 0], uv_closed[a, 1]
            u1, u2, v1, v2 = (
                uv_closed[b, 0] - p0,
                uv_closed[c, 0] - p0,
                uv_closed[b, 1] - q0,
                uv_closed[c, 1] - q0,
            )
            dpx, dpy, dqx, dqy = (
                u1 * gx1 + u2 * gx2,
                u1 * gy1 + u2 * gy2,
                v1 * gx1 + v2 * gx2,
                v1 * gy1 + v2 * gy2,
            )
            dp, dq = np.uint64(int(dpx * _FIXED)), np.uint64(int(dqx * _FIXED))

        for y in range(row, stop):
            yc = np.float32(y) + _POINT5
            left = tx + (yc - ty) * long_slope
            right = tx + (yc - ty) * top_slope if yc < my else mx + (yc - my) * low_slope
            if left > right:
                left, right = right, left
            start, end = max(0, _first(left)), min(width, _first(right))
            if start >= end:
                continue
            dx, dy = np.float32(start) + _POINT5 - x0, yc - y0
            z = z0 + dx * dzx + dy * dzy
            at, last = np.uint64(y * width + start), np.uint64(y * width + end)
            if kind == SHADE:
                w1, w2 = dx * gx1 + dy * gy1, dx * gx2 + dy * gy2
                while at < last:
                    if z < depth[at]:
                        depth[at] = z
                        w0 = np.float32(1.0) - w1 - w2
                        red = np.uint64(int(w0 * tone[a, 0] + w1 * tone[b, 0] + w2 * tone[c, 0]))
                        green = np.uint64(int(w0 * tone[a, 1] + w1 * tone[b, 1] + w2 * tone[c, 1]))
                        blue = np.uint64(int(w0 * tone[a, 2] + w1 * tone[b, 2] + w2 * tone[c, 2]))
                        out[at] = np.uint32((_BYTE << _24) | (blue << _16) | (green << _8) | red)
                    z, w1, w2 = z + dzx, w1 + gx1, w2 + gx2
                    at += _1
                continue
            u = np.uint64(int((u0 + dx * dux + dy * duy - _POINT5) * _FIXED + _ROUND))
            v = np.uint64(int((v0 + dx * dvx + dy * dvy - _POINT5) * _FIXED + _ROUND))
            if kind == BACK:
                while at < last:
                    above = out[at]
                    if (above >> np.uint32(24)) < np.uint32(255):
                        out[at] = _under(_sample(atlas, base, stride, u, v), above, plate[at])
                    u, v = u + du, v + dv
                    at += _1
            elif kind == HAIR:
                while at < last:
                    if z < depth[at]:
                        out[at] = _over(_sample(atlas, base, stride, u, v), out[at])
                    u, v, z = u + du, v + dv, z + dzx
                    at += _1
            elif share > _0:
                p = np.uint64(int((p0 + dx * dpx + dy * dpy - _POINT5) * _FIXED + _ROUND))
                q = np.uint64(int((q0 + dx * dqx + dy * dqy - _POINT5) * _FIXED + _ROUND))
                shut = page * _PAGE_CLOSED
                while at < last:
                    if z < depth[at]:
                        lanes = _sample(atlas, base, stride, u, v)
                        lanes = _mix(lanes, _sample(atlas, shut, stride, p, q), share)
                        out[at] = _over(lanes, out[at])
                        if (lanes >> _48) > _SOLID:
                            depth[at] = z
                    u, v, p, q, z = u + du, v + dv, p + dp, q + dq, z + dzx
                    at += _1
            else:
                while at < last:
                    if z < depth[at]:
                        lanes = _sample(atlas, base, stride, u, v)
                        out[at] = _over(lanes, out[at])
                        if (lanes >> _48) > _SOLID:
                            depth[at] = z
                    u, v, z = u + du, v + dv, z + dzx
                    at += _1


@njit(
    types.void(_U1, types.int64, _U1, types.int64, types.int64, types.int64),
    cache=True,
    nogil=True,
    fastmath=True,
)
def lay(fine: U32, fine_width: int, out: U32, width: int, left: int, top: int) -> None:
    """Halve the rows of the picture `fine` (2 h * fine_width,) and lay it over `out` (H * width,) at (left,
    top).
    """
    step, half = np.uint64(fine_width), np.uint64(0x0001000100010001)
    for row in range(fine.shape[0] // fine_width // 2):
        at = np.uint64((top + row) * width + left)
        src = np.uint64(2 * row * fine_width)
        last = at + step
        while at < last:
            lanes = ((_lanes(fine[src]) + _lanes(fine[src + step]) + half) >> _1) & _ALL
            if lanes > _0:
                out[at] = _over(lanes, out[at])
            at += _1
            src += _1
