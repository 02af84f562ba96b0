"""The plate under the head: shoulders and chest that breathe, lean, turn and tilt, and the picture laid over
them.

The plate is shifted row by row in steps of 1/16 pixel, and a row is drawn anew only when its step changes.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import int64, njit, types
from numpy.typing import NDArray

from ..avatar import View
from .lanes import GROUP, RUN, all_of, any_of, blend, over, sample

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

STEPS = 16
"""Shifts are whole numbers of 1/16 pixel."""
PAD_PX = 48
"""How far a padded plate goes on beyond the crop: more than any shift."""

_GROUP = np.uint64(GROUP)
_OPAQUE = np.uint32(0xFF000000)

_I1, _I2 = types.int32[::1], types.int32[:, ::1]
_U1, _U2, _B1, _F1 = types.uint32[::1], types.uint32[:, ::1], types.uint8[::1], types.float32[::1]


@dataclass(frozen=True, slots=True)
class Field:
    """How the plate in a crop (H, W) moves.

    `breath`, `aside` and `slant` (H,) are the shares of a row in what lifts the shoulders, shifts them and
    tilts them; `across` (W,) is the share of all these that a column takes, and `side` (W,) how much it is to
    the right of the middle, -1..1. `bands` are the columns that take the whole shift, cut where `side`
    changes. The rest are pixels: a full breath and a full lean, a turn by one degree to the side, and where
    the tilt by one degree is greatest; `middle` and `half` are what `side` counts from, and in.
    """

    breath: F32
    aside: F32
    slant: F32
    across: F32
    side: F32
    bands: "Bands"
    breath_px: float
    lean_px: float
    turn_px: float
    tilt_px: float
    middle: float
    half: float

    def sway(self, body: F32, torso: F32) -> F32:
        """The shift (6,) of a posed head for `body` (2,) and `torso` (2,): right, down at the collar, down at
        the head, further down at the right shoulder, and where that is: `middle` and `half`."""
        rise = -float(body[0]) * self.breath_px
        right, drop = self._shift(body, torso)
        return np.array([right, rise, rise * _HEAD_RISE, drop, self.middle, self.half], np.float32)

    def steps(self, body: F32, torso: F32, out: I32) -> None:
        """Write the steps (3, H) to the left, up, and up at the right shoulder, at which each row looks into
        the plate."""
        right, drop = self._shift(body, torso)
        for shares, pixels, row in zip(
            (self.aside, self.breath, self.slant),
            (-right, float(body[0]) * self.breath_px, -drop),
            out,
            strict=True,
        ):
            np.rint(shares * (pixels * STEPS), out=row, casting="unsafe")

    def _shift(self, body: F32, torso: F32) -> tuple[float, float]:
        """To the right, and down at the right shoulder."""
        lean = float(body[1])
        right = lean * self.lean_px + float(torso[0]) * self.turn_px
        return right, (float(torso[1]) + lean * _LEAN_DEG) * self.tilt_px


@dataclass(frozen=True, slots=True)
class Bands:
    """Columns `edges[k]` to `edges[k + 1]` (N + 1,) are so far to the right of the middle: `sides` (N,)."""

    edges: I32
    sides: F32


_HEAD_RISE = 0.5
"""Of a breath's rise at the collar."""
_BREATH, _LEAN = 0.008, 0.022
"""Largest shifts as shares of the head's height."""
_CHEST_DM = 1.1
"""How far before the axis of its turn the chest is seen."""
_LEAN_DEG = 0.6
"""Tilt of the shoulders at full lean."""
_SIDE_DM = 1.3
"""Half width over which a tilt grows: beyond it a shoulder goes up or down as a whole."""
_BAND_PX = 28
_RAMP_DM, _HOLD_DM = 1.0, 0.8
"""From no shift to all of it above the collar, and below it until it fades, in model units."""
_LOW_BREATH, _LOW_LEAN, _LOW_TILT = 0.35, 0.7, 0.3
"""Shares of the shifts at the frame's bottom."""
_FEATHER_PX = 12
_SLEEVE = 0.94
"""From here to the border of the whole picture what moves is stretched: nothing beyond it is missed."""
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
        full = min(_SHOULDER_DM * dm_px, 0.7 * room) if inner else _SLEEVE * room
        across = across * (1 - _smooth((side - full) / max(room - full - 2, 1.0)))
    half = _SIDE_DM * dm_px
    tilted = np.clip(columns / half, -1, 1).astype(np.float32)
    across = across.astype(np.float32)
    return Field(
        breath=(rise * (1 - (1 - _LOW_BREATH) * fall)).astype(np.float32),
        aside=(rise * (1 - (1 - _LOW_LEAN) * fall)).astype(np.float32),
        slant=(rise * (1 - (1 - _LOW_TILT) * fall)).astype(np.float32),
        across=across,
        side=tilted,
        bands=bands(tilted, *uniform(across)),
        breath_px=_BREATH * head_px,
        lean_px=_LEAN * head_px,
        turn_px=_CHEST_DM * dm_px * float(np.radians(1)),
        tilt_px=half * float(np.radians(1)),
        middle=collar[0],
        half=half,
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


def bands(side: F32, first: int, last: int) -> Bands:
    """Columns `first` to `last`, cut so that `side` (W,) hardly changes in any."""
    edges = [first]
    while edges[-1] < last:
        at = edges[-1]
        other = np.flatnonzero(side[at:last] != side[at])
        same = int(other[0]) if len(other) else last - at
        edges.append(at + same if same > 1 else min(at + _BAND_PX, last))
    sides = [float(side[a:b].mean()) for a, b in pairwise(edges)]
    return Bands(np.array(edges, np.int32), np.array(sides, np.float32))


@njit(
    types.void(_B1, int64, int64, int64, int64, _B1, int64, int64),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def _blend_rows(
    source: U8, upper: int, lower: int, across: int, down: int, out: U8, first: int, last: int
) -> None:
    """Bytes `first` to `last` of `out`: what lies in `source` between the rows that begin at `upper` and at
    `lower`, by `across` columns and `down` rows of 1/16."""
    w00, w01 = (STEPS - down) * (STEPS - across), (STEPS - down) * across
    w10, w11 = down * (STEPS - across), down * across
    whole = (last - first) // RUN * RUN
    for k in range(0, whole, RUN):
        blend(source, upper + k, lower + k, w00, w01, w10, w11, out, first + k)
    for k in range(whole, last - first):
        total = (
            source[np.uint64(upper + k)] * w00
            + source[np.uint64(upper + k + 4)] * w01
            + source[np.uint64(lower + k)] * w10
            + source[np.uint64(lower + k + 4)] * w11
        )
        out[np.uint64(first + k)] = np.uint8((total + 128) >> 8)


@njit(nogil=True, error_model="numpy")
def _shift_edge(
    source: U32,
    stride: int,
    dx: int,
    dy: int,
    slant: int,
    across: F32,
    side: F32,
    y: int,
    first: int,
    last: int,
    out: U32,
) -> None:
    """Columns `first` to `last` of row `y`, each by its own share of the shift."""
    for x in range(first, last):
        share = int64(across[x] * np.float32(4096) + np.float32(0.5))
        sx = (dx * share + 128) >> 8
        sy = ((256 * dy + int64(slant * side[x] * np.float32(256))) * share + 32768) >> 16
        at = (y + PAD_PX + (sy >> 8)) * stride + x + PAD_PX + (sx >> 8)
        out[y, x] = sample(source, at, stride, sx & 255, sy & 255)


@njit(
    types.UniTuple(int64, 2)(_U1, int64, _I2, _I2, _F1, _F1, _I1, _F1, _U2),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def shift_rows(
    source: U32,
    stride: int,
    steps: I32,
    shown: I32,
    across: F32,
    side: F32,
    edges: I32,
    sides: F32,
    out: U32,
) -> tuple[int, int]:
    """Draw the rows of the padded plate `source` whose `steps` (3, H) are not the ones `shown`, into `out`
    (H, W), and note them as shown. Columns inside of `edges` (N + 1,) take the whole shift, tilted by `sides`
    (N,) band by band, others by their share `across` (W,), tilted by `side` (W,).

    Returns the first of the rows drawn and the one after the last.
    """
    height, width = out.shape
    bytes_in, bytes_out = source.view(np.uint8), out.reshape(-1).view(np.uint8)
    count = sides.shape[0]
    first, last = int(edges[0]), int(edges[count])
    top, bottom = height, 0
    for y in range(height):
        dx, dy, slant = int64(steps[0, y]), int64(steps[1, y]), int64(steps[2, y])
        if dx == shown[0, y] and dy == shown[1, y] and slant == shown[2, y]:
            continue
        shown[0, y], shown[1, y], shown[2, y] = dx, dy, slant
        top, bottom = min(top, y), y + 1
        k = 0
        while k < count:
            start, here = int64(edges[k]), dy + int64(np.rint(slant * sides[k]))
            k += 1
            while k < count and dy + int64(np.rint(slant * sides[k])) == here:
                k += 1
            stop = int64(edges[k])
            at = 4 * ((y + PAD_PX + (here >> 4)) * stride + start + PAD_PX + (dx >> 4))
            row = 4 * y * width
            _blend_rows(
                bytes_in, at, at + 4 * stride, dx & 15, here & 15, bytes_out, row + 4 * start, row + 4 * stop
            )
        _shift_edge(source, stride, dx, dy, slant, across, side, y, 0, first, out)
        _shift_edge(source, stride, dx, dy, slant, across, side, y, last, width, out)
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
