"""Crop into plate: feather blend in RGB and I420 of the touched box, in one pass over the rows.

The plate is converted once. A composite writes only the even-aligned box round the crop, with the arithmetic
that prepared the plate, so wherever the mask is zero the surface keeps the plate to the last bit.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..stream.errors import AvatarError
from .color import ColorSpace
from .engine import Crop
from .surface import Surface, surface_over

_EMPTY = (0, 0, 0, 0)
_LEAST_AREA = 1e-6


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a crop falls: `inverse` (2, 3) float64 maps plate pixel centres to crop pixel centres.

    `shift` says that pixels fall on pixels. `box` is (left, top, right, bottom), even, inside the plate.
    """

    inverse: NDArray[np.float64]
    shift: bool
    box: tuple[int, int, int, int]


class Compositor:
    """Puts crops on one plate. Holds constants only, so any number of sessions and threads may share it."""

    def __init__(self, plate: NDArray[np.uint8], color: ColorSpace) -> None:
        """`plate` (H, W, 3) uint8 RGB; H and W must be even."""
        if plate.ndim != 3 or plate.shape[2] != 3 or plate.dtype != np.uint8:
            raise AvatarError("the plate must be an 8-bit RGB picture; export it again without alpha")
        height, width = plate.shape[:2]
        if height % 2 or width % 2 or not height or not width:
            raise AvatarError(f"the plate is {width}x{height}; crop or pad it to an even width and height")
        self.color = color
        self._plate = np.ascontiguousarray(plate)
        self._table = rounding_table(color)
        self._prepared = surface_over(np.empty((height * 3 // 2, width), np.uint8))
        everywhere = Placement(np.eye(2, 3), shift=True, box=(0, 0, width, height))
        nothing = np.zeros((0, 0, 3), np.uint8), np.zeros((0, 0), np.float32)
        self._known = nothing[1], _solid_columns(nothing[1])
        self._draw(*nothing, everywhere, self._prepared)

    def surface(self) -> Surface:
        """A new surface that shows the plate."""
        return surface_over(self._prepared.buffer.copy())

    def composite(self, crop: Crop, mask: NDArray[np.float32], surface: Surface) -> None:
        """Make `surface` show the plate with `crop` on it, weighted by `mask` (H, W) float32 in 0..1.

        The surface must come from a compositor of this plate. What it showed before is gone.
        """
        rows, columns = crop.pixels.shape[:2]
        if mask.shape != (rows, columns):
            raise AvatarError(f"a mask of {mask.shape} is no match for a crop of {(rows, columns)}")
        height, width = self._plate.shape[:2]
        placement = placed(crop.matrix, columns, rows, width, height)
        if not _covers(placement.box, surface.box):
            self.restore(surface)
        pixels, weights = np.ascontiguousarray(crop.pixels), np.ascontiguousarray(mask, np.float32)
        self._draw(pixels, weights, placement, surface)
        surface.box[:] = placement.box

    def restore(self, surface: Surface) -> None:
        """Make `surface` show the bare plate again."""
        left, top, right, bottom = (int(edge) for edge in surface.box)
        whole = slice(top, bottom), slice(left, right)
        half = slice(top // 2, bottom // 2), slice(left // 2, right // 2)
        surface.y[whole] = self._prepared.y[whole]
        surface.u[half] = self._prepared.u[half]
        surface.v[half] = self._prepared.v[half]
        surface.box[:] = _EMPTY

    def _solid_columns(self, mask: NDArray[np.float32]) -> NDArray[np.int32]:
        """Those of `mask`, which is the same array for every crop of a face and must not change."""
        known, columns = self._known
        if known is not mask:
            columns = _solid_columns(mask)
            self._known = mask, columns
        return columns

    def _draw(
        self, pixels: NDArray[np.uint8], mask: NDArray[np.float32], placement: Placement, surface: Surface
    ) -> None:
        _draw_box(
            self._plate,
            pixels,
            mask,
            self._solid_columns(mask),
            placement.inverse,
            placement.shift,
            *placement.box,
            surface.y,
            surface.u,
            surface.v,
            self._table,
        )


def _solid_columns(mask: NDArray[np.float32]) -> NDArray[np.int32]:
    """From and to which column (H, 2) each row of `mask` (H, W) is 1 without a break, at its middle."""
    rows, columns = mask.shape
    solid = np.zeros((rows, 2), np.int32)
    if not columns:
        return solid
    soft = mask < 1
    middle = columns // 2
    solid[:, 0] = middle - np.where(
        soft[:, :middle].any(1), soft[:, :middle][:, ::-1].argmax(1) if middle else 0, middle
    )
    after = soft[:, middle:]
    solid[:, 1] = middle + np.where(after.any(1), after.argmax(1), columns - middle)
    return solid


def placed(matrix: NDArray[np.float32], columns: int, rows: int, width: int, height: int) -> Placement:
    """Where a crop of `columns` x `rows` falls on a plate of `width` x `height`."""
    a, b, dx, c, d, dy = (float(value) for value in matrix.reshape(-1))
    area = a * d - b * c
    if not (abs(area) >= _LEAST_AREA and math.isfinite(area) and math.isfinite(dx) and math.isfinite(dy)):
        raise AvatarError("the crop's placement on the plate has no area; register the avatar again")
    inverse = [[d, -b, b * dy - d * dx], [-c, a, c * dx - a * dy]]
    shift = (a, b, c, d) == (1, 0, 0, 1) and dx.is_integer() and dy.is_integer()
    reach = 0 if shift else 1
    xs, ys = (-reach, columns - 1 + reach), (-reach, rows - 1 + reach)
    across = [a * x + b * y + dx for x in xs for y in ys]
    down = [c * x + d * y + dy for x in xs for y in ys]
    left, right = _even_span(across, width)
    top, bottom = _even_span(down, height)
    return Placement(np.array(inverse) / area, shift, (left, top, right, bottom))


def _even_span(positions: list[float], limit: int) -> tuple[int, int]:
    """The pixels that `positions` reach, grown to even edges and cut to 0..`limit`, which is even."""
    low, high = math.floor(min(positions)), math.ceil(max(positions)) + 1
    low = min(max(low - low % 2, 0), limit)
    return low, min(max(high + high % 2, low), limit)


def _covers(box: tuple[int, int, int, int], held: NDArray[np.int64]) -> bool:
    left, top, right, bottom = (int(edge) for edge in held)
    return left >= right or (box[0] <= left and box[1] <= top and right <= box[2] and bottom <= box[3])


def rounding_table(color: ColorSpace) -> NDArray[np.float32]:
    """The colour rows (3, 4) with rounding in the offsets, and chroma rows for the sum of four pixels."""
    table = color.coefficients()
    table[:, 3] += 0.5
    table[1:, :3] /= 4
    return table.astype(np.float32)


@njit("void(uint8[::1], float32[:, ::1], int64)", cache=True, nogil=True, error_model="numpy")
def _load(row: NDArray[np.uint8], lines: NDArray[np.float32], at: int) -> None:
    """RGB `row` (3 N,) into the planar `lines` (3, W) from column `at` on."""
    end = at + row.shape[0] // 3
    red, green, blue = lines[0, at:end], lines[1, at:end], lines[2, at:end]
    for i in range(red.shape[0]):
        red[i] = row[3 * i]
        green[i] = row[3 * i + 1]
        blue[i] = row[3 * i + 2]


@njit("void(uint8[::1], float32[::1], float32[:, ::1], int64)", cache=True, nogil=True, error_model="numpy")
def _blend_shifted(
    row: NDArray[np.uint8], weight: NDArray[np.float32], lines: NDArray[np.float32], at: int
) -> None:
    """Blend crop `row` (3 N,) by `weight` (N,) over `lines` (3, W) from column `at` on; 0 and 1 are exact."""
    end = at + weight.shape[0]
    red, green, blue = lines[0, at:end], lines[1, at:end], lines[2, at:end]
    for i in range(weight.shape[0]):
        red[i] += weight[i] * (np.float32(row[3 * i]) - red[i])
        green[i] += weight[i] * (np.float32(row[3 * i + 1]) - green[i])
        blue[i] += weight[i] * (np.float32(row[3 * i + 2]) - blue[i])


@njit(
    "void(uint8[:, :, ::1], float32[:, ::1], float64, float64, float64, float64, float32[:, ::1])",
    cache=True,
    nogil=True,
    error_model="numpy",
)
def _blend_sampled(
    crop: NDArray[np.uint8],
    mask: NDArray[np.float32],
    x: float,
    y: float,
    step_x: float,
    step_y: float,
    lines: NDArray[np.float32],
) -> None:
    """Blend the crop along a line over `lines` (3, W): sample i lies at (`x` + i `step_x`, `y` + i `step_y`).

    Bilinear; outside the crop its edge pixels go on and the mask is zero.
    """
    rows, columns = mask.shape
    for i in range(lines.shape[1]):
        sx, sy = x + i * step_x, y + i * step_y
        if not (sx > -1.0 and sy > -1.0 and sx < columns and sy < rows):
            continue
        left, top = int(np.floor(sx)), int(np.floor(sy))
        fx, fy = np.float32(sx - left), np.float32(sy - top)
        x0, x1, y0, y1 = max(left, 0), min(left + 1, columns - 1), max(top, 0), min(top + 1, rows - 1)
        near_x, near_y = np.float32(1) - fx, np.float32(1) - fy
        w00, w01, w10, w11 = near_y * near_x, near_y * fx, fy * near_x, fy * fx
        m00 = w00 * mask[y0, x0] if left >= 0 and top >= 0 else np.float32(0)
        m01 = w01 * mask[y0, x1] if left + 1 < columns and top >= 0 else np.float32(0)
        m10 = w10 * mask[y1, x0] if left >= 0 and top + 1 < rows else np.float32(0)
        m11 = w11 * mask[y1, x1] if left + 1 < columns and top + 1 < rows else np.float32(0)
        weight = m00 + m01 + m10 + m11
        if weight > 0:
            for c in range(3):
                upper = w00 * np.float32(crop[y0, x0, c]) + w01 * np.float32(crop[y0, x1, c])
                lower = w10 * np.float32(crop[y1, x0, c]) + w11 * np.float32(crop[y1, x1, c])
                lines[c, i] += weight * (upper + lower - lines[c, i])


@njit("void(float32[:, ::1], uint8[::1], float32[:, ::1])", cache=True, nogil=True, error_model="numpy")
def _store_luma(lines: NDArray[np.float32], luma: NDArray[np.uint8], table: NDArray[np.float32]) -> None:
    """One row of Y from `lines` (3, W)."""
    red, green, blue = lines[0], lines[1], lines[2]
    r, g, b, offset = table[0, 0], table[0, 1], table[0, 2], table[0, 3]
    for i in range(luma.shape[0]):
        luma[i] = np.uint8(np.int32(r * red[i] + g * green[i] + b * blue[i] + offset))


@njit(
    "void(float32[:, ::1], float32[:, ::1], uint8[::1], float32[::1])",
    cache=True,
    nogil=True,
    error_model="numpy",
)
def _store_chroma(
    upper: NDArray[np.float32],
    lower: NDArray[np.float32],
    chroma: NDArray[np.uint8],
    row: NDArray[np.float32],
) -> None:
    """One row (W / 2,) of Cb or Cr by colour `row` (4,) from two rows (3, W) of RGB."""
    r0, g0, b0, r1, g1, b1 = upper[0], upper[1], upper[2], lower[0], lower[1], lower[2]
    r, g, b, offset = row[0], row[1], row[2], row[3]
    for i in range(chroma.shape[0]):
        red = r0[2 * i] + r0[2 * i + 1] + r1[2 * i] + r1[2 * i + 1]
        green = g0[2 * i] + g0[2 * i + 1] + g1[2 * i] + g1[2 * i + 1]
        blue = b0[2 * i] + b0[2 * i + 1] + b1[2 * i] + b1[2 * i + 1]
        chroma[i] = np.uint8(np.int32(r * red + g * green + b * blue + offset))


@njit(
    "void(uint8[:, :, ::1], uint8[:, :, ::1], float32[:, ::1], int32[:, ::1], float64[:, ::1], boolean,"
    " int64, int64, int64, int64, uint8[:, ::1], uint8[:, ::1], uint8[:, ::1], float32[:, ::1])",
    cache=True,
    nogil=True,
    error_model="numpy",
)
def _draw_box(
    plate: NDArray[np.uint8],
    crop: NDArray[np.uint8],
    mask: NDArray[np.float32],
    solid: NDArray[np.int32],
    inverse: NDArray[np.float64],
    shift: bool,
    left: int,
    top: int,
    right: int,
    bottom: int,
    luma: NDArray[np.uint8],
    blue: NDArray[np.uint8],
    red: NDArray[np.uint8],
    table: NDArray[np.float32],
) -> None:
    """Blend and convert the box, two rows at a time; columns `solid` (H, 2) show the crop alone."""
    rows, columns = mask.shape
    lines = np.empty((2, 3, right - left), np.float32)
    x0, y0 = int(np.rint(inverse[0, 2])), int(np.rint(inverse[1, 2]))
    first, last = max(left, -x0), min(right, columns - x0)
    for y in range(top, bottom, 2):
        for k in range(2):
            row = y + k
            start, end = left, left
            inside = shift and 0 <= row + y0 < rows and first < last
            if inside:
                start = min(max(int(solid[row + y0, 0]) - x0, first), last)
                end = min(max(int(solid[row + y0, 1]) - x0, start), last)
            _load(plate[row].reshape(-1)[3 * left : 3 * start], lines[k], 0)
            _load(plate[row].reshape(-1)[3 * end : 3 * right], lines[k], end - left)
            if not shift:
                x = inverse[0, 0] * left + inverse[0, 1] * row + inverse[0, 2]
                along = inverse[1, 0] * left + inverse[1, 1] * row + inverse[1, 2]
                _blend_sampled(crop, mask, x, along, inverse[0, 0], inverse[1, 0], lines[k])
            elif inside:
                line = crop[row + y0].reshape(-1)
                _load(line[3 * (start + x0) : 3 * (end + x0)], lines[k], start - left)
                for begin, stop in ((first, start), (end, last)):
                    patch, weight = (
                        line[3 * (begin + x0) : 3 * (stop + x0)],
                        mask[row + y0, begin + x0 : stop + x0],
                    )
                    _blend_shifted(patch, weight, lines[k], begin - left)
            _store_luma(lines[k], luma[row, left:right], table)
        half = slice(left // 2, right // 2)
        _store_chroma(lines[0], lines[1], blue[y // 2, half], table[1])
        _store_chroma(lines[0], lines[1], red[y // 2, half], table[2])
