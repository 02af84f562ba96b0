"""Eyeballs: which part of the eye's texture each vertex shows when the eye turns, and its light.

A place on an eyeball is told by two numbers, its angle to the straight look over 90 degrees, across and down.
"""

from typing import Final

import cv2
import numpy as np
from numba import float32, int64, njit, types
from numpy.typing import NDArray

from ..avatar import Avatar
from .lanes import sample
from .mesh import Mesh, shape
from .scan import FRONT, ONE, scan
from .tensors import SKIN
from .units import UNITS

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]

SWING_DEG: Final = (25.0, 18.0)
"""Turn of an eye at full gaze, across and up or down."""
_GLINT_AT: Final = np.array([-0.11, -0.12], np.float32)
_GLINT_FOLLOW, _GLINT_RADIUS, _GLINT_BELOW = 0.45, 0.042, 0.085
"""Where the light is mirrored in an eye that looks at the viewer, from its pupil, how much of a turn it goes
along with, how large it is, and how far it stays below the upper lid's edge."""
_GLINT = 215.0
_SHADOW_REST, _SHADOW_DEPTH, _SHADOW_REACH = 0.50, 0.24, 0.30
"""How dark the shadow under the upper lid is at rest, how much darker under a lowered one, and how far it
reaches on the ball."""
_ROUND = 0.3
"""How much darker the ball gets to its sides, over the square of the distance."""
_GLOW = 0.62
"""How much brighter an iris is across from the light, which it gathers there, and darker on this side: four
tenths of this at most."""
_GREEN, _BLUE, _FLUSH = 0.975, 0.95, 0.16
"""Warmth of the light that skin throws on the ball between the lids, and how much more of it there is in
shade."""
_TEAR, _LID_BEFORE = 62.0, 0.006
"""How light the wet line along the lower lid is in the middle, and how far before the ball a lid is, in model
units."""
_IRIS, _IRIS_EDGE = 0.33, 0.27
"""Radius of the iris in the texture, and as it is shown: as large beside the lids as a person's."""
_KEPT = 0.75
"""From this place on the texture is shown as it is."""
_SHRINK = (_IRIS / _IRIS_EDGE - 1.0) / (1.0 - (_IRIS_EDGE / _KEPT) ** 2) ** 2
_COVERED = 0.08
"""How much of the iris' height the edge of the upper lid's skin hides at rest; lashes hide some more."""
_INWARDS = 0.007
"""How far from the middle of its opening an eye that looks at the viewer turns to the nose, in widths of the
opening: the eyes of both meet, wherever their balls are."""
_NEAR_SKIN, _BEFORE, _CELLS = 2.2, 0.2, 120
"""Skin this near to an eye's middle and at least so far before it bounds the opening, in radii; in how many
cells a radius that is looked up."""
_LID_NEAR, _LID_MIDDLE, _LOW_MIDDLE = 1.35, 0.3, 0.12
"""Where the middle of a lid's edge is looked for, in radii of the eye."""
_SIDES: Final = ("Left", "Right")
_LIDS: Final = tuple([UNITS.index(f"{unit}{side}") for unit in ("eyeBlink", "eyeWide")] for side in _SIDES)
_SQUINTS: Final = tuple(UNITS.index(f"eyeSquint{side}") for side in _SIDES)
_LOWER, _MOST_HELD, _MOST_LIFTED = 0.34, 0.3, 0.7
"""How far the lower lid is raised at rest, and how much of a blink or of wide eyes the upper one may need to
rest in its place."""
_MOST_SHUT, _OVERLAP = 1.25, 0.11
"""The most of a blink that shuts lids, and how far beyond each other they go then, in radii."""
_BEND = 0.55
"""How much a lid's edge rises to both sides of its middle, over the square of the distance."""

_NEXT = np.uint64(1)
_F1, _F2 = float32[::1], float32[:, ::1]
_I1, _I2, _U1 = types.int32[::1], types.int32[:, ::1], types.uint32[::1]


