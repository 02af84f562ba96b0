"""Hair's three views agree on where its outline lies, so that two cross-fade without a second outline.

A view's relief may move along the rays of its own camera without looking different from there. So the
outlines of the side views are moved to where the front view's is when they fade in, and the front view's to
within theirs when it fades out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .base import F64, smooth
from .camera import MASTER, Camera
from .piece import Part, Piece
from .relief import Relief
from .trace import trace

SOLID: Final = 128
ROWS_PX: Final = 8
"""Distance between the rows that are compared, in master pixels."""
FADES: Final = (0.29, 0.65)
"""At these shares of the way from the front view to another that one has faded in, and the front begins to
fade out, see `render/rig/mesh.py` and `merge` in `render/rig/raster.py`."""
FARTHEST: Final = 0.7
"""How far an outline is moved at most, in dm."""
TRIED: Final = 141
RUN_PX: Final = 48
"""Over how far along the outline its moves are smoothed, in master pixels."""
INWARD: Final = 0.15
"""Over which share of the width the move fades out inwards."""
FADE_DM: Final = 0.2
"""Over which height moving sets in above the lowest point that is moved."""
ROUNDS: Final = 2
NEAR_PX: Final = 4
"""How far around the skin hair stays before it, in master pixels."""
SINK_DM: Final = 0.04
"""How far it may lie behind the skin all the same, in dm: drawing shows it still."""
HAIR: Final = (Part.HAIR_FRONT, Part.HAIR_LEFT, Part.HAIR_RIGHT)
STEEP: Final = 8.0
"""Columns by rows at which an outline is too flat, as on the crown, to be moved any more."""


@dataclass(frozen=True, slots=True)
class View:
    """What one camera sees of the hair: the `camera`, its `yaw` in degrees as in VIEWS, and the reliefs in
    front of the head and behind it."""

    camera: Camera
    yaw: float
    reliefs: dict[Part, Relief]


@dataclass(frozen=True, slots=True)
class Edge:
    """One side's outline in a view: `pixels` (N, 2) from the top downwards, `depth` (N,) along the view and
    `width` (N,) of the hair there in pixels."""

    pixels: F64
    depth: F64
    width: F64


def snapped(
    views: Sequence[View], pivot: F64, skin: Piece | None = None, lowest: float = -np.inf
) -> dict[Part, Relief]:
    """The reliefs of `views`, of which the first is the front, moved so that their outlines coincide, above
    the height `lowest` in dm, when the head turns about `pivot` (3,). Hair in front stays before the `skin`.
    """
    floors = [_floor(view.camera, skin) for view in views]
    moved = {part: relief for view in views for part, relief in view.reliefs.items()}
    for side in (0, 1):
        edges = [outline(view, side) for view in views]
        moves = _moves(views, edges, pivot, side)
        for view, edge, move, floor in zip(views, edges, moves, floors, strict=True):
            height = view.camera.unproject(edge.pixels, edge.depth)[:, 1]
            share = np.clip((height - lowest) / FADE_DM, 0, 1)
            for part in view.reliefs:
                old = moved[part].piece
                piece = _bent(old, view.camera, edge, move * share, side)
                if part in HAIR:
                    piece = _before(piece, old, view.camera, floor)
                moved[part] = replace(moved[part], piece=piece)
    return moved


def _moves(views: Sequence[View], edges: Sequence[Edge], pivot: F64, side: int) -> list[F64]:
    """How much deeper each view's outline (N,) on one side has to lie."""
    front = views[0].camera
    moves = [np.zeros(len(edge.depth)) for edge in edges]
    for _ in range(ROUNDS):
        excess = np.zeros((len(edges[0].depth), TRIED))
        for k in range(1, len(views)):
            early, late = _between(views[0], views[k], pivot)
            column, row = _columns(views[k].camera, edges[k], early)
            target = _path(front, edges[0], moves[0], early)
            moves[k] = _settled(views[k].camera, edges[k], np.abs(column - _at(target, row)))
            column, row = _columns(front, edges[0], late)
            target = _path(views[k].camera, edges[k], moves[k], late)
            outward = (column - _at(target, row)) * (-1, 1)[side]
            excess = np.maximum(excess, np.maximum(outward, 0))
        moves[0] = _settled(front, edges[0], excess)
    return moves


