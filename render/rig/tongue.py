"""A tongue among teeth: it rises until it touches, and it yields to the rows of teeth instead of cutting
through them.

How far its tip has to rise depends on how low the jaw hangs, and where it may lie on how far it is out. So a
posed tongue is corrected vertex by vertex, which costs next to nothing: it has but a few hundred.
"""

from typing import Final

import numpy as np
from numba import float32, njit, types
from numpy.typing import NDArray

from .mesh import Mesh
from .posing import normals
from .tensors import LOWER_TEETH, TONGUE, UPPER_TEETH
from .units import UNIT_COUNT, UNITS

F32 = NDArray[np.float32]

_TIP: Final = UNIT_COUNT
"""The first of a tongue's ways, by which its tip rises."""
_JAW: Final = UNITS.index("jawOpen")
_MIDDLE_DM, _EDGE_DM = 0.06, 0.03
"""How far beside the middle front teeth reach, and how high what of them counts as their edge, in model units
(1 dm)."""
_UNDER: Final = 0.72
"""Of the rise of a tip, what its underside stays behind: it hangs from the tip to the floor of the mouth."""
_TOUCHES: Final = 0.42
"""Weight of a raised tip at which it touches: neighbours take the rest of it from a sound this short."""
_RIDGE_DM: Final = 0.022
"""How far above the edge of the upper teeth, and behind them, a raised tip touches."""
_MOST_LIFT: Final = 2.4
"""How far a tip rises at most, of what it does with the mouth shut."""
_BELOW_DM, _ABOVE_DM = 0.008, 0.002
"""Room that a tongue leaves to the edges of the upper teeth and of the lower ones."""
_WALL_DM, _WALL_HIGH_DM = 0.035, 0.16
"""Over which depth behind the teeth a tongue is free of them, and how high and low it may go there."""
_THIN_DM: Final = 0.03
"""A tongue between teeth is this thick at least."""
_SOFT_DM: Final = 0.007
"""How roundly it yields."""


class Tongue:
    """The tongue of one mesh."""

    def __init__(self, mesh: Mesh) -> None:
        self._own = np.flatnonzero(mesh.part == TONGUE).astype(np.int64)
        self._rest = mesh.rest[self._own]
        self._under = _underside(mesh)[self._own]
        upper, lower = (_front(mesh, part) for part in (UPPER_TEETH, LOWER_TEETH))
        self._toothed = bool(len(upper) and len(lower) and len(self._own))
        if not self._toothed:
            return
        self._units, self._delta = _moves(mesh, self._own)
        self._lift = np.ascontiguousarray(self._delta[self._units.tolist().index(_TIP), :, 1])
        at = mesh.rest[upper]
        self._edge = float(at[:, 1].min())
        self._behind = float(at[at[:, 1] < self._edge + _EDGE_DM, 2].min())
        at = mesh.rest[lower]
        self._top = float(at[:, 1].max())
        self._inside = float(at[at[:, 1] > self._top - _EDGE_DM, 2].min())
        highest = lower[[at[:, 1].argmax()]]
        units, delta = _moves(mesh, highest)
        self._drops = delta[units.tolist().index(_JAW), 0] if _JAW in units else np.zeros(3, np.float32)
        self._tip = int(self._rest[:, 2].argmax())

    def lay(self, moved: F32, rest: F32) -> None:
        """Change `moved` (M,), face units and ways, so that a raised tip touches what is above it, and the
        tongue's vertices of `rest` (V, 3) so that, posed by `moved`, it lies between the teeth."""
        if not self._toothed:
            return
        asked = min(float(moved[_TIP]) / _TOUCHES, 1.0)
        moved[_TIP] = 0
        weights, jaw = moved[self._units], float(moved[_JAW])
        if asked > 0:
            height = self._rest[self._tip, 1] + float(weights @ self._delta[:, self._tip, 1])
            short = (self._edge + _RIDGE_DM - height) / float(self._lift[self._tip])
            moved[_TIP] = asked * min(max(short, 0.0), _MOST_LIFT)
        low, inside = self._top + jaw * float(self._drops[1]), self._inside + jaw * float(self._drops[2])
        _lay(
            self._own, self._rest, self._delta, weights, self._lift, self._under, float(moved[_TIP]),
            self._edge - _BELOW_DM, self._behind, low + _ABOVE_DM, inside, rest,
        )  # fmt: skip


def _underside(mesh: Mesh) -> F32:
    """How far each vertex (V,) of the mouth's inside faces down at rest, 0..1."""
    normal = np.zeros_like(mesh.rest)
    normals(mesh.rest, mesh.inner, normal)
    return np.clip(-normal[:, 1] / np.float32(0.8) + np.float32(0.1), 0, 1)


def _front(mesh: Mesh, part: int) -> NDArray[np.intp]:
    """The vertices of the front teeth of a row."""
    return np.flatnonzero((mesh.part == part) & (np.abs(mesh.rest[:, 0] - mesh.mouth[0]) < _MIDDLE_DM))


def _moves(mesh: Mesh, vertices: NDArray[np.intp]) -> tuple[NDArray[np.intp], F32]:
    """The shapes (K,) that move any of the sorted `vertices` (N,), and by how much, (K, N, 3)."""
    start, body = mesh.body.shape_start, mesh.body
    units: list[int] = []
    deltas: list[F32] = []
    for unit in range(len(start) - 1):
        span = slice(int(start[unit]), int(start[unit + 1]))
        mine = np.isin(body.shape_vertex[span], vertices)
        if mine.any():
            delta = np.zeros((len(vertices), 3), np.float32)
            delta[np.searchsorted(vertices, body.shape_vertex[span][mine])] = body.shape_delta[span][mine]
            units.append(unit)
            deltas.append(delta)
    return np.array(units, np.intp), np.array(deltas, np.float32).reshape(-1, len(vertices), 3)


_F1, _F2, _F3 = float32[::1], float32[:, ::1], float32[:, :, ::1]


@njit(
    types.void(types.int64[::1], _F2, _F3, _F1, _F1, _F1, *(types.float64,) * 5, _F2),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def _lay(
    own: NDArray[np.int64],
    shape: F32,
    delta: F32,
    weights: F32,
    lift: F32,
    under: F32,
    tip: float,
    ceiling: float,
    behind: float,
    floor: float,
    inside: float,
    rest: F32,
) -> None:
    """Lower or lift the vertices `own` (N,) of `rest` (V, 3), which were at `shape` (N, 3), so that `delta`
    (K, N, 3) by `weights` (K,) and `lift` (N,) by `tip` bring them under a `ceiling` and over a `floor`:
    these end `behind` the upper teeth and `inside` the lower ones."""
    for k in range(own.shape[0]):
        posed, depth, rise = shape[k, 1], shape[k, 2], tip * lift[k]
        for j in range(weights.shape[0]):
            posed += weights[j] * delta[j, k, 1]
            depth += weights[j] * delta[j, k, 2]
        posed += rise
        most = ceiling + _WALL_HIGH_DM * min(max((behind - depth) / _WALL_DM, 0.0), 1.0)
        least = min(floor, ceiling - _THIN_DM)
        least -= _WALL_HIGH_DM * min(max((inside - depth) / _WALL_DM, 0.0), 1.0)
        lies = posed - _UNDER * under[k] * rise
        lies = max(lies, least) + _SOFT_DM * np.log1p(np.exp(-abs(lies - least) / _SOFT_DM))
        lies = min(lies, most) - _SOFT_DM * np.log1p(np.exp(-abs(lies - most) / _SOFT_DM))
        rest[own[k], 1] = shape[k, 1] + (lies - posed)