class Eye:
    """One eye of a mesh."""

    def __init__(self, avatar: Avatar, mesh: Mesh, side: int) -> None:
        """`side` 0 is the model's left eye, 1 its right one."""
        self.triangles = mesh.eyes[side]
        self._side = side
        self._vertex = np.unique(self.triangles).astype(np.int32)
        self.place = np.zeros((len(mesh.rest), 2), np.float32)
        self.place[self._vertex] = 2 * mesh.raw_uv[self._vertex] - 1
        self._size = np.array(mesh.eye_texture.size, np.float32)
        self._center, self._radius = mesh.eyes_at[side], mesh.eye_radius
        self._lid, self._lid_moves, self._gap, self._gap_moves = _lid(avatar, mesh, side)
        self._held = _held(self._lid - float(self._center[1]), self._lid_moves, self._radius, side)
        left, right = _opening(mesh, side)
        inwards = _INWARDS * (right - left) * (-1 if side == 0 else 1)
        self._ahead = float(np.arcsin((left + right) / 2 + inwards))
        """By how much its texture is turned to the viewer's right when it looks at the viewer, in radians."""

    def hold(self, units: F32) -> F32:
        """What is added to face `units` (52,), so that lids lie where a calm person's do, the upper one less
        so the further a blink shuts it or surprise lifts it; and so that a whole blink ends on the lower lid,
        wherever the eye looks."""
        blink, wide = _LIDS[self._side]
        shut, lifted = float(units[blink]), float(units[wide])
        added = self._held * np.float32(max(0.0, 1.0 - shut - lifted))
        added[_SQUINTS[self._side]] = self._held[_SQUINTS[self._side]] * np.float32(max(0.0, 1.0 - lifted))
        closing = -float(self._gap_moves[blink])
        if shut > 0 and closing > 0:
            left = self._gap + float((units + added) @ self._gap_moves) + closing * shut
            added[blink] += np.float32(shut * (min(max(left / closing, 0.0), _MOST_SHUT) - 1.0))
        return added

    def turn(self, gaze: F32, uv: F32) -> None:
        """Write the texels `uv` (V, 2) of this eye's vertices for `gaze` (2,) in -1..1, right and up; at 0
        both eyes look at the viewer."""
        across, up = (float(part) * np.radians(most) for part, most in zip(gaze, SWING_DEG, strict=True))
        turn_eye(self._vertex, self.place, across + self._ahead, up, self._size, uv)

    def light(self, units: F32, gaze: F32) -> F32:
        """(4,) for `draw_eye` with face `units` (52,) and `gaze` (2,): where the light is mirrored, where the
        lid's edge is, how dark its shadow."""
        swing = np.array([gaze[0] * SWING_DEG[0], -gaze[1] * SWING_DEG[1]], np.float32) / 90
        ahead = np.array([self._ahead * 2 / np.pi, 0.0], np.float32)
        glint = _GLINT_AT + ahead + _GLINT_FOLLOW * swing
        height = self._lid + units @ self._lid_moves
        rest, now = (float(_place((each - self._center[1]) / self._radius)) for each in (self._lid, height))
        lowered = min(max((now - rest) / 0.35, 0.0), 1.0)
        across, down = glint.tolist()
        dark = _SHADOW_REST + lowered * _SHADOW_DEPTH
        return np.array([across, max(down, now + _GLINT_BELOW), now, dark], np.float32)


def _place(height: np.float32 | float) -> np.float64:
    """The place down of what is `height` radii above the eye's middle."""
    return -np.arcsin(np.clip(height, -1, 1)) * 2 / np.pi


def _held(above: float, moves: F32, radius: float, side: int) -> F32:
    """The units (52,) that bring an upper lid from a height `above` the eye's middle to where it rests, and
    the lower one to the iris; `moves` (52,) is how far each lifts the upper."""
    blink, wide = _LIDS[side]
    drop = above - radius * np.sin(_IRIS_EDGE * np.pi / 2) * (1 - 2 * _COVERED)
    held = np.zeros(len(UNITS), np.float32)
    held[_SQUINTS[side]] = _LOWER
    if drop > 0 and moves[blink] < 0:
        held[blink] = min(drop / -moves[blink], _MOST_HELD)
    if drop < 0 and moves[wide] > 0:
        held[wide] = min(-drop / moves[wide], _MOST_LIFTED)
    return held


