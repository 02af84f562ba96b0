"""Light inside the mouth: teeth, tongue and cavity, darker with depth, to the corners and behind nearly shut
lips."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .mesh import BODY, LOWER_TEETH, TONGUE, UPPER_TEETH, Mesh

F32 = NDArray[np.float32]

_SEAM: Final = np.array([118, 52, 46], np.float32)
"""Colour of the line between closed lips."""
_OPEN_GAP = 0.035
"""Lip gap in model units (1 dm) at which the interior is fully lit."""


@dataclass(frozen=True, slots=True)
class _Material:
    """`color` RGB; `ambient` and `facing` light; `reach` is the depth in model units over which it fades to
    `least`; `corner` is how much darker it is at the mouth's corners."""

    color: tuple[float, float, float]
    ambient: float
    facing: float
    reach: float
    least: float
    corner: float


_MATERIALS: Final = {
    BODY: _Material((104, 38, 36), 0.30, 0.55, 0.60, 0.20, 0.3),
    UPPER_TEETH: _Material((240, 233, 222), 0.62, 0.36, 0.75, 0.30, 0.75),
    LOWER_TEETH: _Material((226, 216, 202), 0.50, 0.36, 0.75, 0.25, 0.75),
    TONGUE: _Material((196, 92, 88), 0.42, 0.56, 0.95, 0.20, 0.35),
}


class Interior:
    """Colours the vertices of one mesh's mouth interior."""

    def __init__(self, mesh: Mesh) -> None:
        self._vertex = np.unique(mesh.inner)
        own = [_MATERIALS[int(part)] for part in mesh.part[self._vertex]]
        self._color = np.array([each.color for each in own], np.float32)
        self._ambient, self._facing, self._reach, self._least, corner = np.array(
            [(each.ambient, each.facing, each.reach, each.least, each.corner) for each in own], np.float32
        ).T
        aside = np.clip((np.abs(mesh.rest[self._vertex, 0]) - 0.10) / 0.22, 0, 1)
        self._aside = 1 - corner * aside * aside * (3 - 2 * aside)
        self._mouth_depth = np.float32(mesh.mouth_depth)
        self._lips = mesh.lips
        self._closed_gap = _gap(mesh.rest, mesh.lips)

    def light(self, world: F32, screen: F32, normal: F32, tone: F32) -> None:
        """Write the colours `tone` (V, 3) of the interior's vertices; the other rows stay."""
        parted = float(np.clip((_gap(world, self._lips) - self._closed_gap) / _OPEN_GAP, 0, 1))
        deep = np.clip(1.08 - (screen[self._vertex, 2] - self._mouth_depth) / self._reach, self._least, 1)
        lit = (self._ambient + self._facing * np.abs(normal[self._vertex, 2])) * deep * self._aside
        seen = (parted * self._aside)[:, None]
        tone[self._vertex] = self._color * lit[:, None] * seen + _SEAM * (1 - seen) * (
            0.45 + 0.55 * (1 - parted)
        )

    def gap(self, world: F32) -> float:
        """How far the lips stand apart in the middle, in model units."""
        return _gap(world, self._lips)


def _gap(points: F32, lips: NDArray[np.intp]) -> float:
    upper, lower = points[lips]
    return max(0.0, float(upper[1] - lower[1]))
