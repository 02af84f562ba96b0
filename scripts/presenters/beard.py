"""A short full beard that joins the sideburns, and the part of it that stands clear of the jaw's outline."""

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from .base import F64, smooth
from .camera import VIEWS
from .looks import BeardLook, Look
from .nodes import add_strands, hair_material
from .person import Person
from .surface import Density, Roots, Surface, tangent, unit

KNOTS = 7
ABOVE_LIP = 0.015
"""Share of the lip up to which the moustache grows down to it."""
LEADERS = 1700
"""Strands that others lean to, so that the beard has locks."""
OUTLINE = 0.34
"""Cosine between skin and view below which a root belongs to the outline."""


def add_beard(surface: Surface, look: Look, posed: F64) -> tuple[list[Any], dict[str, Any]]:
    """The beard rooted in the surface as `posed` (V, 3), and again only its outline to each of `VIEWS`."""
    if look.beard is None:
        return [], {}
    rng = np.random.default_rng(41)
    roots = surface.scatter(look.beard.strands * 2, beard_density(surface.person, look.beard), rng)
    lips = roots.on(surface.person.lips + surface.person.inside)
    upper = roots.at[:, 1] > surface.person.landmarks.mouth[1]
    roots = roots.only(lips < np.where(upper, ABOVE_LIP, 0.42))
    paths = _grown(surface, roots, posed, look.beard, rng)
    tone = _tone(surface.person, roots.at, rng) ** look.beard.bias
    material = hair_material("beard", look.beard.dark, look.beard.light, 0.45)
    width = look.beard.radius * np.linspace(1, 0.15, KNOTS) ** 0.7
    fuzz: dict[str, Any] = {}
    for view in VIEWS:
        rim = _outlines(surface.person, roots, view)
        fuzz[view] = add_strands("fuzz", paths[rim], width, material, tone[rim])
    return [add_strands("beard", paths, width, material, tone)], fuzz


def _outlines(person: Person, roots: Roots, view: str) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which roots lie along the jaw's outline as the camera of `view` sees it."""
    away = roots.at - person.camera(view).position
    facing = -(roots.normal * away).sum(1) / np.linalg.norm(away, axis=1)
    marks = person.landmarks
    beside = np.abs(roots.at[:, 0]) > marks.mouth_half + 0.10
    return (facing < OUTLINE) & (beside | (roots.at[:, 1] < marks.chin[1] + 0.15))


def beard_density(person: Person, look: BeardLook | None) -> Density:
    """Where the beard grows, 0..1, with uneven soft edges; 0 everywhere without a beard."""
    marks = person.landmarks
    mouth, half = marks.mouth, marks.mouth_half
    top = marks.nose[1] - 0.075 - mouth[1]
    lines = (0, 0.10, 0.20, half + 0.03, half + 0.13, 0.52, 0.62, 0.72, 0.86)
    upper = (top, top, top - 0.02, 0.10, 0.02, 0.10, 0.36, 0.62, 0.85)

    def density(at: F64) -> F64:
        x, y, z = np.abs(at[:, 0]), at[:, 1], at[:, 2]
        uneven = 0.020 * np.sin(19 * at[:, 0]) + 0.014 * np.sin(43 * at[:, 0] + 2) + 0.010 * np.sin(71 * y)
        above = np.interp(x, lines, upper) + mouth[1] + uneven - y
        low = marks.chin[1] + np.interp(x, (0, 0.3, 0.55, 0.8), (-0.10, -0.05, 0.10, 0.32))
        behind = z - (marks.between[2] - 0.74) + 0.3 * uneven
        reach = np.minimum(
            above / np.where(x < half, 0.045, 0.12), np.minimum((y - low + uneven) / 0.16, behind / 0.14)
        )
        fits = (x < 0.80) & ((y < mouth[1] + top + 0.02) | (x > 0.5))
        return smooth(0, 1, reach) * fits

    return density if look is not None else lambda at: np.zeros(len(at))


def _grown(surface: Surface, roots: Roots, posed: F64, look: BeardLook, rng: np.random.Generator) -> F64:
    marks = surface.person.landmarks
    x, y, _ = roots.at.T
    moustache = (y > marks.mouth[1]) & (np.abs(x) < marks.mouth_half + 0.10)
    aim = np.c_[
        np.clip(x / 0.12, -1, 1) * np.where(moustache, 1.25, 0.14), -np.ones(len(x)), np.full(len(x), 0.02)
    ]
    start, normal = roots.on(posed), roots.normal
    aim = tangent(aim, normal)
    rise = np.where(moustache, 0.22, 0.13) + 0.20 * rng.random(len(x))
    heading = unit(aim + normal * rise[:, None] + rng.normal(0, 0.13, aim.shape))
    edge = beard_density(surface.person, look)(roots.at)
    grown = look.length * (0.50 + 0.60 * rng.random(len(x))) * (0.30 + 0.70 * edge)
    chin = smooth(0.46, 0.05, np.abs(x)) * smooth(marks.mouth[1] - 0.16, marks.mouth[1] - 0.34, y)
    grown *= np.where(moustache, 0.55, 1.0) * (1 + 0.55 * chin)
    curl = rng.normal(0, 0.10, aim.shape)
    along = np.linspace(0, 1, KNOTS)
    bow = aim * 0.45 + curl
    stems = [start + heading * (grown * t)[:, None] + bow * (grown * t * t)[:, None] for t in along]
    paths = np.stack(stems, 1)
    leaders = paths[rng.choice(len(paths), min(LEADERS, len(paths)), replace=False)]
    _, near = cKDTree(leaders[:, 0]).query(paths[:, 0])
    pull = 0.5 * smooth(0.1, 1.0, along)[None, :, None] * rng.random((len(paths), 1, 1))
    return paths + (leaders[near] - paths) * pull


def _tone(person: Person, at: F64, rng: np.random.Generator) -> F64:
    """Lighter at the chin and the corners of the mouth, darker at the moustache and the cheeks."""
    marks = person.landmarks
    x, y, _ = at.T
    chin = smooth(0.42, 0.10, np.hypot(x, (y - marks.chin[1] - 0.12) * 0.9))
    level = 0.34 + 0.22 * chin + 0.10 * smooth(0.5, 0.68, np.abs(x))
    level = level + 0.20 * smooth(marks.mouth[1] + 0.25, marks.mouth[1] + 0.65, y)
    lock = 0.08 * np.sin(23 * x + 5 * y) + 0.05 * np.sin(47 * x)
    grey = rng.random(len(at)) < level + lock
    return np.clip(np.where(grey, 0.78, 0.12) + rng.normal(0, 0.16, len(at)), 0, 1)
