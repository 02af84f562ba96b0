"""Where a face's square lies in a picture, and exact bilinear sampling of what is in it.

OpenCV before 5 samples on a grid of 1/32 pixel, so what is sampled here never goes through its warps.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import cv2
import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ..stream.errors import AvatarError

MAX_SIDE = 1920
CROP_SCALE, CROP_SHIFT, CROP_SIDE = 2.3, -0.125, 512
"""Of the square that Ditto's networks see: how much larger than the face, how far up, and its pixels."""
_LEAST_AXIS_PX = 1e-3

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Layout:
    """Which landmarks of a set are the eyes, as means, and the two corners of the mouth."""

    left_eye: tuple[int, ...]
    right_eye: tuple[int, ...]
    mouth: tuple[int, int]


LAYOUTS: Final[Mapping[int, Layout]] = MappingProxyType(
    {
        203: Layout((0, 6, 12, 18), (24, 30, 36, 42), (48, 66)),
        106: Layout((33, 35, 40, 39), (87, 89, 94, 93), (52, 61)),
        101: Layout((39, 42, 45, 48), (51, 54, 57, 60), (75, 81)),
        68: Layout((36, 39), (42, 45), (48, 54)),
        5: Layout((0,), (1,), (3, 4)),
    }
)
"""By how many points a set has."""


@dataclass(frozen=True, slots=True)
class Square:
    """A square of a picture: `centre` (2,) float64 and `side_px` in its pixels; `angle` in radians turns the
    picture's x axis to the square's."""

    centre: NDArray[np.float64]
    side_px: float
    angle: float

    def to_crop(self, size: int, *, turned: bool = True) -> Matrix:
        """(3, 3) float32: picture pixels to pixels of a crop of `size` x `size`; upright unless `turned`."""
        k, angle = size / self.side_px, self.angle if turned else 0.0
        cosine, sine = k * math.cos(angle), k * math.sin(angle)
        x, y = (float(value) for value in self.centre)
        rows = [
            [cosine, sine, size / 2 - (cosine * x + sine * y)],
            [-sine, cosine, size / 2 - (cosine * y - sine * x)],
            [0, 0, 1],
        ]
        return np.array(rows, np.float32)

    def to_picture(self, size: int, *, turned: bool = True) -> Matrix:
        """(3, 3) float32: the inverse of `to_crop`."""
        return inverted(self.to_crop(size, turned=turned))


def face_square(
    landmarks: NDArray[np.floating], *, scale: float, shift: float, layout: Layout | None = None
) -> Square:
    """The square round the `landmarks` (N, 2): `scale` times their box along the face's own axes, moved down
    the face by `shift` of its side. `layout` is known for sets of 203, 106, 101, 68 and 5 points.

    Raises AvatarError when the points are no face.
    """
    points = landmarks.astype(np.float64)
    if layout is None:
        layout = LAYOUTS.get(len(points))
    if layout is None:
        raise AvatarError(f"{len(points)} landmarks are no set that is known; give 203, 106, 101, 68 or 5")
    eyes = (points[list(layout.left_eye)].mean(0) + points[list(layout.right_eye)].mean(0)) / 2
    down = points[list(layout.mouth)].mean(0) - eyes
    length = float(np.hypot(*down))
    down = down / length if length >= _LEAST_AXIS_PX else np.array([0.0, 1.0])
    across = np.array([down[1], -down[0]])
    angle = math.acos(min(max(float(across[0]), -1.0), 1.0))
    axes = np.stack([across, down])
    middle = points.mean(0)
    turned = (points - middle) @ axes.T
    low, high = turned.min(0), turned.max(0)
    side = scale * float((high - low).max())
    if not (math.isfinite(side) and side > 0):
        raise AvatarError("the landmarks lie in one place: use a picture with a larger, clearer face")
    centre = middle + (low + high) / 2 @ axes + shift * side * down
    return Square(centre, side, -angle if across[1] < 0 else angle)


