"""Hair as a relief: a coarse mesh at the depth of the strands, textured by their picture."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from .atlas import spread
from .camera import MASTER, Camera
from .piece import Part, Piece, make_piece

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
U8 = NDArray[np.uint8]

STEP_PX = 20
"""Grid of a relief in master pixels."""
LEAST_ALPHA = 3
STEEPEST = 1.2
"""Most depth that a relief gains from one vertex to the next, by their distance."""
MARGIN_PX = 4
LOCK_PX = 15
"""Least width of a lock that hair is filled up to, in master pixels."""
SOFT_PX = 9
"""Over how much the filling fades in behind the outermost locks, in master pixels."""
DROP_PX = 40
"""How far below the outermost locks' ends it goes on, as far inside them, in master pixels."""
SOLID, FADE_ROWS, NAPE_LIGHT = 128, 0.03, 0.55
"""Alpha of a strand that hair is filled up to; over which share of the rows the filling ends; how light it
is."""
BRIGHT, STRAND_PX, LEAST_LIGHT = 70, 8, 0.85
"""Percentile of the light of hair that counts as lit; how wide a lock is, in master pixels; the least light
above the eyes as a share of what is lit beside."""


@dataclass(frozen=True, slots=True)
class Relief:
    """The mesh, and its texture (h, w, 4) uint8 RGBA with straight alpha: the layer, cropped."""

    piece: Piece
    texture: U8


def relief(
    part: Part, picture: U8, depth: F32, camera: Camera, hidden: NDArray[np.bool_] | None = None
) -> Relief:
    """The relief of a layer (H, W, 4) with its `depth` (H, W) along the view, inf where nothing, by a camera
    of the same size. What is `hidden` (H, W) gets no triangles. Raises ValueError for an empty layer."""
    alpha = picture[..., 3]
    rows, columns = (np.flatnonzero((alpha > LEAST_ALPHA).any(axis)) for axis in (1, 0))
    if not len(rows):
        raise ValueError(f"the layer of {part.name} is empty; render it again")
    top, left = max(0, int(rows[0]) - MARGIN_PX), max(0, int(columns[0]) - MARGIN_PX)
    bottom, right = (
        min(alpha.shape[0], int(rows[-1]) + MARGIN_PX),
        min(alpha.shape[1], int(columns[-1]) + MARGIN_PX),
    )
    box = np.s_[top:bottom, left:right]
    step = STEP_PX * camera.size[0] / 1600
    count_y, count_x = max(2, round((bottom - top) / step)), max(2, round((right - left) / step))
    far = _grid_depth(depth[box], alpha[box], (count_x + 1, count_y + 1))
    far = eased(far, step / camera.focal * float(np.median(far)))
    v, u = np.meshgrid(np.linspace(0, 1, count_y + 1), np.linspace(0, 1, count_x + 1), indexing="ij")
    pixels = np.stack([left + u * (right - left), top + v * (bottom - top)], -1).reshape(-1, 2)
    points = camera.unproject(pixels, far.reshape(-1).astype(np.float64))
    shown = alpha[box] > LEAST_ALPHA
    if hidden is not None:
        shown = shown & ~hidden[box]
    quads = _cells(shown, count_x, count_y)
    triangles = np.concatenate([quads[:, (0, 1, 2)], quads[:, (0, 2, 3)]])
    piece = make_piece(part, points, triangles, uv=np.stack([u, v], -1).reshape(-1, 2))
    texture = _bled(picture[box])
    return Relief(piece.only(np.ones(len(triangles), bool)), texture)


def closed(picture: U8, first_row: float, last_row: float) -> U8:
    """A layer (H, W, 4) of hair filled between its outermost locks, in the darker tones beside, down to
    `last_row`, where it fades out: what grows behind a head and a neck hides the room.

    Above `first_row` hair in the dark under the head is lit: beside a temple it is seen from outside.
    """
    alpha = picture[..., 3]
    side = max(3, round(LOCK_PX * alpha.shape[1] / MASTER[0]))
    kernel = np.ones((side, side), np.uint8)
    solid = cv2.morphologyEx((alpha > SOLID).astype(np.uint8), cv2.MORPH_OPEN, kernel) > 0
    begun = np.logical_or.accumulate(solid, axis=1) & np.logical_or.accumulate(solid, axis=0)
    between = begun & np.logical_or.accumulate(solid[:, ::-1], axis=1)[:, ::-1]
    down = max(1, round(DROP_PX * alpha.shape[1] / MASTER[0]))
    inner = cv2.erode(between.astype(np.uint8), np.ones((1, 2 * down + 1), np.uint8))
    between = between | (cv2.dilate(inner, np.ones((down + 1, 1), np.uint8), anchor=(0, down)) > 0)
    soft = cv2.GaussianBlur(between.astype(np.float32), (0, 0), SOFT_PX * alpha.shape[1] / MASTER[0])
    rows = np.arange(len(alpha))
    fade = np.clip((last_row - rows) / max(1.0, len(alpha) * FADE_ROWS), 0, 1)[:, None]
    cover = np.maximum(alpha, 255 * np.clip(2 * soft - 1, 0, 1) * fade)
    own = (alpha / 255).astype(np.float32)
    lit = _lit(picture[..., :3].astype(np.float32), own, rows < first_row)
    color = spread(lit, (own > 0.25).astype(np.float32)) * NAPE_LIGHT
    mixed = lit * own[..., None] + color * (1 - own[..., None])
    return np.round(np.clip(np.concatenate([mixed, cover[..., None]], 2), 0, 255)).astype(np.uint8)


