"""What skin shows from near: pores, its fine relief in the light, patches of colour, freckles, sheen.

All of it belongs to places of the body at rest, so that a texture and a plate show the same skin.
"""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .base import F64, smooth
from .camera import Camera
from .grain import cells, noise
from .looks import LOOKS
from .mouth import halves
from .person import Person
from .pores import MIRROR, lined, relief
from .trace import trace

U8 = NDArray[np.uint8]

STEP_DM = 0.0036
"""Over which distance the relief's slope to the light is taken."""
SLOPE, PIT, AGED = 0.040, 0.075, 0.20
"""How much lighter a slope to the light is, how much darker a pore, and how much coarser age makes both."""
LIGHT: Final = (-0.467, 0.54, 0.70)
"""Where the key light comes from."""
GLOSS, SHARP, BROKEN = 26.0, 20.0, 0.50
"""The sheen at its brightest, of 255, how narrow it is, and how far the relief breaks it up."""
FINEST = 0.6
"""How coarse the evenest skin is, against what varies as far as others do."""
PATCH_DM: Final = (0.055, 0.13)
RUDDY: Final = (0.010, -0.018, -0.020)
SALLOW: Final = (-0.010, 0.0, -0.022)
PATCHY = 0.9
"""Sizes of patches, in what they differ in red, green and blue, as a share, two ways, and how far."""
FRECKLE_DM, FRECKLE_HALF, FRECKLE = 0.055, (0.005, 0.012), (0.10, 0.20, 0.26)
"""How far apart freckles may be, half their width, in dm, and what they take of red, green and blue."""
MOLE: Final = (0.28, 0.38, 0.42)
MOLES: Final = {
    "ruby": ((0.34, -0.56, 0.0060),),
    "marcus": ((-0.47, -0.17, 0.0070),),
}
"""Moles by place, x and y from the point between the eyes, and half their width, in dm."""

NOSTRILS: Final = {"ruby": (0.080, -0.345, 0.303), "marcus": (0.105, -0.453, 0.300)}
NOSTRIL_DM, NOSTRIL, NOSTRIL_SHARE = (0.036, 0.020, 0.045), (46, 22, 17), 0.9
"""The middle of the left nostril, seen from the point between the eyes, half its size in dm, its colour, and
how much of that it has."""
SHADED_DM, BARE_DM, BESIDE_DM = (-0.10, 0.30), (0.75, 0.45), (0.30, 0.48)
ASIDE, SHADE = (0.30, 0.95), (0.42, 0.52, 0.58)
"""Heights above the chin from which, and above the eyes up to which, long hair shades a face, and how far
beside its middle, in dm; how far skin faces aside then, and what it takes of red, green and blue at most."""
HAIR: Final = (0.20, 0.33)
"""How much less blue than red hair of a beard and bare skin are, as a share."""


@dataclass(frozen=True, slots=True)
class Zones:
    """Of places (N,): how coarse the skin is, how much it shines, how ruddy and how cool it is, and how many
    freckles it has."""

    coarse: F64
    shine: F64
    ruddy: F64
    cool: F64
    freckled: F64


