"""Light inside the mouth: teeth, gums, tongue and lining, darker with depth, to the corners and behind nearly
shut lips."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numba import float32, njit, types
from numpy.typing import NDArray

from .mesh import Mesh
from .tensors import CAVITY, LOWER_TEETH, TONGUE, UPPER_TEETH

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]

_SEAM: Final = np.array([118, 52, 46], np.float32)
"""Colour of the line between closed lips."""
_OPEN_GAP = 0.025
"""Lip gap in model units (1 dm) at which the interior is fully lit."""
_TOOTH_SHADE = 0.26
"""Power of the shade that teeth lie in: light that they scatter softens the lines between them."""
_IVORY: Final = np.array([1.0, 0.93, 0.88], np.float32)
_FLESH: Final = np.array([1.14, 1.11, 1.03], np.float32)
"""What teeth, and a tongue, return of the light, which the lips around them make warm."""
_LIP_SHADOW, _LIP_REACH = 0.3, 0.07
"""How dark teeth are at the upper lip's edge, and how far below it its shadow ends, in model units."""
_PURSED_SHADE = 0.2
"""How dark it is behind lips that are pursed: they stand before what they open on."""
_DEEPEST: Final = np.array([34, 15, 14], np.float32)
"""Colour of what no light reaches: flesh, not a hole."""
_LIGHT: Final = np.array([-0.28, 0.42, 0.86], np.float32)
_MIRROR: Final = np.array([-0.15, 0.22, 0.96], np.float32)
"""Where the light comes from, and what faces its mirror image."""


@dataclass(frozen=True, slots=True)
class _Material:
    """`ambient` and `facing` light; `reach` is the depth in model units over which it fades to `least`;
    `corner` is how much darker it is at the mouth's corners; `gloss` is added by the mirrored light;
    `shadow` is how dark it is at the upper lip's edge."""

    ambient: float
    facing: float
    reach: float
    least: float
    corner: float
    gloss: float
    shadow: float = 0.0


_MATERIALS: Final = {
    CAVITY: _Material(0.30, 0.55, 0.60, 0.20, 0.3, 0.0),
    UPPER_TEETH: _Material(0.69, 0.51, 0.75, 0.26, 0.75, 38.0, _LIP_SHADOW),
    LOWER_TEETH: _Material(0.42, 0.42, 0.75, 0.22, 0.75, 22.0),
    TONGUE: _Material(0.80, 0.44, 0.56, 0.14, 0.35, 22.0),
}


class Interior:
    """Colours the vertices of one mesh's mouth interior."""

    def __init__(self, mesh: Mesh) -> None:
        self._vertex = np.unique(mesh.inner).astype(np.int32)
        own = [_MATERIALS.get(int(part), _MATERIALS[CAVITY]) for part in mesh.part[self._vertex]]
        table = np.array(
            [(each.ambient, each.facing, each.reach, each.least, each.gloss, each.shadow) for each in own],
            np.float32,
        ).reshape(-1, 6)
        corner = np.array([each.corner for each in own], np.float32)
        aside = np.clip((np.abs(mesh.rest[self._vertex, 0] - mesh.mouth[0]) - 0.09) / 0.19, 0, 1)
        share = 1 - corner * aside * aside * (3 - 2 * aside)
        self._material = np.ascontiguousarray(np.column_stack([table, share]).astype(np.float32))
        teeth = np.isin(mesh.part[self._vertex], (UPPER_TEETH, LOWER_TEETH))
        shade = mesh.shade[self._vertex] ** np.where(teeth, np.float32(_TOOTH_SHADE), np.float32(1))
        tongue = mesh.part[self._vertex] == TONGUE
        tint = np.where(teeth[:, None], _IVORY, np.where(tongue[:, None], _FLESH, np.float32(1)))
        self._albedo = np.ascontiguousarray(mesh.color[self._vertex] * tint * shade[:, None])
        self._mouth_depth = mesh.mouth_depth
        self._lips = mesh.lips
        self._closed_gap = _gap(mesh.rest, mesh.lips)

    def light(self, world: F32, screen: F32, normal: F32, pursed: float, tone: F32) -> None:
        """Write the colours `tone` (V, 3), 0..255, of the interior's vertices behind lips that are `pursed`
        so far, 0..1; the other rows stay."""
        parted = float(np.clip((_gap(world, self._lips) - self._closed_gap) / _OPEN_GAP, 0, 1))
        lip = float(world[self._lips[0], 1])
        _light(
            self._vertex,
            self._material,
            self._albedo,
            world,
            screen,
            normal,
            lip,
            self._mouth_depth,
            parted,
            1 - _PURSED_SHADE * pursed,
            tone,
        )

    def gap(self, world: F32) -> float:
        """How far the lips stand apart in the middle, in model units."""
        return _gap(world, self._lips)


def _gap(points: F32, lips: NDArray[np.intp]) -> float:
    upper, lower = points[lips]
    return max(0.0, float(upper[1] - lower[1]))


_F2 = float32[:, ::1]


@njit(
    types.void(types.int32[::1], *(_F2,) * 5, *(types.float64,) * 4, _F2),
    cache=True,
    nogil=True,
    fastmath=True,
    error_model="numpy",
)
def _light(
    vertex: I32,
    material: F32,
    albedo: F32,
    world: F32,
    screen: F32,
    normal: F32,
    lip: float,
    mouth: float,
    parted: float,
    reached: float,
    tone: F32,
) -> None:
    seam = (1 - parted) * 0.55 + 0.45
    for k in range(vertex.shape[0]):
        i = vertex[k]
        x, y, z = normal[i, 0], normal[i, 1], normal[i, 2]
        facing = max(x * _LIGHT[0] + y * _LIGHT[1] + z * _LIGHT[2], 0.0)
        mirror = max(x * _MIRROR[0] + y * _MIRROR[1] + z * _MIRROR[2], 0.0)
        mirror *= mirror
        mirror *= mirror
        mirror *= mirror
        mirror *= mirror
        deep = min(max(1.08 - (screen[i, 2] - mouth) / material[k, 2], material[k, 3]), 1.0)
        below = min(max((lip - world[i, 1]) / _LIP_REACH, 0.0), 1.0)
        deep *= reached * (1.0 - material[k, 5] * (1.0 - below) * (1.0 - below))
        aside = material[k, 6]
        lit = (material[k, 0] + material[k, 1] * facing) * deep * aside
        seen = parted * aside
        gloss = material[k, 4] * mirror * deep * aside
        for c in range(3):
            bright = albedo[k, c] * lit + _DEEPEST[c] * (1 - deep * aside) + gloss
            tone[i, c] = bright * seen + _SEAM[c] * (1 - seen) * seam
