"""What an open mouth shows: single teeth in their gums, the tongue and the lining."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from .base import F64, Ints, smooth
from .looks import LOOKS
from .person import Person
from .piece import Part, Piece, grid, make_piece, merged
from .tongue import rounded

UPPER_WIDTHS: Final = (0.085, 0.067, 0.077, 0.070, 0.068, 0.100)
LOWER_WIDTHS: Final = (0.053, 0.060, 0.070, 0.071, 0.072, 0.105)
"""Widths in dm from the middle to the back; stretched to the length of the arch."""
UPPER_CROWNS: Final = (0.091, 0.081, 0.092, 0.080, 0.074, 0.070)
LOWER_CROWNS: Final = (0.085, 0.088, 0.098, 0.086, 0.080, 0.072)
"""Heights in dm of what stands out of the gum."""
UPPER_EDGES: Final = (0.0, 0.009, 0.003, 0.006, 0.009, 0.012)
LOWER_EDGES: Final = (0.0, 0.001, -0.004, 0.003, 0.007, 0.010)
"""How far each edge falls short of the first one's, in dm."""
CORNERS: Final = ((0.009, 0.023), (0.013, 0.030), (0.0, 0.0), (0.010, 0.012))
"""How far the inner and the outer corner of a tooth's edge are rounded off, in dm; the last is for all
behind."""
BITE_DEPTHS: Final = (0.016, 0.016, 0.022, 0.060, 0.066, 0.090)
"""Thickness in dm from the outer to the inner side at the edge."""
ACROSS, ROWS = 9, (-0.04, 0.0, 0.08, 0.24, 0.48, 0.76, 1.12)
"""Vertices across a tooth, and their rows from the edge (0) to the gum (1); the first lies on its inner
side."""
GUM_ACROSS = 6
GUM_ROWS: Final = ((0.0, -0.010), (0.006, 0.005), (0.026, 0.011), (0.060, 0.008), (0.110, -0.012))
"""Rows of the gum: distance in dm from its edge towards the root, and how far it stands off the teeth."""
PAPILLA = 0.038
"""How far the gum reaches down between two teeth, in dm."""
ENAMEL, NECK, TIP = (234, 222, 200), (208, 184, 148), (176, 178, 182)
TONES: Final = (1.0, 0.965, 1.02, 1.15, 1.18, 1.2)
"""How light each tooth is by the first."""
UNLIKE, TURN_DEG = (0.022, 0.022), 4.0
"""How far teeth differ in light and in warmth, and how far they are turned, at random."""
AGED: Final = (0.024, 0.036, 0.054)
"""What age takes of red, green and blue."""
GAP_BEHIND = 0.2
GAP: Final = (0.10, 0.15, 0.17)
BACK: Final = (0.0, 0.06, 0.09)
"""What the line between two teeth takes of red, green and blue, by which share behind the corner ones, and
what the depth of a mouth takes of the teeth there."""
GUM, GUM_EDGE = (196, 112, 108), (214, 142, 134)
TONGUE, TONGUE_EDGE = (186, 98, 98), (202, 118, 114)
LINING = (142, 62, 60)
DARK_DEPTH = 0.62
"""How far behind the front teeth the mouth is dark, in dm."""


@dataclass(frozen=True, slots=True)
class Arch:
    """The outer line of one row of teeth: z = front - bend * |x| ** power, up to `reach` along x.

    `edge` is the height of the first teeth's edge, `sign` 1 where roots point up.
    """

    front: float
    bend: float
    power: float
    reach: float
    edge: float
    sign: float

    def line(self) -> tuple[F64, F64]:
        """Lengths (N,) from the middle and points (N, 2) in x and z of the right half."""
        x = np.linspace(0, self.reach, 400)
        points = np.stack([x, self.front - self.bend * x**self.power], 1)
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        return np.concatenate([[0], np.cumsum(steps)]), points

    def frame(self, along: F64) -> tuple[F64, F64, F64]:
        """Points, tangents to the viewer's right and outward normals (N, 3) at signed lengths `along`
        (N,)."""
        length, points = self.line()
        x = np.interp(np.abs(along), length, points[:, 0])
        slope = -self.bend * self.power * x ** (self.power - 1)
        side = np.where(along < 0, -1.0, 1.0)
        zero = np.zeros_like(x)
        point = np.stack([side * x, zero + self.edge, self.front - self.bend * x**self.power], 1)
        tangent = np.stack([1 + zero, zero, side * slope], 1) / np.hypot(1, slope)[:, None]
        return point, tangent, np.stack([-tangent[:, 2], zero, tangent[:, 0]], 1)


