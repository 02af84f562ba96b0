"""A short full beard that joins the sideburns, and the part of it that stands clear of the jaw's outline."""

from typing import Any, Final

import numpy as np
from scipy.spatial import cKDTree

from .base import F64, smooth
from .camera import VIEWS
from .looks import BeardLook, Look
from .nodes import add_strands, hair_material
from .person import Person
from .surface import Roots, Surface, tangent, unit
from .whiskers import beard_density

KNOTS = 7
ABOVE_LIP, TRIMMED = 0.10, 0.004
"""Share of the lip up to which the moustache grows down to it, and how far from its red it ends, in dm."""
OVER: Final = (0.25, -0.022, 0.018)
"""Share of its hairs that fall over the lip's edge, and how far hairs end before it and over it, in dm."""
MOUSTACHE = 55_000
"""Roots that are tried on all of the body for a denser moustache and where it joins the beard."""
GAP = 0.12
"""How much thinner it is in the groove under the nose."""
CORNER: Final = (0.016, 0.010)
"""How far around the corners of the mouth, across and up, no hair grows."""
LEADERS, LEANING = 2600, 0.35
"""Strands that others lean to, so that the beard has locks, and how far they lean at most."""
RED, FINE = 0.35, 7
"""From which share of lip on skin is lip, and into how many points a triangle's side is divided there."""
GREY = 0.50
"""Share of grey hairs."""
PEPPER = 0.46
"""How many fewer there are in the moustache, on which the key light falls."""
UNDER_NOSE = 0.0
"""How much lighter hairs are in the shade of the nose, which would make a dark tuft of them."""
OUTLINE: Final = (0.42, 0.26)
"""Cosines between skin and view from none to all of whose roots belong to the outline."""
HANGING: Final = (0.34, 0.16)
"""Heights over the chin, in dm, from none to all of whose roots do."""


def add_beard(surface: Surface, look: Look, posed: F64) -> tuple[list[Any], dict[str, Any]]:
    """The beard rooted in the surface as `posed` (V, 3), and again only its outline to each of `VIEWS`."""
    if look.beard is None:
        return [], {}
    rng = np.random.default_rng(41)
    density = beard_density(surface.person, look.beard)
    roots = surface.scatter(look.beard.strands * 2, density, rng)
    more = surface.scatter(MOUSTACHE, lambda at: density(at) * _moustache(surface.person, at), rng)
    roots = roots.joined(more)
    lips = roots.on(surface.person.lips + surface.person.inside)
    upper = roots.at[:, 1] > surface.person.landmarks.mouth[1]
    x, y = np.abs(roots.at[:, 0]), np.abs(roots.at[:, 1] - surface.person.landmarks.mouth[1] - 0.012)
    corner = np.hypot((x - surface.person.landmarks.mouth_half) / CORNER[0], y / CORNER[1]) < 1
    near = upper & (_to_lips(surface, roots.at) < TRIMMED)
    roots = roots.only((lips < np.where(upper, ABOVE_LIP, 0.42)) & ~corner & ~near)
    paths = _grown(surface, roots, posed, look.beard, rng)
    tone = _tone(surface.person, roots.at, rng) ** look.beard.bias
    material = hair_material("beard", look.beard.dark, look.beard.light, 0.45)
    width = look.beard.radius * np.linspace(1, 0.08, KNOTS) ** 0.7
    fuzz: dict[str, Any] = {}
    for view in VIEWS:
        rim = _outlines(surface.person, roots, view)
        fuzz[view] = add_strands("fuzz", paths[rim], width, material, tone[rim])
    return [add_strands("beard", paths, width, material, tone)], fuzz


def _moustache(person: Person, at: F64) -> F64:
    """How likely a further hair grows in the moustache, most under the nose, at points (N, 3)."""
    marks = person.landmarks
    x, y = np.abs(at[:, 0]), at[:, 1] - marks.mouth[1]
    high = smooth(-0.10, 0.02, y) * smooth(0.34, 0.24, y) * (at[:, 2] > marks.mouth[2] - 0.30)
    middle = 0.80 * smooth(marks.mouth_half + 0.14, marks.mouth_half, x) + 0.20 * smooth(0.16, 0.05, x)
    return high * middle * (1 - GAP * smooth(0.035, 0.010, x) * smooth(0.10, 0.14, y))


