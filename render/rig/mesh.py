"""The rig of one avatar in the pixels of one view: what to draw, in which order and how."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...stream.errors import AvatarError
from ..avatar import Avatar, View
from . import raster
from .units import UNITS

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
Bools = NDArray[np.bool_]

_DELTA_SCALE = np.float32(1 / 2000)
BODY, LEFT_EYE, RIGHT_EYE, UPPER_TEETH, LOWER_TEETH, TONGUE, HAIR, BACK = range(8)
"""Parts of an avatar's mesh, as its `parts` tensor numbers them."""
_LID_REACH = np.array([0.40, 0.34], np.float32)
"""Half width and height of what a blink changes around an eye, in model units (1 dm)."""
_EYE_PATCH, _MOUTH_PATCH = np.array([0.19, 0.12], np.float32), np.array([0.37, 0.17], np.float32)
"""Half width and height of the areas that are drawn at double height."""
_PATCH_FILL, _PATCH_CORE = 1.5, 0.8
"""Of such an area: what fills the box around it, and what the first pass can leave out."""
_BAND_PX, _ROW_PX = 48, 12


@dataclass(frozen=True, slots=True)
class Batch:
    """Triangles in drawing order: `triangles` (T, 3), `kinds` (T,) and `marks` (T,) for `raster.draw`."""

    triangles: I32
    kinds: U8
    marks: U8


@dataclass(frozen=True, slots=True)
class Patch:
    """An area drawn once more at double height; `rim` (R,) are the vertices that span it."""

    batch: Batch
    rim: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Mesh:
    """Everything that posing and drawing need, V vertices.

    `inner` (I, 3) are the triangles of the mouth interior, `part` (V,) the part of each vertex, `lips` (2,)
    one vertex of the upper and one of the lower lip's edge, `mouth_depth` where the mouth lies along the
    view.
    """

    rest: F32
    shape_start: I32
    shape_vertex: I32
    shape_delta: F32
    head_weight: U8
    pivot: F32
    camera: F32
    lens: F32
    uv: F32
    uv_closed: F32
    whole: Batch
    patches: tuple[Patch, ...]
    inner: I32
    part: U8
    lips: NDArray[np.intp]
    mouth_depth: float


def load_mesh(avatar: Avatar, view: View) -> Mesh:
    tensors = avatar.tensors
    scale, origin = np.array(view.scale, np.float32), np.array(view.origin, np.float32)
    corner = np.array(view.crop[:2], np.float32)
    focal, *center, _ = tensors["lens"].astype(np.float32)
    middle = (np.array(center, np.float32) - origin) * scale - corner
    uv, uv_closed = (
        _texels(tensors[key].astype(np.float32), origin, scale, corner, view) for key in ("uv", "uv_closed")
    )
    batch, part = _batch(avatar, uv)
    patches, spared = _patches(avatar, batch)
    camera = tensors["camera"].astype(np.float32)
    return Mesh(
        rest=np.ascontiguousarray(tensors["vertices"].astype(np.float32)),
        shape_start=tensors["shape_start"].astype(np.int32),
        shape_vertex=tensors["shape_vertex"].astype(np.int32),
        shape_delta=np.ascontiguousarray(tensors["shape_delta"].astype(np.float32) * _DELTA_SCALE),
        head_weight=tensors["head_weight"].astype(np.uint8),
        pivot=tensors["pivot"].astype(np.float32),
        camera=camera,
        lens=np.array([focal * scale[0], focal * scale[1], *middle], np.float32),
        uv=uv,
        uv_closed=uv_closed,
        whole=_chosen(batch, ~spared),
        patches=patches,
        inner=_chosen(batch, batch.kinds == raster.SHADE).triangles,
        part=part,
        lips=_lip_edges(avatar, part),
        mouth_depth=float((tensors["mouth"].astype(np.float32) - camera[0]) @ camera[3]),
    )


def _texels(uv: F32, origin: F32, scale: F32, corner: F32, view: View) -> F32:
    """Master pixels to texels of the crop, kept so far inside that bilinear sampling stays in the texture."""
    size = np.array(view.crop[2:], np.float32)
    return np.ascontiguousarray(np.clip((uv - origin) * scale - corner, 0.51, size + 0.45), dtype=np.float32)


def _chosen(batch: Batch, keep: Bools) -> Batch:
    return Batch(np.ascontiguousarray(batch.triangles[keep]), batch.kinds[keep], batch.marks[keep])


def _batch(avatar: Avatar, uv: F32) -> tuple[Batch, U8]:
    """All triangles in drawing order, and the part of each vertex."""
    tensors = avatar.tensors
    triangles, parts = tensors["triangles"].astype(np.int32), tensors["parts"].astype(np.uint8)
    vertices = tensors["vertices"].astype(np.float32)
    kinds = _kinds(avatar, triangles, parts)
    side = (vertices[triangles, 0].mean(1) < 0).astype(np.uint8)
    part = np.zeros(len(vertices), np.uint8)
    part[triangles] = parts[:, None]
    order = _drawing_order(avatar, triangles, kinds, uv)
    return Batch(np.ascontiguousarray(triangles[order]), kinds[order], side[order]), part


