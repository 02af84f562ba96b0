"""The order in which a posed head is drawn: hair that hides it, skin, mouth, eyes, outline, lashes, hair in
front, hair behind."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from . import cull, edges, folds, raster
from .eyes import Eye, draw_eye
from .folds import Fold
from .mesh import Mesh, Relief
from .scan import Scratch
from .textures import Texture

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]
Box = tuple[int, int, int, int]

_INNER_BIAS: Final = 0.035
"""Added to depths in model units (1 dm), so that the mouth's interior never pokes through the lips."""
_HAIR_BIAS, _LASH_BIAS, _FOLD_BIAS = -0.1, -0.05, -0.01
_HAIR_SOFT = 0.06
"""Hair fades over this depth where it dips into the skin, in model units."""


@dataclass(frozen=True, slots=True)
class Target:
    """A picture (H * width,) uint32 with its z-buffer, and the tables to draw with."""

    out: U32
    depth: F32
    width: int
    scratch: Scratch

    def solid(self, screen: F32, triangles: I32, uv: F32, texture: Texture, bias: float = 0.0) -> None:
        raster.draw_solid(
            screen, triangles, uv, texture.texels, texture.stride, bias, self.out, self.depth, self.width,
            self.scratch.spans, self.scratch.depths,
        )  # fmt: skip

    def layer(self, screen: F32, triangles: I32, uv: F32, texture: Texture, bias: float, soft: float) -> None:
        raster.draw_layer(
            screen, triangles, uv, texture.texels, texture.stride, bias, soft, self.out, self.depth,
            self.width, self.scratch.spans, self.scratch.depths,
        )  # fmt: skip

    def under(self, screen: F32, triangles: I32, uv: F32, texture: Texture, above: U32) -> None:
        raster.draw_under(
            screen, triangles, uv, texture.texels, texture.stride, above, self.out, self.width,
            self.scratch.spans, self.scratch.depths,
        )  # fmt: skip

    def toned(self, screen: F32, triangles: I32, tone: F32, bias: float) -> None:
        raster.draw_toned(
            screen, triangles, tone, bias, self.out, self.depth, self.width,
            self.scratch.spans, self.scratch.depths,
        )  # fmt: skip

    def eye(self, screen: F32, eye: Eye, uv: F32, shade: F32, light: F32, texture: Texture) -> None:
        draw_eye(
            screen, eye.triangles, uv, eye.place, shade, light, texture.texels, texture.stride,
            self.out, self.depth, self.width, self.scratch.spans, self.scratch.depths,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Posed:
    """A mesh in one pose: `screen` (V, 3), `uv` (V, 2) with the eyes turned, `tone` (V, 3) of the mouth, and
    those of its triangles `inner` (T, 3) that may be seen; `pulls` and `lights` of both folds and eyes,
    `fringe` with `edge_count` edges of the outline."""

    screen: F32
    uv: F32
    tone: F32
    inner: I32
    pulls: tuple[float, float]
    lights: tuple[F32, F32]
    fringe: edges.Fringe
    edge_count: int


def draw_head(
    target: Target, mesh: Mesh, creases: tuple[Fold, Fold], eyes: tuple[Eye, Eye], posed: Posed
) -> int:
    """Skin with its folds, mouth and eyes, the outline over them, and the lashes. Returns the outline's
    number of pixels."""
    target.solid(posed.screen, mesh.skin, posed.uv, mesh.skin_texture)
    for crease, pull in zip(creases, posed.pulls, strict=True):
        shade = folds.shade(pull)
        if shade is not None:
            target.layer(posed.screen, crease.triangles, crease.uv, shade, _FOLD_BIAS, 0.0)
    target.toned(posed.screen, posed.inner, posed.tone, _INNER_BIAS)
    for eye, light in zip(eyes, posed.lights, strict=True):
        target.eye(posed.screen, eye, posed.uv, mesh.shade, light, mesh.eye_texture)
    fringe, texture = posed.fringe, mesh.skin_texture
    count = edges.draw_fringe(
        fringe.corners, fringe.triangles[: 2 * posed.edge_count], fringe.coordinates, texture.texels,
        texture.stride, target.out, target.depth, target.width, target.scratch.spans, target.scratch.depths,
        fringe.trail, fringe.colors,
    )  # fmt: skip
    target.layer(posed.screen, mesh.lash, posed.uv, mesh.lash_texture, _LASH_BIAS, 0.0)
    return count


def draw_hair(
    target: Target, layers: U32, views: tuple[tuple[Relief, float], ...], screen: F32, uv: F32, box: Box
) -> None:
    """Hair in front of a drawn head and behind it, as one view or as two that are cross-faded by way of
    `layers` (2, H * width), which are empty before and after."""
    if len(views) == 1:
        relief, _ = views[0]
        target.layer(screen, relief.wisps, uv, relief.hair, _HAIR_BIAS, _HAIR_SOFT)
        tiles = cull.open_tiles(target.out, target.width, *box)
        behind = cull.under_tiles(screen, relief.behind, tiles)
        target.under(screen, behind, uv, relief.back, target.out)
        return
    share = round(256 * views[1][1])
    own = [replace(target, out=layer) for layer in layers]
    for each, (relief, _) in zip(own, views, strict=True):
        each.layer(screen, relief.solid, uv, relief.hair, _HAIR_BIAS, _HAIR_SOFT)
        each.layer(screen, relief.wisps, uv, relief.hair, _HAIR_BIAS, _HAIR_SOFT)
    raster.merge(layers[0], layers[1], share, True, target.out, target.width, *box)
    tiles = cull.open_tiles(target.out, target.width, *box)
    for each, (relief, _) in zip(own, views, strict=True):
        behind = cull.under_tiles(screen, relief.behind, tiles)
        each.under(screen, behind, uv, relief.back, target.out)
    raster.merge(layers[0], layers[1], share, False, target.out, target.width, *box)


def draw_cover(target: Target, views: tuple[tuple[Relief, float], ...], screen: F32, uv: F32) -> None:
    """The hair that hides all behind it, drawn before the head when a single view shows it."""
    if len(views) == 1:
        relief, _ = views[0]
        target.solid(screen, relief.solid, uv, relief.hair, _HAIR_BIAS)


def clear(flat: U32 | F32, width: int, box: Box, value: float) -> None:
    """Fill a box of a flat picture."""
    left, top, right, bottom = box
    flat.reshape(-1, width)[top:bottom, left:right] = value