def _opening(mesh: Mesh, side: int) -> tuple[float, float]:
    """Where the opening of the lids begins and ends, in radii to the right of the eye's middle."""
    away = (mesh.rest - mesh.eyes_at[side]) / mesh.eye_radius
    own = mesh.skin[(np.linalg.norm(away[mesh.skin], axis=2) < _NEAR_SKIN).all(1)]
    own = own[away[own, 2].max(1) > _BEFORE]
    middle = 2 * _CELLS
    covered = np.zeros((2 * middle, 2 * middle), np.uint8)
    for triangle in np.rint(away[own, :2] * _CELLS + middle).astype(np.int32):
        cv2.fillConvexPoly(covered, triangle, 1)
    if covered[middle, middle] or not covered.any():
        return -1.0, 1.0
    cv2.floodFill(covered, None, (middle, middle), 2)
    columns = np.flatnonzero((covered == 2).any(0))
    return (int(columns[0]) - middle) / _CELLS, (int(columns[-1]) - middle) / _CELLS


def _lid(avatar: Avatar, mesh: Mesh, side: int) -> tuple[float, F32, float, F32]:
    """The height of the middle of the upper lid's edge, and how far each unit (52,) lifts it; by how much it
    would have to fall to shut the eye, and how far each unit lifts it from the lower lid."""
    center, radius = mesh.eyes_at[side], mesh.eye_radius
    tensors = avatar.tensors
    vertices = tensors["vertices"].astype(np.float32)
    skin = np.zeros(len(vertices), np.bool_)
    skin[tensors["triangles"].astype(np.int64)[tensors["parts"] == SKIN]] = True
    away = vertices - center
    near = skin & (np.linalg.norm(away, axis=1) < _LID_NEAR * radius) & (away[:, 2] > 0.4 * radius)
    beside = np.abs(away[:, 0])
    upper = near & (beside < _LID_MIDDLE * radius) & (away[:, 1] > 0)
    lower = near & (beside < _LOW_MIDDLE * radius) & (away[:, 1] < 0)
    if not upper.any() or not lower.any():
        return (
            float(center[1] + 0.5 * radius),
            np.zeros(len(UNITS), np.float32),
            0.0,
            np.zeros(len(UNITS), np.float32),
        )
    falls = np.where(upper, -shape(avatar, f"eyeBlink{_SIDES[side]}")[:, 1] - 0.5 * away[:, 1], -np.inf)
    edge, rim = int(falls.argmax()), int(np.where(lower, away[:, 1], -np.inf).argmax())
    moves, rim_moves = (
        np.array([shape(avatar, unit)[at, 1] for unit in UNITS], np.float32) for at in (edge, rim)
    )
    gap = float(vertices[edge, 1] - vertices[rim, 1]) + _OVERLAP * radius
    return float(vertices[edge, 1]), moves, gap, moves - rim_moves


@njit(
    types.void(_I1, _F2, types.float64, types.float64, _F1, _F2), cache=True, nogil=True, error_model="numpy"
)
def turn_eye(vertex: I32, place: F32, across: float, up: float, size: F32, uv: F32) -> None:
    """Write the texels `uv` (V, 2) that the `vertex` (N,) at `place` (V, 2) show when the eye has turned by
    `across` and `up` in radians; `size` (2,) of the texture in texels."""
    cx, sx, cy, sy = np.cos(across), np.sin(across), np.cos(up), np.sin(up)
    for k in range(vertex.shape[0]):
        i = vertex[k]
        px, py = place[i, 0], -place[i, 1]
        reach = np.sqrt(px * px + py * py)
        angle = min(reach, 2.0) * (np.pi / 2)
        spread = np.sin(angle) / max(reach, 1e-6)
        x, y, z = px * spread, py * spread, np.cos(angle)
        x, z = x * cx - z * sx, z * cx + x * sx
        y, z = y * cy - z * sy, z * cy + y * sy
        length = np.sqrt(x * x + y * y)
        away = np.arctan2(length, z) / (np.pi / 2)
        rim = max(1.0 - away * away / (_KEPT * _KEPT), 0.0)
        share = away * (1.0 + _SHRINK * rim * rim) / max(length, 1e-6)
        uv[i, 0] = min(max((0.5 + 0.5 * x * share) * size[0] - 0.5, 0.0), size[0] - 1.0)
        uv[i, 1] = min(max((0.5 - 0.5 * y * share) * size[1] - 0.5, 0.0), size[1] - 1.0)


