"""Eyelashes: cards that stand on the lids' edges and turn with them, and the hairs painted on them."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .base import F64
from .lids import BLINK, meeting
from .person import Person
from .piece import Part, Piece, grid, make_piece, merged

COLUMNS, ROWS = 15, 4
SIDE = (112, 24)
"""Texels of one card, about as many as pixels that it covers in the largest view: there are no smaller
copies of the texture to draw it from."""
GUTTER = 4
"""Empty rows after each card; the texture holds the upper lid's card above the lower one's."""
FINE = 16
"""Hairs are painted this many times larger and averaged."""
NEAREST = 4
LID_LINE = 0.8
"""How dark the line is that dense roots make along the lid's edge."""
LINE_DM, LINE_FROM = (0.015, -0.004), 0.5
"""How far the line along the upper lid's edge reaches up and down from the roots, in dm, and where on a card
it begins."""
DROOP = 0.32
"""By how much more than its lid a blink turns the upper lid's card down, in radians."""

UPPER = 0
"""The row of the upper lid's card."""
BELOW = 0.006
"""How far below the line between shut lids the lower lashes stay, in dm."""
BENDS = 5
"""The degree of the curve that a card's roots keep to."""


@dataclass(frozen=True, slots=True)
class Fringe:
    """One lid's lashes: `strip` of the base mesh that roots follow, `hairs` on a card, `length` in dm, how
    far tips point `up` and how they `curl`, `row` of the texture, how dark they are, and how far roots `sink`
    below the lid's edge, in dm."""

    strip: str
    hairs: int
    length: float
    up: float
    curl: float
    row: int
    strength: float
    sink: float


FRINGES: Final = {
    "female": (
        Fringe("2", 170, 0.060, 0.12, 0.46, 0, 0.97, 0.009),
        Fringe("1", 70, 0.024, -0.42, -0.25, 1, 0.22, -0.003),
    ),
    "male": (
        Fringe("2", 120, 0.038, 0.08, 0.30, 0, 0.74, 0.001),
        Fringe("1", 60, 0.020, -0.38, -0.20, 1, 0.14, -0.003),
    ),
}
TINTS: Final = {"female": (30, 21, 18), "male": (46, 40, 36)}


def lashes(person: Person, skin: NDArray[np.int64]) -> Piece:
    """Cards of both eyes; `skin` (N,) are the body's vertices that they may follow."""
    points = person.limit(person.rest)
    cards = [
        _card(person, points, skin, side, fringe)
        for side in "lr"
        for fringe in FRINGES[person.cast.shape.sex]
    ]
    return merged(cards)


def paint(person: Person) -> NDArray[np.uint8]:
    """The texture (2 * (24 + 4), 112, 4) RGBA: tapered, curved hairs in loose clumps on a line along the
    lid's edge, tips above, roots below."""
    sex = person.cast.shape.sex
    alpha = np.concatenate([np.pad(_hairs(fringe), ((0, GUTTER), (0, 0))) for fringe in FRINGES[sex]])
    picture = np.empty((*alpha.shape, 4), np.uint8)
    picture[..., :3], picture[..., 3] = TINTS[sex], alpha
    return picture


