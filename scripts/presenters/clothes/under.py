"""Cloth that lies on the skin at its neckline and falls from there: what is worn under a jacket."""

from dataclasses import dataclass

import numpy as np

from ..base import smooth
from .cut import Keys
from .form import F64, Form, Surface, curve, unit
from .mesh import Garment, sheet


@dataclass(frozen=True, slots=True)
class Body:
    """What the cloth lies on: the `skin` and a `form` that bridges its hollows."""

    skin: Surface
    form: Form

    def laid(self, plan: F64, free: F64, height: F64 | float) -> F64:
        """Points (..., 3) over `plan` (..., 2), seen from the front.

        They lie `height` dm above the skin where `free` (...) is 0, above the form where it is 1.
        """
        hung = self.form.at(plan[..., 0], plan[..., 1])
        tight = hung
        for _ in range(3):
            distance, normal = self.skin.near(tight)
            tight = tight - normal * (distance - 0.01)[..., None]
            faces = smooth(0.35, 0.7, normal[..., 2])[..., None]
            tight[..., :2] += (plan - tight[..., :2]) * faces
        points = tight + (hung - tight) * free[..., None]
        return (
            self.skin.cleared(points, 0.012)
            + self.form.surface.near(points)[1] * np.asarray(height)[..., None]
        )


def panel(inner: F64, outer: F64, rows: int) -> F64:
    """Plan (rows, C, 2) from the edge `inner` (C, 2) to `outer` (C, 2), closer together at the edge."""
    share = (np.linspace(0, 1, rows) ** 1.25)[:, None, None]
    return inner + (outer - inner) * share


def spread(inner: F64, plan: F64, reach: float) -> F64:
    """0 at the edge `inner` (C, 2), 1 from `reach` dm on, for `plan` (R, C, 2)."""
    away = np.clip(np.linalg.norm(plan - inner, axis=-1) / reach, 0, 1)
    return away * away * (3 - 2 * away)


def yoke(body: Body, inner: Keys, reach: float, height: float) -> F64:
    """A strip (R, C, 3) over the viewer's right shoulder, from the edge `inner` to `reach` dm outside it.

    It carries a front on to the back, `height` dm above the skin.
    """
    edge = curve(inner, 80)
    away = unit((edge - (0, 0, 0.1)) * (1, 0, 1))
    share = np.linspace(0, reach, 24)[:, None, None]
    return body.skin.lifted(edge + away * share - (0, 0.35, 0) * share, height)[:, ::-1]


def button(name: str, center: F64, normal: F64, radius: float, material: str) -> Garment:
    """A round button with a rim, its face along `normal` (3,)."""
    side = unit(np.cross([0.0, 1.0, 0.0], normal))
    top = np.cross(normal, side)
    angle = np.linspace(0, 2 * np.pi, 33)[:-1]
    profile = [(1.0, 0.0), (1.0, 0.12), (0.93, 0.2), (0.8, 0.2), (0.72, 0.12), (0.4, 0.11), (0.02, 0.11)]
    round_ = np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * top
    rings = [center + radius * (r * round_ + h * normal) for r, h in profile]
    return sheet(name, np.array(rings), material, 0.0, flip=True, ring=True)


def mirror(plan: F64) -> F64:
    """The whole edge (2 C - 1, 2), left to right, of a right half (C, 2) that ends in the middle."""
    return np.concatenate([plan * (-1, 1), plan[-2::-1]])
