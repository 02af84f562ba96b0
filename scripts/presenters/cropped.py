"""Short hair, brushed to the side on top and close at the sides."""

import numpy as np
from scipy.spatial import cKDTree

from .base import F64, smooth
from .surface import Density, Surface, tangent, unit

KNOTS = 10
LOCKS = 2200
SIDE, TOP = 0.10, 0.50
"""Length in dm at the sides and on top."""


def grow_cropped(
    surface: Surface, density: Density, count: int, rng: np.random.Generator
) -> tuple[F64, F64, F64]:
    """Paths (N, KNOTS, 3), widths (N, KNOTS) as shares of a hair's radius, tones (N,) 0..1."""
    roots = surface.scatter(count, density, rng)
    eyes = surface.person.landmarks.between
    edge = density(roots.at)
    high = smooth(eyes[1] + 0.42, eyes[1] + 0.88, roots.at[:, 1])
    front = smooth(-1.1, 0.0, roots.at[:, 2] - eyes[2])
    length = (SIDE + (TOP - SIDE) * high * (0.75 + 0.25 * front)) * (0.72 + 0.42 * rng.random(len(roots)))
    length *= 0.45 + 0.55 * smooth(0.05, 0.9, edge)
    paths = _locked(_grown(surface, roots.at, roots.normal, length, high * front, high, rng), high, rng)
    fine = 0.55 + 0.45 * smooth(0.1, 0.8, edge)
    width = fine[:, None] * np.linspace(1, 0.12, KNOTS) ** 0.6
    return paths, width, _tone(roots.at, high, rng)


def _grown(
    surface: Surface, root: F64, normal: F64, length: F64, quiff: F64, high: F64, rng: np.random.Generator
) -> F64:
    x, _, z = root.T
    swirl = 0.22 * np.sin(7 * x + 5 * z) + 0.20 * np.sin(15 * x - 11 * z + 1) + 0.10 * np.sin(31 * x + 19 * z)
    swirl = swirl * (1 - 0.6 * quiff)
    temple = (1 - high) * smooth(-1.1, -0.5, z - surface.person.landmarks.between[2])
    aim = np.c_[
        -0.44 * high + swirl,
        -0.85 * (1 - high) + 0.30 * temple,
        -0.76 * high - 0.28 + 0.25 * swirl - 0.65 * temple,
    ]
    aim = tangent(aim, normal)
    heading = unit(
        aim + normal * (0.30 - 0.02 * high + 0.40 * quiff)[:, None] + rng.normal(0, 0.06, root.shape)
    )
    bend = rng.normal(0, 0.02, root.shape)
    lift = (0.008 + 0.010 * rng.random(len(root))) * (0.45 + 0.55 * high)
    points, place = [root], root.copy()
    for knot in range(1, KNOTS):
        drop = np.array([0, -0.07, 0])
        heading = unit(heading + 0.20 * aim + bend + drop + rng.normal(0, 0.016, root.shape))
        place = surface.pushed(place + heading * (length / (KNOTS - 1))[:, None], lift * knot / 2)
        points.append(place)
    return np.stack(points, 1)


def _locked(paths: F64, high: F64, rng: np.random.Generator) -> F64:
    """The paths drawn together into small locks towards their ends, where they are `high` (N,) and long."""
    leaders = paths[rng.choice(len(paths), LOCKS, replace=False)]
    _, near = cKDTree(leaders[:, 0]).query(paths[:, 0])
    pull = (
        0.55
        * smooth(0.15, 1.0, np.linspace(0, 1, KNOTS))[None, :, None]
        * (0.25 + 0.75 * high[:, None, None])
        * rng.random((len(paths), 1, 1)) ** 0.6
    )
    return paths * (1 - pull) + leaders[near] * pull


def _tone(root: F64, high: F64, rng: np.random.Generator) -> F64:
    """Salt and pepper: lighter at the temples, darker on top, in soft locks."""
    x, y, z = root.T
    lock = 0.5 + 0.25 * np.sin(17 * x + 6 * z) + 0.25 * np.sin(29 * z - 11 * y + 2)
    level = 0.40 - 0.12 * high
    return np.clip(
        level + 0.26 * (lock - 0.5) + rng.normal(0, 0.30, len(root)) * (0.45 + 0.55 * high), 0.0, 1.0
    )
