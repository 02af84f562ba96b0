"""Textures of an avatar at the resolution of one view, ready for the rasteriser."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from .. import avatar as folder
from ..avatar import Avatar, View

U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

_FEATHER_PX = 12
_GROWN_PX = 25


@dataclass(frozen=True, slots=True)
class Layers:
    """The crop's textures and the plate under them.

    `atlas` (5 pages * atlas_height * atlas_width,) uint32 premultiplied RGBA, pages in the order of
    `raster.PAGES`; texel (x, y) of a page is crop pixel (x, y) at rest. `plate` (H, W) uint32 RGBA with
    alpha 0; `mask` (H, W) float32.
    """

    atlas: U32
    atlas_width: int
    plate: U32
    mask: NDArray[np.float32]


def load_layers(avatar: Avatar, view: View, eye_area: NDArray[np.bool_]) -> Layers:
    """`eye_area` (H, W) marks the crop's pixels that show an eyeball at rest."""
    x, y, width, height = view.crop
    head = _texture(avatar, folder.HEAD, view)
    closed, hair, back = (
        _texture(avatar, name, view) for name in (folder.HEAD_CLOSED, folder.HAIR, folder.HAIR_BACK)
    )
    pages = [_page(each) for each in (head, closed, _widened(head, eye_area), hair, back)]
    plate = avatar.plate((view.width, view.height))[y : y + height, x : x + width]
    return Layers(
        np.concatenate(pages),
        width + 1,
        _packed(cv2.merge([*cv2.split(plate), np.zeros_like(plate[..., 0])])),
        _mask(view),
    )


def _texture(avatar: Avatar, name: str, view: View) -> U8:
    """Layer `name` cut to the crop of `view` at plate resolution, (H, W, 4) premultiplied."""
    master = _premultiplied(avatar.texture(name))
    left, top = (round(each) for each in view.origin)
    wide, high = round(view.width / view.scale[0]), round(view.height / view.scale[1])
    rows = master[top : top + high, left : left + wide]
    below = high - rows.shape[0]
    if below:
        rows = cv2.copyMakeBorder(rows, 0, below, 0, 0, cv2.BORDER_CONSTANT, value=(0, 0, 0, 0))
    whole = cv2.resize(rows, (view.width, view.height), interpolation=cv2.INTER_AREA)
    x, y, width, height = view.crop
    return np.ascontiguousarray(whole[y : y + height, x : x + width], dtype=np.uint8)


def _premultiplied(rgba: U8) -> U8:
    alpha = cv2.merge([rgba[..., 3]] * 3)
    color = cv2.multiply(rgba[..., :3], alpha, scale=1 / 255)
    return np.dstack([color, rgba[..., 3]]).astype(np.uint8, copy=False)


def _page(rgba: U8) -> U32:
    """`rgba` flat, with one texel more to the right and below, so that bilinear sampling never leaves it."""
    return _packed(cv2.copyMakeBorder(rgba, 0, 1, 0, 1, cv2.BORDER_REPLICATE)).ravel()


def _packed(rgba: NDArray[np.generic]) -> U32:
    return np.ascontiguousarray(rgba, dtype=np.uint8).view(np.uint32)[..., 0]


def _widened(head: U8, eye_area: NDArray[np.bool_]) -> U8:
    """`head` with the eyeballs grown under the lids, so that a turned eye shows no lid on its ball."""
    area = eye_area.astype(np.uint8)
    known = np.asarray(cv2.erode(area, np.ones((3, 3), np.uint8))) > 0
    around = np.asarray(cv2.dilate(area, np.ones((_GROWN_PX, _GROWN_PX), np.uint8))) > 0
    hole = (around & ~known).astype(np.uint8)
    grown = head.copy()
    grown[..., :3] = cv2.inpaint(np.ascontiguousarray(head[..., :3]), hole, 3, cv2.INPAINT_TELEA)
    grown[hole > 0, 3] = 255
    return grown


def _mask(view: View) -> NDArray[np.float32]:
    """1 inside, falling to 0 at the edges of the crop that are not edges of the plate."""
    x, y, width, height = view.crop
    across = _ramp(width, soft_start=x > 0, soft_end=x + width < view.width)
    down = _ramp(height, soft_start=y > 0, soft_end=y + height < view.height)
    return np.minimum(down[:, None], across[None, :])


def _ramp(length: int, *, soft_start: bool, soft_end: bool) -> NDArray[np.float32]:
    ramp = np.ones(length, np.float32)
    edge = np.arange(_FEATHER_PX, dtype=np.float32) / np.float32(_FEATHER_PX)
    if soft_start:
        ramp[:_FEATHER_PX] = edge
    if soft_end:
        ramp[-_FEATHER_PX:] = np.minimum(ramp[-_FEATHER_PX:], edge[::-1])
    return ramp
