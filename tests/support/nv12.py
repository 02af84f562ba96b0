"""What a face on a plate must look like as NV12, in float64 and pixel by pixel, and scenes to try it with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from visavis.render.color import ColorSpace, color_space, to_yuv
from visavis.render.ditto.core.composite import (
    SPARE_BYTES,
    Extent,
    Picture,
    Placing,
    colors,
    idle,
    packed_plate,
    weight_lane,
)

F64 = NDArray[np.float64]
U8 = NDArray[np.uint8]


@dataclass(frozen=True)
class Scene:
    """A `face` (S, S, 3) 0..1 with its `mask` (S, S), put on a `plate` (H, W, 3) by `matrix` (2, 3)."""

    plate: U8
    face: F64
    mask: NDArray[np.float32]
    matrix: NDArray[np.float32]

    @property
    def size(self) -> tuple[int, int]:
        return self.plate.shape[1], self.plate.shape[0]

    @property
    def color(self) -> ColorSpace:
        return color_space(*self.size)

    @property
    def placing(self) -> Placing:
        return Placing.of(self.matrix[None], len(self.mask), self.size, self.color)


@dataclass
class Batch:
    """Scenes as the composite takes them; each has `pitch` bytes a row beyond its width."""

    pictures: Tensor
    table: Tensor
    colors: Tensor
    plates: Tensor
    out: Tensor
    extent: Extent
    places: list[Picture]

    def planes(self, which: int) -> tuple[U8, U8]:
        """Y (H, W), and Cb and Cr (H / 2, W / 2, 2)."""
        place = self.places[which]
        rows = self.out.numpy()[place.offset : place.offset + place.pitch * place.height * 3 // 2]
        rows = rows.reshape(-1, place.pitch)[:, : place.width]
        luma, chroma = rows[: place.height], rows[place.height :]
        return luma, chroma.reshape(place.height // 2, place.width // 2, 2)


def batch(
    scenes: Sequence[Scene | None], *, dtype: torch.dtype = torch.float16, bare: bool = False, margin: int = 0
) -> Batch:
    """`scenes` of one side, None an idle slot; `bare` for their plates alone."""
    side = next(len(one.mask) for one in scenes if one)
    pictures = torch.zeros(len(scenes), side, side, 4, dtype=dtype)
    rows: list[list[int]] = []
    plates: list[Tensor] = [torch.zeros(4, dtype=torch.int32)]
    places: list[Picture] = []
    placings: list[Placing] = []
    begins, pixels = SPARE_BYTES, 4
    for index, scene in enumerate(scenes):
        if scene is None:
            rows.append(idle())
            places.append(Picture(0, 0, 0, 0, 0))
            continue
        width, height = scene.size
        pitch = width + margin
        place = Picture(begins, width, height, pitch, pitch * height)
        begins += -(-pitch * height * 3 // 2 // 16) * 16
        pictures[index, ..., :3] = torch.from_numpy(scene.face)
        pictures[index, ..., 3] = weight_lane(scene.mask, dtype)
        row = scene.placing.bare(pixels, place) if bare else scene.placing.row(0, pixels, place)
        rows.append(row)
        plates.append(packed_plate(scene.plate))
        pixels += width * height
        places.append(place)
        placings.append(scene.placing)
    widest = Extent(max(one.size[0] for one in placings), max(one.size[1] for one in placings))
    return Batch(
        pictures,
        torch.tensor(rows),
        colors(torch.device("cpu")),
        torch.cat(plates),
        torch.full((begins,), 77, dtype=torch.uint8),
        widest if bare else Extent.of(placings),
        places,
    )


def exact(scene: Scene) -> tuple[F64, F64]:
    """Y (H, W), and Cb and Cr (H / 2, W / 2, 2), not rounded."""
    width, height = scene.size
    full = np.vstack((scene.matrix.astype(np.float64), (0, 0, 1)))
    x, y = np.meshgrid(np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64))
    inverse = np.linalg.inv(full)
    across = inverse[0, 0] * x + inverse[0, 1] * y + inverse[0, 2]
    down = inverse[1, 0] * x + inverse[1, 1] * y + inverse[1, 2]
    weight = _sampled(scene.mask[..., None].astype(np.float64), across, down)
    face = 255 * _sampled(scene.face, across, down)
    rgb = weight * face + (1 - weight) * scene.plate
    mean = rgb.reshape(height // 2, 2, width // 2, 2, 3).mean(axis=(1, 3))
    return to_yuv(rgb, scene.color)[..., 0], to_yuv(mean, scene.color)[..., 1:]


def decibels(have: U8, want: F64) -> float:
    """Of `have` against `want` rounded."""
    error = float(((np.floor(want + 0.5) - have) ** 2).mean())
    return float("inf") if not error else 10 * float(np.log10(255**2 / error))


def _sampled(picture: F64, x: F64, y: F64) -> F64:
    """Bilinear, its edges going on."""
    rows, columns = picture.shape[:2]
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = (x - left)[..., None], (y - top)[..., None]
    x0, x1 = np.clip(left, 0, columns - 1), np.clip(left + 1, 0, columns - 1)
    y0, y1 = np.clip(top, 0, rows - 1), np.clip(top + 1, 0, rows - 1)
    above = picture[y0, x0] * (1 - fx) + picture[y0, x1] * fx
    return above * (1 - fy) + (picture[y1, x0] * (1 - fx) + picture[y1, x1] * fx) * fy


def noise_plate(width: int, height: int, seed: int) -> U8:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def noise_face(side: int, seed: int) -> F64:
    """Values that half precision holds, so that what is measured is the composite."""
    values = np.random.default_rng(seed).random((side, side, 3))
    return values.astype(np.float16).astype(np.float64)


def turned(side: int, center: tuple[float, float], scale: float, degrees: float) -> NDArray[np.float32]:
    """Puts a face of `side` pixels round `center` on the plate, `scale` times as large and turned: (2, 3)."""
    angle, middle = np.deg2rad(degrees), (side - 1) / 2
    rotation = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shift = np.array(center) - rotation @ (middle, middle)
    return np.column_stack((rotation, shift)).astype(np.float32)
