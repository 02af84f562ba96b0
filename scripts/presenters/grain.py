"""Patterns all over space by seed: scattered cells and soft noise, the same for whatever lies in them."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

F64 = NDArray[np.float64]


@njit
def _chance(x: int, y: int, z: int, seed: int) -> float:
    """A number of 0..1 that belongs to a lattice point."""
    value = (x * 374761393 + y * 668265263 + z * 2147483647 + seed * 1274126177) & 0xFFFFFFFF
    value = ((value ^ (value >> 13)) * 1274126177) & 0xFFFFFFFF
    value = ((value ^ (value >> 16)) * 2246822519) & 0xFFFFFFFF
    return float((value ^ (value >> 15)) & 0xFFFFFF) / 16777216.0


@njit
def _cells(points: F64, spacing: float, seed: int, distance: F64, chance: F64) -> None:
    for i in range(points.shape[0]):
        px, py, pz = points[i, 0] / spacing, points[i, 1] / spacing, points[i, 2] / spacing
        cx, cy, cz = int(np.floor(px)), int(np.floor(py)), int(np.floor(pz))
        best = 1e9
        for x in range(cx - 1, cx + 2):
            for y in range(cy - 1, cy + 2):
                for z in range(cz - 1, cz + 2):
                    dx = x + _chance(x, y, z, seed) - px
                    dy = y + _chance(x, y, z, seed + 1) - py
                    dz = z + _chance(x, y, z, seed + 2) - pz
                    away = dx * dx + dy * dy + dz * dz
                    if away < best:
                        best = away
                        chance[i] = _chance(x, y, z, seed + 3)
        distance[i] = np.sqrt(best) * spacing


@njit
def _noise(points: F64, spacing: float, seed: int, value: F64) -> None:
    for i in range(points.shape[0]):
        px, py, pz = points[i, 0] / spacing, points[i, 1] / spacing, points[i, 2] / spacing
        cx, cy, cz = int(np.floor(px)), int(np.floor(py)), int(np.floor(pz))
        fx, fy, fz = px - cx, py - cy, pz - cz
        fx, fy, fz = fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy), fz * fz * (3 - 2 * fz)
        total = 0.0
        for x in range(2):
            for y in range(2):
                for z in range(2):
                    share = (fx if x else 1 - fx) * (fy if y else 1 - fy) * (fz if z else 1 - fz)
                    total += share * _chance(cx + x, cy + y, cz + z, seed)
        value[i] = 2 * total - 1


def cells(points: F64, spacing: float, seed: int) -> tuple[F64, F64]:
    """How far each of `points` (N, 3) is from the nearest of dots scattered about `spacing` apart, and a
    number of 0..1 that belongs to the dot."""
    distance, chance = np.zeros(len(points)), np.zeros(len(points))
    _cells(np.ascontiguousarray(points, np.float64), spacing, seed, distance, chance)
    return distance, chance


def noise(points: F64, spacing: float, seed: int) -> F64:
    """A soft number of -1..1 at each of `points` (N, 3) that changes over about `spacing`."""
    value = np.zeros(len(points))
    _noise(np.ascontiguousarray(points, np.float64), spacing, seed, value)
    return value