def upper_teeth(person: Person) -> Piece:
    arch = _arch(person, "helper-upper-teeth", 1.0)
    return _aged(person, _row(Part.UPPER_TEETH, arch, UPPER_WIDTHS, UPPER_CROWNS, UPPER_EDGES, {}))


def lower_teeth(person: Person) -> Piece:
    """They move with the jaw: each unit as the affine map that it is on the base mesh's lower teeth."""
    arch = _arch(person, "helper-lower-teeth", -1.0)
    members = person.members("helper-lower-teeth")
    around = _homogeneous(person.rest[members])
    maps = {
        name: np.asarray(
            np.linalg.lstsq(around, unit.spread(len(person.rest))[members], rcond=None)[0], float
        )
        for name, unit in person.units.items()
    }
    return _aged(person, _row(Part.LOWER_TEETH, arch, LOWER_WIDTHS, LOWER_CROWNS, LOWER_EDGES, maps))


def _aged(person: Person, row: Piece) -> Piece:
    """Teeth are darker and yellower with the age of the skin."""
    color = row.color * (1 - LOOKS[person.cast.name].skin.age * np.array(AGED))
    return replace(row, color=np.round(color).astype(np.uint8))


def tongue(person: Person) -> Piece:
    members = person.members("helper-tongue")
    faces = np.searchsorted(members, person.faces("helper-tongue"))
    points = person.limit(person.rest)[members]
    height = (points[:, 1] - points[:, 1].min()) / np.ptp(points[:, 1])
    aside = np.abs(points[:, 0]) / np.abs(points[:, 0]).max()
    groove = 1 - 0.10 * smooth(0.16, 0.0, aside) * smooth(0.5, 0.9, height)
    edge = smooth(0.35, 1.0, aside)[:, None]
    return make_piece(
        Part.TONGUE,
        rounded(points, aside),
        halves(faces),
        color=(np.array(TONGUE) * (1 - edge) + np.array(TONGUE_EDGE) * edge) * groove[:, None],
        shade=255 * _open_light(person, points) * (0.7 + 0.3 * height),
        shapes=limit_shapes(person, members),
    )


def cavity(person: Person, faces: Ints) -> Piece:
    """The lining: quads `faces` (F, 4) of the body in the mouth."""
    members = np.unique(faces)
    points = person.limit(person.rest)[members]
    return make_piece(
        Part.CAVITY,
        points,
        halves(np.searchsorted(members, faces)),
        color=LINING,
        shade=255 * (0.22 + 0.78 * _open_light(person, points)),
        shapes=limit_shapes(person, members),
    )


def limit_shapes(person: Person, members: Ints) -> dict[str, F64]:
    """How each face unit moves limit positions of the vertices `members` (N,), as (N, 3)."""
    count = len(person.rest)
    return {name: person.limit(unit.spread(count))[members] for name, unit in person.units.items()}


def halves(quads: Ints) -> Ints:
    """Two triangles for each quad."""
    return np.concatenate([quads[:, (0, 1, 2)], quads[:, (0, 2, 3)]])


def _open_light(person: Person, points: F64) -> F64:
    """How much light (N,) reaches points behind the lips, 1 at the front teeth."""
    behind = person.landmarks.mouth[2] - 0.14 - points[:, 2]
    return 1 - 0.86 * smooth(0.02, DARK_DEPTH, behind)


def _homogeneous(points: F64) -> F64:
    return np.concatenate([points, np.ones((len(points), 1))], 1)


