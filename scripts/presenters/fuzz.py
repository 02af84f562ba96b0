"""A beard's outline, which is part of the hair's reliefs, follows the jaw that it grows on."""

from dataclasses import replace
from typing import Final

import numpy as np
from scipy.spatial import cKDTree

from .base import smooth
from .piece import SMALLEST, Piece

NEAREST = 5
REACH: Final = (0.30, 0.12)
"""Distances from the skin, in dm, at which a relief stays still and at which it follows fully."""
RISE = 0.18
"""Over how much height, in dm, following sets in."""


def bearded(relief: Piece, skin: Piece, top: float) -> Piece:
    """`relief` with the face units of the `skin` beneath it, below the height `top` in dm."""
    distance, index = cKDTree(skin.vertices).query(relief.vertices, k=NEAREST)
    near = 1 / (distance + 0.02) ** 2
    near /= near.sum(1, keepdims=True)
    follow = smooth(*REACH, distance[:, 0]) * smooth(top, top - RISE, relief.vertices[:, 1])
    share = (near * follow[:, None])[..., None]
    shapes = {name: (delta[index] * share).sum(1) for name, delta in skin.shapes.items()}
    return replace(
        relief, shapes={name: delta for name, delta in shapes.items() if np.abs(delta).max() > SMALLEST}
    )
