"""The cameras that see the head from five sides of one static scene."""

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

MASTER = (1600, 1920)
"""Width and height in pixels of the frame that every view renders and every size is cut from."""
CENTER = (800.0, 576.0)
"""The master frame's principal point in pixels."""
FOCAL_PX = 3095.0
"""An 85 mm lens on a sensor whose 36 mm are 1311 pixels of the master frame."""
RAISE = 0.42
"""How far the front camera stands above what it looks at, in dm."""

VIEWS: Final = MappingProxyType(
    {
        "front": (0.0, 0.0),
        "left": (-22.0, 0.0),
        "right": (22.0, 0.0),
        "low": (0.0, -20.0),
        "open": (0.0, 0.0),
    }
)
"""Yaw and pitch in degrees that the head would have to turn to look so to the front camera.

At "left" the face looks to the viewer's left, so the camera stands to the viewer's right; at "low" the face
looks up, so the camera stands below.
"""


@dataclass(frozen=True, slots=True)
class Camera:
    """A pinhole: `position` and the unit vectors `right`, `up`, `forward` (3,) in model units (dm), `focal`
    and the principal point `center` in pixels of a picture of `size` (width, height), rows downwards."""

    position: F64
    right: F64
    up: F64
    forward: F64
    focal: float = FOCAL_PX
    center: tuple[float, float] = CENTER
    size: tuple[int, int] = MASTER

    def project(self, points: F64) -> F64:
        """Column, row (pixel edges) and depth along the view of `points` (..., 3)."""
        ray = points - self.position
        depth = ray @ self.forward
        column = self.center[0] + self.focal * (ray @ self.right) / depth
        row = self.center[1] - self.focal * (ray @ self.up) / depth
        return np.stack([column, row, depth], -1)

    def unproject(self, pixels: F64, depth: F64) -> F64:
        """The points (..., 3) seen at `pixels` (..., 2) at `depth` (...) along the view."""
        across = (pixels[..., 0] - self.center[0]) / self.focal
        upwards = (self.center[1] - pixels[..., 1]) / self.focal
        ray = self.forward + across[..., None] * self.right + upwards[..., None] * self.up
        return self.position + depth[..., None] * ray

    def scaled(self, scale: float) -> "Camera":
        """The same camera with a picture of `scale` times the size."""
        (cx, cy), (width, height) = self.center, self.size
        size = (round(width * scale), round(height * scale))
        center = (cx * scale, cy * scale)
        return Camera(self.position, self.right, self.up, self.forward, self.focal * scale, center, size)

    def orbited(self, yaw_deg: float, pitch_deg: float, pivot: F64) -> "Camera":
        """The camera that sees a still head as this one sees it turned by yaw, then pitch, about `pivot`."""
        back = turn(yaw_deg, pitch_deg).T
        position = pivot + back @ (self.position - pivot)
        axes = (back @ self.right, back @ self.up, back @ self.forward)
        return Camera(position, *axes, self.focal, self.center, self.size)


def front_camera(target: F64, distance: float) -> Camera:
    """The camera `distance` dm in front of `target` (3,) and a little above, looking at it."""
    position = target + np.array([0, RAISE, distance])
    forward = (target - position) / np.linalg.norm(target - position)
    right = np.cross(forward, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    return Camera(position, right, np.cross(right, forward), forward)


def turn(yaw_deg: float, pitch_deg: float) -> F64:
    """Rotation (3, 3) by yaw (the nose to the viewer's right), then pitch (the nose down)."""
    yaw, pitch = math.radians(yaw_deg), math.radians(pitch_deg)
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_x = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    return about_x @ about_y
