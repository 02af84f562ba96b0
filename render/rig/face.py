"""One avatar at one size, prepared to be posed and drawn: shared by every slot, changed by none."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from ..avatar import Avatar, View
from . import brows, cull, edges, folds, mouth, plate, posing, raster, seal, smooth
from .drawing import Box, Posed, Target, clear, draw_cover, draw_hair, draw_head
from .eyes import Eye
from .interior import Interior
from .mesh import Group, Mesh, blended_views, load_mesh, projected
from .motion import Motion
from .scan import Scratch, scratch
from .tensors import SKIN
from .tongue import Tongue
from .units import UNITS, parting

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

_PUCKER = UNITS.index("mouthPucker")
_MARGIN_PX = 4
"""Room around what is drawn: for its fringe, and for what is looked at beside that."""
_BEYOND_LIPS_DM: Final = 0.12
"""How far above and below the middle of the lips' gap the mouth's inside may be seen, as at the corners of a
tilted head, in model units."""
_COLLAR_WEIGHT, _SKULL_WEIGHT = 8, 250
"""Head weights of what stays with the shoulders, and of what moves with the whole head."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """A slot's own buffers.

    `pixels` (H, W, 3) uint8 RGB is the result. `ground` (H, W) is the plate as it is shifted, `steps` and
    `shown` (3, H) by how much it is to be and is. `rest`, `world`, `screen`, `normal`, `tone` (V, 3) and
    `uv` (V, 2) belong to vertices. `window` (4,) is where the head was drawn last.
    """

    pixels: U8
    ground: U32
    steps: I32
    shown: I32
    rest: F32
    world: F32
    screen: F32
    normal: F32
    tone: F32
    uv: F32
    matrices: F32
    fringe: edges.Fringe
    scratch: Scratch
    window: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sketch:
    """What one drawing needs while it lasts: `packed` (H * W,) uint32 and its z-buffer `depth` for the head,
    `layers` (2, H * W) for two views of the hair, empty between two drawings."""

    packed: U32
    depth: F32
    layers: U32


class Face:
    """Draws motions of one avatar at one size; several threads may draw at once, each on its own canvas."""

    def __init__(self, avatar: Avatar, size: tuple[int, int]) -> None:
        self.view = avatar.view(size)
        self._mesh = load_mesh(avatar, self.view)
        mesh = self._mesh
        self._interior = Interior(mesh)
        self._eyes = Eye(avatar, mesh, 0), Eye(avatar, mesh, 1)
        self._tongue = Tongue(mesh)
        self._folds = folds.load_folds(mesh)
        self._outline = edges.load_outline(mesh.rest, mesh.skin)
        self._zones = smooth.zones(mesh)
        self._field = _field(mesh, self.view)
        self._dm_px = float(mesh.lens[0]) / mesh.mouth_depth
        """Pixels of a model unit at the mouth."""
        x, y, width, height = self.view.crop
        ground = avatar.plate(size)[y : y + height, x : x + width]
        self._ground = plate.padded(ground)
        self.mask: F32 = plate.crop_mask(self.view)
        """Feathered weight (H, W) float32 of the crop against the plate."""
        self._sketches: list[Sketch] = []

    def canvas(self) -> Canvas:
        """Buffers for one slot, which show nothing yet."""
        _, _, width, height = self.view.crop
        count = len(self._mesh.rest)
        return Canvas(
            pixels=np.zeros((height, width, 3), np.uint8),
            ground=np.zeros((height, width), np.uint32),
            steps=np.zeros((3, height), np.int32),
            shown=np.full((3, height), np.iinfo(np.int32).max, np.int32),
            rest=self._mesh.rest.copy(),
            world=np.zeros((count, 3), np.float32),
            screen=np.zeros((count, 3), np.float32),
            normal=np.zeros((count, 3), np.float32),
            tone=np.zeros((count, 3), np.float32),
            uv=self._mesh.uv.copy(),
            matrices=np.zeros((posing.LEVELS, 3, 3), np.float32),
            fringe=edges.fringe(self._outline, self._mesh.skin),
            scratch=scratch(height),
            window=np.zeros(4, np.int64),
        )

    def lip_gap(self, motion: Motion, canvas: Canvas) -> float:
        """How far `motion` parts the lips in the middle, in model units (1 dm); 0 when they touch."""
        self._pose(motion, canvas, (self._mesh.body,))
        return self._interior.gap(canvas.world)

    def draw(self, motion: Motion, canvas: Canvas) -> U8:
        """The crop for `motion`: `canvas.pixels`, drawn anew."""
        sketch = self._take_sketch()
        self._draw(motion, canvas, sketch)
        self._sketches.append(sketch)
        return canvas.pixels

    def _take_sketch(self) -> Sketch:
        """A spare one, or a new one while all are in use: there are as many as threads have drawn at once."""
        try:
            return self._sketches.pop()
        except IndexError:
            _, _, width, height = self.view.crop
            pixels = height * width
            return Sketch(
                np.zeros(pixels, np.uint32), np.zeros(pixels, np.float32), np.zeros((2, pixels), np.uint32)
            )

    def _draw(self, motion: Motion, canvas: Canvas, sketch: Sketch) -> None:
        mesh = self._mesh
        views = blended_views(mesh.reliefs, float(motion.head[0]))
        groups = (mesh.body, *(relief.group for relief, _ in views))
        self._pose(motion, canvas, groups)
        box = self._box(canvas, groups)
        width = self.view.crop[2]
        clear(sketch.packed, width, box, 0)
        clear(sketch.depth, width, box, float(raster.FAR))
        target = Target(sketch.packed, sketch.depth, width, canvas.scratch)
        draw_cover(target, views, canvas.screen, canvas.uv)
        edge_pixels = draw_head(target, mesh, self._folds, self._eyes, self._posed(motion, canvas))
        smooth.smooth_zones(self._zones, canvas.screen, sketch.packed, width)
        edges.remember(sketch.packed, canvas.fringe.trail, canvas.fringe.colors, edge_pixels)
        draw_hair(target, sketch.layers, views, canvas.screen, canvas.uv, box)
        lips = int(canvas.screen[mesh.lips, 1].mean())
        seal.seal(sketch.packed, width, box, lips, self._dm_px)
        edges.mend(sketch.packed, canvas.fringe.trail, canvas.fringe.colors, edge_pixels)
        self._finish(motion, canvas, sketch.packed, box)

    def _pose(self, motion: Motion, canvas: Canvas, groups: tuple[Group, ...]) -> None:
        mesh = self._mesh
        units = self._units(motion) + mesh.release * np.float32(parting(motion.units))
        ways = mouth.lip_ways(motion.units), brows.brow_ways(motion.units)
        moved = np.concatenate([units, motion.tongue, *ways]).astype(np.float32)
        self._tongue.lay(moved, canvas.rest)
        posing.turns(motion.head, canvas.matrices)
        lag = np.array([*np.radians(motion.hair), mesh.hair_top], np.float32)
        sway = self._field.sway(motion.body, motion.torso)
        for group in groups:
            posing.pose(
                group.first, group.last, canvas.rest, group.shape_start, group.shape_vertex,
                group.shape_delta, moved, mesh.head_weight, canvas.matrices, mesh.pivot, mesh.trail, lag,
                sway, mesh.camera, mesh.lens, canvas.world, canvas.screen,
            )  # fmt: skip

    def _units(self, motion: Motion) -> F32:
        """The units (52,) of `motion` with lids that lie as a calm person's do."""
        left, right = self._eyes
        return (motion.units + left.hold(motion.units) + right.hold(motion.units)).astype(np.float32)

    def _posed(self, motion: Motion, canvas: Canvas) -> Posed:
        """What the head shows beside its shape: lit mouth, turned eyes and outline."""
        mesh, outline, fringe = self._mesh, self._outline, canvas.fringe
        inner = self._seen_inside(canvas)
        posing.normals(canvas.world, mesh.lining if inner is mesh.lining else mesh.inner, canvas.normal)
        pursed = float(motion.units[_PUCKER])
        self._interior.light(canvas.world, canvas.screen, canvas.normal, pursed, canvas.tone)
        for eye in self._eyes:
            eye.turn(motion.gaze, canvas.uv)
        units = self._units(motion)
        left, right = self._eyes
        count = edges.find_outline(canvas.screen, mesh.skin, outline.sides, fringe.facing, fringe.chosen)
        edges.grow_fringe(
            canvas.screen, outline.ends, outline.sides, outline.point, fringe.facing, fringe.chosen[:count],
            canvas.uv, fringe.normal, fringe.corners, fringe.coordinates,
        )  # fmt: skip
        return Posed(
            screen=canvas.screen,
            uv=canvas.uv,
            tone=canvas.tone,
            lights=(left.light(units, motion.gaze), right.light(units, motion.gaze)),
            inner=inner,
            pulls=folds.pulled(units),
            fringe=fringe,
            edge_count=count,
        )

    def _seen_inside(self, canvas: Canvas) -> I32:
        """The triangles (T, 3) of the mouth's inside that the lips as they are posed may show."""
        if self._interior.gap(canvas.world) <= 0:
            return self._mesh.lining
        upper, lower = canvas.screen[self._mesh.lips, 1].tolist()
        beyond = _BEYOND_LIPS_DM * self._dm_px
        return cull.within_rows(canvas.screen, self._mesh.inner, upper - beyond, lower + beyond)

    def _box(self, canvas: Canvas, groups: tuple[Group, ...]) -> Box:
        """The part of the crop that the posed vertices of `groups` can reach."""
        _, _, width, height = self.view.crop
        bounds = np.array([width, height, 0, 0], np.int64)
        for group in groups:
            posing.bound(canvas.screen, group.first, group.last, bounds)
        left, top = np.clip(bounds[:2] - _MARGIN_PX, 0, (width, height)).tolist()
        right, bottom = np.clip(bounds[2:] + _MARGIN_PX, (left, top), (width, height)).tolist()
        return left, top, right, bottom

    def _finish(self, motion: Motion, canvas: Canvas, drawn: U32, box: Box) -> None:
        """Shift the plate, and put the head `drawn` (H * W,) in `box` on it."""
        _, _, width, height = self.view.crop
        field = self._field
        field.steps(motion.body, motion.torso, canvas.steps)
        first, last = plate.shift_rows(
            self._ground.reshape(-1), self._ground.shape[1], canvas.steps, canvas.shown, field.across,
            field.side, field.bands.edges, field.bands.sides, canvas.ground,
        )  # fmt: skip
        for bare in (*_around((0, first, width, last), box), *_around(tuple(canvas.window.tolist()), box)):
            _to_rgb(canvas.ground, canvas.pixels, bare)
        packed = drawn.reshape(height, width)
        plate.lay(packed, canvas.ground, *box)
        _to_rgb(packed, canvas.pixels, box)
        canvas.window[:] = box


