"""The inside of the lips in the skin's texture: no picture saw it, so it is flesh and not a dark hole."""

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


def lined(
    texture: Texture, coordinates: F32, triangles: I32, vertices: F32, screen: F32, mouth: F32
) -> Texture:
    """`texture` of the skin, whose `triangles` (T, 3) over `vertices` (V, 3) take the texels `coordinates`
    (V, 2), with flesh for what is dark around a `mouth` (3,)."""
    near = (np.abs(vertices[:, :2] - mouth[:2]) < _REACH).all(1) & (vertices[:, 2] > mouth[2] - _DEEP)
    own = triangles[near[triangles].all(1)]
    ahead, aside = screen[own[:, 1]] - screen[own[:, 0]], screen[own[:, 2]] - screen[own[:, 0]]
    own = own[ahead[:, 0] * aside[:, 1] - ahead[:, 1] * aside[:, 0] >= 0]
    width, height = texture.size
    rgba = texture.texels.view(np.uint8).reshape(height + 1, width + 1, 4)[:height, :width].copy()
    lips = np.zeros((height, width), np.uint8)
    for triangle in np.rint(coordinates[own]).astype(np.int32):
        cv2.fillConvexPoly(lips, triangle, 1)
    unseen = lips.astype(np.bool_) & (rgba[..., 0] < _UNSEEN)
    rgba[unseen, :3] = _FLESH
    return packed_texture(rgba)