def _arch(person: Person, group: str, sign: float) -> Arch:
    """The arch around the base mesh's row of teeth `group`."""
    points = person.limit(person.rest)[person.members(group)]
    flat = points[:, (0, 2)]
    hull = flat[ConvexHull(flat).vertices]
    front, reach = float(hull[:, 1].max()), float(np.abs(hull[:, 0]).max())
    outer = hull[(np.abs(hull[:, 0]) > 0.3 * reach) & (hull[:, 1] > hull[:, 1].min() + 0.03)]
    power, start = np.polyfit(np.log(np.abs(outer[:, 0])), np.log(front + 1e-4 - outer[:, 1]), 1)
    middle = points[np.abs(points[:, 0]) < 0.5 * reach]
    edge = float(middle[:, 1].min() if sign > 0 else middle[:, 1].max())
    return Arch(front - 0.006, float(np.exp(start)), float(power), reach, edge, sign)


def _row(
    part: Part,
    arch: Arch,
    widths: tuple[float, ...],
    crowns: tuple[float, ...],
    edges: tuple[float, ...],
    maps: dict[str, F64],
) -> Piece:
    chance = np.random.default_rng(17 + int(part))
    stretch = arch.line()[0][-1] / sum(widths)
    inner = np.cumsum([0.0, *widths]) * stretch
    pieces = []
    for side in (-1.0, 1.0):
        for k, crown in enumerate(crowns):
            span = (inner[k], inner[k + 1]) if side > 0 else (-inner[k + 1], -inner[k])
            pieces.append(_tooth(part, arch, span, crown, edges[k], k, chance))
    row = merged([*pieces, _gum(part, arch, inner, np.add(crowns, edges))])
    shapes = {name: _homogeneous(row.vertices) @ each for name, each in maps.items()}
    shapes = {name: delta for name, delta in shapes.items() if np.abs(delta).max() > 1e-3}
    return Piece(part, row.vertices, row.triangles, row.uv, row.color, row.shade, row.head_weight, shapes)


def _tooth(
    part: Part,
    arch: Arch,
    span: tuple[float, float],
    crown: float,
    short: float,
    k: int,
    chance: np.random.Generator,
) -> Piece:
    """Tooth `k` from the middle over `span` of the arch: rows from its inner edge over its face to the
    gum."""
    rise = np.array(ROWS)[:, None]
    turn = np.linspace(-1, 1, ACROSS)[None] * (np.pi / 2)
    across = np.sign(np.sin(turn)) * np.abs(np.sin(turn)) ** 0.75
    depth = np.cos(turn) ** 0.7 - 1
    half = (span[1] - span[0]) / 2 * (1.0 + chance.uniform(-0.012, 0.012))
    half = half * (0.88 + 0.12 * smooth(1.15, 0.35, rise)) * (1 - 0.05 * smooth(0.10, -0.02, rise))
    thick = 0.030 + 0.016 * smooth(0, 0.5, rise)
    middle = np.full(1, (span[0] + span[1]) / 2)
    point, tangent, normal = arch.frame(middle)
    tilt, lean = chance.normal(0, 0.035), chance.normal(0, 0.0035)
    turned = np.radians(np.clip(chance.normal(0, TURN_DEG), -7, 7))
    outer = across * np.sign(middle) > 0
    low = short + chance.normal(0, 0.0030) + _rounding(across, outer, k) * smooth(0.5, 0.0, rise)
    height = low + np.maximum(rise, 0) * crown + across * half * tilt
    out = thick * depth + 0.010 * np.sin(np.clip(rise, 0, 1) * np.pi * 0.75) - 0.008 * (1 - rise) ** 2 + lean
    out = np.where(rise < 0, out - BITE_DEPTHS[k], out) + across * half * np.tan(turned)
    places = (
        point
        + (across * half)[..., None] * tangent
        + out[..., None] * normal
        + (height * arch.sign)[..., None] * np.array([0, 1, 0])
    )
    rows, triangles = places[::-1] if arch.sign > 0 else places, grid(len(ROWS), ACROSS)
    color, shade = _enamel(rise, across, k, arch, places)
    light, warmth = chance.normal(0, UNLIKE)
    color = color * (TONES[k] * (1 + light)) * (1 + warmth * np.array([0.2, -0.2, -1.0]))
    order = slice(None, None, -1) if arch.sign > 0 else slice(None)
    return make_piece(
        part,
        rows.reshape(-1, 3),
        triangles,
        color=color[order].reshape(-1, 3),
        shade=shade[order].ravel(),
    )


