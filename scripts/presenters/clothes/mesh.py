"""Garments as meshes: what the builders hand out, and grids of points made into one."""

from dataclasses import dataclass, replace

import numpy as np

from .form import F64, Ints


@dataclass(frozen=True, slots=True)
class Garment:
    """One piece of cloth in model units (dm).

    `vertices` (V, 3), `faces` (F, 4) wound counter-clockwise seen from outside, `uv` (V, 2) in dm along the
    cloth, warp downwards. `material` names what `cloth_material.fabric` makes; `thickness` in dm is
    to be given inwards, with a rounded rim.
    """

    name: str
    vertices: F64
    faces: Ints
    uv: F64
    material: str
    thickness: float

    def mirrored(self, name: str) -> "Garment":
        """The same piece on the other side of the body."""
        return replace(self, name=name, vertices=self.vertices * (-1, 1, 1), faces=self.faces[:, ::-1])

    def raised(self, height: float) -> "Garment":
        """The same piece with its heights moved up by `height`."""
        return replace(self, vertices=self.vertices + (0, height, 0))


def sheet(
    name: str, grid: F64, material: str, thickness: float, *, flip: bool = False, ring: bool = False
) -> Garment:
    """The garment of a grid of points (R, C, 3); `ring` closes its rows, `flip` turns its outside over."""
    rows, columns = grid.shape[:2]
    index = np.arange(rows * columns).reshape(rows, columns)
    if ring:
        index = np.c_[index, index[:, :1]]
    faces = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], -1).reshape(-1, 4)
    across = np.linalg.norm(np.diff(grid, axis=1, prepend=grid[:, :1]), axis=-1).cumsum(1)
    along = np.linalg.norm(np.diff(grid, axis=0, prepend=grid[:1]), axis=-1).cumsum(0)
    uv = np.stack([across, -along], -1).reshape(-1, 2)
    return Garment(name, grid.reshape(-1, 3), faces[:, ::-1] if flip else faces, uv, material, thickness)


def normals(grid: F64) -> F64:
    """Unit normals (R, C, 3) of a grid of points, rows downwards and columns to the right seen from outside."""
    down, across = np.gradient(grid, axis=0), np.gradient(grid, axis=1)
    flat = np.cross(down, across)
    return flat / np.maximum(np.linalg.norm(flat, axis=-1, keepdims=True), 1e-12)
