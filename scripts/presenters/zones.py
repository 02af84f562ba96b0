"""What skin is like where: its colour, lines and folds, painted by place on the head at rest."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from .base import F64, load_mask, smooth
from .looks import Look, Rgb
from .nodes import linear
from .person import Landmarks, Person
from .throat import Line, groove

INSIDE: Final[Rgb] = (118, 42, 42)
"""The mouth's lining."""
UNDER_EYE: Final[Rgb] = (152, 92, 88)
TEAR: Final[Rgb] = (206, 126, 116)
"""The inner corner of the eye."""
SHADOW: Final[Rgb] = (128, 104, 94)
"""Skin that shines through a beard."""
FOREHEAD: Final[tuple[Line, ...]] = (
    ((-0.42, 0.47), (-0.2, 0.445), (0.0, 0.46), (0.22, 0.44), (0.40, 0.475)),
    ((-0.38, 0.565), (-0.16, 0.55), (0.06, 0.57), (0.36, 0.55)),
    ((-0.25, 0.66), (0.02, 0.645), (0.28, 0.665)),
)
"""Lines of age, x and y from the point between the eyes, in dm."""
SIDES: Final[tuple[Line, ...]] = (
    ((0.470, 0.005), (0.52, 0.03), (0.575, 0.065)),
    ((0.460, -0.015), (0.535, -0.005), (0.605, 0.015)),
    ((0.450, -0.050), (0.52, -0.075), (0.58, -0.10)),
    ((0.15, -0.15), (0.22, -0.185), (0.30, -0.19)),
    ((0.055, 0.10), (0.048, 0.17), (0.058, 0.26)),
)
"""Lines beside and under an eye and between the brows; the same on both sides."""


@dataclass(frozen=True, slots=True)
class Zones:
    """Of each vertex (N,) 0..1: `lips`, `freckles`, `vessels`, `oil`.

    `tint` (N, 4) is the colour in linear light, `depth` (N,) how far lines press the skin in, in dm.
    """

    tint: F64
    lips: F64
    freckles: F64
    vessels: F64
    oil: F64
    depth: F64


def paint_zones(person: Person, look: Look, at: F64, texel: F64, hairy: F64, bearded: F64) -> Zones:
    """Zones of the places `at` (N, 3) with `texel` (N, 2), y up.

    `hairy` and `bearded` (N,) are where hair and beard grow.
    """
    skin, marks = look.skin, person.landmarks
    lips = masked("lips", texel, 5.0)
    blush = _blush(marks, at)
    tint = np.broadcast_to(linear(skin.base), (len(at), 3)).copy()
    _lay(tint, skin.warm, 0.35 * _spot(at, marks.between + np.array([0, 0.55, 0.1]), (0.65, 0.35, 0.6)))
    _lay(tint, skin.blush, skin.blush_share * blush)
    _lay(tint, skin.blush, 0.30 * masked("ears", texel, 3.0))
    _around_eyes(tint, skin.lid, marks, at)
    _lay(tint, INSIDE, masked("inside-mouth", texel, 1.5))
    _lay(tint, SHADOW, 0.38 * bearded**2)
    _lay(tint, skin.lips, skin.lip_share * smooth(0.10, 0.75, lips))
    _lay(tint, skin.scalp, 0.85 * hairy)
    nose = _spot(at, marks.nose, (0.26, 0.26, 0.4))
    depth = skin.age * _lines(marks, at)
    return Zones(
        tint=np.c_[tint, np.ones(len(at))],
        lips=lips,
        freckles=skin.freckles * np.clip(0.35 + blush + nose, 0, 1) * (1 - lips),
        vessels=skin.vessels * np.clip(blush * 0.8 + nose, 0, 1) * (1 - lips),
        oil=np.clip(nose + 0.6 * _spot(at, marks.between + np.array([0, 0.5, 0.1]), (0.4, 0.4, 0.5)), 0, 1),
        depth=depth,
    )


def _lay(tint: F64, color: Rgb, share: F64) -> None:
    tint += (linear(color) - tint) * np.clip(share, 0, 1)[:, None]


def _spot(at: F64, center: F64, radii: tuple[float, float, float]) -> F64:
    """1 at the centre, 0 beyond the radii."""
    return smooth(1.0, 0.0, np.linalg.norm((at - center) / radii, axis=1))


def masked(name: str, texel: F64, blur_px: float) -> F64:
    """The blurred grey picture `name` over the base mesh at `texel` (N, 2), y up: (N,) in 0..1."""
    picture = cv2.GaussianBlur(load_mask(name).astype(np.float32) / 255, (0, 0), blur_px)
    height, width = picture.shape
    column = (texel[:, 0] * width - 0.5).astype(np.float32)
    row = ((1 - texel[:, 1]) * height - 0.5).astype(np.float32)
    flags = (cv2.INTER_LINEAR, cv2.BORDER_REPLICATE)
    blocks = [
        cv2.remap(picture, column[k : k + 30000, None], row[k : k + 30000, None], *flags).ravel()
        for k in range(0, len(texel), 30000)
    ]
    return np.concatenate(blocks).astype(float)


def _blush(marks: Landmarks, at: F64) -> F64:
    total = 0.55 * _spot(at, marks.chin + np.array([0, 0.16, 0.5]), (0.24, 0.20, 0.4)) + 1.0 * _spot(
        at, marks.nose, (0.24, 0.22, 0.3)
    )
    for side in (1, -1):
        cheek = marks.between + np.array([side * 0.44, -0.40, 0.0])
        total = total + _spot(at, cheek, (0.42, 0.32, 0.6))
    return np.clip(total, 0, 1)


def _around_eyes(tint: F64, lid: Rgb, marks: Landmarks, at: F64) -> None:
    for eye in marks.eyes:
        side = np.sign(eye[0])
        _lay(tint, lid, 0.55 * _spot(at, eye + np.array([side * 0.03, 0.07, 0.12]), (0.26, 0.14, 0.3)))
        _lay(tint, UNDER_EYE, 0.20 * _spot(at, eye + np.array([-side * 0.08, -0.15, 0.1]), (0.20, 0.09, 0.3)))
        _lay(tint, TEAR, 0.6 * _spot(at, eye + np.array([-side * 0.14, -0.02, 0.1]), (0.05, 0.05, 0.12)))


def _lines(marks: Landmarks, at: F64) -> F64:
    """Depth in dm of the lines of age."""
    depth = np.zeros(len(at))
    near = np.nonzero(at[:, 2] > marks.between[2] - 0.45)[0]
    spot = at[near, :2] - marks.between[:2]
    mirrored = np.c_[np.abs(spot[:, 0]), spot[:, 1] + 0.006 * np.sign(spot[:, 0])]
    for line in FOREHEAD:
        depth[near] += 0.0028 * groove(spot, line, 0.014)
    for line in SIDES:
        depth[near] += 0.0028 * groove(mirrored, line, 0.010)
    return depth