def outline(view: View, side: int) -> Edge:
    """The left (`side` 0) or right (1) outline of all hair of a view, at its depth."""
    height, width = view.camera.size[1], view.camera.size[0]
    cover, near = np.zeros((height, width), np.uint8), np.full((height, width), np.inf)
    for relief in view.reliefs.values():
        screen = view.camera.project(relief.piece.vertices)
        box = _box(screen, relief.piece.uv)
        alpha, depth = _laid(relief, box, (width, height)), _depths(screen, (width, height))
        near = np.where((alpha > SOLID) & (cover <= SOLID), depth, near)
        cover = np.maximum(cover, alpha)
    step = max(1, round(ROWS_PX * width / MASTER[0]))
    rows = np.arange(step // 2, height, step)
    solid = cover[rows] > SOLID
    rows, solid = rows[solid.any(1)], solid[solid.any(1)]
    first, last = solid.argmax(1), width - 1 - solid[:, ::-1].argmax(1)
    column = np.where(side == 0, first, last)
    inside = column + (3, -3)[side]
    depth = near[rows, np.clip(inside, first, last)]
    known = np.isfinite(depth)
    depth = np.interp(rows, rows[known], depth[known])
    pixels = np.stack([column + 0.5, rows + 0.5], 1)
    return Edge(pixels, depth, (last - first + 1).astype(float))


def _between(front: View, other: View, pivot: F64) -> tuple[Camera, Camera]:
    """The cameras that see the head turned so far that `other` has faded in, and that the front fades out."""
    early, late = (front.camera.orbited(other.yaw * share, 0, pivot) for share in FADES)
    size = front.camera.size
    return replace(early, size=size), replace(late, size=size)


def _columns(own: Camera, edge: Edge, seen_by: Camera) -> tuple[F64, F64]:
    """Columns and rows (N, TRIED) of an outline at each depth tried, in another camera."""
    depth = edge.depth[:, None] + np.linspace(-FARTHEST, FARTHEST, TRIED)
    points = own.unproject(np.broadcast_to(edge.pixels[:, None], (*depth.shape, 2)), depth)
    column, row, _ = np.moveaxis(seen_by.project(points), -1, 0)
    return column, row


def _path(own: Camera, edge: Edge, move: F64, seen_by: Camera) -> F64:
    """An outline (N, 2) as another camera sees it."""
    return seen_by.project(own.unproject(edge.pixels, edge.depth + move))[:, :2]


def _at(path: F64, rows: F64) -> F64:
    """Columns of a `path` (N, 2) at `rows`."""
    order = np.argsort(path[:, 1], kind="stable")
    return np.interp(rows, path[order, 1], path[order, 0])


def _settled(camera: Camera, edge: Edge, miss: F64) -> F64:
    """The smallest moves (N,) that leave the least `miss` (N, TRIED) in pixels, smoothed; none where the
    outline is flat."""
    tried = np.linspace(-FARTHEST, FARTHEST, TRIED)
    best = tried[np.argmin(miss + np.abs(tried) * 0.5, axis=1)]
    slope = np.abs(np.gradient(edge.pixels[:, 0], edge.pixels[:, 1]))
    upright = smooth(
        STEEP, STEEP / 2, cv2.blur(slope[:, None], (1, 3), borderType=cv2.BORDER_REPLICATE)[:, 0]
    )
    scale = camera.size[0] / MASTER[0]
    sigma = RUN_PX * scale / max(1, round(ROWS_PX * scale))
    weighted, total = (
        cv2.GaussianBlur(values[:, None], (1, 2 * round(2 * sigma) + 1), 0, sigmaY=sigma)[:, 0]
        for values in (best * upright, upright)
    )
    return weighted / np.maximum(total, 1e-6) * smooth(0.0, 0.3, upright)


def _bent(piece: Piece, camera: Camera, edge: Edge, move: F64, side: int) -> Piece:
    """`piece` with its `side` moved along the rays of its camera, less and less inwards."""
    column, row, depth = camera.project(piece.vertices).T
    at = np.interp(row, edge.pixels[:, 1], edge.pixels[:, 0])
    width = np.interp(row, edge.pixels[:, 1], edge.width)
    inner = (column - at) * (1, -1)[side]
    share = smooth(INWARD, 0.0, inner / width)
    far = depth + np.interp(row, edge.pixels[:, 1], move) * share
    return replace(piece, vertices=camera.unproject(np.stack([column, row], 1), far))


def _before(piece: Piece, old: Piece, camera: Camera, floor: F64) -> Piece:
    """`piece` nowhere deeper than the `floor` (H, W) where `old`, which it was, is not."""
    column, row, depth = camera.project(piece.vertices).T
    x, y = (
        np.clip(at.astype(int), 0, size - 1) for at, size in ((column, camera.size[0]), (row, camera.size[1]))
    )
    far = np.minimum(depth, np.maximum(floor[y, x] + SINK_DM, camera.project(old.vertices)[:, 2]))
    return replace(piece, vertices=camera.unproject(np.stack([column, row], 1), far))


def _floor(camera: Camera, skin: Piece | None) -> F64:
    """The depth (H, W) of the `skin` and close around it, inf elsewhere."""
    floor = np.full(camera.size[::-1], np.inf)
    if skin is None:
        return floor
    screen = camera.project(skin.vertices)
    hits = trace(screen, skin.triangles, camera.size, cull=True)
    floor[hits.seen] = hits.blend(skin.triangles, screen[:, 2:])[:, 0]
    side = 2 * round(NEAR_PX * camera.size[0] / MASTER[0]) + 1
    return cv2.erode(floor, np.ones((side, side), np.uint8)).astype(np.float64)


def _box(screen: F64, uv: F64) -> tuple[F64, F64]:
    """Where (2,) a relief's texture begins in its camera's picture, and how large (2,) it is there."""
    slope = np.empty(2)
    start = np.empty(2)
    for axis in (0, 1):
        slope[axis], start[axis] = np.polyfit(uv[:, axis], screen[:, axis], 1)
    return start, slope


def _laid(relief: Relief, box: tuple[F64, F64], size: tuple[int, int]) -> NDArray[np.uint8]:
    """The alpha (H, W) of a relief in its camera's picture."""
    (left, top), (width, height) = np.round(box[0]).astype(int), relief.texture.shape[1::-1]
    laid = np.zeros(size[::-1], np.uint8)
    laid[top : top + height, left : left + width] = relief.texture[..., 3]
    return laid


def _depths(screen: F64, size: tuple[int, int]) -> F64:
    """Depth (H, W) of the nearest vertex of a relief's grid."""
    apart = np.full(size[::-1], 255, np.uint8)
    column, row = (np.clip(screen[:, axis].astype(int), 0, size[axis] - 1) for axis in (0, 1))
    apart[row, column] = 0
    _, label = cv2.distanceTransformWithLabels(apart, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    table = np.zeros(int(label.max()) + 1)
    table[label[row, column]] = screen[:, 2]
    return table[label]
