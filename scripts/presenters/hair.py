"""Scalp hair: where it grows, and the strands in the scene."""

from types import MappingProxyType
from typing import Any, Final

import numpy as np
from scipy.spatial import cKDTree

from .base import F64, smooth
from .bob import grow_bob
from .cropped import grow_cropped
from .looks import HairLook
from .nodes import add_strands, hair_material
from .person import Person
from .surface import Density, Surface
from .zones import masked

GROWERS: Final = MappingProxyType({"bob": grow_bob, "cropped": grow_cropped})
HAIRLINES: Final = MappingProxyType(
    {
        "bob": (
            (0, 0.35, 0.75, 1.0, 1.2, 1.45, 1.7, 2.1, 3.2),
            (0.61, 0.60, 0.48, 0.26, 0.02, 0.06, -0.2, -0.55, -0.72),
        ),
        "cropped": (
            (0, 0.20, 0.42, 0.60, 0.76, 0.88, 1.00, 1.16, 1.26, 1.5, 1.75, 2.1, 3.2),
            (0.54, 0.57, 0.66, 0.64, 0.48, 0.24, -0.18, -0.30, 0.02, 0.08, -0.20, -0.46, -0.62),
        ),
    }
)
"""Height of the hairline over the eyes in dm by the angle in radians from the face round to the back."""
THINNING: Final = MappingProxyType(
    {"bob": ((0.0,), (0.13,)), "cropped": ((0, 0.5, 0.8, 1.0, 1.2), (0.18, 0.20, 0.18, 0.16, 0.13))}
)
"""Over how much height in dm, by the same angle, hair becomes dense."""


def scalp(person: Person, style: str) -> Density:
    """Where scalp hair grows: 0 below the hairline, 1 from about 1 cm above it."""
    angles, heights = HAIRLINES[style]
    thinning = THINNING[style]
    middle = person.landmarks.between + np.array([0, 0.35, -0.95])
    eyes = person.landmarks.between[1]
    ears = cKDTree(person.limit(person.rest)[_ears(person)])

    def density(at: F64) -> F64:
        x, y, z = at.T
        angle = np.arctan2(np.abs(x), z - middle[2])
        uneven = 0.020 * np.sin(9 * x + 3) + 0.014 * np.sin(23 * x + 11 * z) + 0.008 * np.sin(61 * x - 37 * y)
        high = y - np.interp(angle, angles, heights) - eyes + uneven
        above = np.clip(high / np.interp(angle, *thinning) + 0.1, 0, 1)
        return above * smooth(0.012, 0.04, ears.query(at)[0])

    return density


def _ears(person: Person) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which vertices (V,) are the ears'."""
    texel = np.zeros((len(person.rest), 2))
    texel[person.faces()] = person.base.texels[person.corners()]
    on_body = np.isin(np.arange(len(texel)), person.members("body"))
    return on_body & (masked("ears", texel, 1.0) > 0.25)


def add_hair(surface: Surface, look: HairLook) -> list[Any]:
    """The strands of the scalp at rest."""
    rng = np.random.default_rng(7)
    paths, width, tone = GROWERS[look.style](surface, scalp(surface.person, look.style), look.strands, rng)
    material = hair_material("hair", look.dark, look.light, look.roughness, tips=look.tips)
    return [add_strands("hair", paths, width * look.radius, material, tone**look.bias)]
