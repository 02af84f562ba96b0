"""A soft top with a hemmed round neckline."""

import numpy as np

from .cut import TopCut
from .form import curve
from .mesh import Garment, sheet
from .under import Body, mirror, panel, spread

CLOTH = 0.012
HEM = 0.09
"""Width of the neckline's hem in dm."""


def build_top(body: Body, cut: TopCut, material: str) -> list[Garment]:
    inner, outer = (mirror(curve(keys, 90)) for keys in (cut.neckline, cut.outer))
    plan = panel(inner, outer, 140)
    away = np.linalg.norm(plan - inner, axis=-1)
    hem = 0.010 * np.clip((HEM - away) / 0.012, 0, 1) - 0.006 * np.exp(-(((away - HEM) / 0.012) ** 2))
    grid = body.laid(plan, spread(inner, plan, 0.7), 0.02 + hem)
    return [sheet("top", grid, material, CLOTH)]
