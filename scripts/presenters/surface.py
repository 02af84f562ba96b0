"""The skin as a place where hair grows: scattered roots, roots under a drawing, room for strands."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .base import F64, Ints
from .person import Person

Density = Callable[[F64], F64]
"""From points (N, 3) to how likely a hair grows there, 0..1 (N,)."""
BENT = 1.0
"""How far roots go towards the planes through the vertices around them."""


def unit(vectors: F64) -> F64:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


@dataclass(frozen=True, slots=True)
class Roots:
    """Where hairs leave the skin: vertices `corners`, their `weights`, `at` and `normal` at rest, (N, 3)."""

    corners: Ints
    weights: F64
    at: F64
    normal: F64

    def __len__(self) -> int:
        return len(self.at)

    def on(self, values: F64) -> F64:
        """Values of the mesh's vertices, (V,) or (V, C), at the roots."""
        return np.einsum("nk,nk...->n...", self.weights, values[self.corners])

    def only(self, keep: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> "Roots":
        return Roots(self.corners[keep], self.weights[keep], self.at[keep], self.normal[keep])

    def joined(self, more: "Roots") -> "Roots":
        """These roots and `more` of the same mesh."""
        own = zip(
            (self.corners, self.weights, self.at, self.normal),
            (more.corners, more.weights, more.at, more.normal),
            strict=True,
        )
        return Roots(*(np.concatenate(pair) for pair in own))


class Surface:
    """The body above `floor` in triangles on the smooth surface.

    Strands are kept out of the body and of `cloth`: points (N, 3) and their outward normals.
    """

    def __init__(self, person: Person, floor: float, cloth: tuple[F64, F64]) -> None:
        self.person = person
        self.points = person.limit(person.rest)
        self.normals = person.normals(self.points)
        quads = person.faces()
        quads = quads[self.points[quads][..., 1].min(1) > floor]
        self.triangles = np.concatenate([quads[:, (0, 1, 2)], quads[:, (0, 2, 3)]])
        a, b, c = np.moveaxis(self.points[self.triangles], 1, 0)
        flat = np.cross(b - a, c - a)
        self.areas, self.flat = np.linalg.norm(flat, axis=1), unit(flat)
        self.middles = (a + b + c) / 3
        solid = np.unique(self.triangles)
        solid = solid[person.inside[solid] < 0.3]
        self._at = np.concatenate([self.points[solid], cloth[0]])
        self._out = np.concatenate([self.normals[solid], cloth[1]])
        self._tree = cKDTree(self._at)

    def scatter(self, count: int, density: Density, rng: np.random.Generator) -> Roots:
        """Up to `count` roots spread evenly, thinned by `density`."""
        corners = [density(self.points[self.triangles[:, k]]) for k in range(3)]
        chance = self.areas * (np.max([density(self.middles), *corners], axis=0) > 0)
        picked = self.triangles[rng.choice(len(chance), count, p=chance / chance.sum())]
        roots = self._roots(picked, rng.dirichlet([1, 1, 1], count))
        return roots.only(rng.random(count) < density(roots.at))

    def under(self, x: F64, y: F64) -> Roots:
        """Roots on the front of the face at x and y (N,)."""
        front = (self.flat[:, 2] > 0.12) & (self.middles[:, 2] > self.person.landmarks.between[2] - 0.5)
        triangles = self.triangles[front]
        _, near = cKDTree(self.middles[front, :2]).query(np.c_[x, y], k=12)
        a, b, c = np.moveaxis(self.points[triangles[near]], 2, 0)[..., :2]
        at = np.stack([x, y], 1)[:, None]
        area = _cross(b - a, c - a)
        weights = np.stack([_cross(b - at, c - at), _cross(c - at, a - at), _cross(a - at, b - at)], -1)
        weights = weights / np.where(np.abs(area) < 1e-9, 1e-9, area)[..., None]
        best = weights.min(-1).argmax(1)
        row = np.arange(len(x))
        return self._roots(triangles[near[row, best]], weights[row, best])

    def curved(self, roots: Roots, points: F64) -> F64:
        """Where `roots` are (N, 3) on the mesh with vertices `points` (V, 3), bent out between them as the
        smooth surface is: flat faces lie below a chin."""
        at, corner = roots.on(points), roots.corners
        normal = self.person.normals(points)[corner]
        height = ((points[corner] - at[:, None]) * normal).sum(-1)
        return at + BENT * np.einsum("nk,nk,nkd->nd", roots.weights, height, normal)

    def pushed(self, points: F64, height: F64) -> F64:
        """The points (N, 3) lifted to at least `height` (N,) above the skin."""
        distance, near = self._tree.query(points, k=4)
        share = 1 / (distance + 1e-3)
        share /= share.sum(1, keepdims=True)
        out = unit((self._out[near] * share[..., None]).sum(1))
        base = (self._at[near] * share[..., None]).sum(1)
        lack = height - ((points - base) * out).sum(1)
        return points + out * (np.maximum(0, lack) * (distance[:, 0] < 0.6))[:, None]

    def _roots(self, corners: Ints, weights: F64) -> Roots:
        at = np.einsum("nk,nkd->nd", weights, self.points[corners])
        return Roots(corners, weights, at, unit(np.einsum("nk,nkd->nd", weights, self.normals[corners])))


def _cross(first: F64, second: F64) -> F64:
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]


def resampled(paths: F64, length: F64, knots: int) -> F64:
    """`paths` (N, M, 3) cut to the arc `length` (N,) and spread over `knots` points."""
    steps = np.linalg.norm(np.diff(paths, axis=1), axis=2)
    arc = np.c_[np.zeros(len(paths)), np.cumsum(steps, 1)]
    length = np.minimum(length, arc[:, -1] * 0.999)
    cut = np.empty((len(paths), knots, 3))
    row = np.arange(len(paths))
    for knot, share in enumerate(np.linspace(0, 1, knots)):
        wanted = length * share
        before = (arc[:, 1:-1] <= wanted[:, None]).sum(1)
        part = ((wanted - arc[row, before]) / (steps[row, before] + 1e-9))[:, None]
        cut[:, knot] = paths[row, before] * (1 - part) + paths[row, before + 1] * part
    return cut


def tangent(direction: F64, normal: F64) -> F64:
    """The direction without its part along the normal, as unit vectors."""
    return unit(direction - (direction * normal).sum(-1, keepdims=True) * normal)