def _card(person: Person, points: F64, skin: NDArray[np.int64], side: str, fringe: Fringe) -> Piece:
    """One card: columns from the inner to the outer corner, rows from tips to roots, and on the upper lid two
    rows of the line along its edge, which does not turn: lashes that point to the viewer are still seen."""
    center = person.landmarks.eyes["lr".index(side)]
    sign = 1.0 if side == "l" else -1.0
    roots = _roots(person, side, fringe, center)
    roots[:, 1] -= fringe.sink
    along = np.linspace(0, 1, COLUMNS)
    fan = sign * (0.62 * along - 0.26)
    forward = (roots - center) / np.linalg.norm(roots - center, axis=1, keepdims=True)
    out = forward + np.stack([fan, np.full(COLUMNS, fringe.up), np.full(COLUMNS, 0.12)], 1)
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    long = fringe.length * (0.42 + 0.58 * np.sin(np.clip(0.16 + 0.80 * along, 0, 1) * np.pi) ** 0.6)
    t = np.linspace(1, 0, ROWS)[:, None, None]
    bend = np.array([0, fringe.curl, 0.0])
    vertices = roots + long[:, None] * (t * out + t**2 * 0.5 * bend)
    heights, triangles = np.linspace(0, 1, ROWS), np.concatenate([grid(ROWS, COLUMNS)] * 2)
    if fringe.row == UPPER:
        high = np.array(LINE_DM)[:, None, None] * np.array([0, 1.0, 0])
        vertices = np.concatenate([vertices, roots + high])
        heights = np.concatenate([heights, (LINE_FROM, 1)])
        triangles = np.concatenate([triangles, ROWS * COLUMNS + grid(2, COLUMNS)])
    u, v = np.meshgrid(along, heights)
    edge = 0.5 / SIDE[1]
    rows = fringe.row + np.clip(v, edge, 1 - edge) * SIDE[1] / (SIDE[1] + GUTTER)
    uv = np.stack([u, rows / 2], -1).reshape(-1, 2)
    shut = _shut(person, side, roots)
    shapes = _followed(person, points, skin, roots, vertices, center, BLINK[side], shut, fringe.row == UPPER)
    return make_piece(
        Part.LASH,
        vertices.reshape(-1, 3),
        triangles,
        uv=uv,
        color=TINTS[person.cast.shape.sex],
        shapes=shapes,
    )


def _roots(person: Person, side: str, fringe: Fringe, center: F64) -> F64:
    """Points (COLUMNS, 3) along a lid's edge from the inner to the outer corner: a smooth curve through the
    inner row of the base mesh's strip."""
    strip = person.rest[person.members(f"helper-{side}-eyelashes-{fringe.strip}")]
    distance = np.linalg.norm(strip - center, axis=1)
    inner = strip[distance <= np.median(distance)]
    x = inner[:, 0]
    share = (x - x.min()) / np.ptp(x)
    along = np.linspace(0.02, 0.98, COLUMNS)
    if side == "r":
        along = along[::-1]
    return np.stack([np.polyval(np.polyfit(share, inner[:, k], 5), along) for k in range(3)], 1)


def _shut(person: Person, side: str, roots: F64) -> F64:
    """Where `roots` (COLUMNS, 3) would lie on the line that is seen between shut lids."""
    line = meeting(person, side, roots[:, 0])
    met = np.isfinite(line).all(1)
    along = np.arange(COLUMNS)
    return _smooth(np.stack([np.interp(along, along[met], line[met, k]) for k in range(3)], 1))


def _carried(
    person: Person, points: F64, skin: NDArray[np.int64], roots: F64, center: F64, spread: F64
) -> F64:
    """How far a unit that is `spread` over the base mesh moves `roots` (COLUMNS, 3), as the nearest lid
    vertices."""
    near = skin[np.linalg.norm(points[skin] - center, axis=1) < 0.3]
    distance, index = cKDTree(points[near]).query(roots, k=NEAREST)
    weight = 1 / (distance + 0.004) ** 2
    weight /= weight.sum(1, keepdims=True)
    return _smooth((person.limit(spread)[near[index]] * weight[..., None]).sum(1))


def _smooth(line: F64) -> F64:
    """`line` (COLUMNS, 3) without the corners of the mesh that it comes from."""
    along = np.linspace(-1, 1, COLUMNS)
    return np.stack([np.polyval(np.polyfit(along, line[:, k], BENDS), along) for k in range(3)], 1)


