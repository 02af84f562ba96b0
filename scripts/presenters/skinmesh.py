"""The skin's mesh: which faces of the body can show, where they lie in the texture, how they move."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .base import F64, Ints, smooth
from .camera import VIEWS, turn
from .mouth import limit_shapes
from .person import Person
from .piece import Part, Piece, make_piece
from .unfold import islands, unfold

SIDE = 1024
"""Texels of the skin's texture, both ways."""
FOLLOW: Final = (-0.85, 0.0)
"""Heights above the chin where the neck begins to follow the head, and where it follows fully."""
NECK_HALF = 0.72
"""Half width of what may belong to the neck, in dm."""
SWING_DEG: Final = (24.0, 14.0)
"""Yaw and pitch up to which faces are kept."""
RINGS = 2
"""Rings of faces behind the lips that count as skin."""


@dataclass(frozen=True, slots=True)
class Skin:
    """`piece` has one vertex for each pair of a body vertex and a texel; `origin` (V,) is the body's vertex;
    `lining` (F, 4) are the body's quads that line the mouth."""

    piece: Piece
    origin: Ints
    lining: Ints


def skin_mesh(person: Person) -> Skin:
    points = person.limit(person.rest)
    faces, corners = person.faces(), person.corners()
    moves = head_weight(person, points)[faces].max(1) > 0
    high = points[faces][..., 1].min(1) > person.landmarks.chin[1] - 0.1
    kept = moves & (high | (np.abs(points[faces][..., 0]).max(1) < NECK_HALF))
    faces, corners = faces[kept], corners[kept]
    lining = _behind_lips(person, faces, corners)
    outer = ~lining & ~_never_shown(person, points, faces)
    outer[outer] = _faced(corners[outer], _spans(person, faces[outer]))
    quads, texels = faces[outer], corners[outer]
    spans = _spans(person, quads) * _care(person, points[quads].mean(1))[:, None]
    layout = unfold(person.base.texels, texels, spans, SIDE)
    pairs, index = np.unique(np.stack([quads.ravel(), texels.ravel()], 1), axis=0, return_inverse=True)
    index = index.reshape(quads.shape)
    origin = pairs[:, 0]
    piece = make_piece(
        Part.SKIN,
        points[origin],
        np.concatenate([index[:, (0, 1, 2)], index[:, (0, 2, 3)]]),
        uv=layout.texel[pairs[:, 1]] / SIDE,
        color=(200, 150, 130),
        head_weight=255 * head_weight(person, points[origin]),
        shapes=limit_shapes(person, origin),
    )
    return Skin(piece, origin, faces[lining])


def head_weight(person: Person, points: F64) -> F64:
    """How far points (N, 3) of the skin follow the head, 0..1: the neck less and less down to the collar."""
    chin = person.landmarks.chin[1]
    return smooth(chin + FOLLOW[0], chin + FOLLOW[1], points[:, 1])


def _behind_lips(person: Person, faces: Ints, corners: Ints) -> NDArray[np.bool_]:
    """The quads (F,) that line the mouth, but for some rings behind the lips."""
    inside = person.inside[faces].mean(1) > 0.5
    reached = np.zeros(len(person.rest), bool)
    reached[faces[~inside]] = True
    for _ in range(RINGS):
        near = inside & reached[faces].any(1)
        reached[faces[near]] = True
        inside &= ~near
    return inside


def _never_shown(person: Person, points: F64, faces: Ints) -> NDArray[np.bool_]:
    """The quads (F,) that no face unit moves, that turn their back however the head swings and that touch no
    other quads: an outline needs a surface on both sides of it."""
    moves = np.zeros(len(points))
    for unit in person.units.values():
        moves[unit.index] = np.maximum(moves[unit.index], np.abs(unit.delta).max(1))
    hidden = moves[faces].max(1) < 0.02
    eye = person.camera().position
    for posed in swung(person, points, head_weight(person, points), SWING_DEG):
        corner = posed[faces]
        normal = np.cross(corner[:, 2] - corner[:, 0], corner[:, 3] - corner[:, 1])
        hidden &= (normal * (eye - corner.mean(1))).sum(1) < 0
    return hidden & ~np.isin(faces, faces[~hidden]).any(1)


def _faced(corners: Ints, spans: F64) -> NDArray[np.bool_]:
    """The quads (F,) of islands of texels `corners` (F, 4) that some view sees, by `spans` (F, 4)."""
    faced = np.zeros(len(corners), bool)
    for island in islands(int(corners.max()) + 1, corners):
        faced |= island & (spans[island].max() > 0)
    return faced


def swung(person: Person, points: F64, weight: F64, swing_deg: tuple[float, float]) -> Iterator[F64]:
    """`points` (N, 3) for the head turned by yaw and pitch to each side and corner of `swing_deg`."""
    pivot = person.landmarks.pivot
    for yaw in (-1, 0, 1):
        for pitch in (-1, 0, 1):
            turned = np.empty_like(points)
            for step in np.unique(np.round(weight * 16)):
                share = step / 16
                mine = np.round(weight * 16) == step
                spin = turn(yaw * share * swing_deg[0], pitch * share * swing_deg[1])
                turned[mine] = pivot + (points[mine] - pivot) @ spin.T
            yield turned


def _care(person: Person, centers: F64) -> F64:
    """How finely to draw each face (F,) by its centre: the face fully, the scalp, ears and neck less."""
    marks = person.landmarks
    front = smooth(-1.0, -0.45, centers[:, 2] - marks.between[2])
    below = smooth(marks.between[1] + 0.95, marks.between[1] + 0.6, centers[:, 1])
    neck = smooth(marks.chin[1] - 0.05, marks.chin[1] - 0.2, centers[:, 1])
    return (0.40 + 0.60 * front * below) * (1 - 0.45 * neck)


def _spans(person: Person, quads: Ints) -> F64:
    """The longest of the lengths (F, 4) in master pixels that the views give to each side of each quad."""
    longest = np.zeros(quads.shape)
    for view in VIEWS:
        posed = person.limit(person.seen(view))
        camera = person.camera(view)
        corner = posed[quads]
        normal = np.cross(corner[:, 2] - corner[:, 0], corner[:, 3] - corner[:, 1])
        seen = (normal * (camera.position - corner.mean(1))).sum(1) > 0
        screen = camera.project(corner)[..., :2]
        length = np.linalg.norm(screen[:, (1, 2, 3, 0)] - screen, axis=2)
        longest = np.maximum(longest, length * seen[:, None])
    return longest
