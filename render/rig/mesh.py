"""The rig of one avatar in the pixels of one view: what to draw, in which order and how."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.easing import hermite
from ...stream.errors import AvatarError
from ..avatar import Avatar, View
from .brows import brow_shapes
from .lining import lined
from .mouth import fitted, lip_shapes, tongue_shapes
from .tensors import BACK, CAVITY, HAIR, INTERIOR, LASH, LEFT_EYE, RIGHT_EYE, SKIN, TEXTURE
from .textures import Texture, load_texture
from .units import UNIT_COUNT, UNITS

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
Bools = NDArray[np.bool_]

DELTA_SCALE: Final = np.float32(1 / 2000)
_BODY_GROUP = 0
_LONG_HAIR, _TRAIL_POWER = 0.4, 1.4
"""How far hair behind the head hangs below the mouth to trail, and how its share of the lag grows downwards:
a beard, however long, does not."""
_LEAST_DM = 2e-4
"""What moves by less stays, in model units (1 dm)."""
_BAND_PX = 24
_AVERTED = -0.5
"""Cosine to the viewer below which a part of the mouth's interior never comes to face it."""
_TURN_FROM, _TURN_TO = 0.47, 0.79
"""Between these shares of the way from the middle view of the hair to another, the two are cross-faded."""


@dataclass(frozen=True, slots=True)
class Group:
    """Vertices `first` to `last`, which are posed together, and the shapes that move them: face units, then
    the ways of tongue, lips and brows."""

    first: int
    last: int
    shape_start: I32
    shape_vertex: I32
    shape_delta: F32


@dataclass(frozen=True, slots=True)
class Relief:
    """The hair as one camera saw it: `hair` in front of the head, of which `solid` hides what is behind it,
    `wisps` not, and `back` behind it, triangles (T, 3). `yaw` in degrees."""

    yaw: float
    group: Group
    hair: Texture
    back: Texture
    solid: I32
    wisps: I32
    behind: I32


