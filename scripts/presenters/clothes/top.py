"""A soft top with a hemmed round neckline."""

import numpy as np

from .cut import TopCut
from .folds import TOP, drawn, uneven, varied
from .form import curve
from .mesh import Garment, normals, sheet
from .under import Body, mirror, panel, spread, yoke

CLOTH = 0.012
HEM = 0.09
"""Width of the neckline's hem in dm."""


def build_top(body: Body, cut: TopCut, material: str) -> list[Garment]:
    inner, outer = (mirror(curve(keys, 90)) for keys in (cut.neckline, cut.outer))
    plan = panel(inner, outer, 140)
    away = np.linalg.norm(plan - inner, axis=-1)
    hem = 0.010 * np.clip((HEM - away) / 0.012, 0, 1) - 0.006 * np.exp(-(((away - HEM) / 0.012) ** 2))
    sides = [drawn(varied(TOP, seed), sign * plan[..., 0], plan[..., 1]) for seed, sign in ((3, 1), (4, -1))]
    soft = (sides[0] + sides[1]) * np.clip((away - HEM) / 0.2, 0, 1)
    grid = body.laid(plan, spread(inner, plan, 0.7), 0.02 + hem + soft)
    grid = body.skin.cleared(grid + normals(grid) * uneven(grid, 5, 0.006)[..., None], CLOTH + 0.016)
    strap = sheet("top_strap_right", yoke(body, cut.yoke, 0.25, 0.014), material, CLOTH)
    return [sheet("top", grid, material, CLOTH), strap, strap.mirrored("top_strap_left")]
