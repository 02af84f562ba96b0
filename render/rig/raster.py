"""Filling the spans of triangles: a loop of its own for each way of drawing, compiled once and cached.

Pixels are premultiplied RGBA packed into uint32, red lowest; an empty picture is all 0 and its alpha grows to
how much of the plate it hides. Pictures and z-buffers are flat, with `width` pixels a row.
"""

from typing import Final

import numpy as np
from numba import float32, int64, njit, types
from numpy.typing import NDArray

from .lanes import GROUP, any_of, fetch, mix, over, sample
from .scan import BOTH, FRONT, ONE, scan

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]

FAR: Final = np.float32(1e9)
"""Depth of an empty z-buffer."""
_SOLID = np.uint32(127)
_HOLD = 8
_FULL = np.uint32(255)
_GROUP = np.uint64(GROUP)
_AHEAD = 16
"""Spans ahead of the one being filled whose texels are fetched."""
_NEXT = np.uint64(1)
"""Pixels are counted without a sign, which spares a test at each access."""

_F1, _F2 = float32[::1], float32[:, ::1]
_I2, _U1 = types.int32[:, ::1], types.uint32[::1]
_TARGET = (_U1, _F1, int64, _I2, _F2)
"""Picture, z-buffer, width, and the two tables of a `Scratch`."""


@njit(nogil=True, inline="always")
def _fetch_ahead(spans: I32, k: int, texture: U32, stride: int, tested: F32 | U32, out: U32) -> None:
    """Bring near what span `k` will read: its texels, what its pixels are `tested` by and the pixels."""
    texel = (int64(spans[k, 4]) >> 16) * stride + (int64(spans[k, 3]) >> 16)
    fetch(texture, texel)
    fetch(texture, texel + stride)
    fetch(tested, int64(spans[k, 0]))
    fetch(out, int64(spans[k, 0]))


