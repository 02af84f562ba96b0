"""A long bob with a side parting: guides fall by gravity over the head and turn in to the neck, strands
follow them in waved locks that lie over each other and end in points; flyaway.py grows what stands clear."""

from typing import Final

import numpy as np
from scipy.spatial import cKDTree

from . import flyaway
from .base import F64, smooth
from .surface import Density, Surface, resampled, unit

NECK = -1.05
"""Depth of the neck's middle behind the eyes, in dm."""
GUIDES, KNOTS, STEPS, STEP = 1500, 28, 84, 0.05
PARTING = 0.14
"""The parting's x at the forehead; it drifts to the middle towards the crown."""
ROOT_DM, RISE_DM = 0.07, 0.14
"""How far beside the parting hair is flat on the scalp, and over how much of its way it gains its height."""
PARTED: Final = (-0.98, -0.72)
"""Depths behind the eyes from all hair brushed back, which covers the crown, to all of it parted, in dm."""
FLAT: Final = (-0.66, -0.30)
"""Depths behind the eyes over which hair beside the parting gains its height at once again, in dm."""
CROWN = 0.030
"""How much higher hair stands behind the parting than beside it, in dm."""
FACE: Final = (
    (-1.7, -1.1, -0.75, -0.3, 0.1, 0.45, 0.60, 0.70),
    (0.34, 0.38, 0.43, 0.49, 0.51, 0.44, 0.24, 0.0),
)
"""Half the width that stays free for the face, by the height over the eyes."""
OUTLINE: Final = (
    (-1.5, -1.3, -1.1, -0.9, -0.6, -0.3, 0.2, 0.5, 0.75, 0.95, 1.1),
    (0.68, 0.72, 0.75, 0.765, 0.765, 0.755, 0.74, 0.70, 0.63, 0.55, 0.44),
)
"""Half the width of the hair, by the height over the eyes."""
INWARD, NEARER = 0.26, 0.10
"""How far outside that width hair that frames the face hangs at most, and how far inside a few locks do."""
TIP, TIP_SPREAD, RISING, FRAMING = -1.16, 0.11, 0.12, 0.40
"""Mean height of the ends over the eyes at the front, how much they vary, how much higher they are behind,
and how much higher locks end beside the face at most."""
CURL = 0.14
"""How far the ends turn in towards the neck, in dm."""
LOCKS, TUFTS, SHEETS = 900, 150, 46
"""Into how many strands come together lower down, finely, at their very ends, and from the roots on, which
leaves partings."""
TINTED = 420
"""How many narrow locks have a tone of their own."""
SHORTER, FRAYED = 0.16, 0.09
"""Which share of their length locks lack at most, and single strands in them."""
UNEVEN = 0.030
"""By how much the width of the hair differs from lock to lock, in dm."""
WAVED = 130
"""How many locks have a wave and a place of their own, before or behind their neighbours."""
WAVE: Final = (0.064, 4.8)
"""How far locks swing, in dm, and how fast, in radians per dm."""
PROUD = 0.046
"""How far locks stand before or behind their neighbours, in dm."""


