"""The composite in plain torch, on any device: the same sums in the same order as the kernel, bit by bit."""

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from .composite import FINE_BITS, FRACTION_BITS, HALF_UNIT, NOWHERE, UNIT, WEIGHT_ONE, Column, Extent

_Rows: TypeAlias = dict[Column, Tensor]
"""Each column of the table, (B, 1, 1) int64."""


@dataclass(frozen=True, slots=True)
class _Faces:
    """RGB 0..1 and the weight in steps of `unit`: `lanes` (B * S * S, 4) float32."""

    lanes: Tensor
    side: int
    unit: float


def composite(
    pictures: Tensor, table: Tensor, colors: Tensor, plates: Tensor, *, out: Tensor, extent: Extent
) -> None:
    """Each slot's face on its plate, as NV12 into its box of its surface. Nothing else of `out` changes, but
    for its first byte.

    `pictures` (B, S, S, 4) hold RGB 0..1 and the weight as `weight_lane` gives it, float32 or float16.
    `table` (B, 16) int64, see `Column`; `colors` (C, 3, 4) float32; `plates` (P,) int32; `out` (N,) uint8.
    Samples are bilinear; outside a face its edge pixels go on, whose weight is 0.
    """
    faces = _faces(pictures)
    rows = {name: table[:, name, None, None] for name in Column}
    color = colors[table[:, Column.COLOR]].permute(1, 2, 0)[..., None, None]
    # What lies beyond a box is its last square once more: written twice, and the same each time.
    x = _within(rows[Column.LEFT], rows[Column.RIGHT], extent.width, dim=2)
    y = _within(rows[Column.TOP], rows[Column.BOTTOM], extent.height, dim=1)
    sums: list[Tensor] = []
    for down in (0, 1):
        line = rows[Column.SURFACE] + (y + down) * rows[Column.PITCH]
        pair = [_blended(faces, rows, plates, x + along, y + down) for along in (0, 1)]
        for along, pixel in enumerate(pair):
            _store(out, rows, line + x + along, _level(color[0], pixel))
        sums.append(pair[0] + pair[1])
    line = rows[Column.SURFACE] + rows[Column.CHROMA] + y // 2 * rows[Column.PITCH]
    for which in (0, 1):
        _store(out, rows, line + x + which, _level(color[1 + which], sums[0] + sums[1]))


def _faces(pictures: Tensor) -> _Faces:
    lanes, side = pictures.reshape(-1, 4), pictures.shape[1]
    if pictures.dtype != torch.float16:
        return _Faces(lanes.float(), side, UNIT)
    weight = lanes[:, 3:].contiguous().view(torch.int16).to(torch.int32) & WEIGHT_ONE
    return _Faces(torch.cat((lanes[:, :3].float(), weight.float()), dim=1), side, HALF_UNIT)


def _within(first: Tensor, end: Tensor, length: int, *, dim: int) -> Tensor:
    """Every second pixel from `first` on, along dimension `dim` of 3, the last before `end` ever again."""
    shape = [1, 1, 1]
    shape[dim] = -1
    steps = torch.arange(0, length, 2, device=first.device).view(shape)
    return torch.minimum(first + steps, end - 2).clamp(min=0)


def _blended(faces: _Faces, rows: _Rows, plates: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """RGB (3, B, H, W) 0..255 of the plates' pixels (`x`, `y`), with the faces on them."""
    sample = _sampled(faces, rows, x, y)
    packed = plates[rows[Column.PLATE] + y * rows[Column.STRIDE] + x]
    plate = torch.stack([(packed >> shift & 255).float() for shift in (0, 8, 16)])
    return plate + sample[3] * faces.unit * (sample[:3] - plate)


def _sampled(faces: _Faces, rows: _Rows, x: Tensor, y: Tensor) -> Tensor:
    """The four lanes (4, B, H, W) of the faces, times 255, where the plates' pixels (`x`, `y`) fall."""
    across = rows[Column.X] + rows[Column.X_ALONG] * x + rows[Column.X_DOWN] * y
    down = rows[Column.Y] + rows[Column.Y_ALONG] * x + rows[Column.Y_DOWN] * y
    (left, fx), (top, fy) = _parted(across, 1.0), _parted(down, 255.0)
    first = torch.arange(len(across), device=x.device)[:, None, None] * faces.side**2
    halves: list[Tensor] = []
    for row, share in ((top, 255.0 - fy), (top + 1, fy)):
        taps = [
            share * part * _tap(faces, first, column, row)
            for column, part in ((left, 1 - fx), (left + 1, fx))
        ]
        halves.append(taps[0] + taps[1])
    return halves[0] + halves[1]


def _parted(position: Tensor, whole: float) -> tuple[Tensor, Tensor]:
    """The pixel before `position` int64, and how far it is from there, 0..`whole` float32."""
    fine = position >> (FRACTION_BITS - FINE_BITS) & ((1 << FINE_BITS) - 1)
    return position >> FRACTION_BITS, fine.float() * (whole * 2.0**-FINE_BITS)


def _tap(faces: _Faces, first: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The lanes (4, B, H, W) of the faces that begin at `first`, at their pixels (`x`, `y`)."""
    last = faces.side - 1
    return faces.lanes[first + y.clamp(0, last) * faces.side + x.clamp(0, last)].movedim(-1, 0)


def _level(color: Tensor, rgb: Tensor) -> Tensor:
    """One of Y, Cb and Cr (B, H, W) uint8, by its row (4, B, 1, 1)."""
    red, green, blue, offset = color
    return (red * rgb[0] + green * rgb[1] + blue * rgb[2] + offset).to(torch.uint8)


def _store(out: Tensor, rows: _Rows, place: Tensor, levels: Tensor) -> None:
    shown = (rows[Column.RIGHT] > rows[Column.LEFT]) & (rows[Column.BOTTOM] > rows[Column.TOP])
    shown = shown & (rows[Column.SURFACE] != NOWHERE)
    out[torch.where(shown, place, NOWHERE)] = levels