@njit(
    types.void(_F2, _I2, _F2, _U1, int64, float32, *_TARGET),
    cache=True,
    nogil=True,
    fastmath=True,
    error_model="numpy",
)
def draw_solid(
    screen: F32,
    triangles: I32,
    uv: F32,
    texture: U32,
    stride: int,
    bias: float,
    out: U32,
    depth: F32,
    width: int,
    spans: I32,
    depths: F32,
) -> None:
    """Textured triangles (T, 3) seen from the front, nearest first to stay; clear texels leave no depth.

    `uv` (V, 2) in texels less a half; `texture` is flat, `stride` texels a row, and has one texel more to the
    right and below than `uv` reaches.
    """
    across, down = (stride - 2) * ONE, (texture.shape[0] // stride - 2) * ONE
    height = out.shape[0] // width
    turn = 0
    while turn < triangles.shape[0]:
        turn, count = scan(
            screen, triangles, turn, FRONT, uv, False, across, down, bias, width, height, spans, depths
        )
        for k in range(count):
            at, last = np.uint64(spans[k, 0]), np.uint64(spans[k, 1])
            u, v, du, dv = int64(spans[k, 3]), int64(spans[k, 4]), int64(spans[k, 5]), int64(spans[k, 6])
            _fetch_ahead(spans, min(k + _AHEAD, count - 1), texture, stride, depth, out)
            z, dz = depths[k, 0], depths[k, 1]
            while at < last:
                if z < depth[at]:
                    pixel = sample(
                        texture, (v >> 16) * stride + (u >> 16), stride, (u >> 8) & 255, (v >> 8) & 255
                    )
                    alpha = pixel >> np.uint32(24)
                    out[at] = pixel if alpha == _FULL else over(pixel, out[at])
                    if alpha > _SOLID:
                        depth[at] = z
                u, v, z = u + du, v + dv, z + dz
                at += _NEXT


@njit(
    types.void(_F2, _I2, _F2, _U1, int64, float32, float32, *_TARGET),
    cache=True,
    nogil=True,
    fastmath=True,
    error_model="numpy",
)
def draw_layer(
    screen: F32,
    triangles: I32,
    uv: F32,
    texture: U32,
    stride: int,
    bias: float,
    soft: float,
    out: U32,
    depth: F32,
    width: int,
    spans: I32,
    depths: F32,
) -> None:
    """Textured triangles (T, 3) of both sides, laid over `out` where they are nearer; no depth is left.

    They fade in over the depth `soft` in front of what they pass through.
    """
    across, down = (stride - 2) * ONE, (texture.shape[0] // stride - 2) * ONE
    height = out.shape[0] // width
    steep = np.float32(256.0) / max(soft, np.float32(1e-6))
    turn = 0
    while turn < triangles.shape[0]:
        turn, count = scan(
            screen, triangles, turn, BOTH, uv, False, across, down, bias, width, height, spans, depths
        )
        for k in range(count):
            at, last = np.uint64(spans[k, 0]), np.uint64(spans[k, 1])
            u, v, du, dv = int64(spans[k, 3]), int64(spans[k, 4]), int64(spans[k, 5]), int64(spans[k, 6])
            _fetch_ahead(spans, min(k + _AHEAD, count - 1), texture, stride, depth, out)
            z, dz = depths[k, 0], depths[k, 1]
            while at < last:
                ahead = depth[at] - z
                if ahead > 0:
                    pixel = sample(
                        texture, (v >> 16) * stride + (u >> 16), stride, (u >> 8) & 255, (v >> 8) & 255
                    )
                    if ahead < soft:
                        pixel = mix(np.uint32(0), pixel, int64(ahead * steep))
                    if pixel >> np.uint32(24) == _FULL:
                        out[at] = pixel
                    elif pixel != 0:
                        out[at] = over(pixel, out[at])
                u, v, z = u + du, v + dv, z + dz
                at += _NEXT


@njit(
    types.void(_F2, _I2, _F2, _U1, int64, _U1, _U1, int64, _I2, _F2),
    cache=True,
    nogil=True,
    fastmath=True,
    error_model="numpy",
)
def draw_under(
    screen: F32,
    triangles: I32,
    uv: F32,
    texture: U32,
    stride: int,
    above: U32,
    out: U32,
    width: int,
    spans: I32,
    depths: F32,
) -> None:
    """Textured triangles (T, 3) of both sides, laid under `out` where the picture `above` is not solid.

    The two may be the same.
    """
    across, down = (stride - 2) * ONE, (texture.shape[0] // stride - 2) * ONE
    height = out.shape[0] // width
    turn = 0
    while turn < triangles.shape[0]:
        turn, count = scan(
            screen, triangles, turn, BOTH, uv, False, across, down, 0.0, width, height, spans, depths
        )
        for k in range(count):
            at, last = np.uint64(spans[k, 0]), np.uint64(spans[k, 1])
            u, v, du, dv = int64(spans[k, 3]), int64(spans[k, 4]), int64(spans[k, 5]), int64(spans[k, 6])
            _fetch_ahead(spans, min(k + _AHEAD, count - 1), texture, stride, above, out)
            while at < last:
                if above[at] >> np.uint32(24) != _FULL:
                    pixel = sample(
                        texture, (v >> 16) * stride + (u >> 16), stride, (u >> 8) & 255, (v >> 8) & 255
                    )
                    out[at] = over(out[at], pixel)
                u, v = u + du, v + dv
                at += _NEXT


@njit(
    types.void(_F2, _I2, _F2, float32, *_TARGET),
    cache=True,
    nogil=True,
    fastmath=True,
    error_model="numpy",
)
def draw_toned(
    screen: F32,
    triangles: I32,
    tone: F32,
    bias: float,
    out: U32,
    depth: F32,
    width: int,
    spans: I32,
    depths: F32,
) -> None:
    """Opaque triangles (T, 3) seen from the front, coloured by `tone` (V, 3) at their corners, in 0..255."""
    height = out.shape[0] // width
    turn = 0
    while turn < triangles.shape[0]:
        turn, count = scan(
            screen, triangles, turn, FRONT, tone, True, ONE, ONE, bias, width, height, spans, depths
        )
        for k in range(count):
            at, last = np.uint64(spans[k, 0]), np.uint64(spans[k, 1])
            a, b, c = triangles[spans[k, 2], 0], triangles[spans[k, 2], 1], triangles[spans[k, 2], 2]
            step = np.float32(1.0 / ONE)
            w1, w2 = np.float32(spans[k, 3]) * step, np.float32(spans[k, 4]) * step
            d1, d2 = np.float32(spans[k, 5]) * step, np.float32(spans[k, 6]) * step
            z, dz = depths[k, 0], depths[k, 1]
            while at < last:
                if z < depth[at]:
                    depth[at] = z
                    w0 = np.float32(1.0) - w1 - w2
                    red = int64(w0 * tone[a, 0] + w1 * tone[b, 0] + w2 * tone[c, 0])
                    green = int64(w0 * tone[a, 1] + w1 * tone[b, 1] + w2 * tone[c, 1])
                    blue = int64(w0 * tone[a, 2] + w1 * tone[b, 2] + w2 * tone[c, 2])
                    red, green, blue = min(max(red, 0), 255), min(max(green, 0), 255), min(max(blue, 0), 255)
                    out[at] = np.uint32((255 << 24) | (blue << 16) | (green << 8) | red)
                w1, w2, z = w1 + d1, w2 + d2, z + dz
                at += _NEXT


@njit(
    types.void(_U1, _U1, int64, types.boolean, _U1, int64, *(int64,) * 4),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def merge(
    first: U32,
    second: U32,
    share: int,
    above: bool,
    out: U32,
    width: int,
    left: int,
    top: int,
    right: int,
    bottom: int,
) -> None:
    """Lay the pictures `first` and `second`, cross-faded by `share` of 256, over or under `out` in a box, and
    leave them empty there.

    Where only one of them shows anything it is whole but for the last eighth of the way, since what the other
    camera did not see is no hole.
    """
    near, far = min(_HOLD * (256 - share), 256), min(_HOLD * share, 256)
    for y in range(top, bottom):
        at, last = np.uint64(y * width + left), np.uint64(y * width + right)
        while at < last:
            stop = min(at + _GROUP, last)
            if stop - at == _GROUP and any_of(first, at) | any_of(second, at) == np.uint32(0):
                at = stop
            while at < stop:
                a, b = first[at], second[at]
                if (a | b) != np.uint32(0):
                    first[at] = second[at] = np.uint32(0)
                    one, two = int64(a >> np.uint32(24)), int64(b >> np.uint32(24))
                    if one == two:
                        pixel = mix(a, b, share)
                    else:
                        cover = max(one * near, two * far)
                        total = max(one * (256 - share) + two * share, 1)
                        first_part, second_part = cover * (256 - share) // total, cover * share // total - 1
                        pixel = mix(np.uint32(0), a, min(first_part, 256)) + mix(
                            np.uint32(0), b, min(max(second_part, 0), 256)
                        )
                    out[at] = over(pixel, out[at]) if above else over(out[at], pixel)
                at += _NEXT
