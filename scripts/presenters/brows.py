"""Brows: tapered single hairs that follow the face, each the other's mirror image."""

from typing import Any

import numpy as np

from .base import F64, smooth
from .browline import line
from .looks import BrowLook
from .nodes import add_strands, hair_material
from .surface import Surface, tangent, unit

KNOTS = 7


def add_brows(surface: Surface, look: BrowLook, posed: F64) -> list[Any]:
    """Both brows, rooted in the surface as `posed` (V, 3)."""
    material = hair_material("brow", look.dark, look.light, 0.42)
    things: list[Any] = []
    for side in (1.0, -1.0):
        rng = np.random.default_rng(23)
        paths, tone = _brow(surface, look, posed, side, rng)
        radius = look.radius * np.linspace(1, 0.15, KNOTS) ** 0.8
        things.append(add_strands("brow", paths, radius, material, tone))
    return things


def _brow(
    surface: Surface, look: BrowLook, posed: F64, side: float, rng: np.random.Generator
) -> tuple[F64, F64]:
    """Paths (N, KNOTS, 3) and tones (N,) of one brow; `along` runs from the nose to the temple."""
    along = rng.beta(*look.ends, look.hairs)
    across = np.clip(rng.normal(0, 0.29, look.hairs), -0.75, 0.75)
    thick = look.thick * smooth(-0.14, 0.28, along) * (1 - 0.55 * smooth(0.45, 1.02, along))
    x = look.x[0] + (look.x[1] - look.x[0]) * along
    y = surface.person.landmarks.between[1] + line(look, along) + across * thick
    roots = surface.under(side * x, y)
    start, normal = roots.on(posed), unit(roots.on(surface.normals))
    lean = np.interp(along, [0, 0.10, 0.35, 0.7, 1], [58, 40, 16, -4, -26]) - across * 42
    angle = np.radians(lean + rng.normal(0, 7, look.hairs))
    toward = tangent(np.c_[side * np.cos(angle), np.sin(angle), np.zeros_like(angle)], normal)
    length = look.length * (0.55 + 0.55 * rng.random(look.hairs)) * (1 - 0.30 * along)
    length *= 1 - 0.5 * np.abs(across)
    bend = np.c_[side * np.abs(np.sin(angle)) * 0.40, np.full_like(angle, -0.34), np.zeros_like(angle)]
    lift = (0.004 + 0.006 * rng.random(look.hairs)) * (1 - 0.6 * along)
    paths = [
        start
        + toward * (length * share)[:, None]
        + bend * (length * share**2)[:, None]
        + normal * (lift * np.sin(share * 2.4) + 0.001)[:, None]
        for share in np.linspace(0, 1, KNOTS)
    ]
    return np.stack(paths, 1), rng.random(look.hairs) ** 1.5
