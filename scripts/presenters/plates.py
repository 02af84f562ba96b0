"""The pictures that do not move: a plate for each size."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .background import AREA, paint
from .camera import MASTER

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

QUALITY = 92
LOSSLESS = 101
"""OpenCV's number for it."""
GRAIN = 1.0
"""Levels up or down of a plate's grain: without it a soft wall shows where one of 256 levels ends and the
next begins."""
GRAIN_SEED = 5


@dataclass(frozen=True, slots=True)
class Cut:
    """What a size of `width` times `height` shows: the box (left, top, right, bottom) of the master frame."""

    width: int
    height: int
    box: tuple[float, float, float, float]

    @property
    def origin(self) -> tuple[float, float]:
        return self.box[:2]

    @property
    def scale(self) -> tuple[float, float]:
        left, top, right, bottom = self.box
        return self.width / (right - left), self.height / (bottom - top)

    @property
    def plate(self) -> str:
        return f"plate_{self.width}x{self.height}.webp"


CUTS: Final = (
    Cut(720, 1280, (305, 110, 1295, 1870)),
    Cut(512, 512, (308, 128, 1292, 1112)),
    Cut(1080, 1920, (260, 0, 1340, 1920)),
    Cut(1920, 1080, (-284, 130, 1884, 1349.5)),
)
"""The sizes of a presenter, the preferred one first."""


def write_plates(name: str, body: U8, target: Path) -> None:
    """Write the plate of every size: layer `body` (H, W, 4), a scaled master frame, over the painted room."""
    scene = _over(paint(name), body)
    for cut in CUTS:
        plate = _grained(_cut(scene, cut.box, (cut.width, cut.height)))
        write_webp(target / cut.plate, plate, LOSSLESS)


def write_webp(path: Path, picture: U8, quality: int = QUALITY) -> None:
    """Write an RGB or RGBA picture."""
    order = (2, 1, 0, 3)[: picture.shape[2]]
    if not cv2.imwrite(str(path), picture[..., order], [cv2.IMWRITE_WEBP_QUALITY, quality]):
        raise SystemExit(f"{path} cannot be written")


def _over(room: F32, layer: U8) -> F32:
    """The room over `AREA` with a layer of the master frame laid over it, (H, W, 3) 0..255."""
    if layer.shape[1::-1] != MASTER:
        layer = cv2.resize(layer, MASTER, interpolation=cv2.INTER_CUBIC).astype(np.uint8)
    scene = room.copy()
    left, top = -AREA[0], -AREA[1]
    part = scene[top : top + MASTER[1], left : left + MASTER[0]]
    alpha = layer[..., 3:].astype(np.float32) / 255
    part += (layer[..., :3] - part) * alpha
    return scene


def _cut(scene: F32, box: tuple[float, float, float, float], size: tuple[int, int]) -> F32:
    """The part `box` (in master pixels) of a scene over `AREA`, brought to `size` (width, height)."""
    left, top, right, bottom = (edge - start for edge, start in zip(box, AREA[:2] * 2, strict=True))
    whole = scene[int(top) : int(np.ceil(bottom)), int(left) : int(np.ceil(right))]
    return cv2.resize(whole, size, interpolation=cv2.INTER_AREA).astype(np.float32, copy=False)


def _grained(picture: F32) -> U8:
    """`picture` in 8 bits, its steps dissolved in triangular noise.

    All colours share it and keep whole distances from green: a third less to store, and codecs lose colour
    noise anyway.
    """
    chance = np.random.default_rng(GRAIN_SEED)
    one, other = (chance.random((*picture.shape[:2], 1), np.float32) for _ in range(2))
    green = picture[..., 1:2]
    level = np.rint(green + np.float32(GRAIN) * (one - other)).astype(np.float32)
    return _rounded(level + np.rint(picture - green))


def _rounded(picture: NDArray[np.floating]) -> U8:
    return np.clip(np.round(picture), 0, 255).astype(np.uint8)