def _kinds(avatar: Avatar, triangles: I32, parts: U8) -> U8:
    cavity = avatar.tensors["inside"].astype(np.int32)[triangles].sum(1) > 1
    lid = _around_eyes(avatar, _LID_REACH)[triangles].any(1)
    kinds = np.full(len(triangles), raster.SKIN, np.uint8)
    kinds[(parts == BODY) & lid] = raster.LID
    kinds[((parts == BODY) & cavity) | ((parts >= UPPER_TEETH) & (parts <= TONGUE))] = raster.SHADE
    kinds[(parts == LEFT_EYE) | (parts == RIGHT_EYE)] = raster.EYE
    kinds[parts == HAIR] = raster.HAIR
    kinds[parts == BACK] = raster.BACK
    return kinds


def _around(avatar: Avatar, center: F32, reach: F32) -> Bools:
    """The vertices (V,) of the face within an ellipse around `center` (3,)."""
    vertices = avatar.tensors["vertices"].astype(np.float32)
    near = np.square((vertices[:, :2] - center[:2]) / reach).sum(1) < 1
    return near & (vertices[:, 2] > center[2] - 0.3)


def _around_eyes(avatar: Avatar, reach: F32) -> Bools:
    left, right = avatar.tensors["eyes"].astype(np.float32)
    return _around(avatar, left, reach) | _around(avatar, right, reach)


def _drawing_order(avatar: Avatar, triangles: I32, kinds: U8, uv: F32) -> NDArray[np.intp]:
    """Head, then hair, then the card behind them, each a band of rows behind the one before.

    So every pixel gets its layers in that order although the frame is passed only once, which keeps the bands
    in the caches. A band is higher than layers slide against each other. Hair goes from back to front in its
    band.
    """
    camera = avatar.tensors["camera"].astype(np.float32)
    depth = ((avatar.tensors["vertices"].astype(np.float32) - camera[0]) @ camera[3])[triangles].mean(1)
    layer = np.where(kinds == raster.BACK, 2, np.where(kinds == raster.HAIR, 1, 0))
    column, row = uv[triangles].mean(1).T
    turn = row // _BAND_PX + layer
    return np.lexsort((np.where(kinds == raster.HAIR, -depth, column), row // _ROW_PX, layer, turn))


def _patches(avatar: Avatar, batch: Batch) -> tuple[tuple[Patch, ...], Bools]:
    """Mouth and eyes, and which triangles (T,) need no drawing outside of them."""
    left, right = avatar.tensors["eyes"].astype(np.float32)
    areas = (
        (avatar.tensors["mouth"].astype(np.float32), _MOUTH_PATCH),
        (left, _EYE_PATCH),
        (right, _EYE_PATCH),
    )
    inner = spared = batch.kinds == raster.SHADE
    solid = batch.kinds <= raster.SHADE
    patches: list[Patch] = []
    for center, reach in areas:
        near = _around(avatar, center, reach)
        own = solid & _around(avatar, center, reach * _PATCH_FILL)[batch.triangles].any(1)
        patches.append(Patch(_chosen(batch, own | (inner & (reach is _MOUTH_PATCH))), np.flatnonzero(near)))
        spared = spared | (solid & _around(avatar, center, reach * _PATCH_CORE)[batch.triangles].all(1))
    return tuple(patches), spared


def _lip_edges(avatar: Avatar, part: U8) -> NDArray[np.intp]:
    """The middle vertices of the upper and the lower lip where they touch at rest."""
    vertices, mouth = (avatar.tensors[key].astype(np.float32) for key in ("vertices", "mouth"))
    drop = -_shape(avatar, "jawOpen")[:, 1]
    middle = (np.abs(vertices[:, 0]) < 0.01) & (part == BODY) & (vertices[:, 2] > mouth[2] - 0.1)
    near = middle & (np.abs(vertices[:, 1] - mouth[1]) < 0.15)
    upper, lower = np.flatnonzero(near & (drop < 0.05)), np.flatnonzero(near & (drop > 0.2))
    if not len(upper) or not len(lower):
        raise AvatarError(
            f"avatar {avatar.name} has no lips where its mouth is said to be; pack the avatar again"
        )
    return np.array([upper[vertices[upper, 1].argmin()], lower[vertices[lower, 1].argmax()]])


def _shape(avatar: Avatar, unit: str) -> F32:
    """The displacement (V, 3) of one face unit, in model units."""
    tensors = avatar.tensors
    first, last = tensors["shape_start"].astype(np.int64)[UNITS.index(unit) :][:2]
    moved = np.zeros((len(tensors["vertices"]), 3), np.float32)
    moved[tensors["shape_vertex"][first:last].astype(np.int64)] = (
        tensors["shape_delta"][first:last].astype(np.float32) * _DELTA_SCALE
    )
    return moved