def _rounding(across: F64, outer: NDArray[np.bool_], k: int) -> F64:
    """How far the edge of tooth `k` rises towards its sides at `across` (..., -1 to 1), in dm: an incisor's
    corners are round, the more the `outer` one."""
    if k == 2:
        return 0.022 * np.abs(across) ** 2.2
    inner_corner, outer_corner = CORNERS[min(k, len(CORNERS) - 1)]
    return np.where(outer, outer_corner, inner_corner) * np.abs(across) ** 4


def _enamel(rise: F64, across: F64, k: int, arch: Arch, places: F64) -> tuple[F64, F64]:
    """Colours (R, C, 3) and baked light (R, C) of a tooth."""
    neck = smooth(0.45, 1.1, rise)[..., None] * (1.15 if k == 2 else 0.85)
    tip = smooth(0.34, 0.0, rise)[..., None] * (0.85 if k < 2 else 0.0)
    color = np.array(ENAMEL) * (1 - neck) + np.array(NECK) * neck
    color = color * (1 - tip) + np.array(TIP) * tip
    edge = smooth(0.86, 1.0, np.abs(across))[..., None] * smooth(-0.02, 0.14, rise)[..., None]
    color = color * (1 - edge * GAP * (1.0 if k < 3 else GAP_BEHIND))
    color = color * (1 - smooth(0.04, 0.36, arch.front - places[..., 2])[..., None] * BACK)
    between = 1 - 0.30 * smooth(0.74, 1.0, np.abs(across)) * (1 - 0.45 * smooth(0.5, 0.0, rise))
    below = 1 - 0.22 * smooth(0.75, 1.1, rise)
    behind = 1 - 0.72 * smooth(0.03, 0.45, arch.front - places[..., 2])
    inner = np.where(rise < 0, 0.72, 1.0)
    return np.broadcast_to(color, (*places.shape[:2], 3)), 255 * between * below * behind * inner


def _gum(part: Part, arch: Arch, inner: F64, crowns: F64) -> Piece:
    """The gum over a whole row of teeth, whose sides lie at `inner` (K + 1,) along the arch; its edge is an
    arc over each tooth of height `crowns` (K,) and reaches down between two."""
    step = np.arange(2 * len(crowns) * GUM_ACROSS + 1) / GUM_ACROSS - len(crowns)
    along = np.sign(step) * np.interp(np.abs(step), np.arange(len(inner)), inner)
    point, _, normal = arch.frame(along)
    crown = np.interp(np.abs(step), np.arange(len(crowns)) + 0.5, crowns)
    contact = np.abs(2 * (np.abs(step) % 1) - 1) ** 2.6
    rise, off = np.array(GUM_ROWS).T[..., None]
    fade = np.clip(1 - rise / 0.07, 0, 1) * contact
    height = crown - 0.006 + rise - PAPILLA * fade
    out = off - 0.020 * fade
    places = point + out[..., None] * normal + (height * arch.sign)[..., None] * np.array([0, 1, 0])
    edge = np.clip(1 - rise / 0.03, 0, 1)[..., None]
    color = np.broadcast_to(np.array(GUM) * (1 - edge) + np.array(GUM_EDGE) * edge, places.shape)
    lit = np.array([0.62, 0.95, 0.92, 0.78, 0.55])[:, None] * (1 - 0.2 * contact)
    lit = lit * (1 - 0.72 * smooth(0.03, 0.45, arch.front - places[..., 2]))
    order = slice(None, None, -1) if arch.sign > 0 else slice(None)
    return make_piece(
        part,
        places[order].reshape(-1, 3),
        grid(len(GUM_ROWS), len(step)),
        color=color[order].reshape(-1, 3),
        shade=255 * lit[order].ravel(),
    )
