"""One avatar at one size, prepared to be posed and drawn: shared by every slot, changed by none."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ...stream.easing import hermite
from ..avatar import Avatar, View
from . import posing, raster
from .layers import Layers, load_layers
from .motion import Motion
from .units import BLINK_LEFT, BLINK_RIGHT, UNIT_COUNT

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

_DELTA_SCALE = np.float32(1 / 2000)
_LEVELS = 256
_INNER_DEPTH = np.float32(0.035)
"""How far the mouth interior is pushed back so that it never pokes through the lips, in model units (1 dm)."""
_HAIR_DEPTH = np.float32(-0.02)
_LIDS_SWAP = 0.8
"""Blink weight at which the closed lids' texture has taken over."""
_EYE_SWING_PX = (5.0, 3.0)
"""Shift of the iris at full gaze, in master pixels."""
_LID_REACH = np.array([0.40, 0.34], np.float32)
"""Half width and height of what a blink changes around an eye, in model units."""
_BAND_PX, _ROW_PX = 48, 12
_BODY, _LEFT_EYE, _RIGHT_EYE, _UPPER_TEETH, _LOWER_TEETH, _TONGUE, _HAIR, _BACK = range(8)


@dataclass(frozen=True, slots=True)
class Mesh:
    """The rig in crop pixels. Triangles stand in drawing order; `inner` (I, 3) are those of the mouth interior."""

    rest: F32
    shape_start: I32
    shape_vertex: I32
    shape_delta: F32
    head_weight: U8
    pivot: F32
    camera: F32
    lens: F32
    triangles: I32
    kinds: U8
    marks: U8
    uv: F32
    uv_closed: F32
    inner: I32
    inner_vertex: NDArray[np.intp]
    color: F32
    gloss: F32
    mouth_depth: float


@dataclass(frozen=True, slots=True)
class Canvas:
    """A slot's own buffers: `pixels` (H, W, 3) uint8 RGB, `packed` (H, W) uint32, `depth` (H, W), (V, 3) arrays."""

    pixels: U8
    packed: U32
    depth: F32
    world: F32
    screen: F32
    normal: F32
    tone: F32


class Face:
    """Draws motions of one avatar at one size."""

    def __init__(self, avatar: Avatar, size: tuple[int, int]) -> None:
        self.view = avatar.view(size)
        self._mesh = _mesh(avatar, self.view)
        self.layers: Layers = load_layers(avatar, self.view, _eye_area(self._mesh, self.view))
        self._gaze_px = np.array(_EYE_SWING_PX, np.float32) * np.array(self.view.scale, np.float32)

    def canvas(self) -> Canvas:
        _, _, width, height = self.view.crop
        return _canvas(height, width, len(self._mesh.rest))

    def draw(self, motion: Motion, canvas: Canvas) -> U8:
        """The crop for `motion`: `canvas.pixels`, drawn anew."""
        mesh, layers = self._mesh, self.layers
        _pose(mesh, motion, canvas)
        posing.normals(canvas.world, mesh.inner, canvas.normal)
        _shade(mesh, canvas)
        canvas.packed[...] = layers.plate
        canvas.depth[...] = raster.FAR
        shift = np.array([-motion.gaze[0], motion.gaze[1]], np.float32) * self._gaze_px
        lids = (hermite(float(motion.units[each]) / _LIDS_SWAP) for each in (BLINK_LEFT, BLINK_RIGHT))
        blink = np.array(list(lids), np.float32)
        _draw(mesh, canvas, layers.atlas, layers.atlas_width, blink, np.stack([shift, shift]))
        cv2.cvtColor(canvas.packed.view(np.uint8).reshape(*canvas.depth.shape, 4), cv2.COLOR_RGBA2RGB, canvas.pixels)
        return canvas.pixels


def _canvas(height: int, width: int, vertices: int) -> Canvas:
    arrays = (np.zeros((vertices, 3), np.float32) for _ in range(4))
    depth = np.full((height, width), raster.FAR, np.float32)
    return Canvas(np.zeros((height, width, 3), np.uint8), np.zeros((height, width), np.uint32), depth, *arrays)


def _draw(mesh: Mesh, canvas: Canvas, atlas: U32, atlas_width: int, blink: F32, gaze: F32) -> None:
    raster.draw(
        canvas.screen,
        mesh.triangles,
        mesh.kinds,
        mesh.marks,
        mesh.uv,
        mesh.uv_closed,
        atlas,
        atlas_width,
        blink,
        gaze,
        canvas.tone,
        _BIAS,
        canvas.packed.reshape(-1),
        canvas.depth.reshape(-1),
        canvas.depth.shape[1],
    )


