"""The plate under the head: shoulders and chest that breathe and lean, and the picture laid over them.

The plate is shifted row by row in steps of 1/16 pixel, and a row is drawn anew only when its step changes.
"""

from dataclasses import dataclass

import numpy as np
from numba import int64, njit, types
from numpy.typing import NDArray

from ..avatar import View
from .lanes import GROUP, all_of, any_of, over, sample

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

STEPS = 16
"""Shifts are whole numbers of 1/16 pixel."""
PAD_PX = 24
"""How far a padded plate goes on beyond the crop: more than any shift."""

_GROUP = np.uint64(GROUP)
_OPAQUE = np.uint32(0xFF000000)

_I1, _I2 = types.int32[::1], types.int32[:, ::1]
_U1, _U2, _B1, _F1 = types.uint32[::1], types.uint32[:, ::1], types.uint8[::1], types.float32[::1]


@dataclass(frozen=True, slots=True)
class Field:
    """How the plate in a crop (H, W) moves.

    `breath` and `lean` (H,) are shifts in pixels, up at full breath and to the right at full lean; `across`
    (W,) is the share of them that a column takes. `nod` is the part of a breath that lifts the head.
    """

    breath: F32
    lean: F32
    across: F32
    breath_px: float
    lean_px: float

    def sway(self, body: F32) -> F32:
        """The shift of a posed head for `body` (2,): right, down at the collar, down at the head."""
        rise = -float(body[0]) * self.breath_px
        return np.array([float(body[1]) * self.lean_px, rise, rise * _HEAD_RISE], np.float32)

    def steps(self, body: F32, out: I32) -> None:
        """Write the steps (2, H) to the left and up at which each row looks into the plate."""
        np.rint(self.lean * (-float(body[1]) * STEPS), out=out[0], casting="unsafe")
        np.rint(self.breath * (float(body[0]) * STEPS), out=out[1], casting="unsafe")


_HEAD_RISE = 0.5
"""Of a breath's rise at the collar."""
_BREATH, _LEAN = 0.005, 0.015
"""Largest shifts as shares of the head's height."""
_RAMP_DM, _HOLD_DM = 1.0, 0.8
"""From no shift to all of it above the collar, and below it until it fades, in model units."""
_LOW_BREATH, _LOW_LEAN = 0.35, 0.7
"""Shares of the shifts at the frame's bottom."""
_FEATHER_PX = 12
_SHOULDER_DM = 2.3
"""Half width of what moves as a whole."""


def load_field(
    crop: tuple[int, int, int, int],
    plate: tuple[int, int],
    *,
    collar: tuple[float, float],
    dm_px: float,
    head_px: float,
) -> Field:
    """The field of a crop (x, y, width, height) of a `plate` (width, height).

    `collar` is the middle of the neck's lower end in crop pixels, its upper edge, `dm_px` pixels of a model
    unit there, and `head_px` the head's height.
    """
    x, y, width, height = crop
    rows = np.arange(height, dtype=np.float32) + 0.5
    rise = _smooth((rows - collar[1]) / (_RAMP_DM * dm_px) + 1)
    start = collar[1] + _HOLD_DM * dm_px
    fall = _smooth((rows - start) / max(height - start, 1.0))
    if y + height < plate[1]:
        rise = rise * _smooth((height - rows) / (_RAMP_DM * dm_px))
    left, right = collar[0], width - collar[0]
    columns = np.arange(width, dtype=np.float32) + 0.5 - collar[0]
    across = np.ones(width, np.float32)
    for side, room, inner in ((-columns, left, x > 0), (columns, right, x + width < plate[0])):
        if inner:
            full = min(_SHOULDER_DM * dm_px, 0.7 * room)
            across = across * (1 - _smooth((side - full) / max(room - full - 2, 1.0)))
    return Field(
        breath=(rise * (1 - (1 - _LOW_BREATH) * fall) * (_BREATH * head_px)).astype(np.float32),
        lean=(rise * (1 - (1 - _LOW_LEAN) * fall) * (_LEAN * head_px)).astype(np.float32),
        across=across.astype(np.float32),
        breath_px=_BREATH * head_px,
        lean_px=_LEAN * head_px,
    )


def _smooth(share: F32) -> F32:
    edge = np.clip(share, 0, 1)
    return edge * edge * (3 - 2 * edge)


def padded(plate: U8) -> U32:
    """A crop's plate (H, W, 3) RGB as opaque pixels (H + 2 pad, W + 2 pad), its edges going on outside."""
    wide = np.pad(plate, ((PAD_PX, PAD_PX), (PAD_PX, PAD_PX), (0, 0)), mode="edge")
    opaque = np.full((*wide.shape[:2], 1), 255, np.uint8)
    return np.ascontiguousarray(np.concatenate([wide, opaque], 2)).view(np.uint32)[..., 0]