def _followed(
    person: Person,
    points: F64,
    skin: NDArray[np.int64],
    roots: F64,
    vertices: F64,
    center: F64,
    blink: str,
    shut: F64,
    upper: bool,
) -> dict[str, F64]:
    """How each face unit moves a card: roots as the nearest lid vertices, the rest turned with its root about
    the eyeball, but for the line along the edge. The unit `blink` moves roots of the `upper` lid onto the
    line `shut`, others below."""
    shapes: dict[str, F64] = {}
    for name, unit in person.units.items():
        moved = _carried(person, points, skin, roots, center, unit.spread(len(points)))
        if np.abs(moved).max() < 1e-3:
            continue
        if name == blink and upper:
            moved = shut - roots
        elif name == blink:
            moved[:, 1] = np.minimum(moved[:, 1], shut[:, 1] - BELOW - roots[:, 1])
        before, after = roots - center, roots + moved - center
        turn = np.arctan2(after[:, 1], after[:, 2]) - np.arctan2(before[:, 1], before[:, 2])
        stem = vertices - roots
        if name == blink and upper:
            turn = turn - DROOP
        y = np.cos(turn) * stem[..., 1] + np.sin(turn) * stem[..., 2] - stem[..., 1]
        z = np.cos(turn) * stem[..., 2] - np.sin(turn) * stem[..., 1] - stem[..., 2]
        y[ROWS:] = z[ROWS:] = 0
        shapes[name] = (moved + np.stack([np.zeros_like(y), y, z], -1)).reshape(-1, 3)
    return shapes


def _hairs(fringe: Fringe) -> NDArray[np.uint8]:
    """The alpha (24, 112) of one card."""
    chance = np.random.default_rng(17 + fringe.row)
    width, height = SIDE[0] * FINE, SIDE[1] * FINE
    canvas = np.zeros((height, width), np.float32)
    clump = np.sort(chance.random(max(3, fringe.hairs // 5)))
    t = np.linspace(0, 1, 14)
    for k in range(fringe.hairs):
        root = (k + chance.uniform(0.1, 0.9)) / fringe.hairs
        pull = clump[np.abs(clump - root).argmin()] - root
        long = chance.uniform(0.50, 0.97) * (0.75 + 0.25 * np.sin(np.pi * np.clip(root, 0, 1)))
        lean = chance.normal(0, 0.012) + 0.35 * pull
        x = (root + lean * t**1.6 + chance.normal(0, 0.006) * np.sin(t * np.pi)) * width
        y = (1 - long * t) * height
        thick = chance.uniform(0.55, 0.85) * FINE / 2
        _stroke(canvas, x, y, thick * (1 - t) ** 0.65 + 0.35, chance.uniform(0.7, 1.0))
    line = np.linspace(0, 1, height, dtype=np.float32)[:, None]
    ends = np.clip(np.minimum(np.linspace(0, 1, width), np.linspace(1, 0, width)) / 0.16, 0, 1)
    root_line = LID_LINE * np.clip((line - 0.58) / 0.24, 0, 1) ** 1.5 * np.clip((1 - line) / 0.14, 0, 1)
    canvas = np.maximum(canvas, root_line) * fringe.strength * ends.astype(np.float32)
    small = cv2.resize(canvas, SIDE, interpolation=cv2.INTER_AREA)
    return np.clip(small * 255, 0, 255).astype(np.uint8)


def _stroke(canvas: NDArray[np.float32], x: F64, y: F64, half: F64, strength: float) -> None:
    """Lay one hair along (x, y) with half width `half` (N,) over the canvas, the darker of both winning."""
    layer = np.zeros(canvas.shape, np.uint8)
    for k in range(len(x) - 1):
        ends = [(int(x[j] * 16), int(y[j] * 16)) for j in (k, k + 1)]
        cv2.line(layer, ends[0], ends[1], 255, max(1, round(2 * half[k])), cv2.LINE_AA, 4)
    np.maximum(canvas, layer.astype(np.float32) * np.float32(strength / 255), out=canvas)