def _lit(color: F32, cover: F32, rows: NDArray[np.bool_]) -> F32:
    """`color` (H, W, 3) of hair that covers `cover` (H, W), with its own strands but nowhere in the chosen
    `rows` (H,) much darker than its brighter parts beside."""
    light = color.mean(2)
    seen = light[(cover > 0.5) & rows[:, None]]
    if not len(seen):
        return color
    bright = np.clip(light / max(float(np.percentile(seen, BRIGHT)), 1.0) * 3 - 2, 0, 1) * cover
    tone = spread(color, bright.astype(np.float32))
    sigma = STRAND_PX * color.shape[1] / MASTER[0]
    dark = cover - bright
    mean = cv2.GaussianBlur(light * dark, (0, 0), sigma) / (cv2.GaussianBlur(dark, (0, 0), sigma) + 0.01)
    strands = np.clip((light + 4) / (mean + 4), 0.85, 1.2)[..., None]
    share = np.clip((np.flatnonzero(rows)[-1] - np.arange(len(rows))) / max(1.0, len(rows) * FADE_ROWS), 0, 1)
    return np.maximum(color, tone * strands * (LEAST_LIGHT * share[:, None, None])).astype(np.float32)


def eased(depth: F32, spacing: float) -> F32:
    """`depth` (H, W) of a grid with vertices `spacing` apart, nowhere steeper than `STEEPEST`: what lies
    behind an outline is drawn up to it, so that no triangle stretches."""
    eased = depth.copy()
    for reach, rise in ((1, 1.0), (1, 2**0.5)):
        kernel = np.array(
            [[1, 0, 1], [0, 1, 0], [1, 0, 1]] if rise > 1 else [[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8
        )
        for _ in range(max(depth.shape) * reach):
            nearer = cv2.erode(eased, kernel, borderType=cv2.BORDER_REPLICATE) + np.float32(
                rise * spacing * STEEPEST
            )
            if not (nearer < eased).any():
                break
            eased = np.minimum(eased, nearer)
    return eased


def _grid_depth(depth: F32, alpha: U8, size: tuple[int, int]) -> F32:
    """Depths at the vertices of a grid of `size` (columns, rows), continued where nothing was hit."""
    solid = np.isfinite(depth) & (alpha > 40)
    near = np.where(solid, depth, 0).astype(np.float32)
    width, height = size
    blur = (max(depth.shape[1] / width, 1.0) * 0.6, max(depth.shape[0] / height, 1.0) * 0.6)
    share = cv2.GaussianBlur(solid.astype(np.float32), (0, 0), blur[0], sigmaY=blur[1])
    mean = cv2.GaussianBlur(near, (0, 0), blur[0], sigmaY=blur[1]) / np.maximum(share, 1e-6)
    known = np.clip(share * 5 - 0.05, 0, 1).astype(np.float32)
    whole = spread(mean[..., None].astype(np.float32), known).reshape(depth.shape)
    x = np.linspace(0, depth.shape[1] - 1, width, dtype=np.float32)
    y = np.linspace(0, depth.shape[0] - 1, height, dtype=np.float32)
    columns, rows = np.meshgrid(x, y)
    return cv2.remap(whole, columns, rows, cv2.INTER_LINEAR).astype(np.float32)


def _cells(shown: NDArray[np.bool_], count_x: int, count_y: int) -> NDArray[np.int64]:
    """Vertices (N, 4) of the cells that show something, each from its upper left corner downwards around."""
    height, width = shown.shape
    index = np.arange((count_x + 1) * (count_y + 1)).reshape(count_y + 1, count_x + 1)
    rows = np.floor(np.linspace(0, height, count_y + 1)).astype(int)
    columns = np.floor(np.linspace(0, width, count_x + 1)).astype(int)
    total = np.pad(shown.astype(np.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    low_y, high_y = np.maximum(rows[:-1] - 1, 0), np.minimum(rows[1:] + 1, height)
    low_x, high_x = np.maximum(columns[:-1] - 1, 0), np.minimum(columns[1:] + 1, width)
    inside = total[np.ix_(high_y, high_x)] - total[np.ix_(low_y, high_x)]
    inside = inside - total[np.ix_(high_y, low_x)] + total[np.ix_(low_y, low_x)]
    y, x = np.nonzero(inside)
    return np.stack([index[y, x], index[y + 1, x], index[y + 1, x + 1], index[y, x + 1]], 1)


def _bled(picture: U8) -> U8:
    """The picture with colours continued to where alpha is 0, so that sampling at edges takes in no black."""
    weight = np.clip(picture[..., 3].astype(np.float32) / 64, 0, 1).astype(np.float32)
    color = spread(picture[..., :3].astype(np.float32), weight)
    return np.concatenate([np.round(np.clip(color, 0, 255)).astype(np.uint8), picture[..., 3:]], 2)
