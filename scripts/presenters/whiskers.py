"""A beard in pictures of the skin: where it grows, one tone of salt and pepper, stubble where it is bare."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .atlas import spread
from .base import F64, Ints, smooth
from .camera import MASTER, Camera
from .grade import COLORED, regraded, stubble
from .looks import LOOKS, BeardLook
from .person import Person
from .surface import Density
from .trace import trace

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]

STUBBLE, NECK = 0.40, 0.32
"""Heights in dm over which the beard thins out up the cheeks and down the neck."""
BARE, SPARSE, PATCH, UNSHAVEN = (-0.22, -0.10), 0.58, 0.60, 0.0
"""Heights over the mouth, in dm, from below which skin shows under the lower lip, how far in the end, and how
much less in the middle; how dense stubble is painted there."""
GROWN: Final = (0.30, 0.75)
"""Densities from skin with a few hairs to beard."""
RED: Final = (0.42, 0.75)
"""How much lip ends the beard."""
UNEVEN, GRAIN = 0.17, 0.05
"""How far single hairs move the edge of a beard, in densities, and how they differ in light."""
SOFT_PX = 0.8
HAIR_PX, SKIN = 0.6, 0.15
"""How wide a hair is, in master pixels, and how far skin between hairs takes on their tone."""
HANGING_PX, BELOW_PX = 40, 60
"""How far below a beard's roots its hairs hang, and how far below the mouth that begins, in master pixels."""


def beard_density(person: Person, look: BeardLook | None) -> Density:
    """Where the beard grows, 0..1: soft at the moustache and on the neck, thinning out to stubble up the
    cheeks; 0 everywhere without a beard."""
    marks = person.landmarks
    mouth, half = marks.mouth, marks.mouth_half
    top = marks.nose[1] - 0.068 - mouth[1]
    lines = (0, 0.07, 0.20, half + 0.03, half + 0.13, 0.52, 0.62, 0.72, 0.86)
    upper = (top - 0.020, top - 0.012, top - 0.022, 0.165, 0.205, 0.30, 0.48, 0.69, 0.88)

    def density(at: F64) -> F64:
        x, y, z = np.abs(at[:, 0]), at[:, 1], at[:, 2]
        uneven = (
            0.022 * np.sin(19 * at[:, 0] + 1) + 0.018 * np.sin(43 * at[:, 0] + 2) + 0.012 * np.sin(71 * y)
        )
        above = np.interp(x, lines, upper) + mouth[1] + uneven * smooth(0.18, 0.40, x) - y
        low = marks.chin[1] + np.interp(
            x, (0, 0.2, 0.34, 0.46, 0.6, 0.8), (-0.16, -0.13, -0.04, 0.10, 0.22, 0.36)
        )
        behind = z - (marks.between[2] - 0.74) + 0.3 * uneven
        fade = np.interp(x, (0.02, half - 0.05, half + 0.10, 0.54), (0.10, 0.09, 0.17, STUBBLE))
        reach = np.minimum(above / fade, np.minimum((y - low + uneven) / NECK, behind / 0.14))
        fits = (x < 0.80) & ((y < mouth[1] + top + 0.02) | (x > 0.5))
        return smooth(0, 1, reach) * fits * (1 - _bare(person, at))

    return density if look is not None else lambda at: np.zeros(len(at))


def _bare(person: Person, at: F64) -> F64:
    """How far points (N, 3) are bare skin under the lower lip, beside a patch of hairs in its middle."""
    x, y = np.abs(at[:, 0]), at[:, 1] - person.landmarks.mouth[1]
    uneven = 0.018 * np.sin(43 * at[:, 0] + 2) + 0.012 * np.sin(71 * at[:, 1])
    under = SPARSE * smooth(0.25, 0.10, x) * smooth(BARE[0], BARE[1], y + uneven) * (y < 0)
    return under * (1 - PATCH * smooth(0.11, 0.03, x))


def one_tone(person: Person, picture: U8, points: F64, triangles: Ints, origin: Ints, camera: Camera) -> U8:
    """A layer (H, W, 4) of skin whose beard has one tone, with stubble where it is bare; `points` (N, 3) are
    the vertices `origin` (N,) of the body as they are seen."""
    look = LOOKS[person.cast.name].beard
    if look is None:
        return picture
    rest = person.limit(person.rest)
    density = beard_density(person, look)(rest) + UNSHAVEN * _bare(person, rest)
    red = np.maximum(person.lips, person.inside)
    hits = trace(camera.project(points), triangles, camera.size, cull=True)
    at = np.zeros((*hits.seen.shape, 2), np.float32)
    at[hits.seen] = hits.blend(triangles, np.stack([density, red], 1)[origin])
    at = spread(at, hits.seen.astype(np.float32))
    scale = camera.size[0] / MASTER[0]
    hairs = stubble(camera.size, scale)
    grown = smooth(*GROWN, at[..., 0] + UNEVEN * hairs * (at[..., 0] > 0))
    lip = camera.project(person.landmarks.mouth)[1]
    below = smooth(0.0, BELOW_PX * scale, np.arange(len(grown), dtype=np.float64)[:, None] - lip)
    share = np.maximum(grown, below * _hanging(picture, grown, scale)) * smooth(RED[1], RED[0], at[..., 1])
    share = cv2.GaussianBlur(share.astype(np.float32), (0, 0), SOFT_PX * scale).astype(np.float32)
    share *= (SKIN + (1 - SKIN) * _grey(picture, HAIR_PX * scale)).astype(np.float32)
    toned = regraded(picture, share, look.grade)
    color = toned[..., :3] * (1 + GRAIN * hairs * share)[..., None]
    return np.concatenate([np.round(np.clip(color, 0, 255)).astype(np.uint8), picture[..., 3:]], 2)


def _hanging(picture: U8, grown: F64, scale: float) -> F64:
    """How far pixels (H, W) are hair that hangs over bare skin: they are grey, and a beard is near."""
    side = 2 * round(HANGING_PX * scale) + 1
    near = cv2.dilate(grown.astype(np.float32), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)))
    return _grey(picture, 2 * scale) * cv2.GaussianBlur(near, (0, 0), HANGING_PX * scale / 4)


def _grey(picture: U8, sigma: float) -> F64:
    """How far pixels (H, W) are grey hair rather than skin."""
    color = cv2.GaussianBlur(picture[..., :3].astype(np.float32), (0, 0), sigma)
    return smooth(*COLORED, 1 - color[..., 2] / np.maximum(color[..., 0], 1))
