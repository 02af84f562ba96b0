"""A presenter's shape: the posed base mesh, its landmarks, face units, expressions and cameras.

person = load_person(RUBY)
person.rest                       control points (V, 3) at rest; `person.posed(weights)` with face units
person.limit(points)              where Catmull-Clark subdivision takes them
person.camera("left").project(points)
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from . import muscles
from .base import F64, Base, Ints, Target, load_base, load_mask, load_target, load_units, smooth
from .camera import VIEWS, Camera, front_camera
from .cast import Cast, Shape
from .subdivide import limit_matrix

Bools = NDArray[np.bool_]

EXPRESSIONS: Final = MappingProxyType(
    {
        "open": MappingProxyType(
            {
                "jawOpen": 0.55,
                "mouthLowerDownLeft": 0.25,
                "mouthLowerDownRight": 0.25,
                "mouthUpperUpLeft": 0.25,
                "mouthUpperUpRight": 0.25,
                "eyeBlinkLeft": 1.0,
                "eyeBlinkRight": 1.0,
            }
        )
    }
)
"""Face units that a view adds to the rest pose; views not named add none."""
SUBDIVIDED: Final = (
    "body",
    "helper-l-eye",
    "helper-r-eye",
    "helper-upper-teeth",
    "helper-lower-teeth",
    "helper-tongue",
)
"""Groups of faces that are drawn as one smooth surface each."""


@dataclass(frozen=True, slots=True)
class Landmarks:
    """Points (3,) at rest, in dm.

    `eyes` are the eyeballs' centres, left and right of the MODEL (positive and negative x), `eye_radius`
    their radius, `between` the point between them. `mouth` is on the lips' front, `mouth_half` half their
    width. `neck` is the neck's joint, `pivot` what the head turns about, `top` the height of the skull.
    """

    eyes: tuple[F64, F64]
    eye_radius: float
    between: F64
    mouth: F64
    mouth_half: float
    nose: F64
    chin: F64
    neck: F64
    pivot: F64
    top: float


@dataclass(frozen=True)
class Person:
    """`rest` (V, 3) are control points at the rest pose; `arm` (V,) is 1 where the arm hangs, 0 at the
    torso; `lips` and `inside` (V,) are 0..1 on the lips and in the mouth; `units` are the 52 face units."""

    cast: Cast
    base: Base
    rest: F64
    arm: F64
    lips: F64
    inside: F64
    units: Mapping[str, Target]
    landmarks: Landmarks

    def faces(self, group: str = "body") -> Ints:
        """The quads (F, 4) of one group."""
        return self.base.faces[self.base.group == group]

    def corners(self, group: str = "body") -> Ints:
        """The texels (F, 4) of one group's faces, as indices into `base.texels`."""
        return self.base.corners[self.base.group == group]

    def members(self, group: str) -> Ints:
        """The vertices of one group, ascending."""
        return np.unique(self.faces(group))

    def posed(self, weights: Mapping[str, float]) -> F64:
        """Control points (V, 3) with face units on top of the rest pose."""
        points = self.rest.copy()
        for name, weight in weights.items():
            points[self.units[name].index] += weight * self.units[name].delta
        return points

    def seen(self, view: str) -> F64:
        """Control points (V, 3) as the camera of `view` sees them."""
        return self.posed(EXPRESSIONS.get(view, MappingProxyType({})))

    def camera(self, view: str = "front") -> Camera:
        """The camera of one of `VIEWS`."""
        target = self.landmarks.between + np.array([0, -0.02, -0.35])
        front = front_camera(target, self.cast.shape.distance)
        return front.orbited(*VIEWS[view], self.landmarks.pivot)

    def limit(self, points: F64) -> F64:
        """Catmull-Clark limit positions (V, 3) of control points; open edges stay where they are."""
        return np.asarray(self._limit @ points)

    def normals(self, points: F64, group: str = "body") -> F64:
        """Unit normals (V, 3) of one group's vertices, 0 elsewhere."""
        faces = self.faces(group)
        corner = points[faces]
        flat = np.cross(corner[:, 2] - corner[:, 0], corner[:, 3] - corner[:, 1])
        total = np.zeros_like(points)
        for column in faces.T:
            np.add.at(total, column, flat)
        return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12)

    @cached_property
    def _limit(self) -> csr_matrix:
        faces = self.base.faces[np.isin(self.base.group, SUBDIVIDED)]
        return limit_matrix(len(self.rest), faces)


def load_person(cast: Cast) -> Person:
    base, shape = load_base(), cast.shape
    points, arm = _arms_down(base, _shaped(base, shape), shape)
    _enlarge_eyes(base, points, shape.eyeballs)
    units = load_units()
    rest = points.copy()
    for name, weight in shape.rest.items():
        rest[units[name].index] += weight * units[name].delta
    teeth = np.unique(base.faces[base.group == "helper-upper-teeth"])
    rest[teeth] += (0, -shape.teeth_drop, 0.03)
    body = np.unique(base.faces[base.group == "body"])
    lips, inside = (_painted(base, body, name) for name in ("lips", "inside-mouth"))
    marks = _landmarks(base, rest, lips)
    units = muscles.moved(units, rest, body, marks.mouth, marks.mouth_half)
    return Person(cast, base, rest, arm, lips, inside, MappingProxyType(units), marks)


