"""The presenters' clothes as meshes; `build` is free of Blender, `cloth_material` makes the cloth.

for garment in build(person):
    ...                           vertices, faces, uv, material name and thickness
hidden = covered(person)          which of the body's vertices no camera may see: leave their faces out
"""

import numpy as np
from numpy.typing import NDArray

from ..person import Person
from .cut import JACKETS, MARCUS_SHIRT, RUBY_TOP
from .form import fitted, skin
from .jacket import build_jacket
from .mesh import Garment
from .shirt import build_shirt
from .top import build_top
from .under import Body

__all__ = ["Garment", "build", "covered"]


def build(person: Person) -> list[Garment]:
    """Every piece that `person` wears, in the model's space."""
    name = person.cast.name
    cut = JACKETS[name]
    form = fitted(person, cut.silhouette, middle=cut.middle, ease=cut.ease, shoulder=0.07, hang=cut.hang)
    tight = fitted(person, cut.silhouette, middle=cut.middle, ease=0.0, shoulder=0.02, hang=0.05)
    body = Body(skin(person), tight)
    if name == "ruby":
        inner = build_top(body, RUBY_TOP, "ruby_top")
    else:
        inner = build_shirt(body, MARCUS_SHIRT, "marcus_shirt")
    pieces = [*inner, *build_jacket(form, cut, body, name)]
    return [piece.raised(float(person.landmarks.chin[1])) for piece in pieces]


def covered(person: Person) -> NDArray[np.bool_]:
    """Which vertices (V,) of the base mesh lie under cloth and must not be drawn.

    What stays is the head, the neck and the skin that the neckline shows, with a margin under the cloth.
    """
    points = person.rest - (0, person.landmarks.chin[1], 0)
    keys = np.array(JACKETS[person.cast.name].roll)
    edge = np.interp(points[:, 1], keys[:, 1], keys[:, 0]) + 0.12
    under = (np.abs(points[:, 0]) > edge) & (points[:, 1] < -0.45)
    shoulder = (np.abs(points[:, 0]) > 1.05) & (points[:, 1] < -0.1)
    return under | shoulder | (points[:, 1] < -1.75) | (person.arm > 0.3)