_BIAS = np.array([0, 0, 0, _INNER_DEPTH, _HAIR_DEPTH, 0], np.float32)


def turns(head: F32) -> F32:
    """Rotation (256, 3, 3) for each head weight, by `head` (3,) yaw, pitch, roll in degrees."""
    share = np.linspace(0, 1, _LEVELS)[:, None] * np.radians(head.astype(np.float64))
    (cy, cp, cr), (sy, sp, sr) = np.cos(share).T, np.sin(share).T
    yaw, pitch, roll = (np.zeros((_LEVELS, 3, 3)) for _ in range(3))
    yaw[:, 0, 0], yaw[:, 0, 2], yaw[:, 2, 0], yaw[:, 2, 2], yaw[:, 1, 1] = cy, sy, -sy, cy, 1
    pitch[:, 1, 1], pitch[:, 1, 2], pitch[:, 2, 1], pitch[:, 2, 2], pitch[:, 0, 0] = cp, -sp, sp, cp, 1
    roll[:, 0, 0], roll[:, 0, 1], roll[:, 1, 0], roll[:, 1, 1], roll[:, 2, 2] = cr, sr, -sr, cr, 1
    return (roll @ pitch @ yaw).astype(np.float32)


def _pose(mesh: Mesh, motion: Motion, canvas: Canvas) -> None:
    posing.pose(
        mesh.rest,
        mesh.shape_start,
        mesh.shape_vertex,
        mesh.shape_delta,
        motion.units,
        mesh.head_weight,
        turns(motion.head),
        mesh.pivot,
        mesh.camera,
        mesh.lens,
        canvas.world,
        canvas.screen,
    )


def _shade(mesh: Mesh, canvas: Canvas) -> None:
    """Colour of the mouth interior: lit from the front, darker the deeper it lies."""
    facing = np.abs(canvas.normal[mesh.inner_vertex, 2])
    deep = np.clip(1.06 - (canvas.screen[mesh.inner_vertex, 2] - mesh.mouth_depth) / 0.8, 0.12, 1)
    light = (mesh.gloss[:, 0] + mesh.gloss[:, 1] * facing) * deep
    canvas.tone[mesh.inner_vertex] = mesh.color * light[:, None]


def _mesh(avatar: Avatar, view: View) -> Mesh:
    tensors = avatar.tensors
    scale, origin = np.array(view.scale, np.float32), np.array(view.origin, np.float32)
    corner = np.array(view.crop[:2], np.float32)
    focal, *center, _ = tensors["lens"].astype(np.float32)
    middle = (np.array(center, np.float32) - origin) * scale - corner
    uv, uv_closed = (
        _texels(tensors[key].astype(np.float32), origin, scale, corner, view) for key in ("uv", "uv_closed")
    )
    triangles, parts = tensors["triangles"].astype(np.int32), tensors["parts"].astype(np.uint8)
    delta = tensors["shape_delta"].astype(np.float32) * _DELTA_SCALE
    kinds, marks = _kinds(avatar, triangles, parts)
    order = _drawing_order(avatar, triangles, kinds, uv)
    inner = triangles[kinds == raster.SHADE]
    inner_vertex = np.unique(inner)
    color, gloss = _inner_material(inner_vertex, triangles, parts)
    camera = tensors["camera"].astype(np.float32)
    return Mesh(
        rest=np.ascontiguousarray(tensors["vertices"].astype(np.float32)),
        shape_start=tensors["shape_start"].astype(np.int32),
        shape_vertex=tensors["shape_vertex"].astype(np.int32),
        shape_delta=np.ascontiguousarray(delta),
        head_weight=tensors["head_weight"].astype(np.uint8),
        pivot=tensors["pivot"].astype(np.float32),
        camera=camera,
        lens=np.array([focal * scale[0], focal * scale[1], *middle], np.float32),
        triangles=np.ascontiguousarray(triangles[order]),
        kinds=kinds[order],
        marks=marks[order],
        uv=uv,
        uv_closed=uv_closed,
        inner=np.ascontiguousarray(inner),
        inner_vertex=inner_vertex,
        color=color,
        gloss=gloss,
        mouth_depth=float((tensors["mouth"].astype(np.float32) - camera[0]) @ camera[3]),
    )


