"""One avatar at one size, prepared to be posed and drawn: shared by every slot, changed by none."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ...stream.easing import hermite
from ..avatar import Avatar, View
from . import posing, raster
from .interior import Interior
from .layers import Layers, load_layers
from .mesh import Batch, Mesh, load_mesh
from .motion import Motion, still
from .units import BLINK_LEFT, BLINK_RIGHT

F32 = NDArray[np.float32]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

_LEVELS = 256
_BIAS = np.array([0, 0, 0, 0.035, -0.08, 0], np.float32)
"""Added to depths by kind, in model units (1 dm): the mouth interior never pokes through the lips."""
_LIDS_SWAP = 0.8
"""Blink weight at which the closed lids' texture has taken over."""
_EYE_SWING_PX = (5.0, 3.0)
"""Shift of the iris at full gaze, in master pixels."""
_PATCH_PIXELS = 200 * 300
"""Most pixels of a patch, at double height."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """A slot's own buffers.

    `pixels` (H, W, 3) uint8 RGB is the result; `packed` (H, W) and `fine` (P,) uint32 with their z-buffers
    `depth` and `fine_depth`; `world`, `screen`, `near`, `normal`, `tone` (V, 3) float32.
    """

    pixels: U8
    packed: U32
    depth: F32
    fine: U32
    fine_depth: F32
    world: F32
    screen: F32
    near: F32
    normal: F32
    tone: F32


@dataclass(frozen=True, slots=True)
class _Looks:
    """What drawing needs beside geometry: textures, plate, lid cross-fade (2,), shift of eyes (2, 2)."""

    atlas: U32
    atlas_width: int
    plate: U32
    blink: F32
    gaze: F32


class Face:
    """Draws motions of one avatar at one size."""

    def __init__(self, avatar: Avatar, size: tuple[int, int]) -> None:
        self.view = avatar.view(size)
        self._mesh = load_mesh(avatar, self.view)
        self._interior = Interior(self._mesh)
        self.layers: Layers = load_layers(avatar, self.view, _eye_area(self._mesh, self.view))
        self._gaze_px = np.array(_EYE_SWING_PX, np.float32) * np.array(self.view.scale, np.float32)

    def canvas(self) -> Canvas:
        return _canvas(self.view, self._mesh)

    def lip_gap(self, motion: Motion, canvas: Canvas) -> float:
        """How far `motion` parts the lips in the middle, in model units (1 dm); 0 when they touch."""
        _pose(self._mesh, motion, canvas)
        return self._interior.gap(canvas.world)

    def draw(self, motion: Motion, canvas: Canvas) -> U8:
        """The crop for `motion`: `canvas.pixels`, drawn anew."""
        mesh, layers = self._mesh, self.layers
        _pose(mesh, motion, canvas)
        posing.normals(canvas.world, mesh.inner, canvas.normal)
        self._interior.light(canvas.world, canvas.screen, canvas.normal, canvas.tone)
        shift = np.array([-motion.gaze[0], motion.gaze[1]], np.float32) * self._gaze_px
        lids = [hermite(float(motion.units[each]) / _LIDS_SWAP) for each in (BLINK_LEFT, BLINK_RIGHT)]
        looks = _Looks(
            layers.atlas,
            layers.atlas_width,
            layers.plate.reshape(-1),
            np.array(lids, np.float32),
            np.array([shift, shift], np.float32),
        )
        canvas.packed[...] = layers.plate
        canvas.depth[...] = raster.FAR
        height, width = canvas.depth.shape
        _draw(
            mesh,
            mesh.whole,
            looks,
            canvas.screen,
            canvas.tone,
            canvas.packed.reshape(-1),
            canvas.depth.reshape(-1),
            width,
        )
        for patch in mesh.patches:
            _draw_fine(mesh, patch.batch, canvas.screen[patch.rim], looks, canvas)
        cv2.cvtColor(
            canvas.packed.view(np.uint8).reshape(height, width, 4), cv2.COLOR_RGBA2RGB, canvas.pixels
        )
        return canvas.pixels


def turns(head: F32) -> F32:
    """Rotation (256, 3, 3) for each head weight, by `head` (3,) yaw, pitch, roll in degrees."""
    share = np.linspace(0, 1, _LEVELS)[:, None] * np.radians(head.astype(np.float64))
    (cy, cp, cr), (sy, sp, sr) = np.cos(share).T, np.sin(share).T
    yaw, pitch, roll = (np.zeros((_LEVELS, 3, 3)) for _ in range(3))
    yaw[:, 0, 0], yaw[:, 0, 2], yaw[:, 2, 0], yaw[:, 2, 2], yaw[:, 1, 1] = cy, sy, -sy, cy, 1
    pitch[:, 1, 1], pitch[:, 1, 2], pitch[:, 2, 1], pitch[:, 2, 2], pitch[:, 0, 0] = cp, -sp, sp, cp, 1
    roll[:, 0, 0], roll[:, 0, 1], roll[:, 1, 0], roll[:, 1, 1], roll[:, 2, 2] = cr, sr, -sr, cr, 1
    return (roll @ pitch @ yaw).astype(np.float32)


def _canvas(view: View, mesh: Mesh) -> Canvas:
    _, _, width, height = view.crop
    fine = np.zeros(_PATCH_PIXELS, np.uint32), np.zeros(_PATCH_PIXELS, np.float32)
    points = (np.zeros((len(mesh.rest), 3), np.float32) for _ in range(5))
    packed, depth = np.zeros((height, width), np.uint32), np.full((height, width), raster.FAR, np.float32)
    return Canvas(np.zeros((height, width, 3), np.uint8), packed, depth, *fine, *points)


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


def _draw(
    mesh: Mesh, batch: Batch, looks: _Looks, screen: F32, tone: F32, out: U32, depth: F32, width: int
) -> None:
    raster.draw(
        screen,
        batch.triangles,
        batch.kinds,
        batch.marks,
        mesh.uv,
        mesh.uv_closed,
        looks.atlas,
        looks.atlas_width,
        looks.blink,
        looks.gaze,
        tone,
        _BIAS,
        looks.plate,
        out,
        depth,
        width,
    )


def _draw_fine(mesh: Mesh, batch: Batch, rim: F32, looks: _Looks, canvas: Canvas) -> None:
    """Draw `batch` at double height around its posed `rim` (R, 3) and lay it, smoothed, over the
    picture."""
    high, wide = canvas.depth.shape
    left, top = np.clip(np.floor(rim[:, :2].min(0)).astype(int) - 2, 0, (wide - 1, high - 1))
    right, bottom = np.clip(np.ceil(rim[:, :2].max(0)).astype(int) + 2, 1, (wide, high))
    width = int(right - left)
    height = min(int(bottom - top), _PATCH_PIXELS // (2 * width))
    size = 2 * width * height
    fine, depth = canvas.fine[:size], canvas.fine_depth[:size]
    fine[...] = 0
    depth[...] = raster.FAR
    np.multiply(
        canvas.screen - np.array([left, top, 0], np.float32), np.array([1, 2, 1], np.float32), canvas.near
    )
    _draw(mesh, batch, looks, canvas.near, canvas.tone, fine, depth, width)
    raster.lay(fine, width, canvas.packed.reshape(-1), wide, int(left), int(top))


def _eye_area(mesh: Mesh, view: View) -> NDArray[np.bool_]:
    """The crop's pixels (H, W) where an eyeball is seen at rest: drawn with white eyes in a black head."""
    canvas = _canvas(view, mesh)
    _pose(
        mesh,
        still(),
        canvas,
    )
    height, width = canvas.depth.shape
    pages = np.full((len(raster.PAGES), height + 1, width + 1), 0xFF000000, np.uint32)
    pages[raster.PAGES.index("eyes")] = 0xFFFFFFFF
    none = np.zeros((2, 2), np.float32)
    looks = _Looks(pages.reshape(-1), width + 1, canvas.packed.reshape(-1), none[0], none)
    for patch in mesh.patches:
        out, depth = canvas.packed.reshape(-1), canvas.depth.reshape(-1)
        _draw(mesh, patch.batch, looks, canvas.screen, canvas.tone, out, depth, width)
    return (canvas.packed & 0xFF) > 0
