"""How far the eyes are open and where they look, from the mesh of a face."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

LEFT_CORNERS, RIGHT_CORNERS = (33, 133), (263, 362)
"""Outer and inner corner of each eye in the 478 points of the mesh; left is the picture's left."""
LEFT_LIDS, RIGHT_LIDS = ((145, 159), (144, 160), (153, 158)), ((374, 386), (373, 387), (380, 385))
LEFT_IRIS, RIGHT_IRIS = 468, 473
POINTS: Final = 478

_OUTER, _INNER = np.array([LEFT_CORNERS, RIGHT_CORNERS]).T
_LIDS = np.array([LEFT_LIDS, RIGHT_LIDS])
_IRIS = np.array([LEFT_IRIS, RIGHT_IRIS])
_TINY = np.float32(1e-8)


def eye_values(points: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How open and where, from `points` (..., 478, 3) float32 over the picture's (width, height, width).

    Returns `open` (..., 2), left and right: the lids' three distances over the corners'; and `ball`
    (..., 6), x_left, x_right, y_left, y_right, z_left, z_right: the direction from the eye's middle to the
    iris less that from the inner to the outer corner, by the iris' distance from the middle.
    """
    corners = points[..., _OUTER, :] - points[..., _INNER, :]
    lids = points[..., _LIDS[..., 0], :] - points[..., _LIDS[..., 1], :]
    opened = _length(lids)[..., 0].sum(-1) / (_length(corners)[..., 0] + _TINY)
    away = _away(points)
    ball = (_unit(away) - _unit(corners)) * _length(away)
    return opened, np.swapaxes(ball, -1, -2).reshape(*points.shape[:-2], 6)


def eye_directions(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """(..., 3, 2), axis by left and right: from the eye's middle to its iris, in widths of the eye. `points`
    as for `eye_values`."""
    corners = points[..., _OUTER, :] - points[..., _INNER, :]
    return np.swapaxes(np.divide(_away(points), _length(corners) + _TINY, dtype=np.float32), -1, -2)


def _away(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """(..., 2, 3): from the middle of each eye's corners to its iris."""
    corners = points[..., _OUTER, :] + points[..., _INNER, :]
    return points[..., _IRIS, :] - np.divide(corners, 2, dtype=np.float32)


def _length(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.linalg.norm(vectors, axis=-1, keepdims=True).astype(np.float32, copy=False)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.divide(vectors, _length(vectors) + _TINY, dtype=np.float32)
