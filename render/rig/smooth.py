"""Smooth steps around the eyes and the mouth, where lids, lips, eyeballs and teeth meet with hard edges.

An edge is followed to both of its ends, and a pixel beside it takes so much from the other side as a straight
line between these ends would leave there.
"""

from typing import Final

import numpy as np
from numba import int64, njit, types
from numpy.typing import NDArray

from .lanes import mix
from .mesh import Mesh

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]

_LIPS: Final = np.array([0.34, 0.13, 0.30], np.float32)
"""How far the lips reach from the middle of the mouth: to each side, up and down, back, in model units."""
_MARGIN_PX = 3
_FAINT, _SHARE = 10, 8
"""An edge is a step of so much in 0..255, and of one in so many parts of the brighter side."""
_FOLLOW = 12
"""An edge is followed by so many pixels to each side."""
_SPECK = 0.6
"""How much of a single pixel unlike its surroundings goes over to them."""

_NEXT = np.uint64(1)
_U1 = types.uint32[::1]


def zones(mesh: Mesh) -> tuple[I32, ...]:
    """The vertices whose places in the picture bound what is smoothed: both eyes' and the mouth's."""
    away = np.abs(mesh.rest - mesh.mouth)
    skin = np.unique(mesh.skin)
    lips = skin[(away[skin] < _LIPS).all(1)]
    lids = [_lashes(mesh, side) for side in (0, 1)]
    return tuple(zone.astype(np.int32) for zone in (*lids, lips) if len(zone))


def smooth_zones(zones: tuple[I32, ...], screen: F32, out: U32, width: int) -> None:
    """Smooth the edges of `out` (H * width,) in the boxes of posed `zones` on the `screen` (V, 3)."""
    height = len(out) // width
    for zone in zones:
        place = screen[zone, :2]
        left, top = np.floor(place.min(0)).astype(np.int64) - _MARGIN_PX
        right, bottom = np.ceil(place.max(0)).astype(np.int64) + _MARGIN_PX
        left, top = max(int(left), 1), max(int(top), 1)
        right, bottom = min(int(right), width - 1), min(int(bottom), height - 1)
        if left < right and top < bottom:
            smooth(out, width, left, top, right, bottom)


def _lashes(mesh: Mesh, side: int) -> I32:
    """The vertices of one eye's lashes."""
    vertex = np.unique(mesh.lash)
    away = np.linalg.norm(mesh.rest[vertex, None] - mesh.eyes_at, axis=2)
    return vertex[away.argmin(1) == side]


@njit(types.int64(types.uint32), nogil=True, inline="always")
def _light(pixel: np.uint32) -> np.int64:
    """How bright a pixel is, by its green alone."""
    return int64((pixel >> np.uint32(8)) & np.uint32(255))


@njit(
    types.int64(_U1, int64, int64, int64, int64, int64, int64),
    nogil=True,
    error_model="numpy",
)
def _reach(out: U32, at: int, step: int, across: int, level: np.int64, steep: np.int64, most: int) -> int:
    """How many pixels along `step` from `at` the pair of it and its neighbour `across` leaves the `level`,
    twice the light halfway between them, by `steep`."""
    for k in range(1, most + 1):
        one = at + k * step
        if abs(_light(out[np.uint64(one)]) + _light(out[np.uint64(one + across)]) - level) * 2 >= steep:
            return k
    return most + 1


@njit(types.void(_U1, *(int64,) * 5), cache=True, nogil=True, error_model="numpy")
def smooth(out: U32, width: int, left: int, top: int, right: int, bottom: int) -> None:
    """Smooth the edges of a picture (H * width,) in a box, which keeps one pixel away from its borders."""
    room = (right - left) * (bottom - top)
    places, pixels = np.empty(room, np.int64), np.empty(room, np.uint32)
    count = 0
    height = out.shape[0] // width
    for y in range(top, bottom):
        first = np.uint64(y * width + left)
        m, e = _light(out[first - _NEXT]), _light(out[first])
        for x in range(left, right):
            at = y * width + x
            w, m, e = m, e, _light(out[np.uint64(at + 1)])
            n, s = _light(out[np.uint64(at - width)]), _light(out[np.uint64(at + width)])
            high, low = max(m, n, s, w, e), min(m, n, s, w, e)
            if high - low < max(_FAINT, high // _SHARE):
                continue
            nw, ne = _light(out[at - width - 1]), _light(out[at - width + 1])
            sw, se = _light(out[at + width - 1]), _light(out[at + width + 1])
            level = abs(nw + sw - 2 * w) + 2 * abs(n + s - 2 * m) + abs(ne + se - 2 * e)
            upright = abs(nw + ne - 2 * n) + 2 * abs(w + e - 2 * m) + abs(sw + se - 2 * s)
            if level >= upright:
                before, after, across, along = n, s, width, 1
                room_back, room_on = x - 1, width - 2 - x
            else:
                before, after, across, along = w, e, 1, width
                room_back, room_on = y - 1, height - 2 - y
            steep = max(abs(before - m), abs(after - m))
            other = after
            if abs(before - m) > abs(after - m):
                across, other = -across, before
            middle = m + other
            back = _reach(out, at, -along, across, middle, steep, min(_FOLLOW, room_back))
            on = _reach(out, at, along, across, middle, steep, min(_FOLLOW, room_on))
            nearest = back if back < on else on
            end = at - along * back if back < on else at + along * on
            share = 0.0
            if nearest <= _FOLLOW:
                rises = _light(out[end]) + _light(out[end + across]) > middle
                if rises != (2 * m > middle):
                    share = 0.5 - (nearest - 0.5) / (back + on - 1)
            around = (2 * (n + s + w + e) + nw + ne + sw + se) / 12.0
            unlike = min(abs(around - m) / (high - low), 1.0)
            unlike = unlike * unlike * (3 - 2 * unlike)
            share = max(share, _SPECK * unlike * unlike)
            if share > 0.01:
                places[count] = at
                pixels[count] = mix(out[at], out[at + across], int(share * 256))
                count += 1
    for k in range(count):
        out[places[k]] = pixels[k]
