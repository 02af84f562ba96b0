"""Pictures of the presenters' heads, and stand-ins for the networks that look at them."""

from functools import lru_cache

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from visavis.render.avatar import PRESENTERS
from visavis.render.ditto.motion import WIDTH, Motion, Source
from visavis.render.landmarks import Landmarks
from visavis.render.register import Extractors

Picture = NDArray[np.uint8]


@lru_cache
def landmarks() -> Landmarks:
    return Landmarks()


@lru_cache
def head(name: str = "ruby") -> Picture:
    """The preview (360, 360, 3) RGB."""
    pixels = cv2.imread(str(PRESENTERS / name / "preview.png"))
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), np.uint8)


def turned(picture: Picture, degrees: float, scale: float = 0.8) -> Picture:
    """Turned left, and smaller, the edges drawn on."""
    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, scale)
    seen = cv2.warpAffine(picture, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen, np.uint8)


def scaled(picture: Picture, side: int) -> Picture:
    way = cv2.INTER_AREA if side < picture.shape[0] else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(picture, (side, side), interpolation=way), np.uint8)


def on_grey(picture: Picture, height: int, width: int, left: int, top: int) -> Picture:
    """`picture` somewhere in a larger one."""
    seen = np.full((height, width, 3), 90, np.uint8)
    seen[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return seen


def extractors(digest: str = "stand-in") -> Extractors:
    """Sums of the picture in the shapes of the official networks."""

    def appearance(image: Tensor) -> Tensor:
        return image.mean(1)[:, None, None, ::4, ::4].expand(1, 32, 16, 64, 64)

    def motion(image: Tensor) -> Source:
        rows = torch.linspace(-1, 1, WIDTH)[None] * image.mean()
        return Source(Motion.from_rows(rows), torch.linspace(0, 1, 63)[None] * image.std())

    return Extractors(appearance, motion, digest)
