"""Eyeballs in the scene; `paint` is the picture that they carry."""

import math
from typing import Any

import numpy as np

from .base import F64, Ints
from .iris import paint
from .person import Person

__all__ = ["add_eyes", "ball", "paint"]

RINGS, SPOKES = 60, 96


def ball(center: F64, radius: float, gaze: F64, bulge: float = 0.0) -> tuple[F64, Ints, F64]:
    """Points, triangles and uv by corner of a ball about `center` that looks along the unit vector `gaze`.

    `bulge` is the height of the cornea as a share of the radius.
    """
    side = np.cross([0.0, 1.0, 0.0], gaze)
    side /= np.linalg.norm(side)
    frame = np.stack([side, np.cross(gaze, side), gaze])
    angle = np.linspace(0, math.radians(150), RINGS)[:, None] * np.ones(SPOKES)
    turn = np.linspace(0, 2 * math.pi, SPOKES, endpoint=False) * np.ones((RINGS, 1))
    local = np.stack([np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), np.cos(angle)], -1)
    cornea = bulge * np.clip(1 - (angle / math.radians(34)) ** 2, 0, 1)
    points = center + radius * (local * (1 + cornea[..., None])) @ frame
    texel = 0.5 + 0.5 * (angle / (math.pi / 2))[..., None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    index = np.arange(RINGS * SPOKES).reshape(RINGS, SPOKES)
    near, far = index[:-1], index[1:]
    quads = np.stack([near, far, np.roll(far, -1, 1), np.roll(near, -1, 1)], -1).reshape(-1, 4)
    return points.reshape(-1, 3), quads, texel.reshape(-1, 2)[quads.ravel()]


def add_eyes(person: Person) -> list[Any]:
    """Both eyeballs in the scene, looking at the front camera. Only this needs Blender."""
    from .nodes import Shader, add_mesh, load_picture

    shader = Shader("eye")
    image = load_picture(paint(person.cast), "eye")
    shader.set(
        base_color=shader.picture(image), roughness=0.30, subsurface_weight=0.10, subsurface_scale=0.02
    )
    shader.set(coat_weight=1.0, coat_roughness=0.015, coat_ior=1.40)
    marks, things = person.landmarks, []
    for center in marks.eyes:
        gaze = person.camera("front").position - center
        points, quads, uv = ball(center, marks.eye_radius * 0.995, gaze / np.linalg.norm(gaze), 0.06)
        things.append(add_mesh("eye", points, quads, shader.material, uv=uv))
    return things
