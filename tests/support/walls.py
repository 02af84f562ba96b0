"""Faces before plain walls, whole or in part: what they hide and what shows through them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from unittest import mock

import cv2
import numpy as np
from numpy.typing import NDArray
from support.rig import SMALL, avatar, meshed
from visavis.render.avatar import Avatar
from visavis.render.rig import seal
from visavis.render.rig.face import Face
from visavis.render.rig.mesh import projected
from visavis.render.rig.motion import Motion
from visavis.render.rig.tensors import BACK, HAIR, INTERIOR, LEFT_EYE, RIGHT_EYE, SKIN

Bools = NDArray[np.bool_]
Pair = tuple[Face, Face]
"""The same face before a black wall and before a white one."""
LIPS_DM = (0.3, 0.2, 0.34)
"""How far from the middle of the mouth the lips reach, across, up or down, and inwards, in model units."""
_OF_THE_HEAD = 250
"""Head weight of skin that turns with the head as a whole: not neck, not shoulders."""


@dataclass(frozen=True, slots=True)
class OnColor(Avatar):
    """An avatar in front of a wall."""

    color: int = 0

    def plate(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        return np.full((size[1], size[0], 3), self.color, np.uint8)


@cache
def whole(name: str) -> Pair:
    return _before_walls(name, lambda parts, _: np.ones(len(parts), np.bool_))


@cache
def mouthless(name: str) -> Pair:
    """Skin, eyes and lashes alone, without the skin that lines the lips and so is inside the mouth: the wall
    shows where the lips part, in a `parted` cover."""
    lining = _lining(name)
    return _before_walls(name, lambda parts, _: ~np.isin(parts, (*INTERIOR, *HAIR, *BACK)) & ~lining)


@cache
def bald(name: str) -> Pair:
    """The front half of the head's own skin and its eyes alone: no neck."""
    tensors = avatar(name).tensors
    corners = tensors["triangles"].astype(np.int64)
    depth = tensors["vertices"].astype(np.float32)[corners, 2].min(1)
    front = depth >= tensors["pivot"].astype(np.float32)[2]
    skin = (SKIN, LEFT_EYE, RIGHT_EYE)
    return _before_walls(name, lambda parts, weight: np.isin(parts, skin) & (weight >= _OF_THE_HEAD) & front)


def cover(pair: Pair, motion: Motion) -> NDArray[np.float64]:
    """How much of each pixel the face hides, (H, W) in 0..1."""
    black, white = (one.draw(motion, one.canvas()).astype(float) for one in pair)
    return 1 - (white - black).mean(-1) / 255


def parted(pair: Pair, motion: Motion) -> NDArray[np.float64]:
    """As `cover`, with what opens inside the face left open."""
    with mock.patch.object(seal, "seal"):
        return cover(pair, motion)


def filled(mask: Bools) -> Bools:
    """`mask` (H, W) with everything that it surrounds."""
    _, labels = cv2.connectedComponents((~mask).astype(np.uint8), connectivity=4)
    rim = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
    return mask | ~np.isin(labels, rim)


def grown(mask: Bools, px: int) -> Bools:
    return cv2.dilate(mask.astype(np.uint8), _square(px)).astype(np.bool_)


def shrunk(mask: Bools, px: int) -> Bools:
    return cv2.erode(mask.astype(np.uint8), _square(px)).astype(np.bool_)


def _square(px: int) -> NDArray[np.uint8]:
    return np.ones((2 * px + 1, 2 * px + 1), np.uint8)


def _lining(name: str) -> Bools:
    """Which triangles (T,) of skin around the mouth nobody sees at rest: the inside of the lips."""
    tensors, mesh = avatar(name).tensors, meshed(name)
    corners = tensors["triangles"].astype(np.int64)
    points = tensors["vertices"].astype(np.float32)
    screen = projected(points, mesh.camera, mesh.lens)
    near = (np.abs(points - mesh.mouth) < LIPS_DM).all(1)[corners].all(1) & (tensors["parts"] == SKIN)
    one, other = (screen[corners[:, k], :2] - screen[corners[:, 0], :2] for k in (1, 2))
    return near & (one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0] >= 0)


def _before_walls(name: str, chosen: Callable[[NDArray[np.uint8], NDArray[np.uint8]], Bools]) -> Pair:
    """The triangles that are `chosen` by their parts (T,) and the least head weight of their corners (T,)."""
    one = avatar(name)
    triangles, parts = one.tensors["triangles"], one.tensors["parts"].astype(np.uint8)
    weight = one.tensors["head_weight"].astype(np.uint8)[triangles.astype(np.int64)].min(1)
    kept = chosen(parts, weight)
    tensors = dict(one.tensors) | {"triangles": triangles[kept], "parts": parts[kept]}
    black, white = (Face(OnColor(one.folder, one.manifest, tensors, color), SMALL) for color in (0, 255))
    return black, white