@dataclass(frozen=True, slots=True)
class Mesh:
    """Everything that posing and drawing need, V vertices.

    `uv` (V, 2) in texels less a half of the part's texture, `raw_uv` (V, 2) in 0..1. `skin`, `eyes` (left and
    right), `inner`, of which `lining` is all that shut lips could show, and `lash` are triangles (T, 3).
    `trail` (V,) is how much a vertex takes of the hair's lag, which hangs from height `hair_top`. `lips` (2,)
    is one vertex of the upper and one of the lower lip's edge, `release` (52,) what is added to the units as
    they part, `mouth_depth` where the mouth lies along the view.
    """

    rest: F32
    head_weight: U8
    color: F32
    shade: F32
    trail: F32
    hair_top: float
    uv: F32
    raw_uv: F32
    part: U8
    pivot: F32
    mouth: F32
    eyes_at: F32
    eye_radius: float
    camera: F32
    lens: F32
    body: Group
    reliefs: tuple[Relief, ...]
    skin: I32
    eyes: tuple[I32, I32]
    inner: I32
    lining: I32
    lash: I32
    skin_texture: Texture
    eye_texture: Texture
    lash_texture: Texture
    lips: NDArray[np.intp]
    release: F32
    mouth_depth: float


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The avatar's tensors with vertices ordered by group, of `part` (V,) each; `bounds` (8,) where each
    group begins."""

    vertices: F32
    part: U8
    uv: F32
    triangles: I32
    parts: U8
    place: NDArray[np.intp]
    order: NDArray[np.intp]
    bounds: NDArray[np.intp]
    screen: F32


def load_mesh(avatar: Avatar, view: View) -> Mesh:
    """Raises AvatarError when the mouth is not where the avatar says."""
    tensors = avatar.tensors
    camera = tensors["camera"].astype(np.float32)
    lens = _lens(avatar, view)
    own = _sorted(avatar, camera, lens)
    count = len(own.vertices)
    uv = np.zeros((count, 2), np.float32)
    painted: dict[int, Texture] = {}
    for part in TEXTURE:
        chosen = own.triangles[own.parts == part]
        source = LEFT_EYE if part == RIGHT_EYE else part
        if source not in painted:
            painted[source] = load_texture(avatar, source, own.uv, own.screen, chosen)
        used = np.unique(chosen)
        uv[used] = painted[source].coordinates(own.uv[used])
    part = own.part
    mouth = tensors["mouth"].astype(np.float32)
    painted[SKIN] = lined(painted[SKIN], uv, _chosen(own, SKIN), own.vertices, own.screen, mouth)
    trail, hair_top = _trail(avatar, own, part)
    lining, inner = (_facing(own, _chosen(own, *parts), camera) for parts in ((CAVITY,), INTERIOR))
    return Mesh(
        rest=own.vertices,
        head_weight=np.ascontiguousarray(tensors["head_weight"].astype(np.uint8)[own.order]),
        color=tensors["color"].astype(np.float32)[own.order],
        shade=tensors["shade"].astype(np.float32)[own.order] / np.float32(255),
        trail=trail,
        hair_top=hair_top,
        uv=uv,
        raw_uv=own.uv,
        part=part,
        pivot=tensors["pivot"].astype(np.float32),
        mouth=mouth,
        eyes_at=tensors["eyes"].astype(np.float32),
        eye_radius=float(tensors["eye_radius"].astype(np.float32)[0]),
        camera=camera,
        lens=lens,
        body=_group(avatar, own, _BODY_GROUP),
        reliefs=_reliefs(avatar, own, painted, uv),
        skin=_chosen(own, SKIN),
        eyes=(_chosen(own, LEFT_EYE), _chosen(own, RIGHT_EYE)),
        inner=inner,
        lining=lining,
        lash=_chosen(own, LASH),
        skin_texture=painted[SKIN],
        eye_texture=painted[LEFT_EYE],
        lash_texture=painted[LASH],
        lips=_lip_edges(avatar, own, part),
        release=tensors["release"].astype(np.float32),
        mouth_depth=float((mouth - camera[0]) @ camera[3]),
    )


def shape(avatar: Avatar, unit: str) -> F32:
    """The displacement (V, 3) of one face unit, in model units and the avatar's own order of vertices."""
    tensors = avatar.tensors
    first, last = tensors["shape_start"].astype(np.int64)[UNITS.index(unit) :][:2]
    moved = np.zeros((len(tensors["vertices"]), 3), np.float32)
    moved[tensors["shape_vertex"][first:last].astype(np.int64)] = (
        tensors["shape_delta"][first:last].astype(np.float32) * DELTA_SCALE
    )
    return moved


def _lens(avatar: Avatar, view: View) -> F32:
    scale, origin = np.array(view.scale, np.float32), np.array(view.origin, np.float32)
    focal, *center, _ = avatar.tensors["lens"].astype(np.float32)
    middle = (np.array(center, np.float32) - origin) * scale - np.array(view.crop[:2], np.float32)
    return np.array([focal * scale[0], focal * scale[1], *middle], np.float32)