def zones(person: Person, at: F64) -> Zones:
    """Of the places `at` (N, 3) of a body at rest."""
    marks, middle = person.landmarks, person.landmarks.between
    nose = _spot(at, marks.nose + np.array([0, 0.06, 0]), (0.20, 0.26, 0.35))
    bridge = _spot(at, middle + np.array([0, -0.12, 0.1]), (0.08, 0.34, 0.4))
    chin = _spot(at, marks.chin + np.array([0, 0.18, 0.5]), (0.26, 0.20, 0.5))
    brow = _spot(at, middle + np.array([0, 0.48, 0.1]), (0.62, 0.36, 0.5))
    cheek, bone, under, lid = (np.zeros(len(at)) for _ in range(4))
    for side, eye in zip((1.0, -1.0), marks.eyes, strict=True):
        cheek += _spot(at, middle + np.array([0.36 * side, -0.40, 0.0]), (0.36, 0.34, 0.6))
        bone += _spot(at, middle + np.array([0.46 * side, -0.26, 0.0]), (0.26, 0.20, 0.6))
        under += _spot(at, eye + np.array([-0.03 * side, -0.17, 0.1]), (0.22, 0.10, 0.3))
        lid += _spot(at, eye + np.array([0, 0.02, 0.1]), (0.26, 0.20, 0.4))
    height = at[:, 1] - marks.chin[1]
    face = smooth(-0.15, 0.10, height)
    look = LOOKS[person.cast.name].skin
    open_skin, aged = 1 - 0.8 * lid, FINEST + (1 - FINEST) * look.mottle + AGED * look.age
    shine = 0.85 * bridge + 0.7 * nose + 0.55 * brow + 0.8 * bone + 0.5 * chin
    freckled = 0.9 * cheek + 0.8 * nose + 0.3 * bone + 0.25
    return Zones(
        coarse=(0.50 + 0.20 * face + 0.40 * np.maximum(nose, cheek) + 0.15 * chin - 0.22 * brow)
        * open_skin
        * aged,
        shine=face * np.clip(shine, 0, 1) * (1 - lid),
        ruddy=np.clip(0.8 * nose + 0.26 * cheek + 0.35 * chin, 0, 1) * face,
        cool=under * look.mottle,
        freckled=2.4 * look.freckles * np.clip(freckled, 0, 1) * (1 - lid),
    )


def pored(person: Person, color: F64, at: F64, normal: F64, share: F64) -> F64:
    """Colours (N, 3) 0..255 of skin at the places `at` (N, 3) with unit `normal` (N, 3), as it is from near;
    it is bare skin as far as `share` (N,)."""
    own = zones(person, at)
    along = np.array(LIGHT) - (normal @ np.array(LIGHT))[:, None] * normal
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 0.25)
    _, pore = relief(at)
    slope = relief(at - STEP_DM * along)[0] - relief(at + STEP_DM * along)[0]
    slope = np.clip(slope, -2.5, 2.5)
    light = 1 + own.coarse * (SLOPE * slope - PIT * pore)
    tint = _patches(person, at, own)
    gloss = GLOSS * own.shine * np.clip(normal @ np.array(MIRROR), 0, 1) ** SHARP
    gloss = gloss * np.clip(1 + BROKEN * (slope - 1.2 * pore), 0, 2.5)
    lit = np.clip(color.mean(1) / 150.0, 0, 1)
    shown = color * light[:, None] * tint + (gloss * lit)[:, None] * (1.0, 0.97, 0.92)
    return color + (shown - color) * share[:, None]


def nostrils(person: Person, color: F64, at: F64) -> F64:
    """The texture `color` (S, S, 3), whose texels lie `at` (S, S, 3), with both nostrils dark."""
    x, y, z = NOSTRILS[person.cast.name]
    seen = at - person.landmarks.between
    seen[..., 0] = np.abs(seen[..., 0])
    away = (((seen - np.array((x, y, z))) / np.array(NOSTRIL_DM)) ** 2).sum(-1)
    share = NOSTRIL_SHARE * smooth(1.6, 0.3, away)
    return color + (np.array(NOSTRIL) - color) * share[..., None]


def under_hair(person: Person, color: F64, at: F64, normal: F64) -> F64:
    """The texture `color` (S, S, 3) with the shade of long hair on cheeks and jaw, the more the further aside
    skin faces; `at` and `normal` as `skinned` takes them."""
    marks = person.landmarks
    low, high = at[..., 1] - marks.chin[1], at[..., 1] - marks.between[1]
    there = smooth(*SHADED_DM, low) * smooth(*BARE_DM, high) * (at[..., 2] > marks.pivot[2])
    there = there * smooth(*BESIDE_DM, np.abs(at[..., 0] - marks.between[0]))
    aside = smooth(*ASIDE, 1 - normal[..., 2]) * there
    return color * (1 - aside[..., None] * np.array(SHADE))