def _texels(uv: F32, origin: F32, scale: F32, corner: F32, view: View) -> F32:
    """Master pixels to texels of the crop, kept so far inside that bilinear sampling stays in the texture."""
    size = np.array(view.crop[2:], np.float32)
    return np.ascontiguousarray(np.clip((uv - origin) * scale - corner, 0.51, size + 0.45), dtype=np.float32)


def _kinds(avatar: Avatar, triangles: I32, parts: U8) -> tuple[U8, U8]:
    """How each triangle is drawn, and its side: 0 for the person's left."""
    tensors = avatar.tensors
    kinds = np.full(len(triangles), raster.SKIN, np.uint8)
    lid = _near_eyes(avatar)[triangles].any(1)
    cavity = tensors["inside"].astype(np.int32)[triangles].sum(1) > 1
    teeth_or_tongue = (parts >= _UPPER_TEETH) & (parts <= _TONGUE)
    kinds[(parts == _BODY) & lid] = raster.LID
    kinds[((parts == _BODY) & cavity) | teeth_or_tongue] = raster.SHADE
    kinds[(parts == _LEFT_EYE) | (parts == _RIGHT_EYE)] = raster.EYE
    kinds[parts == _HAIR] = raster.HAIR
    kinds[parts == _BACK] = raster.BACK
    middle = tensors["vertices"].astype(np.float32)[triangles, 0].mean(1)
    return kinds, (middle < 0).astype(np.uint8)


def _near_eyes(avatar: Avatar) -> NDArray[np.bool_]:
    """The vertices (V,) whose looks change when the lids close."""
    vertices, eyes = (avatar.tensors[key].astype(np.float32) for key in ("vertices", "eyes"))
    apart = np.abs(vertices[:, None, :2] - eyes[None, :, :2]) / _LID_REACH
    return (np.square(apart).sum(2) < 1).any(1) & (vertices[:, 2] > eyes[0, 2] - 0.3)


def _drawing_order(avatar: Avatar, triangles: I32, kinds: U8, uv: F32) -> NDArray[np.intp]:
    """Back card, then head, then hair, each a band of rows behind the one before.

    So every pixel gets its layers in that order although the whole frame is passed only once, which keeps the bands
    in the caches. A band is higher than layers slide against each other. Hair goes from back to front in its band.
    """
    camera = avatar.tensors["camera"].astype(np.float32)
    depth = ((avatar.tensors["vertices"].astype(np.float32) - camera[0]) @ camera[3])[triangles].mean(1)
    layer = np.where(kinds == raster.BACK, 0, np.where(kinds == raster.HAIR, 2, 1))
    column, row = uv[triangles].mean(1).T
    turn = row // _BAND_PX + layer
    return np.lexsort((np.where(kinds == raster.HAIR, -depth, column), row // _ROW_PX, layer, turn))


_MATERIAL = {
    _BODY: ((80, 30, 30), (0.30, 0.62)),
    _UPPER_TEETH: ((222, 210, 190), (0.66, 0.34)),
    _LOWER_TEETH: ((222, 210, 190), (0.60, 0.34)),
    _TONGUE: ((176, 88, 84), (0.40, 0.60)),
}
"""Colour and (ambient, facing) light of the mouth interior by part."""


def _inner_material(inner_vertex: NDArray[np.intp], triangles: I32, parts: U8) -> tuple[F32, F32]:
    part_of = np.zeros(int(triangles.max()) + 1, np.uint8)
    part_of[triangles] = parts[:, None]
    own = part_of[inner_vertex]
    color = np.array([_MATERIAL[int(part)][0] for part in own], np.float32)
    gloss = np.array([_MATERIAL[int(part)][1] for part in own], np.float32)
    return color, gloss


def _eye_area(mesh: Mesh, view: View) -> NDArray[np.bool_]:
    """The crop's pixels (H, W) where an eyeball is seen at rest: drawn with white eyes in a black head."""
    _, _, width, height = view.crop
    canvas = _canvas(height, width, len(mesh.rest))
    _pose(mesh, Motion(np.zeros(UNIT_COUNT, np.float32), np.zeros(3, np.float32), np.zeros(2, np.float32)), canvas)
    pages = np.full((len(raster.PAGES), height + 1, width + 1), 0xFF000000, np.uint32)
    pages[raster.PAGES.index("eyes")] = 0xFFFFFFFF
    pages[raster.PAGES.index("hair")] = 0
    none = np.zeros((2, 2), np.float32)
    _draw(mesh, canvas, pages.reshape(-1), width + 1, none[0], none)
    return (canvas.packed & 0xFF) > 0