def fit_size(height: int, width: int, max_side: int = MAX_SIDE) -> tuple[int, int]:
    """The (height, width) to work at: the longer side at most `max_side` (0 or less: any), both even."""
    longer = max(height, width)
    if 0 < max_side < longer:
        height, width = (
            max_side if side == longer else round(side * max_side / longer) for side in (height, width)
        )
    return height - height % 2, width - width % 2


def fit(picture: NDArray[np.uint8], max_side: int = MAX_SIDE) -> NDArray[np.uint8]:
    """`picture` (H, W, 3) in its `fit_size`, bilinear when that is another."""
    height, width = fit_size(picture.shape[0], picture.shape[1], max_side)
    if (height, width) == picture.shape[:2]:
        return picture
    return resized(picture, height, width)


def resized(picture: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """`picture` (H, W, 3) bilinearly resized to `height` x `width`."""
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_LINEAR).astype(np.uint8, copy=False)


def halved(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """`picture` (H, W, 3), both even: the mean of every four pixels, rounded half up."""
    height, width = picture.shape[:2]
    four = picture.reshape(height // 2, 2, width // 2, 2, -1).astype(np.uint16).sum((1, 3))
    return ((four + 2) // 4).astype(np.uint8)


def inverted(matrix: Matrix) -> Matrix:
    """The inverse (3, 3) float32 of an affine `matrix` (3, 3), taken in float64."""
    return np.linalg.inv(matrix.astype(np.float64)).astype(np.float32)


def moved(points: NDArray[np.floating], matrix: Matrix) -> NDArray[np.float32]:
    """`points` (N, 2) through the affine `matrix` (3, 3)."""
    return (points @ matrix[:2, :2].T + matrix[:2, 2]).astype(np.float32)


def sampled(pixels: NDArray[np.generic], place: ArrayLike, height: int, width: int) -> NDArray[np.float32]:
    """(`height`, `width`, C) float32: pixel (x, y) is `pixels` (H, W, C) at `place` (2 or 3, 3) times
    (x, y, 1), bilinear, with zeros outside."""
    out = np.empty((height, width, pixels.shape[2]), np.float32)
    rows = np.ascontiguousarray(np.asarray(place, np.float64)[:2])
    _sample(np.ascontiguousarray(pixels, np.float32), rows, out)
    return out


def cut(picture: NDArray[np.uint8], to_picture: ArrayLike, size: int) -> NDArray[np.uint8]:
    """The crop (`size`, `size`, 3) uint8 whose pixels lie at `to_picture` (2 or 3, 3) in `picture`, black
    outside."""
    return (sampled(picture, to_picture, size, size) + np.float32(0.5)).astype(np.uint8)


@njit(
    "void(float32[:, :, ::1], float64[:, ::1], float32[:, :, ::1])",
    cache=True,
    nogil=True,
    error_model="numpy",
)
def _sample(pixels: NDArray[np.float32], place: NDArray[np.float64], out: NDArray[np.float32]) -> None:
    rows, columns, channels = pixels.shape
    for row in range(out.shape[0]):
        for column in range(out.shape[1]):
            x = place[0, 0] * column + place[0, 1] * row + place[0, 2]
            y = place[1, 0] * column + place[1, 1] * row + place[1, 2]
            out[row, column] = np.float32(0)
            if not (x > -1.0 and y > -1.0 and x < columns and y < rows):
                continue
            left, top = int(np.floor(x)), int(np.floor(y))
            right_share, low_share = x - left, y - top
            for down in range(2):
                if not 0 <= top + down < rows:
                    continue
                share = low_share if down else 1.0 - low_share
                for along in range(2):
                    if not 0 <= left + along < columns:
                        continue
                    weight = np.float32(share * (right_share if along else 1.0 - right_share))
                    for c in range(channels):
                        out[row, column, c] += weight * pixels[top + down, left + along, c]