def grow_bob(
    surface: Surface, density: Density, count: int, rng: np.random.Generator
) -> tuple[F64, F64, F64]:
    """Paths (N, KNOTS, 3), widths (N, KNOTS) as shares of a hair's radius, tones (N,) 0..1."""
    roots = surface.scatter(GUIDES, lambda at: (density(at) > 0.3).astype(float), rng)
    guides = _cut(_fallen(surface, roots.at, roots.normal, rng), surface, rng)
    eyes = surface.person.landmarks.between

    def crowd(at: F64) -> F64:
        beside = np.abs(at[:, 0] - _parting(at, eyes))
        return density(at) ** 0.6 * (0.55 + 0.45 * smooth(0.10, 0.02, beside) * (at[:, 1] > eyes[1] + 0.5))

    young = surface.scatter(round(count * 1.7), crowd, rng)
    paths = _followed(surface, guides, roots.at, young.at, rng)
    length = np.linalg.norm(np.diff(paths, axis=1), axis=2).sum(1)
    edge = density(young.at)
    baby = (edge < 0.55) & (rng.random(len(edge)) < 0.08)
    short = np.where(baby, (0.05 + 0.16 * rng.random(len(edge))) / length, 1.0)
    paths = resampled(paths, length * short * _layered(paths, rng), KNOTS)
    paths = _gathered(paths, LOCKS, 0.35, 0.74, rng)
    paths = _gathered(paths, TUFTS, 0.62, 0.80, rng)
    paths = _gathered(paths, SHEETS, 0.15, 0.36, rng)
    paths = _waved(paths, surface, rng)
    for knot in range(1, 12):
        paths[:, knot] = surface.pushed(paths[:, knot], np.full(len(paths), 0.010 + 0.014 * min(knot, 3)))
    fine = (0.45 + 0.55 * smooth(0.1, 0.9, edge)) * np.where(baby, 0.5, 1.0)
    loose = flyaway.wisps(surface, density, rng), flyaway.babies(surface, density, rng)
    loose = *loose, flyaway.strays(surface, paths, rng)
    paths = np.concatenate([paths, *(each.paths for each in loose)])
    fine = np.concatenate([fine, *(each.fine for each in loose)])
    kept = _free_of_face(surface, paths)
    width = fine[:, None] * np.linspace(1, 0, KNOTS) ** 0.45
    return paths[kept], width[kept], _tone(paths, rng)[kept]


def _parting(at: F64, eyes: F64) -> F64:
    """The parting's x at the depth of each point (N, 3)."""
    z = at[:, 2] - eyes[2]
    drift = 0.13 * smooth(-0.25, -0.95, z)
    return PARTING - drift + 0.012 * np.sin(19 * z) + 0.007 * np.sin(53 * z + 1)


def _fallen(surface: Surface, root: F64, normal: F64, rng: np.random.Generator) -> F64:
    """Guides (N, STEPS + 1, 3) from their roots: outward from the parting, over the head, down."""
    eyes = surface.person.landmarks.between
    count = len(root)
    beside = root[:, 0] - _parting(root, eyes)
    parted = smooth(*PARTED, root[:, 2] - eyes[2])
    side = np.where(beside > 0, 1.0, -1.0) * parted + np.clip(root[:, 0] / 0.45, -1, 1) * (1 - parted)
    near = np.exp(-((beside / ROOT_DM) ** 2)) * smooth(eyes[1] + 0.45, eyes[1] + 0.85, root[:, 1])
    near *= smooth(*FLAT, root[:, 2] - eyes[2])
    front = smooth(-0.95, -0.05, root[:, 2] - eyes[2])
    crown = smooth(eyes[1] + 0.55, eyes[1] + 1.0, root[:, 1])
    lift = 0.042 + 0.045 * rng.random(count) + 0.010 * crown
    lift += CROWN * np.exp(-(((root[:, 0] - PARTING) / 0.60) ** 2)) * crown * (1 - parted)
    aim = np.c_[
        side * (0.85 - 0.15 * front),
        0.02 * parted - 0.10 * (1 - parted),
        -0.30 - 0.30 * front - 0.5 * (1 - parted),
    ]
    heading = unit(
        aim + normal * (0.10 + 0.04 * parted * (1 - near))[:, None] + rng.normal(0, 0.07, (count, 3))
    )
    risen = RISE_DM * (0.4 + 0.6 * near) / STEP
    inward = INWARD * rng.random(count)
    uneven = UNEVEN * (np.sin(17 * root[:, 2] + 9 * root[:, 0]) + rng.normal(0, 0.8, count))
    points, place = [root], root.copy()
    for step in range(STEPS):
        below = smooth(eyes[1] + 0.75, eyes[1] + 0.1, place[:, 1])
        pull = np.c_[side * 0.12 * (1 - below), -1.2 * (0.58 + 0.42 * below), -0.06 * front * (1 - below)]
        heading = unit(heading + pull * 0.25)
        height = lift * smooth(0.0, 1.0, (step + 1) / risen)
        moved = surface.pushed(place + heading * STEP, np.maximum(height, 0.008))
        moved = _shaped(moved, eyes, side, front, inward, uneven)
        heading = unit(unit(moved - place) * 0.8 + heading * 0.2)
        place = moved
        points.append(place)
    return np.stack(points, 1)