def _sorted(avatar: Avatar, camera: F32, lens: F32) -> _Sorted:
    tensors = avatar.tensors
    triangles, parts = tensors["triangles"].astype(np.int32), tensors["parts"].astype(np.uint8)
    group = np.full(len(tensors["vertices"]), len(HAIR) + 1, np.int64)
    for k, pair in reversed([*enumerate(zip(HAIR, BACK, strict=True), 1)]):
        group[np.unique(triangles[np.isin(parts, pair)])] = k
    group[np.unique(triangles[~np.isin(parts, (*HAIR, *BACK))])] = _BODY_GROUP
    order = np.argsort(group, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    part = np.zeros(len(order), np.uint8)
    part[place[triangles]] = parts[:, None]
    part[place[triangles[parts == SKIN]]] = SKIN
    vertices = tensors["vertices"].astype(np.float32)[order]
    vertices = np.ascontiguousarray(fitted(vertices, part, tensors["mouth"].astype(np.float32)))
    return _Sorted(
        vertices=vertices,
        part=part,
        uv=np.ascontiguousarray(tensors["uv"].astype(np.float32)[order]),
        triangles=place[triangles].astype(np.int32),
        parts=parts,
        place=place,
        order=order,
        bounds=np.searchsorted(group[order], np.arange(len(HAIR) + 2)),
        screen=projected(vertices, camera, lens),
    )


def projected(points: F32, camera: F32, lens: F32) -> F32:
    """`points` (N, 3) on the screen: x and y in crop pixels, depth along the view, (N, 3)."""
    ray = points - camera[0]
    depth = ray @ camera[3]
    across = lens[2] + lens[0] * (ray @ camera[1]) / depth
    return np.stack([across, lens[3] - lens[1] * (ray @ camera[2]) / depth, depth], 1).astype(np.float32)


def _group(avatar: Avatar, own: _Sorted, number: int) -> Group:
    first, last = int(own.bounds[number]), int(own.bounds[number + 1])
    tensors = avatar.tensors
    start = tensors["shape_start"].astype(np.int64)
    vertex = own.place[tensors["shape_vertex"].astype(np.int64)]
    unit = np.repeat(np.arange(UNIT_COUNT), np.diff(start))
    mine = np.flatnonzero((vertex >= first) & (vertex < last))
    mine = mine[np.lexsort((vertex[mine], unit[mine]))]
    start = np.searchsorted(unit[mine], np.arange(UNIT_COUNT + 1))
    delta = tensors["shape_delta"].astype(np.float32)[mine] * DELTA_SCALE
    group = Group(first, last, start.astype(np.int32), vertex[mine].astype(np.int32), delta)
    if number != _BODY_GROUP:
        return group
    drop = -shape(avatar, "jawOpen")[own.order, 1]
    group = _further(group, *tongue_shapes(own.vertices, own.part))
    group = _further(group, *lip_shapes(own.vertices, own.part, tensors["mouth"].astype(np.float32), drop))
    return _further(group, *brow_shapes(own.vertices, own.part, tensors["eyes"].astype(np.float32)))


def _further(group: Group, vertex: NDArray[np.intp], shapes: F32) -> Group:
    """`group` with more `shapes` (K, N, 3), which move its vertices `vertex` (N,)."""
    moved = np.abs(shapes).max(2) > _LEAST_DM
    ends = group.shape_start[-1] + moved.sum(1).cumsum()
    return replace(
        group,
        shape_start=np.concatenate([group.shape_start, ends]).astype(np.int32),
        shape_vertex=np.concatenate([group.shape_vertex, *(vertex[own] for own in moved)]).astype(np.int32),
        shape_delta=np.ascontiguousarray(np.concatenate([group.shape_delta, shapes[moved]])),
    )


def _chosen(own: _Sorted, *parts: int) -> I32:
    """The triangles of `parts` in bands of rows, which keeps neighbours in the caches."""
    mine = own.triangles[np.isin(own.parts, parts)]
    column, row, _ = own.screen[mine].mean(1).T if len(mine) else np.zeros((3, 0), np.float32)
    return np.ascontiguousarray(mine[np.lexsort((column, row // _BAND_PX))])


def _facing(own: _Sorted, triangles: I32, camera: F32) -> I32:
    """`triangles` without those that face away from the viewer however the head turns and the jaw drops."""
    a, b, c = (own.vertices[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.maximum(np.linalg.norm(normal, axis=1), 1e-9)
    return np.ascontiguousarray(triangles[(normal @ -camera[3]) / length > _AVERTED])


def _reliefs(avatar: Avatar, own: _Sorted, painted: dict[int, Texture], uv: F32) -> tuple[Relief, ...]:
    reliefs: list[Relief] = []
    for k, (hair, back) in enumerate(zip(HAIR, BACK, strict=True)):
        front, rear = _chosen(own, hair), _chosen(own, back)
        least, most = alpha_range(painted[hair], uv, front)
        _, most_behind = alpha_range(painted[back], uv, rear)
        solid = (least == 255) & (most == 255)
        wisps = front[~solid & (most > 0)]
        depth = own.screen[wisps, 2].mean(1) if len(wisps) else np.zeros(0)
        reliefs.append(
            Relief(
                yaw=float(avatar.tensors["view_yaw"].astype(np.float32)[k]),
                group=_group(avatar, own, k + 1),
                hair=painted[hair],
                back=painted[back],
                solid=np.ascontiguousarray(front[solid]),
                wisps=np.ascontiguousarray(wisps[np.argsort(-depth, kind="stable")]),
                behind=np.ascontiguousarray(rear[most_behind > 0]),
            )
        )
    return tuple(reliefs)


def blended_views(reliefs: tuple[Relief, ...], yaw: float) -> tuple[tuple[Relief, float], ...]:
    """The relief or the two reliefs that show the hair at `yaw` degrees, with their shares, which add up to
    1."""
    near, far = sorted(reliefs, key=lambda relief: abs(relief.yaw - yaw))[:2]
    way = (yaw - near.yaw) / (far.yaw - near.yaw)
    inner, outer = (near, far) if abs(near.yaw) < abs(far.yaw) else (far, near)
    along = way if inner is near else 1 - way
    share = hermite((along - _TURN_FROM) / (_TURN_TO - _TURN_FROM))
    if share <= 0:
        return ((inner, 1.0),)
    if share >= 1:
        return ((outer, 1.0),)
    return (inner, 1.0 - share), (outer, share)


def alpha_range(texture: Texture, uv: F32, triangles: I32) -> tuple[U8, U8]:
    """Least and greatest alpha (T,) in the boxes around `triangles` (T, 3) in a texture."""
    width, height = texture.size
    corner = uv[triangles]
    low = np.floor(corner.min(1)).astype(np.int64) if len(triangles) else np.zeros((0, 2), np.int64)
    high = np.ceil(corner.max(1)).astype(np.int64) + 1 if len(triangles) else low
    boxes = [
        texture.alpha[y0 : min(y1, height), x0 : min(x1, width)]
        for (x0, y0), (x1, y1) in zip(low, high, strict=True)
    ]
    least = np.array([box.min(initial=255) for box in boxes], np.uint8)
    return least, np.array([box.max(initial=0) for box in boxes], np.uint8)


def _trail(avatar: Avatar, own: _Sorted, part: U8) -> tuple[F32, float]:
    """How much of the hair's lag each vertex (V,) takes, and the height that the hair hangs from."""
    top = float(avatar.tensors["eyes"].astype(np.float32)[:, 1].mean())
    chin = float(avatar.tensors["mouth"].astype(np.float32)[1])
    height = own.vertices[:, 1]
    hair = np.isin(part, (*HAIR, *BACK))
    if float(height[np.isin(part, BACK)].min(initial=chin)) > chin - _LONG_HAIR:
        return np.zeros(len(height), np.float32), top
    end = float(height[np.isin(part, HAIR)].min(initial=chin))
    share = np.clip((top - height) / (top - end), 0, 1) ** _TRAIL_POWER
    return np.where(hair, share, 0).astype(np.float32), top


def _lip_edges(avatar: Avatar, own: _Sorted, part: U8) -> NDArray[np.intp]:
    """The middle vertices of the upper and the lower lip where they touch at rest."""
    vertices, mouth = own.vertices, avatar.tensors["mouth"].astype(np.float32)
    drop = -shape(avatar, "jawOpen")[own.order, 1]
    middle = (np.abs(vertices[:, 0]) < 0.01) & (part == SKIN) & (vertices[:, 2] > mouth[2] - 0.1)
    near = middle & (np.abs(vertices[:, 1] - mouth[1]) < 0.15)
    upper, lower = np.flatnonzero(near & (drop < 0.05)), np.flatnonzero(near & (drop > 0.2))
    if not len(upper) or not len(lower):
        raise AvatarError(
            f"avatar {avatar.name} has no lips where its mouth is said to be; pack the avatar again"
        )
    return np.array([upper[vertices[upper, 1].argmin()], lower[vertices[lower, 1].argmax()]])
