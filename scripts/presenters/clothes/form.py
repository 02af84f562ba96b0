"""The smooth form that a garment is cut on: a tailor's dummy without arms, fitted over the body."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import cKDTree

from ..person import Person

F64 = NDArray[np.float64]
Ints = NDArray[np.int64]

STEP = 0.02
"""Distance in dm of the heights at which a form is tabulated."""
LOWEST = -5.2
"""Height below the chin in dm where every garment ends, outside every frame."""


@dataclass(frozen=True, slots=True)
class Surface:
    """A smooth surface known by samples: `points` and outward unit `normals` (P, 3); heights in dm."""

    points: F64 = field(repr=False)
    normals: F64 = field(repr=False)
    tree: cKDTree = field(repr=False)

    def near(self, points: F64) -> tuple[F64, F64]:
        """Signed distance (...) of `points` (..., 3) above the surface and its normals (..., 3) there."""
        gap, index = self.tree.query(points, k=8)
        weight = 1 / (np.asarray(gap) ** 2 + 1e-4)
        weight /= weight.sum(-1, keepdims=True)
        normal = unit((self.normals[index] * weight[..., None]).sum(-2))
        foot = (self.points[index] * weight[..., None]).sum(-2)
        return ((points - foot) * normal).sum(-1), normal

    def lifted(self, points: F64, height: F64 | float) -> F64:
        """`points` (..., 3) moved along the normals to `height` dm above the surface."""
        for _ in range(2):
            distance, normal = self.near(points)
            points = points + normal * (height - distance)[..., None]
        return points

    def cleared(self, points: F64, height: F64 | float) -> F64:
        """`points` (..., 3) softly pushed out where they are less than `height` dm above the surface."""
        distance, normal = self.near(points)
        lack = height - distance
        return points + normal * (0.5 * (lack + np.sqrt(lack**2 + 4e-4)) - 0.005)[..., None]


@dataclass(frozen=True, slots=True)
class Form:
    """A body of horizontal superellipses; heights `y` relative to the chin, x and z as in the model, in dm.

    `heights` (H,) ascend; `half` (H,) is half the width there, `middle`, `front` and `back` (H,) the depth z
    of the side line, of the front and of the back. `surface` is what they span.
    """

    heights: F64
    half: F64
    middle: F64
    front: F64
    back: F64
    power: float
    surface: Surface

    def half_at(self, y: F64) -> F64:
        """Half the width at the heights `y`."""
        return np.interp(y, self.heights, self.half)

    def height_at(self, x: float) -> float:
        """The height of the shoulder line at `x`."""
        widest = int(self.half.argmax())
        return float(np.interp(x, self.half[:widest:-1], self.heights[:widest:-1]))

    def at(self, x: F64, y: F64, *, behind: bool = False) -> F64:
        """The point (..., 3) of the front, or of the back, seen at `x`, `y` by the viewer."""
        share = np.clip(np.abs(x) / self.half_at(y), 0, 1)
        rise = np.sqrt(1 - share**self.power)
        middle = np.interp(y, self.heights, self.middle)
        far = np.interp(y, self.heights, self.back if behind else self.front)
        return np.stack(np.broadcast_arrays(x, y, middle + (far - middle) * rise), -1)


def surface(points: F64, normals: F64) -> Surface:
    """The surface that `points` with outward unit `normals` (..., 3) sample."""
    points = points.reshape(-1, 3)
    return Surface(points, normals.reshape(-1, 3), cKDTree(points))


def unit(vectors: F64) -> F64:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)


def curve(keys: Sequence[Sequence[float]], count: int, *, closed: bool = False) -> F64:
    """`count` points (count, D) evenly along a smooth curve through `keys`."""
    points = np.array([*keys, keys[0]] if closed else keys, np.float64)
    reach = np.r_[0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))]
    line = PchipInterpolator(reach, points)(np.linspace(0, reach[-1], count))
    chord = line[0] + (line[-1] - line[0]) * np.linspace(0, 1, count)[:, None]
    bulge = line - chord
    mirrored = np.concatenate([-bulge[:0:-1], bulge, -bulge[-2::-1]])
    return chord + gaussian_filter1d(mirrored, 0.02 * count, axis=0)[count - 1 : 2 * count - 1]


def fitted(
    person: Person,
    silhouette: Sequence[tuple[float, float]],
    *,
    middle: float,
    ease: float,
    shoulder: float,
    hang: float,
    power: float = 2.7,
) -> Form:
    """A form with the half widths `silhouette` ((x, y) from the neck down) that clears the torso by `ease` dm
    and the shoulders by `shoulder` dm upwards.

    Below its fullest point the front falls inwards by at most `hang` dm per dm.
    """
    keys = np.array(silhouette)[::-1]
    heights = np.arange(LOWEST, keys[-1, 1] + STEP / 2, STEP)
    torso = _torso(person)
    drawn = PchipInterpolator(keys[:, 1], keys[:, 0])(heights)
    half = np.maximum(drawn, _width(skin(person).points, heights - shoulder, middle))
    half = gaussian_filter1d(half, 2.5, mode="nearest")
    depths = [
        _depth(torso * (1, 1, sign), heights, half, sign * middle, power, ease, hang) * sign
        for sign in (1.0, -1.0)
    ]
    level = np.full_like(heights, middle)
    points, normals = _sampled(heights, half, level, depths[0], depths[1], power)
    return Form(heights, half, level, depths[0], depths[1], power, surface(points, normals))


def skin(person: Person) -> Surface:
    """The surface of neck and torso, heights relative to the chin."""
    rest = person.limit(person.rest)
    normal = person.normals(rest)
    height = rest[:, 1] - person.landmarks.chin[1]
    faces = person.faces()
    faces = faces[((height[faces] < 0.7) & (height[faces] > -4)).all(1)]
    u, v = (grid.ravel()[:, None] for grid in np.meshgrid(*[np.linspace(0.1, 0.9, 5)] * 2))
    weight = np.concatenate([(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v], 1)
    points = np.einsum("sk,fkd->fsd", weight, rest[faces]).reshape(-1, 3)
    normals = unit(np.einsum("sk,fkd->fsd", weight, normal[faces]).reshape(-1, 3))
    points = points - (0, person.landmarks.chin[1], 0)
    return surface(points, normals)


def _torso(person: Person) -> F64:
    """The body's vertices (N, 3) without arms, hands and head, heights relative to the chin."""
    body = person.members("body")
    points = person.limit(person.rest)[body] - (0, person.landmarks.chin[1], 0)
    keep = (person.arm[body] < 0.3) & (points[:, 1] < -0.25) & (points[:, 1] > LOWEST - 0.3)
    return points[keep]


