"""The head, ears, neck and chest: a fine mesh with its zones, and the material that draws them."""

from typing import Any

import numpy as np

from .base import F64
from .clothes import covered
from .looks import Look, SkinLook
from .nodes import Shader, add_mesh, rgba, subdivided
from .person import Person
from .surface import Density
from .throat import THROATS
from .zones import masked, paint_zones

LEVEL = 3
"""Subdivisions of the base mesh: edges of about 1 mm in the face."""
EAR_RELIEF, EAR_SHADE, HOLLOW, ROUNDS = 0.55, 0.55, 0.02, 14
"""How much deeper and darker the ears' hollows are drawn, at which depth in dm they are darkest, and over how
many rings of the fine mesh they are measured."""
DEPTH = 1.9
"""How far below the chin the skin goes, in dm."""


def add_skin(person: Person, look: Look, posed: F64, hair: Density, beard: Density) -> Any:
    """The skin at the control points `posed` (V, 3), painted by where it is at rest.

    Its attribute `cut` is positive on the head and negative below the chin, where the plate begins.
    """
    marks = person.landmarks
    faces, corners = person.faces(), person.corners()
    hidden = covered(person) | (person.rest[:, 1] < marks.chin[1] - DEPTH)
    kept = ~hidden[faces].all(1)
    used, inverse = np.unique(faces[kept], return_inverse=True)
    quads, texels = inverse.reshape(-1, 4), person.base.texels[corners[kept]].reshape(-1, 2)
    rest, fine, uv = subdivided(person.rest[used], quads, texels, LEVEL)
    place = subdivided(posed[used], quads, texels, LEVEL)[0]
    texel = np.zeros((len(rest), 2))
    texel[fine.ravel()] = uv
    zones = paint_zones(person, look, rest, texel, hair(rest), beard(rest))
    normal = _normals(place, fine)
    hollow = _hollows(place, fine, normal) * masked("ears", texel, 3.0)
    throat = THROATS[look.skin.throat](marks.chin, marks.between, rest)
    depth = zones.depth + EAR_RELIEF * hollow - throat
    place = place - normal * depth[:, None]
    zones.tint[:, :3] *= 1 - EAR_SHADE * np.clip(hollow[:, None] / HOLLOW, -0.25, 1) * (0.8, 1.0, 1.05)
    cut = rest[:, 1] - (marks.chin[1] - 0.03)
    x, y, z = rest.T
    attributes = {
        "rest": np.stack([x, -z, y], 1),
        "tint": zones.tint,
        "lips": zones.lips,
        "freckles": zones.freckles,
        "vessels": zones.vessels,
        "oil": zones.oil,
        "cut": cut,
    }
    return add_mesh("skin", place, fine, _material(look.skin), attributes=attributes)


def _hollows(points: F64, quads: "np.ndarray[Any, np.dtype[np.int64]]", normal: F64) -> F64:
    """How far (V,) each point lies below what surrounds it, in dm, negative on ridges."""
    near = points
    count = np.bincount(quads.ravel(), minlength=len(points))
    for _ in range(ROUNDS):
        middle = near[quads].mean(1)
        near = np.stack(
            [
                sum(np.bincount(column, middle[:, axis], len(points)) for column in quads.T)
                / np.maximum(count, 1)
                for axis in range(3)
            ],
            1,
        )
    return ((near - points) * normal).sum(1)


def _normals(points: F64, quads: "np.ndarray[Any, np.dtype[np.int64]]") -> F64:
    corner = points[quads]
    flat = np.cross(corner[:, 2] - corner[:, 0], corner[:, 3] - corner[:, 1])
    total = np.zeros_like(points)
    for column in quads.T:
        for axis in range(3):
            total[:, axis] += np.bincount(column, flat[:, axis], len(points))
    return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12)


def _material(skin: SkinLook) -> Any:
    shader = Shader("skin")
    at = shader.attribute("rest", "Vector")
    lips = shader.attribute("lips")
    shader.set(base_color=_color(shader, skin, at, lips), subsurface_weight=0.85, subsurface_scale=0.026)
    shader.principled.inputs["Subsurface Radius"].default_value = (1.0, 0.36, 0.20)
    rough = shader.add(shader.mul(shader.noise(at, 42, 4, 0.7), 0.24), skin.roughness - 0.12)
    rough = shader.add(rough, shader.mul(shader.attribute("oil"), -0.06), shader.mul(lips, -0.10))
    shader.set(roughness=rough, specular_ior_level=0.40)
    shader.bump(_height(shader, at, lips), 0.24, 0.010)
    return shader.material


def _color(shader: Shader, skin: SkinLook, at: Any, lips: Any) -> Any:
    """The zones' tint with broad mottling, freckles, vessels and the lips' fine lines over it."""
    bare = shader.math("SUBTRACT", 1.0, lips)
    color = shader.attribute("tint", "Color")
    broad = shader.ramp(shader.noise(at, 3.0, 3), 0.42, 0.66)
    color = shader.mix(color, rgba(skin.warm), shader.mul(broad, bare, 0.26 * skin.mottle))
    grain = shader.ramp(shader.noise(at, 26, 5, 0.7), 0.40, 0.66)
    color = shader.mix(color, (0.82, 0.70, 0.66, 1.0), shader.mul(grain, bare, 0.38), "MULTIPLY")
    light = shader.ramp(shader.noise(at, 17, 4), 0.52, 0.72)
    color = shader.mix(color, (1.10, 1.07, 1.04, 1.0), shader.mul(light, 0.5), "MULTIPLY")
    dots = shader.mul(
        shader.ramp(shader.cells(at, 27), 0.20, 0.07), shader.ramp(shader.noise(at, 11, 1), 0.46, 0.62)
    )
    color = shader.mix(color, rgba(skin.spot), shader.mul(dots, shader.attribute("freckles"), 0.9))
    ridge = shader.math("ABSOLUTE", shader.add(shader.noise(at, 15, 3, 0.55), -0.5))
    vessel = shader.mul(shader.ramp(ridge, 0.020, 0.0), shader.attribute("vessels"))
    color = shader.mix(color, (0.42, 0.10, 0.09, 1.0), vessel)
    threads = shader.ramp(shader.noise(shader.stretched(at, (70, 20, 9)), 1.0, 2), 0.40, 0.66)
    return shader.mix(color, (0.80, 0.66, 0.66, 1.0), shader.mul(threads, lips, 0.55), "MULTIPLY")


def _height(shader: Shader, at: Any, lips: Any) -> Any:
    """Pores, the skin's fine net and the lips' vertical folds."""
    bare = shader.math("SUBTRACT", 1.0, lips)
    pores = shader.mul(shader.ramp(shader.cells(at, 72), 0.05, 0.45), 0.55)
    net = shader.mul(shader.cells(at, 130), 0.20)
    grain = shader.mul(shader.noise(at, 100, 5, 0.7), 0.75)
    waves = shader.mul(shader.noise(at, 15, 4), 0.9)
    folds = shader.mul(shader.noise(shader.stretched(at, (62, 15, 7)), 1.0, 3), lips, 2.0)
    return shader.add(shader.mul(shader.add(pores, net, grain, waves), bare), folds)
