"""Which triangle a pixel shows: a z-buffer for pictures and for texture atlases."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Hits:
    """What each pixel centre of a picture (H, W) shows: `triangle` int32, -1 where none; `share` (H, W, 3)
    float32 of its corners; `depth` float32, inf where none."""

    triangle: NDArray[np.int32]
    share: F32
    depth: F32

    @property
    def seen(self) -> NDArray[np.bool_]:
        return self.triangle >= 0

    def blend(self, triangles: NDArray[np.int64], values: F64) -> F64:
        """`values` (V, D) of the vertices at the pixels that show something, (N, D)."""
        corner = values[triangles[self.triangle[self.seen]]]
        return (corner * self.share[self.seen][..., None]).sum(1)


def trace(points: F64, triangles: NDArray[np.int64], size: tuple[int, int], *, cull: bool) -> Hits:
    """The nearest of `triangles` (T, 3) at each pixel of a picture of `size` (width, height).

    `points` (V, 3) are column, row and depth; `cull` drops triangles that turn their back.
    """
    width, height = size
    triangle = np.full((height, width), -1, np.int32)
    share = np.zeros((height, width, 3), np.float32)
    depth = np.full((height, width), np.inf, np.float32)
    if len(triangles):
        _fill(points, triangles, cull, triangle, share, depth)
    return Hits(triangle, share, depth)


@njit
def _fill(
    points: F64,
    triangles: NDArray[np.int64],
    cull: bool,
    owner: NDArray[np.int32],
    share: F32,
    depth: F32,
) -> None:
    height, width = owner.shape
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t]
        x0, y0, z0 = points[i]
        x1, y1, z1 = points[j]
        x2, y2, z2 = points[k]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if abs(area) < 1e-12 or (cull and area > 0):
            continue
        left, right = max(0, int(min(x0, x1, x2) - 0.5)), min(width - 1, int(max(x0, x1, x2) + 0.5))
        top, bottom = max(0, int(min(y0, y1, y2) - 0.5)), min(height - 1, int(max(y0, y1, y2) + 0.5))
        for row in range(top, bottom + 1):
            y = row + 0.5
            for column in range(left, right + 1):
                x = column + 0.5
                a = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area
                b = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area
                c = 1 - a - b
                if a < -1e-6 or b < -1e-6 or c < -1e-6:
                    continue
                a, b, c = a / z0, b / z1, c / z2
                z = 1 / (a + b + c)
                if z < depth[row, column]:
                    depth[row, column] = z
                    owner[row, column] = t
                    share[row, column, 0] = a * z
                    share[row, column, 1] = b * z
                    share[row, column, 2] = c * z