def skinned(person: Person, color: F64, at: F64, normal: F64, mouth: F64, upper: F64, lower: F64) -> F64:
    """The texture `color` (S, S, 3) as `pored` has it; `at` and `normal` (S, S, 3) are where its texels lie
    at rest, `upper` and `lower` (S, S) are the lips, `mouth` (S, S) with what lies behind them."""
    flat, place, facing = (each.reshape(-1, 3) for each in (color, at, normal))
    lips = np.maximum(upper, lower).ravel()
    share = 1 - np.maximum(lips, mouth.ravel())
    if LOOKS[person.cast.name].beard is not None:
        soft = cv2.GaussianBlur(color.astype(np.float32), (0, 0), 1.2).reshape(-1, 3).astype(np.float64)
        share = share * smooth(*HAIR, 1 - soft[:, 2] / np.maximum(soft[:, 0], 1))
    shown = pored(person, flat, place, facing, share)
    lips_shown = lined(flat, place, facing, lower.ravel())
    return (shown + (lips_shown - flat) * lips[:, None]).reshape(color.shape)


def _patches(person: Person, at: F64, own: Zones) -> F64:
    """By how much colours (N, 3) differ from place to place."""
    small, large = (noise(at, size, 307 + k) for k, size in enumerate(PATCH_DM))
    ruddy = (0.55 * small + 0.65 * large)[:, None] * RUDDY
    sallow = noise(at, 0.09, 331)[:, None] * SALLOW
    patchy = PATCHY * LOOKS[person.cast.name].skin.mottle
    tint = 1 + patchy * (1 + own.ruddy[:, None]) * (ruddy + sallow)
    tint = tint * (1 + own.ruddy[:, None] * (0.012, -0.045, -0.040))
    tint = tint * (1 + own.cool[:, None] * (-0.034, -0.020, -0.002))
    away, chance = cells(at, FRECKLE_DM, 409)
    half = FRECKLE_HALF[0] + (FRECKLE_HALF[1] - FRECKLE_HALF[0]) * (chance * 7 % 1)
    dots = np.exp(-((away / half) ** 4)) * (chance < 0.5 * own.freckled) * (0.35 + 0.65 * (chance * 13 % 1))
    tint = tint * (1 - dots[:, None] * FRECKLE)
    spot = at - person.landmarks.between
    for x, y, width in MOLES[person.cast.name]:
        reach = np.hypot(spot[:, 0] - x, spot[:, 1] - y) / width
        mole = smooth(1.35, 0.65, reach) * (at[:, 2] > person.landmarks.neck[2])
        tint = tint * (1 - mole[:, None] * MOLE)
    return tint


def _spot(at: F64, center: F64, radii: tuple[float, float, float]) -> F64:
    """1 at the centre, 0 beyond the radii."""
    return smooth(1.0, 0.0, np.linalg.norm((at - center) / radii, axis=1))


def pored_layer(person: Person, picture: U8, skin: U8, camera: Camera) -> U8:
    """A layer (H, W, 4) whose skin, as the alpha of the layer `skin` (H, W, 4) by the same `camera` has it,
    is as `pored` has it."""
    points, triangles = person.limit(person.rest), halves(person.faces())
    hits = trace(camera.project(points), triangles, camera.size, cull=True)
    at, normal = (hits.blend(triangles, each) for each in (points, person.normals(points)))
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    shown = picture.copy()
    share = skin[hits.seen][:, 3] / 255.0
    color = pored(person, picture[hits.seen][:, :3].astype(np.float64), at, normal, share)
    shown[hits.seen, :3] = np.round(np.clip(color, 0, 255)).astype(np.uint8)
    return shown
