"""Posing a mesh: face units, head turn, trailing hair, projection and normals, compiled once and cached."""

import numpy as np
from numba import float32, int64, njit, types
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]

LEVELS = 256
"""A head weight is one of so many steps."""

_F1, _F2, _F3 = float32[::1], float32[:, ::1], float32[:, :, ::1]
_I1, _I2, _B1 = types.int32[::1], types.int32[:, ::1], types.uint8[::1]


@njit(types.void(_F1, _F3), cache=True, nogil=True, error_model="numpy")
def turns(head: F32, matrices: F32) -> None:
    """Rotations (256, 3, 3) for each head weight, by `head` (3,) yaw, pitch, roll in degrees."""
    for k in range(LEVELS):
        share = k / (LEVELS - 1) * np.pi / 180
        yaw, pitch, roll = head[0] * share, head[1] * share, head[2] * share
        cy, sy, cp, sp, cr, sr = (
            np.cos(yaw),
            np.sin(yaw),
            np.cos(pitch),
            np.sin(pitch),
            np.cos(roll),
            np.sin(roll),
        )
        m = matrices[k]
        m[0, 0], m[0, 1], m[0, 2] = cr * cy + sr * sp * sy, sr * cp, cr * sy - sr * sp * cy
        m[1, 0], m[1, 1], m[1, 2] = cr * sp * sy - sr * cy, cr * cp, -sr * sy - cr * sp * cy
        m[2, 0], m[2, 1], m[2, 2] = -cp * sy, sp, cp * cy


@njit(
    types.void(int64, int64, _F2, _I1, _I1, _F2, _F1, _B1, _F3, _F1, _F1, _F1, _F1, _F2, _F1, _F2, _F2),
    cache=True,
    nogil=True,
    fastmath=True,
    error_model="numpy",
)
def pose(
    first: int,
    last: int,
    rest: F32,
    shape_start: I32,
    shape_vertex: I32,
    shape_delta: F32,
    units: F32,
    head_weight: NDArray[np.uint8],
    matrices: F32,
    pivot: F32,
    trail: F32,
    lag: F32,
    sway: F32,
    camera: F32,
    lens: F32,
    world: F32,
    screen: F32,
) -> None:
    """Vertices `first` to `last` of `rest` (V, 3), moved by as many of the `units` as have
    shapes here, trailing, and turned about `pivot`
    by `matrices` (256, 3, 3), one for each head weight.

    `lag` (3,) is how far the ends of the hair stay behind, yaw and roll in radians, and the height that they
    hang from; `trail` (V,) is how much of it a vertex takes. `sway` (6,) shifts the picture in pixels: to the
    right, down without head weight and with all of it, and without it further down by how far it is to the
    right of a middle, in halves, the last three numbers.
    Writes `world` (V, 3) and `screen` (V, 3): x and y in crop pixels, depth along the view. `lens` is focal
    length and principal point in crop pixels: (fx, fy, cx, cy).
    """
    for i in range(first, last):
        world[i, 0], world[i, 1], world[i, 2] = rest[i, 0], rest[i, 1], rest[i, 2]
    for k in range(min(units.shape[0], shape_start.shape[0] - 1)):
        w = units[k]
        if abs(w) > 1e-4:
            for j in range(shape_start[k], shape_start[k + 1]):
                i = shape_vertex[j]
                world[i, 0] += w * shape_delta[j, 0]
                world[i, 1] += w * shape_delta[j, 1]
                world[i, 2] += w * shape_delta[j, 2]
    for i in range(first, last):
        m = matrices[head_weight[i]]
        x, y, z = world[i, 0] - pivot[0], world[i, 1] - pivot[1], world[i, 2] - pivot[2]
        if trail[i] > 0:
            yaw, roll = trail[i] * lag[0], trail[i] * lag[1]
            x, z = x - yaw * z - roll * (y + pivot[1] - lag[2]), z + yaw * x
        a = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + pivot[0]
        b = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + pivot[1]
        c = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + pivot[2]
        world[i, 0], world[i, 1], world[i, 2] = a, b, c
        a, b, c = a - camera[0, 0], b - camera[0, 1], c - camera[0, 2]
        depth = a * camera[3, 0] + b * camera[3, 1] + c * camera[3, 2]
        right = a * camera[1, 0] + b * camera[1, 1] + c * camera[1, 2]
        up = a * camera[2, 0] + b * camera[2, 1] + c * camera[2, 2]
        own = np.float32(head_weight[i]) * np.float32(1 / 255)
        across = lens[2] + lens[0] * right / depth
        side = min(max((across - sway[4]) / sway[5], np.float32(-1.0)), np.float32(1.0))
        nod = sway[1] + (sway[2] - sway[1]) * own + sway[3] * side * (np.float32(1.0) - own)
        screen[i, 0] = across + sway[0]
        screen[i, 1] = lens[3] - lens[1] * up / depth + nod
        screen[i, 2] = depth


@njit(types.void(_F2, _I2, _F2), cache=True, nogil=True, fastmath=True)
def normals(world: F32, triangles: NDArray[np.int32], normal: F32) -> None:
    """Smooth unit normals (V, 3) of the vertices that `triangles` use; the others keep what they had."""
    for t in range(triangles.shape[0]):
        for k in range(3):
            i = triangles[t, k]
            normal[i, 0] = normal[i, 1] = normal[i, 2] = 0.0
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, uy, uz = world[b, 0] - world[a, 0], world[b, 1] - world[a, 1], world[b, 2] - world[a, 2]
        vx, vy, vz = world[c, 0] - world[a, 0], world[c, 1] - world[a, 1], world[c, 2] - world[a, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        for k in range(3):
            i = triangles[t, k]
            normal[i, 0] += nx
            normal[i, 1] += ny
            normal[i, 2] += nz
    for t in range(triangles.shape[0]):
        for k in range(3):
            i = triangles[t, k]
            x, y, z = normal[i, 0], normal[i, 1], normal[i, 2]
            scale = 1.0 / np.sqrt(x * x + y * y + z * z + 1e-12)
            normal[i, 0], normal[i, 1], normal[i, 2] = x * scale, y * scale, z * scale


@njit(types.void(_F2, int64, int64, types.int64[::1]), cache=True, nogil=True, error_model="numpy")
def bound(screen: F32, first: int, last: int, box: NDArray[np.int64]) -> None:
    """Grow `box` (4,), left, top, right, bottom, so that it holds the vertices `first` to `last`."""
    left, top, right, bottom = np.float32(box[0]), np.float32(box[1]), np.float32(box[2]), np.float32(box[3])
    for i in range(first, last):
        left, right = min(left, screen[i, 0]), max(right, screen[i, 0])
        top, bottom = min(top, screen[i, 1]), max(bottom, screen[i, 1])
    box[0], box[1], box[2], box[3] = np.floor(left), np.floor(top), np.ceil(right), np.ceil(bottom)
