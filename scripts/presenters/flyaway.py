"""Fine hairs that stand clear of a head of long hair: at the hairline, beside the face, over the outline."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from .base import F64, smooth
from .surface import Density, Surface, tangent, unit

KNOTS = 28
WISPS, BABIES, STRAYS, RISEN = 520, 8000, 620, 700
"""Roots that are tried for fine strands beside the face and for baby hairs, long hairs that leave their lock,
and short ones that rise from the crown."""
EDGE: Final = (0.02, 0.40)
"""Densities between which hair is hairline."""


@dataclass(frozen=True, slots=True)
class Loose:
    """Paths (N, KNOTS, 3) and how thick (N,) they are as shares of a hair's radius."""

    paths: F64
    fine: F64


def wisps(surface: Surface, density: Density, rng: np.random.Generator) -> Loose:
    """Fine strands that fall from the hairline at the temples beside the face."""
    eyes = surface.person.landmarks.between

    def temple(at: F64) -> F64:
        x, y, z = np.abs(at[:, 0]), at[:, 1] - eyes[1], at[:, 2] - eyes[2]
        inside = (y > 0.12) & (y < 0.66) & (z > -0.62) & (x > 0.42)
        return 0.5 * ((density(at) > 0.12) & inside)

    roots = surface.scatter(WISPS, temple, rng)
    count, along = len(roots), np.linspace(0, 1, KNOTS)[None, :]
    side = np.sign(roots.at[:, 0])
    length = (0.20 + 0.80 * rng.random(count) ** 1.6)[:, None]
    bow = (0.16 * rng.random(count) - 0.02)[:, None] * np.sin(along * 2.6)
    sway = 0.06 * rng.normal(0, 1, (count, 1)) * along**2
    paths = np.repeat(roots.at[:, None], KNOTS, 1)
    paths[..., 0] += side[:, None] * (bow + 0.05 * along) + sway
    paths[..., 1] -= length * along
    paths[..., 2] += 0.06 * np.sin(along * 2.4) - 0.16 * along
    return Loose(_clear(surface, paths, 0.022), 0.42 + 0.2 * rng.random(count))


def babies(surface: Surface, density: Density, rng: np.random.Generator) -> Loose:
    """Baby hairs along the hairline, short, soft and in all directions, the most of them to the back."""
    eyes = surface.person.landmarks.between

    def edge(at: F64) -> F64:
        share = density(at)
        before = (at[:, 2] > eyes[2] - 0.75) & (at[:, 1] > eyes[1] + 0.1)
        return smooth(0.0, EDGE[0], share) * smooth(EDGE[1], 0.1, share) * before * 0.25

    roots = surface.scatter(BABIES, edge, rng)
    count, along = len(roots), np.linspace(0, 1, KNOTS)
    side = np.sign(roots.at[:, 0] - 0.20)
    aim = np.c_[side * (0.7 + 0.3 * rng.random(count)), 0.25 + 0 * side, -0.55 + 0 * side]
    aim = tangent(aim + rng.normal(0, 0.30, (count, 3)), roots.normal)
    length = 0.08 + 0.22 * rng.random(count) ** 1.5
    loose = tangent(rng.normal(0, 1, (count, 3)) - np.array([0, 0.4, 0]), roots.normal)
    bend = loose * (0.35 * rng.random(count))[:, None]
    rise = roots.normal * (0.05 + 0.22 * rng.random(count))[:, None]
    paths = [roots.at + (length * t)[:, None] * (unit(aim + rise) + bend * t) for t in along]
    return Loose(_clear(surface, np.stack(paths, 1), 0.004), 0.40 + 0.25 * rng.random(count))


def strays(surface: Surface, paths: F64, rng: np.random.Generator) -> Loose:
    """Copies of single strands that leave the others on their way, and short hairs that rise from the
    crown."""
    eyes = surface.person.landmarks.between
    along = np.linspace(0, 1, KNOTS)[None, :, None]
    own = paths[rng.choice(len(paths), STRAYS)]
    middle = eyes + np.array([0, 0, -1.05])
    out = unit((own - middle) * (1, 0.25, 1))
    leaving = smooth(0.05, 0.75, along) * (0.02 + 0.10 * rng.random((STRAYS, 1, 1)) ** 2)
    speed, phase = 3 + 5 * rng.random((STRAYS, 1, 1)), 6.28 * rng.random((STRAYS, 1, 3))
    swing = 0.035 * rng.random((STRAYS, 1, 1)) * np.sin(speed * along + phase) * smooth(0.1, 0.6, along)
    long = own + out * leaving + swing
    high = paths[paths[:, 0, 1] > eyes[1] + 0.55]
    start = high[rng.choice(len(high), RISEN)]
    knot = rng.integers(1, 12, RISEN)
    row = np.arange(RISEN)
    root, heading = start[row, knot], unit(start[row, knot + 1] - start[row, knot])
    up = unit((root - middle) * (1, 1, 1))
    length = (0.08 + 0.22 * rng.random((RISEN, 1, 1)) ** 1.6) * along
    slope = 0.06 + 0.24 * rng.random((RISEN, 1, 1))
    way = (
        heading[:, None] * (1 - 0.3 * along)
        + up[:, None] * slope
        + rng.normal(0, 0.10, (RISEN, 1, 3)) * along
    )
    short = root[:, None] + way * length
    fine = np.concatenate([0.70 + 0.35 * rng.random(STRAYS), 0.60 + 0.35 * rng.random(RISEN)])
    return Loose(np.concatenate([long, short]), fine)


def _clear(surface: Surface, paths: F64, height: float) -> F64:
    """The paths kept out of the skin, more and more by up to `height` in dm."""
    lift = height * np.broadcast_to(np.linspace(0, 1, KNOTS) ** 0.5, paths.shape[:2])
    return surface.pushed(paths.reshape(-1, 3), lift.reshape(-1)).reshape(paths.shape)
