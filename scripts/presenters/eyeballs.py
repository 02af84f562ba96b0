"""Eyeballs: the part of each sphere that can show, and the light that the lids leave to it."""

from typing import Final

import numpy as np

from .base import F64, Ints
from .person import Person
from .piece import Part, Piece, make_piece

ANGLES_DEG: Final = (6.0, 12.0, 18.0, 25.0, 33.0, 42.0, 52.0, 63.0, 75.0, 88.0)
"""Rings of vertices about the axis, the pole apart."""
AROUND = 28
FIT = 0.995
"""The drawn radius by the lids'."""
RAYS, SOFTEN = 240, 2
SKY = (-0.30, 0.62, 0.72)
"""Where most of the light on a face comes from."""
REACH = 0.45
"""How far around an eye something can shade it, in dm."""


def eyeballs(person: Person, skin: Ints) -> list[Piece]:
    """Left and right eyeball at rest, looking at the front camera; `skin` (T, 3) are the body's triangles.

    A vertex' uv is 0.5 + 0.5 * (angle from the axis / 90 degrees) in its direction about the axis, rows
    downwards.
    """
    points = person.limit(person.rest)
    return [
        _eyeball(person, part, center, _near(points, skin, center))
        for part, center in zip((Part.LEFT_EYE, Part.RIGHT_EYE), person.landmarks.eyes, strict=True)
    ]


def _near(points: F64, skin: Ints, center: F64) -> F64:
    """Corners (N, 3, 3) of the triangles around an eye."""
    corner = points[skin]
    return corner[(np.linalg.norm(corner - center, axis=2) < REACH).any(1)]


def _eyeball(person: Person, part: Part, center: F64, around: F64) -> Piece:
    angle, turn = np.radians((0.0, *ANGLES_DEG)), np.arange(AROUND) * (2 * np.pi / AROUND)
    ring, spoke = (part.ravel() for part in np.meshgrid(angle[1:], turn, indexing="ij"))
    ring, spoke = np.concatenate([[0], ring]), np.concatenate([[0], spoke])
    forward = person.camera().position - center
    forward /= np.linalg.norm(forward)
    right = np.cross([0.0, 1.0, 0.0], forward)
    right /= np.linalg.norm(right)
    up = np.cross(forward, right)
    aside, above = np.sin(ring) * np.cos(spoke), np.sin(ring) * np.sin(spoke)
    normal = aside[:, None] * right + above[:, None] * up + np.cos(ring)[:, None] * forward
    vertices = center + person.landmarks.eye_radius * FIT * normal
    share = ring / (np.pi / 2)
    uv = 0.5 + 0.5 * share[:, None] * np.stack([np.cos(spoke), -np.sin(spoke)], 1)
    light = _light(vertices, normal, around)
    for _ in range(SOFTEN):
        light = _smoothed(light, _fan())
    return make_piece(part, vertices, _fan(), uv=uv, color=(238, 234, 230), shade=255 * light)


def _fan() -> Ints:
    """Triangles of the pole's fan and of the rings around it."""
    first = 1 + np.arange(AROUND)
    after = 1 + (np.arange(AROUND) + 1) % AROUND
    triangles = [np.stack([np.zeros(AROUND, int), first, after], 1)]
    for k in range(len(ANGLES_DEG) - 1):
        a, b = first + k * AROUND, after + k * AROUND
        triangles += [np.stack([a, a + AROUND, b + AROUND], 1), np.stack([a, b + AROUND, b], 1)]
    return np.concatenate(triangles)


def _smoothed(values: F64, triangles: Ints) -> F64:
    """Each vertex' value (N,) averaged with its neighbours'."""
    total, count = values.copy(), np.ones(len(values))
    for k in range(3):
        for other in (triangles[:, (k + 1) % 3], triangles[:, (k + 2) % 3]):
            np.add.at(total, triangles[:, k], values[other])
            np.add.at(count, triangles[:, k], 1)
    return total / count


def _light(points: F64, normals: F64, around: F64) -> F64:
    """How much of the sky (N,) each point sees past the triangles `around`, 0.3 to 1; the brightest point is
    1."""
    chance = np.random.default_rng(3)
    rays = chance.normal(size=(RAYS, 3))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    bright = 0.35 + np.clip(rays @ np.array(SKY), 0, 1)
    start = points + 0.012 * normals
    light = np.zeros(len(points))
    for ray, power in zip(rays, bright, strict=True):
        facing = np.clip(normals @ ray, 0, 1)
        lit = facing > 0
        light[lit] += power * facing[lit] * ~_blocked(start[lit], ray, around)
    return 0.3 + 0.7 * np.clip(light / np.quantile(light, 0.98), 0, 1) ** 0.8


def _blocked(start: F64, ray: F64, around: F64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether the ray from each start (N, 3) meets one of the triangles (M, 3, 3)."""
    origin, first, second = around[:, 0], around[:, 1] - around[:, 0], around[:, 2] - around[:, 0]
    across = np.cross(ray, second)
    volume = (first * across).sum(1)
    usable = np.abs(volume) > 1e-12
    origin, first, second, across, volume = (part[usable] for part in (origin, first, second, across, volume))
    offset = start[:, None] - origin
    u = (offset * across).sum(2) / volume
    turned = np.cross(offset, first)
    v, distance = turned @ ray / volume, (turned * second).sum(2) / volume
    return ((u >= 0) & (v >= 0) & (u + v <= 1) & (distance > 0)).any(1)
