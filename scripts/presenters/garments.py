"""The clothes in the scene: each garment with its thickness and its cloth."""

from typing import Any

import numpy as np

from .base import F64
from .clothes import Garment, build
from .clothes.cloth_material import fabric
from .nodes import add_mesh
from .person import Person
from .surface import unit

FLAT = ("lapel", "pocket")
"""Pieces whose threads run as they were cut; those of others run as the viewer sees them."""


def add_garments(person: Person) -> list[Any]:
    """Every piece that `person` wears."""
    return [_piece(garment) for garment in build(person)]


def outside(person: Person) -> tuple[F64, F64]:
    """Points (N, 3) all over the clothes and their outward normals."""
    pieces = build(person)
    return np.concatenate([each.vertices for each in pieces]), np.concatenate(
        [_normals(each) for each in pieces]
    )


def _normals(garment: Garment) -> F64:
    corner = garment.vertices[garment.faces]
    flat = np.cross(corner[:, 2] - corner[:, 0], corner[:, 3] - corner[:, 1])
    total = np.zeros_like(garment.vertices)
    for column in garment.faces.T:
        np.add.at(total, column, flat)
    return unit(total)


def _piece(garment: Garment) -> Any:
    faces = garment.faces
    rim = np.ones(len(garment.vertices)) if garment.rim is None else garment.rim
    uv = garment.uv if garment.name.startswith(FLAT) else garment.vertices[:, :2]
    cloth = fabric(garment.material)
    thing = add_mesh(
        garment.name, garment.vertices, faces, cloth, uv=uv[faces.ravel()], attributes={"rim": rim}
    )
    if garment.thickness > 0:
        solid = thing.modifiers.new("thickness", "SOLIDIFY")
        solid.thickness, solid.offset = garment.thickness, -1
    return thing