def crop_mask(view: View) -> F32:
    """1 inside, falling to 0 at the edges of the crop that are not edges of the plate, (H, W)."""
    x, y, width, height = view.crop
    across = _ramp(width, soft_start=x > 0, soft_end=x + width < view.width)
    down = _ramp(height, soft_start=y > 0, soft_end=y + height < view.height)
    return np.minimum(down[:, None], across[None, :])


def _ramp(length: int, *, soft_start: bool, soft_end: bool) -> F32:
    ramp = np.ones(length, np.float32)
    edge = np.arange(_FEATHER_PX, dtype=np.float32) / np.float32(_FEATHER_PX)
    if soft_start:
        ramp[:_FEATHER_PX] = edge
    if soft_end:
        ramp[-_FEATHER_PX:] = np.minimum(ramp[-_FEATHER_PX:], edge[::-1])
    return ramp


def uniform(across: F32) -> tuple[int, int]:
    """The columns of a field that take the whole shift: from, to."""
    whole = np.flatnonzero(across >= 1.0)
    return (int(whole[0]), int(whole[-1]) + 1) if len(whole) else (0, 0)


@njit(
    types.void(_B1, _B1, int64, int64, _B1),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def _blend_rows(upper: U8, lower: U8, across: int, down: int, out: U8) -> None:
    """The bytes (N,) between `upper` and `lower` (N + 4,), by `across` columns and `down` rows of 1/16."""
    w00, w01 = np.uint16((STEPS - down) * (STEPS - across)), np.uint16((STEPS - down) * across)
    w10, w11 = np.uint16(down * (STEPS - across)), np.uint16(down * across)
    for k in range(out.shape[0]):
        total = upper[k] * w00 + upper[k + 4] * w01 + lower[k] * w10 + lower[k + 4] * w11
        out[k] = np.uint8((total + np.uint16(128)) >> np.uint16(8))


@njit(nogil=True, error_model="numpy")
def _shift_edge(
    source: U32, stride: int, dx: int, dy: int, across: F32, y: int, first: int, last: int, out: U32
) -> None:
    """Columns `first` to `last` of row `y`, each by its own share of the shift."""
    for x in range(first, last):
        sx, sy = int64(np.rint(dx * across[x] * 16.0)), int64(np.rint(dy * across[x] * 16.0))
        at = (y + PAD_PX + (sy >> 8)) * stride + x + PAD_PX + (sx >> 8)
        out[y, x] = sample(source, at, stride, sx & 255, sy & 255)


@njit(
    types.UniTuple(int64, 2)(_U1, int64, _I2, _I2, _F1, int64, int64, _U2),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def shift_rows(
    source: U32, stride: int, steps: I32, shown: I32, across: F32, first: int, last: int, out: U32
) -> tuple[int, int]:
    """Draw the rows of the padded plate `source` whose `steps` (2, H) are not the ones `shown`, into `out`
    (H, W), and note them as shown. Columns `first` to `last` take the whole shift, others by `across` (W,).

    Returns the first of the rows drawn and the one after the last.
    """
    height, width = out.shape
    bytes_in = source.view(np.uint8)
    top, bottom = height, 0
    for y in range(height):
        dx, dy = int64(steps[0, y]), int64(steps[1, y])
        if dx == shown[0, y] and dy == shown[1, y]:
            continue
        shown[0, y], shown[1, y] = dx, dy
        top, bottom = min(top, y), y + 1
        at = 4 * ((y + PAD_PX + (dy >> 4)) * stride + first + PAD_PX + (dx >> 4))
        size = 4 * (last - first)
        upper, lower = bytes_in[at : at + size + 4], bytes_in[at + 4 * stride : at + 4 * stride + size + 4]
        _blend_rows(upper, lower, dx & 15, dy & 15, out[y, first:last].view(np.uint8))
        _shift_edge(source, stride, dx, dy, across, y, 0, first, out)
        _shift_edge(source, stride, dx, dy, across, y, last, width, out)
    return top, bottom


@njit(
    types.void(_U2, _U2, int64, int64, int64, int64),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def lay(front: U32, back: U32, left: int, top: int, right: int, bottom: int) -> None:
    """Lay `front` (H, W) over the opaque `back` (H, W) inside a box; the result is in `front`."""
    width = front.shape[1]
    above, below = front.reshape(-1), back.reshape(-1)
    for y in range(top, bottom):
        at, last = np.uint64(y * width + left), np.uint64(y * width + right)
        while at < last:
            stop = min(at + _GROUP, last)
            if stop - at == _GROUP:
                if all_of(above, at) >= _OPAQUE:
                    at = stop
                elif any_of(above, at) == np.uint32(0):
                    while at < stop:
                        above[at] = below[at]
                        at += np.uint64(1)
            while at < stop:
                above[at] = over(above[at], below[at])
                at += np.uint64(1)