def _shaped(at: F64, eyes: F64, side: F64, front: F64, inward: F64, uneven: F64) -> F64:
    """The points kept out of the face and inside the `uneven` outline."""
    at = at.copy()
    height, depth = at[:, 1] - eyes[1], at[:, 2] - eyes[2]
    sign = np.where(np.abs(at[:, 0]) < 0.02, side, np.sign(at[:, 0]))
    wide = np.abs(at[:, 0])
    free = np.interp(height, *FACE) - NEARER * (1 - inward / INWARD) ** 4
    before = depth > -0.75
    wide = np.where(before & (wide < free), wide + 0.35 * (free - wide), wide)
    frame = before * smooth(0.50, -0.10, height) * smooth(0.15, 0.45, front)
    wide = wide + 0.07 * frame * (free + inward - wide)
    at[:, 2] += 0.05 * frame * (-0.30 - 0.4 * inward - depth)
    most = np.interp(height, *OUTLINE) + uneven
    at[:, 0] = sign * np.where(wide > most, most + (wide - most) * 0.25, wide)
    return at


def _cut(paths: F64, surface: Surface, rng: np.random.Generator) -> F64:
    """Guides cut at uneven heights, with a light wave below."""
    eyes = surface.person.landmarks.between
    spread = TIP_SPREAD * np.clip(rng.normal(0, 1, len(paths)), -1.8, 2.4)
    rising = RISING * smooth(-0.45, -1.25, paths[:, -1, 2] - eyes[2])
    framing = np.exp(-(((np.abs(paths[:, -20, 0]) - 0.55) / 0.14) ** 2))
    rising += FRAMING * framing * (rng.random(len(paths)) < 0.45) * rng.random(len(paths)) ** 0.7
    tip = eyes[1] + TIP + spread + rising
    kept = paths[:, 1:, 1] > tip[:, None]
    length = (np.linalg.norm(np.diff(paths, axis=1), axis=2) * kept).sum(1)
    paths = resampled(paths, length, KNOTS)
    along = np.linspace(0, 1, KNOTS)
    phase, speed = rng.random(len(paths)) * 6.28, 6 + 3 * rng.random(len(paths))
    wave = 0.020 * np.sin(along * speed[:, None] + phase[:, None]) * smooth(0.25, 0.8, along)
    inward = (eyes + np.array([0, 0, NECK]) - paths[:, -1]) * (1, 0, 1)
    turned = CURL * smooth(0.55, 1.0, along) ** 1.5 * (0.45 + 0.75 * rng.random(len(paths))[:, None])
    paths += unit(inward)[:, None] * turned[..., None]
    paths[:, :, 0] += wave
    paths[:, :, 2] += 0.7 * wave
    return paths


