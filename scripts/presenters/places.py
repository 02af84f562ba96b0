"""Places of a face that are retouched in its texture: ears and their hollows, cheeks, brows, lips."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .base import F64, load_mask, smooth
from .browline import line
from .looks import LOOKS
from .person import Person
from .touch import Twin

EAR_BLUR = 3.0
CHEEK_DM: Final = (0.52, -0.28, 0.20)
"""A cheek, from the point between the eyes out, up and how far around it, in dm."""
HOLLOW_DM, HOLLOW = 0.11, (0.004, 0.030)
RIDGE, RIDGE_LIGHT = (0.003, 0.022), 0.30
"""What lies around a place of an ear, how deep below it a hollow begins and is full and how high above it a
ridge, in dm, and what a ridge is of a hollow's contrary."""


def ear_share(person: Person, origin: NDArray[np.int64]) -> F64:
    """How far the vertices `origin` (N,) of the body are ear, 0..1."""
    texel = np.zeros((len(person.rest), 2))
    texel[person.base.faces] = person.base.texels[person.base.corners]
    picture = cv2.GaussianBlur(load_mask("ears").astype(np.float32) / 255, (0, 0), EAR_BLUR)
    side = np.array(picture.shape[::-1]) - 1
    column, row = (np.clip(texel[origin] * (1, -1) + (0, 1), 0, 1) * side).astype(int).T
    return smooth(0.25, 0.75, picture[row, column].astype(np.float64))


def hollows(points: F64, normals: F64) -> F64:
    """How far each of `points` (N, 3) lies in a hollow of what is around it, up to 1, or on a ridge, which is
    negative."""
    near = cKDTree(points).query_ball_point(points, HOLLOW_DM)
    around = np.array([points[each].mean(0) for each in near]).reshape(-1, 3)
    depth = ((around - points) * normals).sum(1)
    return smooth(*HOLLOW, depth) - RIDGE_LIGHT * smooth(*RIDGE, -depth)


def cheeks(person: Person, points: F64) -> F64:
    """How far `points` (N, 3) are cheek, 0..1."""
    out, up, reach = CHEEK_DM
    at = person.landmarks.between + np.array([out, up, 0.0])
    away = np.hypot(np.abs(points[:, 0]) - at[0], points[:, 1] - at[1])
    return smooth(reach, 0.5 * reach, away) * (points[:, 2] > at[2] - 0.6)


def stubbly(person: Person, points: F64) -> F64:
    """How far skin at `points` (N, 3) may have hairs beside a beard, 0..1: on the cheeks, before the ears."""
    marks = person.landmarks
    x, y, z = np.abs(points[:, 0]), points[:, 1] - marks.mouth[1], points[:, 2] - marks.between[2]
    low, high = smooth(-0.18, -0.05, y), smooth(0.78, 0.62, y)
    beside = smooth(marks.mouth_half - 0.03, marks.mouth_half + 0.09, x)
    return low * high * beside * smooth(-0.80, -0.68, z)


def about_brows(person: Person, points: F64) -> F64:
    """1 where brows grow on the face, 0 elsewhere, at `points` (N, 3)."""
    look, between = LOOKS[person.cast.name].brow, person.landmarks.between
    x, y = np.abs(points[:, 0]), points[:, 1] - between[1] - look.y
    across = smooth(look.x[0] - 0.14, look.x[0] - 0.08, x) * smooth(look.x[1] + 0.07, look.x[1] + 0.03, x)
    high = smooth(look.arch + 0.14, look.arch + 0.09, y) * smooth(-0.11, -0.075, y)
    return across * high * (points[:, 2] > between[2] - 0.5)


def grey_brows(person: Person, points: F64) -> F64:
    """How far `points` (N, 3) are in brows of salt and pepper, 0..1."""
    look = LOOKS[person.cast.name].brow
    along = np.clip((np.abs(points[:, 0]) - look.x[0]) / (look.x[1] - look.x[0]), 0, 1)
    off = np.abs(points[:, 1] - person.landmarks.between[1] - line(look, along))
    return look.grey * smooth(0.085, 0.055, off) * about_brows(person, points)


def lips(person: Person) -> tuple[F64, F64]:
    """How far the vertices (V,) of the body are upper lip, and lower one, 0..1."""
    drop = -person.units["jawOpen"].spread(len(person.rest))[:, 1]
    red = smooth(0.5, 0.9, np.maximum(person.lips, person.inside))
    return red * smooth(0.15, 0.05, drop), red * smooth(0.15, 0.25, drop) * (person.inside < 0.3)


def twins(place: F64, near: F64) -> Twin:
    """The brow in the shade, at positive x, and the other: texels at `place` (S, S, 3), `near` (S, S) the
    brows."""
    at = near > 0.02
    row, column = np.nonzero(at & (place[..., 0] > 0))
    rows, columns = np.nonzero(at & (place[..., 0] < 0))
    away, index = cKDTree(place[rows, columns]).query(place[row, column] * (-1, 1, 1), 4)
    share = 1 / (away + 1e-4)
    return Twin((row, column), (rows[index], columns[index]), share / share.sum(1, keepdims=True))