def _around(whole: Box, box: Box) -> tuple[Box, ...]:
    """What `whole` holds above, below, left and right of `box`."""
    left, top, right, bottom = whole
    upper = min(max(box[1], top), bottom)
    lower = min(max(box[3], upper), bottom)
    return (
        (left, top, right, upper),
        (left, lower, right, bottom),
        (left, upper, min(box[0], right), lower),
        (max(box[2], left), upper, right, lower),
    )


def _to_rgb(packed: U32, pixels: U8, box: Box) -> None:
    """Unpack a box of opaque `packed` (H, W) into `pixels` (H, W, 3)."""
    left, top, right, bottom = box
    if left < right and top < bottom:
        rgba = packed.view(np.uint8).reshape(*packed.shape, 4)[top:bottom, left:right]
        cv2.cvtColor(rgba, cv2.COLOR_RGBA2RGB, pixels[top:bottom, left:right])


def _field(mesh: Mesh, view: View) -> plate.Field:
    """How the plate of `view` moves with the collar of `mesh`."""
    screen = projected(mesh.rest, mesh.camera, mesh.lens)
    skin = mesh.part == SKIN
    collar = screen[skin & (mesh.head_weight <= _COLLAR_WEIGHT)]
    if not len(collar):
        collar = screen[skin][[screen[skin, 1].argmax()]]
    skull = screen[skin & (mesh.head_weight >= _SKULL_WEIGHT), 1]
    return plate.load_field(
        view.crop,
        (view.width, view.height),
        collar=(float(collar[:, 0].mean()), float(collar[:, 1].min())),
        dm_px=float(mesh.lens[0]) / float(collar[:, 2].mean()),
        head_px=float(np.ptp(skull)) if len(skull) else 0.0,
    )
