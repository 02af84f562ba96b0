"""A tailored jacket in all its pieces."""

import numpy as np
from scipy.spatial import cKDTree

from .body import CLOTH, half_body
from .cut import JacketCut
from .form import F64, Form, surface
from .lapel import collar, lapel
from .mesh import Garment, normals, sheet
from .sleeve import sleeve
from .under import Body, button


def build_jacket(form: Form, cut: JacketCut, body: Body, name: str) -> list[Garment]:
    """Every piece of the jacket of the presenter `name`, which is worn over `body`."""
    cloth = f"{name}_jacket"
    halves = {side: half_body(form, cut, side) for side in (1, -1)}
    pieces: list[Garment] = []
    for side, where in ((1, "right"), (-1, "left")):
        parts = [
            sheet(f"body_{where}", halves[side], cloth, CLOTH),
            sheet(f"lapel_{where}", lapel(form, cut, side), cloth, CLOTH, stitched=True),
            sheet(f"sleeve_{where}", sleeve(form, cut, cut.seed + side), cloth, CLOTH, ring=True),
        ]
        if side == cut.pocket_side:
            parts.append(sheet("pocket", _pocket(halves[side], cut), cloth, CLOTH))
        if side == cut.over:
            parts += [_button(halves[side], height, name) for height in cut.buttons]
        pieces += parts if side > 0 else [part.mirrored(part.name) for part in parts]
    return [*pieces, sheet("collar", collar(form, cut, body), cloth, CLOTH, stitched=True)]


def _pocket(half: F64, cut: JacketCut) -> F64:
    """The welt of the breast pocket (R, C, 3), a slanted strip on the front."""
    ground = surface(half[len(half) // 2 :], normals(half)[len(half) // 2 :])
    (x0, y0), (x1, y1), height = *cut.pocket, 0.20
    across, up = np.meshgrid(np.linspace(0, 1, 60), np.linspace(0.5, -0.5, 24))
    plan = np.stack([x0 + (x1 - x0) * across, y0 + (y1 - y0) * across + height * up], -1)
    depth = ground.points[cKDTree(ground.points[:, :2]).query(plan)[1], 2]
    points = np.concatenate([plan, depth[..., None]], -1)
    edge = np.minimum(np.minimum(across, 1 - across) * (x1 - x0), (0.5 - np.abs(up)) * height)
    return ground.lifted(points, 0.024 - 0.006 * np.exp(-(((edge - 0.03) / 0.008) ** 2)))


def _button(half: F64, height: float, name: str) -> Garment:
    front = half[len(half) // 2 :].reshape(-1, 3)
    place = front[np.hypot(front[:, 0], front[:, 1] - height).argmin()]
    normal = surface(half, normals(half)).near(place)[1]
    return button("button", place - 0.004 * normal, normal, 0.095, f"{name}_button")