def _layered(paths: F64, rng: np.random.Generator) -> F64:
    """The share (N,) of its length that each strand keeps: much the same within a lock."""
    leaders = paths[rng.choice(len(paths), TUFTS, replace=False)]
    _, near = cKDTree(leaders[:, KNOTS // 2]).query(paths[:, KNOTS // 2])
    return 1 - SHORTER * rng.random(TUFTS)[near] ** 1.6 - FRAYED * rng.random(len(paths)) ** 2


def _gathered(paths: F64, count: int, start: float, most: float, rng: np.random.Generator) -> F64:
    """The paths drawn together into `count` locks from the share `start` of their length on: each lock comes
    to a point."""
    leaders = paths[rng.choice(len(paths), count, replace=False)]
    knot = KNOTS * 3 // 4
    _, near = cKDTree(leaders[:, knot]).query(paths[:, knot])
    along = smooth(start, 1.0, np.linspace(0, 1, KNOTS))
    pull = most * along[None, :, None] * rng.random((len(paths), 1, 1)) ** 0.5
    offset = leaders[near] - paths
    offset[..., 1] *= 0.35
    return paths + offset * pull


def _waved(paths: F64, surface: Surface, rng: np.random.Generator) -> F64:
    """The paths in locks that swing, each in its own time, and lie over each other."""
    leaders = paths[rng.choice(len(paths), WAVED, replace=False)]
    distance, near = cKDTree(leaders[:, KNOTS // 2]).query(paths[:, KNOTS // 2], k=2)
    share = 1 / (distance + 0.02) ** 3
    share = (share / share.sum(1, keepdims=True))[..., None]
    arc = np.linalg.norm(np.diff(paths, axis=1), axis=2).cumsum(1)
    arc = np.concatenate([np.zeros((len(paths), 1)), arc], 1)
    swing, phase = WAVE[0] * (0.5 + rng.random(WAVED)), 6.28 * rng.random(WAVED)
    proud = PROUD * rng.normal(0, 1, WAVED)
    angle = WAVE[1] * arc + 0.35 * rng.normal(0, 1, (len(paths), 1))
    own = angle[:, None] + phase[near][..., None]
    size = (share * swing[near][..., None]) * smooth(0.55, 1.5, arc)[:, None]
    lifted = (proud[near][..., None] * share).sum(1) * smooth(0.15, 0.9, arc)
    out = unit((paths - surface.person.landmarks.between - (0, 0, NECK)) * (1, 0, 1))
    across = np.stack([-out[..., 2], np.zeros_like(arc), out[..., 0]], -1)
    moved = across * (size * np.sin(own)).sum(1)[..., None]
    return paths + moved + out * (0.6 * (size * np.cos(own)).sum(1) + lifted)[..., None]


def _followed(surface: Surface, guides: F64, starts: F64, young: F64, rng: np.random.Generator) -> F64:
    """Strands (N, KNOTS, 3) between the guides of their side of the parting, drawn together into locks."""
    eyes = surface.person.landmarks.between
    along = np.linspace(0, 1, KNOTS)
    paths = np.empty((len(young), KNOTS, 3))
    old_right, new_right = (at[:, 0] > _parting(at, eyes) for at in (starts, young))
    for right in (True, False):
        mine, theirs = np.nonzero(old_right == right)[0], np.nonzero(new_right == right)[0]
        distance, near = cKDTree(starts[mine]).query(young[theirs], k=3)
        share = (rng.random(distance.shape) ** 2 + 0.03) / (distance + 0.01) ** 2
        share /= share.sum(1, keepdims=True)
        offsets = guides[mine] - starts[mine][:, None]
        strand = np.einsum("nk,nkcd->ncd", share, offsets[near]) + young[theirs][:, None]
        lock = guides[mine[near[np.arange(len(theirs)), share.argmax(1)]]]
        pull = 0.40 * smooth(0.12, 0.9, along)[None, :, None] * (0.3 + 0.9 * rng.random((len(theirs), 1, 1)))
        paths[theirs] = strand * (1 - pull) + lock * pull
    loose = np.where(rng.random(len(paths)) < 0.04, 0.010, 0.0026)[:, None, None]
    stray = np.cumsum(rng.normal(0, 1, paths.shape) * loose, 1)
    return paths + stray * smooth(0, 0.3, along)[None, :, None]


def _free_of_face(surface: Surface, paths: F64) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which strands do not hang into the face."""
    eyes = surface.person.landmarks.between
    x, y, z = np.moveaxis(paths, -1, 0)
    return ~((z > eyes[2] - 0.62) & (np.abs(x) < 0.46) & (y < eyes[1] + 0.36)).any(1)


def _tone(paths: F64, rng: np.random.Generator) -> F64:
    """Lighter and darker locks, narrow ones in wide ones, and single hairs that differ: tones (N,) 0..1."""
    tone = 0.38 * rng.random(len(paths)) - 0.06
    for count, share in ((TINTED, 0.38), (TINTED // 6, 0.34)):
        leaders = paths[rng.choice(len(paths), count, replace=False)]
        _, near = cKDTree(leaders[:, KNOTS // 2]).query(paths[:, KNOTS // 2])
        tone += share * rng.random(count)[near]
    return np.clip(tone, 0, 1)