def _width(points: F64, heights: F64, middle: float) -> F64:
    """Half the width (H,) of the neck's foot and the shoulders at `heights`, 0 below the shoulders."""
    side = points[np.abs(points[:, 2] - middle) < 0.2]
    width = np.zeros(len(heights))
    for index, height in enumerate(heights):
        level = side[np.abs(side[:, 1] - height) < 0.015]
        if len(level) and height > -0.6:
            width[index] = np.abs(level[:, 0]).max()
    return width


def _depth(torso: F64, heights: F64, half: F64, middle: float, power: float, ease: float, hang: float) -> F64:
    """The front depth (H,) that clears the points `torso`, draped downwards from the fullest."""
    share = np.abs(torso[:, 0]) / np.interp(torso[:, 1], heights, half)
    inside = (share < 0.62) & (torso[:, 2] > middle)
    rise = np.sqrt(1 - share[inside] ** power)
    wanted = middle + (torso[inside, 2] + ease - middle) / rise
    needed = np.full(len(heights), middle + 0.3)
    row = np.round((torso[inside, 1] - heights[0]) / STEP).astype(int).clip(0, len(heights) - 1)
    for spread in range(-5, 6):
        np.maximum.at(needed, (row + spread).clip(0, len(heights) - 1), wanted)
    draped = needed.copy()
    for index in range(len(heights) - 2, -1, -1):
        draped[index] = max(needed[index], draped[index + 1] - hang * STEP)
    return gaussian_filter1d(draped, 8, mode="nearest")


def _sampled(heights: F64, half: F64, middle: F64, front: F64, back: F64, power: float) -> tuple[F64, F64]:
    """Points and outward normals (P, 3) of the closed surface."""
    angle = np.linspace(0, 2 * np.pi, 321)[:-1]
    sine = np.sin(angle)
    rise = np.sqrt(np.maximum(1 - np.abs(sine) ** power, 0))
    depth = np.where(np.cos(angle) > 0, front[:, None], back[:, None]) - middle[:, None]
    grid = np.stack([half[:, None] * sine, heights[:, None] + 0 * sine, middle[:, None] + depth * rise], -1)
    up = np.gradient(grid, axis=0)
    around = (np.roll(grid, -1, 1) - np.roll(grid, 1, 1)) / 2
    return grid.reshape(-1, 3), unit(np.cross(around, up)).reshape(-1, 3)
