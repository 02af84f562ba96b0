"""The inside of the lips in the skin's texture: no picture saw it, so it is flesh and not a dark hole, and
the lips grow darker towards it."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .textures import Texture, packed_texture

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]

_REACH: Final = np.array([0.17, 0.12], np.float32)
"""How far lips are lined, short of their corners, across and up or down, in model units (1 dm)."""
_DEEP: Final = 0.34
"""How far behind the mouth's front, in model units."""
_UNSEEN: Final = 75
"""Red of a texel, of 255, from which on lips are too bright to be a hole."""
_FLESH: Final = np.array([122, 54, 46], np.uint8)
_SHADE: Final = (0.23, 0.32, 0.32)
"""How much darker in red, green and blue lips are where they turn inside."""
_SHADE_DM: Final = 0.042
"""How far from there it is as dark as elsewhere, in model units."""
_WIDE: Final = np.array([0.27, 0.16], np.float32)
"""How far lips reach, across and up or down, short of their corners."""
_CORNER_DM: Final = 0.09
"""Over which the shade fades out to the corners."""
_SOFT_TEXELS: Final = 1.2


def lined(
    texture: Texture, coordinates: F32, triangles: I32, vertices: F32, screen: F32, mouth: F32
) -> Texture:
    """`texture` of the skin, whose `triangles` (T, 3) over `vertices` (V, 3) take the texels `coordinates`
    (V, 2), with flesh for what is dark around a `mouth` (3,)."""
    width, height = texture.size
    rgba = texture.texels.view(np.uint8).reshape(height + 1, width + 1, 4)[:height, :width].copy()
    lips = np.zeros((height, width), np.uint8)
    for triangle in np.rint(coordinates[_averted(triangles, vertices, screen, mouth, _REACH)]).astype(
        np.int32
    ):
        cv2.fillConvexPoly(lips, triangle, 1)
    unseen = lips.astype(np.bool_) & (rgba[..., 0] < _UNSEEN)
    rgba[unseen, :3] = _FLESH
    _shade(rgba, coordinates, triangles, vertices, screen, mouth)
    return packed_texture(rgba)


def _averted(triangles: I32, vertices: F32, screen: F32, mouth: F32, reach: F32) -> I32:
    """Those of `triangles` within `reach` (2,) of the mouth that the viewer does not see at rest."""
    near = (np.abs(vertices[:, :2] - mouth[:2]) < reach).all(1) & (vertices[:, 2] > mouth[2] - _DEEP)
    own = triangles[near[triangles].all(1)]
    ahead, aside = screen[own[:, 1]] - screen[own[:, 0]], screen[own[:, 2]] - screen[own[:, 0]]
    return own[ahead[:, 0] * aside[:, 1] - ahead[:, 1] * aside[:, 0] >= 0]


def _shade(
    rgba: NDArray[np.uint8], coordinates: F32, triangles: I32, vertices: F32, screen: F32, mouth: F32
) -> None:
    """Darken `rgba` (H, W, 4) towards where the lips turn inside."""
    inside = np.unique(_averted(triangles, vertices, screen, mouth, _WIDE))
    near = np.flatnonzero((np.abs(vertices[:, :2] - mouth[:2]) < 1.5 * _WIDE).all(1))
    if not len(inside) or not len(near):
        return
    away = np.linalg.norm(vertices[near, None] - vertices[None, inside], axis=2).min(1)
    dark = np.zeros(len(vertices), np.float32)
    aside = np.clip((_WIDE[0] - np.abs(vertices[near, 0] - mouth[0])) / _CORNER_DM, 0, 1)
    dark[near] = np.clip(1 - away / _SHADE_DM, 0, 1) * aside
    own = triangles[dark[triangles].any(1)]
    shade = np.zeros(rgba.shape[:2], np.float32)
    for triangle, weight in zip(
        np.rint(coordinates[own]).astype(np.int32), dark[own].mean(1).tolist(), strict=True
    ):
        cv2.fillConvexPoly(shade, triangle, weight)
    shade = cv2.GaussianBlur(shade, (0, 0), _SOFT_TEXELS)[..., None]
    rgba[..., :3] = np.rint(rgba[..., :3] * (1 - shade * np.array(_SHADE, np.float32)))
