"""No room inside a head: gaps between skin and hair are closed in the picture, whatever opened them.

Skin, hair in front and hair behind are surfaces of their own, seen by cameras of their own, so a turned head
can part them. What a row of the picture has between its outermost strands, below the topmost ones, lies
inside the head but for a soft rim: there a gap takes the colours on both of its sides.
"""

from typing import Final

import numpy as np
from numba import int64, njit, types
from numpy.typing import NDArray

from .lanes import GROUP, all_of, any_of, mix, over

I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]

_RIM_DM: Final = 0.025
"""How deep the outermost strands may have room between them, in model units (1 dm), and half of how wide."""
_WIDEST_DM: Final = 0.2
"""A gap up to this wide is closed; one of twice that is no gap but room beside a lock, and stays."""
_STRAND, _WHOLE = np.uint32(127), np.uint32(242)
"""Alpha above which a pixel belongs to the outline, and from which on it hides the room."""
_ALPHA = np.uint32(24)
_FULL, _FAINT, _CLEAR = np.uint32(0xFF000000), np.uint32(0x01000000), np.uint32(0)
_SHADE = 200
"""How light a closed gap is, of 256."""

_I1, _U1 = types.int32[::1], types.uint32[::1]


def seal(out: U32, width: int, box: tuple[int, int, int, int], lowest: int, dm_px: float) -> None:
    """Close the gaps in `out` (H * width,) inside a `box`, above the row `lowest`; `dm_px` is a model unit in
    pixels."""
    left, top, right, bottom = box
    bottom = min(lowest, bottom)
    if left < right and top < bottom:
        rim = max(1, round(_RIM_DM * dm_px))
        near, far, peak = (np.empty(size, np.int32) for size in (bottom - top, bottom - top, right - left))
        outline(out, width, left, top, near, far, peak)
        inner = inside(near, rim), inside(far, rim), inside(peak, rim)
        close(out, width, left, top, near, far, *inner, rim, max(1, round(_WIDEST_DM * dm_px)))


@njit(types.void(_U1, *(int64,) * 3, _I1, _I1, _I1), cache=True, nogil=True, error_model="numpy")
def outline(out: U32, width: int, left: int, top: int, near: I32, far: I32, peak: I32) -> None:
    """How far the outermost strands of the part of `out` that begins at `left` and `top` are away from its
    borders: in each row from the left, `near` (R,), and the right, `far` (R,), in each column from the top,
    `peak` (C,)."""
    rows, columns = near.shape[0], peak.shape[0]
    for y in range(rows):
        at, first, last = (top + y) * width + left, 0, columns
        while first + GROUP <= columns and any_of(out, at + first) < _FAINT:
            first += GROUP
        while first < columns and out[np.uint64(at + first)] >> _ALPHA <= _STRAND:
            first += 1
        while last - GROUP > first and any_of(out, at + last - GROUP) < _FAINT:
            last -= GROUP
        while last > first and out[np.uint64(at + last - 1)] >> _ALPHA <= _STRAND:
            last -= 1
        near[y], far[y] = first, columns - last if last > first else columns
    for x in range(columns):
        y = 0
        while y < rows and out[np.uint64((top + y) * width + left + x)] >> _ALPHA <= _STRAND:
            y += 1
        peak[x] = y


@njit(types.int32[::1](_I1, int64), cache=True, nogil=True, error_model="numpy")
def inside(edge: I32, rim: int) -> I32:
    """An outline `edge` (N,), closed where it is open for up to twice a `rim`, and moved inwards by one."""
    count = edge.shape[0]
    closed, inner = np.empty(count, np.int32), np.empty(count, np.int32)
    for k in range(count):
        least = edge[k]
        for j in range(max(k - rim, 0), min(k + rim + 1, count)):
            least = min(least, edge[j])
        closed[k] = least
    for k in range(count):
        most = closed[k]
        for j in range(max(k - 2 * rim, 0), min(k + 2 * rim + 1, count)):
            most = max(most, closed[j])
        inner[k] = most + rim
    return inner


@njit(
    types.void(_U1, *(int64,) * 3, *(_I1,) * 5, int64, int64),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def close(
    out: U32,
    width: int,
    left: int,
    top: int,
    near: I32,
    far: I32,
    inner_near: I32,
    inner_far: I32,
    inner_peak: I32,
    rim: int,
    widest: int,
) -> None:
    """Close gaps of up to `widest` pixels between `near` and `far`, as far as they are inside the outline
    that the others bound; this sets in over half a `rim`."""
    columns, ramp = inner_peak.shape[0], max(rim // 2, 1)
    for y in range(near.shape[0]):
        start = (top + y) * width + left
        x, stop = int64(near[y]), int64(columns - far[y])
        first, last = inner_near[y], columns - 1 - inner_far[y]
        while x < stop:
            if x + GROUP <= stop and all_of(out, start + x) >= _FULL:
                x += GROUP
                continue
            if out[start + x] >> _ALPHA >= _WHOLE:
                x += 1
                continue
            end = x + 1
            while end < stop and out[start + end] >> _ALPHA < _WHOLE:
                end += 1
            if end - x < 2 * widest:
                one = out[start + x - 1] if x > near[y] else out[start + min(end, stop - 1)]
                two = out[start + end] if end < stop else one
                strength = min(2 - (end - x) / widest, 1.0) / ramp
                for at in range(x, end):
                    deep = min(at - first, last - at, y - inner_peak[at]) + 1
                    if deep > 0:
                        color = mix(_CLEAR, mix(one, two, 256 * (at - x + 1) // (end - x + 1)), _SHADE)
                        share = int64(256 * strength * min(deep, ramp))
                        out[start + at] = over(out[start + at], mix(_CLEAR, color | _FULL, share))
            x = end
