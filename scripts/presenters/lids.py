"""Where the lids meet: the line that is seen between them once a blink has shut an eye."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .base import F64
from .person import Person

Ints = NDArray[np.int64]

BLINK: Final = {"l": "eyeBlinkLeft", "r": "eyeBlinkRight"}
NEAR = 0.35
"""How far from the eye's middle its lids reach, in dm."""
HEIGHTS: Final = np.arange(0.12, -0.16, -0.0015)
"""Heights above the eye's middle that are looked at, from above, in dm."""
LEAST_STEP = 0.012
"""By how much a blink moves the upper lid down beside the lower one, in dm."""


def meeting(person: Person, side: str, x: F64) -> F64:
    """The points (N, 3) where the lids of the eye on `side`, shut by a blink, meet at `x` (N,) as seen from
    the front; rows are NaN where they do not.

    The upper lid slides in behind the lower one, so its own edge is not what is seen.
    """
    center = person.landmarks.eyes["lr".index(side)]
    moved = person.limit(person.units[BLINK[side]].spread(len(person.rest)))
    points = person.limit(person.rest) + moved
    quads = person.faces()
    triangles = np.concatenate([quads[:, (0, 1, 2)], quads[:, (0, 2, 3)]])
    close = np.linalg.norm(points[triangles].mean(1) - center, axis=1) < NEAR
    corner, fall = points[triangles[close]], -moved[triangles[close], 1]
    line = np.full((len(x), 3), np.nan)
    for k, each in enumerate(x):
        depth, falls = _front(corner, fall, each, center[1] + HEIGHTS)
        step = falls[:-1] - falls[1:]
        seam = int(np.nan_to_num(step, nan=-1).argmax())
        if step[seam] > LEAST_STEP:
            line[k] = each, center[1] + HEIGHTS[seam], max(depth[seam], depth[seam + 1])
    return line


def _front(corner: F64, fall: F64, x: float, y: F64) -> tuple[F64, F64]:
    """The depth and the fall (N,) of the foremost of triangles, (T, 3, 3) and (T, 3), at `x` and `y` (N,);
    NaN where there is none."""
    mine = (corner[:, :, 0].min(1) <= x) & (corner[:, :, 0].max(1) >= x)
    a, b, c = np.moveaxis(corner[mine], 1, 0)
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
    a, b, c, own, area = (each[area > 1e-12] for each in (a, b, c, fall[mine], area))
    dx, dy = x - a[:, 0], y[:, None] - a[:, 1]
    second = (dx * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * dy) / area
    third = ((b[:, 0] - a[:, 0]) * dy - dx * (b[:, 1] - a[:, 1])) / area
    share = np.stack([1 - second - third, second, third], -1)
    depth = (share * np.stack([a[:, 2], b[:, 2], c[:, 2]], -1)).sum(-1)
    depth[(share < 0).any(-1)] = -np.inf
    best = depth.argmax(1)
    rows = np.arange(len(y))
    seen = np.isfinite(depth[rows, best])
    falls = (share[rows, best] * own[best]).sum(-1)
    return np.where(seen, depth[rows, best], np.nan), np.where(seen, falls, np.nan)