def _outlines(person: Person, roots: Roots, view: str) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which roots lie along the jaw's outline as the camera of `view` sees it, with all that hangs over it at
    the chin; fewer and fewer inwards."""
    away = roots.at - person.camera(view).position
    facing = -(roots.normal * away).sum(1) / np.linalg.norm(away, axis=1)
    marks = person.landmarks
    x, y = np.abs(roots.at[:, 0]), roots.at[:, 1] - marks.chin[1]
    beside = smooth(*OUTLINE, facing) * (x > marks.mouth_half + 0.10)
    chin = smooth(*HANGING, y) * smooth(0.60, 0.45, x)
    return np.random.default_rng(43).random(len(roots)) < np.maximum(beside, chin)


def _grown(surface: Surface, roots: Roots, posed: F64, look: BeardLook, rng: np.random.Generator) -> F64:
    """Paths (N, KNOTS, 3): down and a little in, from under the nose down to the lip and out to its corners,
    where both join."""
    marks = surface.person.landmarks
    x, y, _ = roots.at.T
    lip = smooth(-0.03, 0.05, y - marks.mouth[1]) * smooth(
        marks.mouth_half + 0.14, marks.mouth_half, np.abs(x)
    )
    out = np.clip(x / 0.04, -1, 1) * (0.22 + 0.85 * np.abs(x) / marks.mouth_half)
    inward = -0.20 * np.clip(x / 0.30, -1, 1)
    aim = np.c_[out * lip + inward * (1 - lip), -np.ones(len(x)), 0.03 + 0 * x]
    start, normal = surface.curved(roots, posed), roots.normal
    aim = tangent(aim, normal)
    rise = 0.13 + 0.05 * lip + 0.16 * rng.random(len(x))
    heading = unit(aim + normal * rise[:, None] + rng.normal(0, 0.11, aim.shape))
    edge = beard_density(surface.person, look)(roots.at)
    grown = look.length * (0.40 + 0.72 * rng.random(len(x))) * (0.20 + 0.80 * edge)
    chin = smooth(0.60, 0.14, np.abs(x)) * smooth(marks.mouth[1] - 0.16, marks.mouth[1] - 0.34, y)
    grown *= 1 + 0.55 * chin + 0.60 * lip
    grown = np.where(lip > 0.3, np.minimum(grown, _to_edge(surface, start, rng)), grown)
    curl = rng.normal(0, 0.08, aim.shape)
    along = np.linspace(0, 1, KNOTS)
    bow = aim * 0.45 + curl
    stems = [start + heading * (grown * t)[:, None] + bow * (grown * t * t)[:, None] for t in along]
    paths = np.stack(stems, 1)
    leaders = paths[rng.choice(len(paths), min(LEADERS, len(paths)), replace=False)]
    _, near = cKDTree(leaders[:, 0]).query(paths[:, 0])
    pull = LEANING * smooth(0.1, 1.0, along)[None, :, None] * rng.random((len(paths), 1, 1))
    return paths + (leaders[near] - paths) * pull


def _to_edge(surface: Surface, start: F64, rng: np.random.Generator) -> F64:
    """How long hairs from `start` (N, 3) may be to end about the lips' edge, some before it and some over
    it."""
    share, before, over = OVER
    past = np.where(
        rng.random(len(start)) < share, over * rng.random(len(start)), before * rng.random(len(start))
    )
    return np.maximum(0.010, _to_lips(surface, start) + past)


def _to_lips(surface: Surface, at: F64) -> F64:
    """How far points (N, 3) are from the lips' red, in dm."""
    corners = surface.triangles[surface.person.lips[surface.triangles].max(1) > RED]
    first, second = (part.ravel() for part in np.meshgrid(*(np.linspace(0, 1, FINE),) * 2))
    shares = np.stack([first, second, 1 - first - second], 1)[first + second <= 1]
    points = np.einsum("sk,tkd->tsd", shares, surface.points[corners])
    red = np.einsum("sk,tk->ts", shares, surface.person.lips[corners]) > RED
    distance, _ = cKDTree(points[red]).query(at)
    return np.asarray(distance, np.float64)


def _tone(person: Person, at: F64, rng: np.random.Generator) -> F64:
    """Salt and pepper as the hair: grey with darker hairs among it, in soft locks; lighter at the chin,
    darker in the moustache."""
    marks = person.landmarks
    x, y, _ = at.T
    chin = smooth(0.42, 0.10, np.hypot(x, (y - marks.chin[1] - 0.12) * 0.9))
    lock = 0.10 * np.sin(23 * x + 5 * y) + 0.07 * np.sin(47 * x + 2)
    lip = smooth(-0.03, 0.06, y - marks.mouth[1]) * smooth(0.44, 0.32, np.abs(x))
    grey = rng.random(len(at)) < GREY + 0.06 * chin + lock - PEPPER * lip
    under = smooth(0.11, 0.16, y - marks.mouth[1]) * smooth(0.17, 0.09, np.abs(x - 0.04))
    return np.clip(np.where(grey, 0.76, 0.14) + UNDER_NOSE * under + rng.normal(0, 0.15, len(at)), 0, 1)