def _shaped(base: Base, shape: Shape) -> F64:
    """The base mesh with macro and detail targets, arms still spread."""
    points = base.vertices.copy()
    weights = dict(shape.targets)
    for age, share in (("young", 1 - shape.old), ("old", shape.old)):
        weights[f"macrodetails/universal-{shape.sex}-{age}-averagemuscle-averageweight"] = share
        for origin, weight in shape.origins.items():
            weights[f"macrodetails/{origin}-{shape.sex}-{age}"] = weight * share
    for name, weight in weights.items():
        target = load_target(name)
        points[target.index] += weight * target.delta
    return points


def _enlarge_eyes(base: Base, points: F64, size: float) -> None:
    """Make the eyeballs among `points` (V, 3) larger but for where their fronts are: lids that are opened
    wide leave gaps beside smaller ones."""
    for side in "lr":
        eye = np.unique(base.faces[base.group == f"helper-{side}-eye"])
        center, radius = _sphere(points[eye])
        points[eye] = center + (points[eye] - center) * size - (0, 0, (size - 1) * radius)


def _arms_down(base: Base, points: F64, shape: Shape) -> tuple[F64, F64]:
    """The points with the arms turned down about the shoulders and thinned, and how much (V,) each is arm."""
    points, arm = points.copy(), np.zeros(len(points))
    for side, name in ((1.0, "l"), (-1.0, "r")):
        joint = points[np.unique(base.faces[base.group == f"joint-{name}-shoulder"])].mean(0)
        out, down = (points[:, 0] - joint[0]) * side, joint[1] - points[:, 1]
        along = out * 0.66 + down * 0.75
        weight = smooth(-0.28, 0.55, along) * smooth(-0.90, -0.50, out * 0.75 - down * 0.66)
        weight *= smooth(-0.55, 0.0, out) * (points[:, 0] * side > 0.5)
        arm = np.maximum(arm, weight)
        angle = -side * math.radians(shape.arms_deg) * weight
        x, y = (points - joint)[:, :2].T
        points[:, 0] = joint[0] + np.cos(angle) * x - np.sin(angle) * y
        points[:, 1] = joint[1] + np.sin(angle) * x + np.cos(angle) * y
        bone = joint + np.array([side * 0.12, -1, 0]) * np.clip(along, 0, 9)[:, None]
        thin = weight * smooth(-0.2, 0.6, along) * shape.slim
        points += (bone - points) * thin[:, None] * (1, 0, 1)
    return points, arm


def _painted(base: Base, body: Ints, mask: str) -> F64:
    """The mask's value (V,) at each vertex of the body, 0 elsewhere."""
    picture = load_mask(mask)
    texel = np.zeros((len(base.vertices), 2))
    texel[base.faces] = base.texels[base.corners]
    side = np.array(picture.shape[::-1]) - 1
    column, row = np.clip(texel * (1, -1) + (0, 1), 0, 1).T
    value = np.zeros(len(texel))
    value[body] = picture[(row * side[1]).astype(int), (column * side[0]).astype(int)][body] / 255
    return value


def _landmarks(base: Base, rest: F64, lips: F64) -> Landmarks:
    def members(group: str) -> F64:
        return rest[np.unique(base.faces[base.group == group])]

    (left, radius), (right, _) = (_sphere(members(f"helper-{side}-eye")) for side in "lr")
    between = (left + right) / 2
    mouth_points = rest[lips > 0.5]
    low, high = mouth_points[:, 1].min(), mouth_points[:, 1].max()
    mouth = np.array([0, (low + high) / 2, mouth_points[:, 2].max()])
    body = members("body")
    middle = body[np.abs(body[:, 0]) < 0.1]
    bridge = middle[(middle[:, 1] > mouth[1]) & (middle[:, 1] < between[1])]
    below = middle[(middle[:, 1] < mouth[1] - 0.15) & (middle[:, 1] > mouth[1] - 0.75)]
    below = below[below[:, 2] > between[2] - 0.35]
    chin = np.array([0, below[:, 1].min(), below[below[:, 1].argmin(), 2]])
    return Landmarks(
        eyes=(left, right),
        eye_radius=radius,
        between=between,
        mouth=mouth,
        mouth_half=float(mouth_points[:, 0].max()),
        nose=bridge[bridge[:, 2].argmax()],
        chin=chin,
        neck=members("joint-neck").mean(0),
        pivot=np.array([0, chin[1] - 0.25, between[2] - 0.95]),
        top=float(body[:, 1].max()),
    )


def _sphere(points: F64) -> tuple[F64, float]:
    """Centre (3,) and radius of the sphere that fits `points` (N, 3) best."""
    rows = np.concatenate([2 * points, np.ones((len(points), 1))], 1)
    *center, rest = np.linalg.lstsq(rows, (points**2).sum(1), rcond=None)[0]
    return np.array(center), float(np.sqrt(rest + np.square(center).sum()))
