"""The clothes in the scene: each garment with its thickness and its cloth."""

from typing import Any

from .clothes import Garment, build
from .clothes.cloth_material import fabric
from .nodes import add_mesh
from .person import Person


def add_garments(person: Person) -> list[Any]:
    """Every piece that `person` wears."""
    return [_piece(garment) for garment in build(person)]


def _piece(garment: Garment) -> Any:
    faces = garment.faces
    thing = add_mesh(
        garment.name, garment.vertices, faces, fabric(garment.material), uv=garment.uv[faces.ravel()]
    )
    if garment.thickness > 0:
        solid = thing.modifiers.new("thickness", "SOLIDIFY")
        solid.thickness, solid.offset = garment.thickness, -1
    return thing
