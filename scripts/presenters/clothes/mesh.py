"""Garments as meshes: what the builders hand out, and grids of points made into cloth."""

from dataclasses import dataclass, replace

import numpy as np

from .form import F64, Ints, unit

RIM = 4
"""Faces round the edge of a cloth, from its outside to its inside."""


@dataclass(frozen=True, slots=True)
class Garment:
    """One piece of cloth in model units (dm).

    `vertices` (V, 3), `faces` (F, 4) wound counter-clockwise seen from outside, `uv` (V, 2) in dm along the
    cloth, warp downwards. `material` names what `cloth_material.fabric` makes. `thickness` in dm is still to
    be given inwards; it is 0 where the mesh is closed already, its edges rounded. `rim` (V,) is how far in
    dm each vertex is from an edge that is stitched, None without one.
    """

    name: str
    vertices: F64
    faces: Ints
    uv: F64
    material: str
    thickness: float = 0.0
    rim: F64 | None = None

    def mirrored(self, name: str) -> "Garment":
        """The same piece on the other side of the body."""
        return replace(self, name=name, vertices=self.vertices * (-1, 1, 1), faces=self.faces[:, ::-1])

    def raised(self, height: float) -> "Garment":
        """The same piece with its heights moved up by `height`."""
        return replace(self, vertices=self.vertices + np.array([0, height, 0]))


def sheet(
    name: str,
    grid: F64,
    material: str,
    thickness: float,
    *,
    flip: bool = False,
    ring: bool = False,
    stitched: bool = False,
) -> Garment:
    """The cloth of a grid of points (R, C, 3) on its outside, `thickness` dm thick inwards.

    `ring` closes its rows, `flip` turns its outside over, `stitched` is one along its last column.
    """
    grid = grid[:, ::-1] if flip else grid
    rows, columns = grid.shape[:2]
    index = np.arange(rows * columns).reshape(rows, columns)
    wide = np.c_[index, index[:, :1]] if ring else index
    faces = np.stack([wide[:-1, :-1], wide[1:, :-1], wide[1:, 1:], wide[:-1, 1:]], -1).reshape(-1, 4)
    across = np.linalg.norm(np.diff(grid, axis=1, prepend=grid[:, :1]), axis=-1).cumsum(1)
    along = np.linalg.norm(np.diff(grid, axis=0, prepend=grid[:1]), axis=-1).cumsum(0)
    uv = np.stack([across, -along], -1).reshape(-1, 2)
    rim = (across[:, -1:] - across).reshape(-1) if stitched else None
    points = grid.reshape(-1, 3)
    if thickness > 0:
        normal = (ring_normals(grid) if ring else normals(grid)).reshape(-1, 3)
        loops = [index[0], index[-1, ::-1]] if ring else [_border(index)]
        points, faces, uv = _thick(points, normal, faces, uv, loops, thickness)
    if rim is not None:
        rim = np.concatenate([rim, np.zeros(len(points) - len(rim))])
    return Garment(name, points, faces, uv, material, rim=rim)


def normals(grid: F64) -> F64:
    """Unit normals (R, C, 3) of a grid of points, rows downwards, columns to the right seen from outside."""
    return unit(np.cross(np.gradient(grid, axis=0), np.gradient(grid, axis=1)))


def ring_normals(rings: F64) -> F64:
    """Unit normals (R, C, 3) of closed rows of points."""
    return normals(np.concatenate([rings[:, -1:], rings, rings[:, :1]], 1))[:, 1:-1]


def _border(index: Ints) -> Ints:
    """The border of a grid of vertices, clockwise seen from outside."""
    return np.concatenate([index[0, :-1], index[:-1, -1], index[-1, :0:-1], index[:0:-1, 0]])


def _thick(
    points: F64, normal: F64, faces: Ints, uv: F64, loops: list[Ints], thickness: float
) -> tuple[F64, Ints, F64]:
    """Outside, inside and a rounded rim along every border in `loops`."""
    count = len(points)
    vertices, quads, texels = [points, points - normal * thickness], [faces, faces[:, ::-1] + count], [uv, uv]
    used = 2 * count
    for loop in loops:
        ahead = unit(np.roll(points[loop], -1, 0) - np.roll(points[loop], 1, 0))
        out = unit(np.cross(normal[loop], ahead))
        turn = np.linspace(0, np.pi, RIM + 1)[1:-1, None, None]
        middle = points[loop] - normal[loop] * (thickness / 2)
        rim = middle + (thickness / 2) * (normal[loop] * np.cos(turn) + out * np.sin(turn) * 0.8)
        ids = used + np.arange((RIM - 1) * len(loop)).reshape(RIM - 1, -1)
        lines = np.concatenate([loop[None], ids, loop[None] + count])
        nearby = np.roll(lines, -1, 1)
        quads.append(np.stack([lines[:-1], nearby[:-1], nearby[1:], lines[1:]], -1).reshape(-1, 4))
        vertices.append(rim.reshape(-1, 3))
        texels.append(np.tile(uv[loop], (RIM - 1, 1)))
        used += ids.size
    return np.concatenate(vertices), np.concatenate(quads), np.concatenate(texels)