@njit(
    types.void(_F2, _I2, _F2, _F2, _F1, _F1, _U1, int64, _U1, _F1, int64, _I2, _F2),
    cache=True,
    nogil=True,
    fastmath=True,
    error_model="numpy",
)
def draw_eye(
    screen: F32,
    triangles: I32,
    uv: F32,
    place: F32,
    shade: F32,
    light: F32,
    texture: U32,
    stride: int,
    out: U32,
    depth: F32,
    width: int,
    spans: I32,
    depths: F32,
) -> None:
    """Eyeball `triangles` (T, 3): the texture at `uv` (V, 2), times `shade` (V,) and the shadow of a lowered
    lid, and the mirror image of the light at its `place`; see `Eye.light`."""
    height = out.shape[0] // width
    turn = 0
    step = np.float32(1.0 / ONE)
    one, half, top = np.float32(1.0), np.float32(0.5), np.float32(255.0)
    middle = np.float32((stride - 2) * 128)
    reach = one / (middle * np.float32(_IRIS))
    while turn < triangles.shape[0]:
        turn, count = scan(
            screen, triangles, turn, FRONT, uv, True, ONE, ONE, 0.0, width, height, spans, depths
        )
        for k in range(count):
            at, last = np.uint64(spans[k, 0]), np.uint64(spans[k, 1])
            a, b, c = triangles[spans[k, 2], 0], triangles[spans[k, 2], 1], triangles[spans[k, 2], 2]
            w1, w2 = np.float32(spans[k, 3]) * step, np.float32(spans[k, 4]) * step
            d1, d2 = np.float32(spans[k, 5]) * step, np.float32(spans[k, 6]) * step
            z, dz = depths[k, 0], depths[k, 1]
            while at < last:
                if z < depth[at]:
                    depth[at] = z
                    w0 = max(one - w1 - w2, np.float32(0.0))
                    u = int64((w0 * uv[a, 0] + w1 * uv[b, 0] + w2 * uv[c, 0]) * np.float32(256.0))
                    v = int64((w0 * uv[a, 1] + w1 * uv[b, 1] + w2 * uv[c, 1]) * np.float32(256.0))
                    pixel = sample(texture, (v >> 8) * stride + (u >> 8), stride, u & 255, v & 255)
                    px = w0 * place[a, 0] + w1 * place[b, 0] + w2 * place[c, 0]
                    py = w0 * place[a, 1] + w1 * place[b, 1] + w2 * place[c, 1]
                    lit = w0 * shade[a] + w1 * shade[b] + w2 * shade[c]
                    below = py - light[2] - np.float32(_BEND) * px * px
                    fade = min(max(one - below / np.float32(_SHADOW_REACH), np.float32(0.0)), one)
                    ix, iy = (np.float32(u) - middle) * reach, (np.float32(v) - middle) * reach
                    inside = max(one - ix * ix - iy * iy, np.float32(0.0))
                    lit *= one + np.float32(_GLOW) * inside * (ix * np.float32(0.68) + iy * np.float32(0.73))
                    lit *= (one - light[3] * fade * fade) * (one - np.float32(_ROUND) * px * px)
                    gx, gy = px - light[0], py - light[1]
                    away = np.sqrt(gx * gx + gy * gy) / np.float32(_GLINT_RADIUS)
                    glint = min(max(np.float32(1.4) - away, np.float32(0.0)), one) * np.float32(_GLINT)
                    glint *= one - fade * min(
                        max(light[3] - np.float32(_SHADOW_REST), np.float32(0.0)) * np.float32(3.0), one
                    )
                    red = min(np.float32(pixel & np.uint32(255)) * lit, top)
                    green = min(np.float32((pixel >> np.uint32(8)) & np.uint32(255)) * lit, top)
                    blue = min(np.float32((pixel >> np.uint32(16)) & np.uint32(255)) * lit, top)
                    flush = np.float32(_FLUSH) * min(max(one - lit, np.float32(0.0)), one)
                    green *= np.float32(_GREEN) - np.float32(0.8) * flush
                    blue *= np.float32(_BLUE) - flush
                    under = min(int64(at) + width, depth.shape[0] - 1)
                    if depth[under] < z - np.float32(_LID_BEFORE):
                        glint = max(glint, np.float32(_TEAR) * (one - px * px - px * px))
                    share = glint * np.float32(1 / 255)
                    red, green, blue = (
                        red + (glint - red * share),
                        green + (glint - green * share),
                        blue + (glint - blue * share),
                    )
                    out[at] = np.uint32(
                        (255 << 24)
                        | (int64(blue + half) << 16)
                        | (int64(green + half) << 8)
                        | int64(red + half)
                    )
                w1, w2, z = w1 + d1, w2 + d2, z + dz
                at += _NEXT
