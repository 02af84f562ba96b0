"""The fine relief of skin and of lips, by places of the body at rest: a texture and a plate show the same."""

from typing import Final

import numpy as np

from .base import F64, smooth
from .grain import cells, noise

PORE_DM, PORE_HALF, PORE_DEPTH = 0.0125, 0.0042, 1.0
"""How far apart pores are, half their width, in dm, and their depth by that of the finest relief."""
RELIEF: Final = ((0.0075, 0.55), (0.016, 0.75), (0.036, 0.50))
"""Sizes in dm of the relief between pores, and how high each is."""
MIRROR: Final = (-0.253, 0.293, 0.922)
"""What mirrors the key light to the viewer."""
LIP_LINE_DM, LIP_LONG = 0.011, 5.0
LIP_DARK, LIP_GLOSS, LIP_SHARP = 0.06, 18.0, 9.0
"""How far apart the lines of lips are, how much longer than wide, how much darker at most, and how lips
shine."""


def relief(at: F64) -> tuple[F64, F64]:
    """The fine relief's height at places `at` (N, 3), about -1..1, and how far each lies in a pore, 0..1."""
    away, chance = cells(at, PORE_DM, 101)
    half = PORE_HALF * (0.55 + 0.75 * chance)
    pore = np.exp(-((away / half) ** 2)) * (0.25 + 0.75 * chance)
    height = sum(share * noise(at, size, 211 + k) for k, (size, share) in enumerate(RELIEF))
    return height - PORE_DEPTH * pore, pore


def lined(color: F64, at: F64, normal: F64, lower: F64) -> F64:
    """Colours (N, 3) of lips with their fine lines, and a broken sheen on the `lower` one (N,)."""
    slim = at * (1.0, 1 / LIP_LONG, 1 / LIP_LONG)
    bent = slim + 0.004 * noise(at, 0.03, 503)[:, None] * (1.0, 0, 0)
    line = 0.7 * noise(bent, LIP_LINE_DM, 501) + 0.5 * noise(bent, LIP_LINE_DM / 2, 502)
    dark = 1 - LIP_DARK * smooth(0.0, 0.8, -line) * smooth(85.0, 130.0, color.mean(1))
    gloss = LIP_GLOSS * (0.3 + 0.7 * lower) * np.clip(normal @ np.array(MIRROR), 0, 1) ** LIP_SHARP
    gloss = gloss * np.clip(0.6 + 0.9 * line, 0, 1.6)
    return color * dark[:, None] + gloss[:, None] * (1.0, 0.93, 0.90)
