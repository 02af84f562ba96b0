"""Parts of a presenter's mesh, and how they are joined to one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .base import F64, Ints

U8 = NDArray[np.uint8]
SMALLEST: Final = 1 / 2000
"""A shape's step in dm; what moves less does not move."""


class Part(IntEnum):
    """Ways of drawing, as the avatar's `parts` tensor numbers them."""

    SKIN = 0
    LEFT_EYE = 1
    RIGHT_EYE = 2
    UPPER_TEETH = 3
    LOWER_TEETH = 4
    TONGUE = 5
    CAVITY = 6
    LASH = 7
    HAIR_FRONT = 8
    HAIR_LEFT = 9
    HAIR_RIGHT = 10
    BACK_FRONT = 11
    BACK_LEFT = 12
    BACK_RIGHT = 13


@dataclass(frozen=True, slots=True)
class Piece:
    """Triangles (T, 3) of one part over `vertices` (V, 3) in dm.

    `uv` (V, 2) are 0..1 of the part's texture, rows downwards; `color` (V, 3) sRGB without light; `shade`
    (V,) baked light and `head_weight` (V,) how far a vertex follows the head, 255 = full; `shapes`
    displacements (V, 3) by face unit.
    """

    part: Part
    vertices: F64
    triangles: Ints
    uv: F64
    color: U8
    shade: U8
    head_weight: U8
    shapes: Mapping[str, F64] = field(default_factory=dict)

    def only(self, keep: NDArray[np.bool_]) -> "Piece":
        """The piece with the triangles `keep` (T,) and the vertices that they use."""
        used = np.unique(self.triangles[keep])
        place = np.zeros(len(self.vertices), np.int64)
        place[used] = np.arange(len(used))
        return replace(
            self,
            vertices=self.vertices[used],
            triangles=place[self.triangles[keep]],
            uv=self.uv[used],
            color=self.color[used],
            shade=self.shade[used],
            head_weight=self.head_weight[used],
            shapes={name: delta[used] for name, delta in self.shapes.items()},
        )


def make_piece(
    part: Part,
    vertices: F64,
    triangles: Ints,
    *,
    uv: F64 | None = None,
    color: tuple[int, int, int] | F64 = (128, 128, 128),
    shade: float | F64 = 255.0,
    head_weight: float | F64 = 255.0,
    shapes: Mapping[str, F64] | None = None,
) -> Piece:
    """A piece; colours, light and weights may be single values and are rounded."""
    count = len(vertices)
    moved = {name: delta for name, delta in (shapes or {}).items() if np.abs(delta).max(initial=0) > SMALLEST}
    return Piece(
        part=part,
        vertices=vertices,
        triangles=triangles.astype(np.int64),
        uv=np.zeros((count, 2)) if uv is None else uv,
        color=_bytes(np.broadcast_to(np.asarray(color, np.float64), (count, 3))),
        shade=_bytes(np.broadcast_to(np.asarray(shade, np.float64), (count,))),
        head_weight=_bytes(np.broadcast_to(np.asarray(head_weight, np.float64), (count,))),
        shapes=moved,
    )


def join(pieces: Sequence[Piece], units: Sequence[str]) -> dict[str, NDArray[np.generic]]:
    """The tensors of all pieces in their order; shapes as sparse displacements in steps of 1/2000 dm.

    Raises ValueError at 65536 vertices or more.
    """
    starts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    if starts[-1] >= 1 << 16:
        raise ValueError(f"{starts[-1]} vertices are too many for 16-bit triangles; make the reliefs coarser")
    chosen: list[Ints] = []
    deltas: list[NDArray[np.int16]] = []
    for unit in units:
        full = np.concatenate([piece.shapes.get(unit, np.zeros_like(piece.vertices)) for piece in pieces])
        steps = np.round(full / SMALLEST).astype(np.int16)
        index = np.flatnonzero(steps.any(1))
        chosen.append(index)
        deltas.append(steps[index])
    triangles = [piece.triangles + start for piece, start in zip(pieces, starts[:-1], strict=True)]
    parts = [np.full(len(piece.triangles), piece.part, np.uint8) for piece in pieces]
    return {
        "vertices": np.concatenate([piece.vertices for piece in pieces]).astype(np.float32),
        "uv": np.concatenate([piece.uv for piece in pieces]).astype(np.float32),
        "triangles": np.concatenate(triangles).astype(np.uint16),
        "parts": np.concatenate(parts),
        "color": np.concatenate([piece.color for piece in pieces]),
        "shade": np.concatenate([piece.shade for piece in pieces]),
        "head_weight": np.concatenate([piece.head_weight for piece in pieces]),
        "shape_start": np.cumsum([0, *(len(index) for index in chosen)]).astype(np.int32),
        "shape_vertex": np.concatenate(chosen).astype(np.uint16),
        "shape_delta": np.concatenate(deltas),
    }


def merged(pieces: Sequence[Piece]) -> Piece:
    """Pieces of one part as one."""
    starts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    names = {name for piece in pieces for name in piece.shapes}
    return Piece(
        part=pieces[0].part,
        vertices=np.concatenate([piece.vertices for piece in pieces]),
        triangles=np.concatenate([p.triangles + start for p, start in zip(pieces, starts[:-1], strict=True)]),
        uv=np.concatenate([piece.uv for piece in pieces]),
        color=np.concatenate([piece.color for piece in pieces]),
        shade=np.concatenate([piece.shade for piece in pieces]),
        head_weight=np.concatenate([piece.head_weight for piece in pieces]),
        shapes={
            name: np.concatenate([p.shapes.get(name, np.zeros_like(p.vertices)) for p in pieces])
            for name in sorted(names)
        },
    )


def grid(rows: int, columns: int, *, closed: bool = False) -> Ints:
    """Triangles of a grid of vertices numbered row by row; `closed` joins the last column to the first.

    They face the viewer when columns go to the right and rows go down.
    """
    index = np.arange(rows * columns).reshape(rows, columns)
    if closed:
        index = np.concatenate([index, index[:, :1]], 1)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def _bytes(values: F64) -> U8:
    return np.clip(np.round(values), 0, 255).astype(np.uint8)
