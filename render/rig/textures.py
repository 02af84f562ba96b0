"""Textures of an avatar at the resolution that one view shows them, ready for the rasteriser."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ..avatar import Avatar
from .tensors import TEXTURE

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

_SHARP = 1.1
"""Texels a pixel that are left as they are: below the size at which detail would flicker."""
_LEAST_SIDE = 8


@dataclass(frozen=True, slots=True)
class Texture:
    """`texels` ((height + 1) * (width + 1),) uint32 premultiplied RGBA; the last row and column repeat the
    one before. `stride` is width + 1. `alpha` (height, width) uint8."""

    texels: U32
    stride: int
    alpha: U8

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in texels."""
        return self.stride - 1, self.alpha.shape[0]

    def coordinates(self, uv: F32) -> F32:
        """`uv` (V, 2) in 0..1 as texels less a half, kept where a sample has four texels."""
        size = np.array(self.size, np.float32)
        return np.clip(uv * size - 0.5, 0, size - 1).astype(np.float32)


def load_texture(avatar: Avatar, part: int, uv: F32, screen: F32, triangles: NDArray[np.int32]) -> Texture:
    """The texture of `part`, shrunk to about one texel a pixel of what is drawn with it.

    `uv` (V, 2) in 0..1, `screen` (V, 3) at rest and `triangles` (T, 3) of the part say how large it is seen.
    """
    rgba = avatar.texture(TEXTURE[part])
    height, width = rgba.shape[:2]
    density = texel_density(uv * np.array([width, height], np.float32), screen, triangles)
    if density > _SHARP:
        wide, high = (max(_LEAST_SIDE, round(side / density)) for side in (width, height))
        rgba = cv2.resize(_premultiplied(rgba), (wide, high), interpolation=cv2.INTER_AREA)
        return packed_texture(np.ascontiguousarray(rgba, dtype=np.uint8))
    return packed_texture(_premultiplied(rgba))


def packed_texture(rgba: U8) -> Texture:
    """`rgba` (H, W, 4), premultiplied, as a texture."""
    wide = cv2.copyMakeBorder(rgba, 0, 1, 0, 1, cv2.BORDER_REPLICATE)
    texels = np.ascontiguousarray(wide, dtype=np.uint8).view(np.uint32).reshape(-1)
    return Texture(texels, wide.shape[1], np.ascontiguousarray(rgba[..., 3]))


def texel_density(texels: F32, screen: F32, triangles: NDArray[np.int32]) -> float:
    """Texels a pixel of most of the area that faces the viewer, along the texture's coarser side.

    0 when nothing faces the viewer.
    """
    (ax, ay), (bx, by) = _sides(screen[triangles, :2])
    seen = ay * bx - ax * by
    front = seen > 0
    if not front.any():
        return 0.0
    sides = _sides(texels[triangles[front]])
    ax, ay, bx, by = ax[front], ay[front], bx[front], by[front]
    steps = [
        np.hypot(first * by - second * ay, second * ax - first * bx)
        for first, second in zip(*sides, strict=True)
    ]
    ratio = np.minimum(*steps) / seen[front]
    order = np.argsort(ratio)
    share = np.cumsum(seen[front][order])
    return float(ratio[order][np.searchsorted(share, share[-1] / 2)])


def _sides(corners: F32) -> tuple[F32, F32]:
    """Two sides of triangles (T, 3, 2), each as x and y, (2, T)."""
    return (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T


def _premultiplied(rgba: U8) -> U8:
    alpha = cv2.merge([rgba[..., 3]] * 3)
    color = cv2.multiply(rgba[..., :3], alpha, scale=1 / 255)
    return np.dstack([color, rgba[..., 3]]).astype(np.uint8, copy=False)
