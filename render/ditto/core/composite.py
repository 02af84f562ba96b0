"""Drawn faces into NV12 pictures on the device: what a batch of slots needs to know, as one small table.

All plates lie in one tensor and all pictures in another, so that slots with plates of any size share a call,
and a captured call goes on to serve whatever its table says.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Protocol, Self

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ....stream.errors import UsageError
from ...color import BT601, BT709, ColorSpace
from ...composite import placed, rounding_table

COLORS: Final = (BT709, BT601)
"""In the order of `colors`' rows."""
NOWHERE: Final = 0
"""Where no picture begins: a row whose surface is here draws nothing."""
SPARE_BYTES: Final = 256
"""At the beginning of the surfaces, where no picture lies."""
WEIGHT_ONE: Final = 65535
"""Weight 1 in pictures of half precision: a fixed point is 32 times as fine as a half there."""
UNIT: Final = 1 / 255
HALF_UNIT: Final = 1 / 255 / WEIGHT_ONE
"""By which a weight is multiplied that was sampled as levels are, 0..255 for 0..1, in single and in half
precision: 1 is 1 again, exactly."""
FRACTION_BITS: Final = 32
FINE_BITS: Final = 24
"""Of a place between two pixels: as many as a float32 holds."""


class Column(IntEnum):
    """Of the table (B, 16) int64, a row a slot. `X` to `Y_DOWN` map a plate's pixel to the face, as fixed
    point of 32 bits: x = X + X_ALONG * column + X_DOWN * row, and y alike."""

    SURFACE = 0
    """Of the picture, in bytes from where the surfaces begin."""
    PITCH = 1
    """Bytes from row to row."""
    CHROMA = 2
    """From a picture's first byte to its first of Cb and Cr."""
    PLATE = 3
    """Of the plate, in pixels from where the plates begin."""
    STRIDE = 4
    """Pixels from row to row of the plate."""
    LEFT = 5
    TOP = 6
    RIGHT = 7
    BOTTOM = 8
    X = 9
    X_ALONG = 10
    X_DOWN = 11
    Y = 12
    Y_ALONG = 13
    Y_DOWN = 14
    COLOR = 15
    """Row of `colors`."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What every call covers: boxes of up to `width` x `height` pixels."""

    width: int
    height: int

    @classmethod
    def of(cls, placings: Iterable["Placing"]) -> Self:
        """The smallest that holds the boxes of all."""
        boxes = [one.box for one in placings]
        return cls(
            max((right - left for left, _, right, _ in boxes), default=0),
            max((bottom - top for _, top, _, bottom in boxes), default=0),
        )


@dataclass(frozen=True, slots=True)
class Picture:
    """An NV12 picture of `width` x `height` among the surfaces, `offset` bytes from where they begin."""

    offset: int
    width: int
    height: int
    pitch: int
    chroma: int


@dataclass(frozen=True, slots=True)
class Placing:
    """Where the faces of an avatar's N frames fall on its plate: `positions` (N, 6) int64, columns `X` to
    `Y_DOWN` of the table, and the `box` (left, top, right, bottom) round all of them."""

    size: tuple[int, int]
    box: tuple[int, int, int, int]
    positions: NDArray[np.int64]
    color: int

    @classmethod
    def of(cls, matrices: NDArray[np.float32], side: int, size: tuple[int, int], color: ColorSpace) -> Self:
        """Of `matrices` (N, 2, 3), which put faces of `side` pixels on a plate of `size` (width, height).
        Raises AvatarError for one without area."""
        found = [placed(matrix, side, side, *size) for matrix in matrices]
        boxes = [one.box for one in found if one.box[0] < one.box[2] and one.box[1] < one.box[3]]
        lefts, tops, rights, bottoms = zip(*boxes, strict=True) if boxes else ((0,),) * 4
        inverses = np.array([one.inverse.reshape(-1)[[2, 0, 1, 5, 3, 4]] for one in found])
        return cls(
            size,
            (min(lefts), min(tops), max(rights), max(bottoms)),
            np.rint(inverses * 2.0**FRACTION_BITS).astype(np.int64),
            COLORS.index(color),
        )

    def row(self, frame: int, plate: int, picture: Picture) -> list[int]:
        """Of the table: `frame` of the avatar whose plate is at `plate`, into `picture`."""
        return [*self._where(plate, picture), *self.box, *self.positions[frame].tolist(), self.color]

    def bare(self, plate: int, picture: Picture) -> list[int]:
        """Of the table: the plate alone, as a whole."""
        outside = -2 << FRACTION_BITS
        everything = (0, 0, *self.size)
        return [*self._where(plate, picture), *everything, outside, 0, 0, outside, 0, 0, self.color]

    def _where(self, plate: int, picture: Picture) -> list[int]:
        return [picture.offset, picture.pitch, picture.chroma, plate, self.size[0]]


class CompositeOps(Protocol):
    """`composite_twins` says what it does."""

    def composite(
        self, pictures: Tensor, table: Tensor, colors: Tensor, plates: Tensor, *, out: Tensor, extent: Extent
    ) -> None: ...


def idle() -> list[int]:
    """A row of the table that draws nothing."""
    return [NOWHERE] * len(Column)


def colors(device: torch.device) -> Tensor:
    """How RGB 0..255 becomes Y, Cb and Cr (2, 3, 4) float32: see `rounding_table`."""
    return torch.from_numpy(np.stack([rounding_table(color) for color in COLORS])).to(device)


def weight_lane(mask: NDArray[np.float32], dtype: torch.dtype) -> Tensor:
    """The fourth lane of every picture (S, S) in `dtype`, of a `mask` (S, S) 0..1 that is 0 along its edges:
    itself in float32; in half precision the bits of a 16-bit fixed point, to be copied and never computed
    with. Raises UsageError for a mask with an edge, which would go on across the plate."""
    if mask[[0, -1]].any() or mask[:, [0, -1]].any():
        raise UsageError("a face's mask must be 0 along its edges")
    if dtype != torch.float16:
        return torch.from_numpy(mask).to(dtype)
    levels = np.rint(np.clip(mask, 0, 1).astype(np.float64) * WEIGHT_ONE).astype(np.uint16)
    return torch.from_numpy(levels.view(np.float16))


def packed_plate(plate: NDArray[np.uint8]) -> Tensor:
    """A `plate` (H, W, 3) uint8 as the plates hold it: (H * W,) int32, red in the lowest byte. The highest
    means nothing."""
    four = cv2.cvtColor(plate, cv2.COLOR_RGB2RGBA)
    return torch.from_numpy(four.reshape(-1).view(np.int32))
