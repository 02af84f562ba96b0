"""Landmarks as the official auxiliary models give them: what is fed to each, and what its outputs mean.

The models themselves are callables that take one array and return their outputs. Whoever has the official
files wraps them, such as onnxruntime sessions; this project's own registration uses `render.landmarks`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.errors import AvatarError
from ..crop import CROP_SCALE, CROP_SHIFT, CROP_SIDE, Matrix, cut, face_square, inverted, moved, resized

F32 = NDArray[np.float32]
Picture = NDArray[np.uint8]
Model = Callable[[F32], Sequence[F32]]

_DETECTOR_SIDE = 512
_STRIDES = (8, 16, 32)
_BOXES_PER_CELL = 2
_LEAST_SCORE, _MOST_OVERLAP = 0.5, 0.4
_FEW_SIDE, _FEW_MARGIN = 192, 1.5
_MANY_SIDE, _MANY_SCALE, _MANY_SHIFT = 224, 1.5, -0.1
_BOX_SIDE, _MESH_SIDE = 128, 256
_GRIDS: Final = ((16, 2), (8, 6))
"""Cells a side, and anchors a cell, of the box model."""
_MOST_LOGIT, _LEAST_LOGIT = 100, -50
_SAME_FACE = 0.3
_REGION_MARGIN = 1.5


@dataclass(frozen=True, slots=True)
class Models:
    """`detector` (1, 3, 512, 512) -> scores, boxes and points of three strides; `few` (1, 3, 192, 192) ->
    (1, 212); `many` (1, 3, 224, 224) -> (1, 406); `box` (1, 128, 128, 3) -> (1, 896, 16) and (1, 896, 1);
    `mesh` (1, 256, 256, 3) -> 1,434 numbers first. The file of `many` that has three outputs means its third.
    """

    detector: Model
    few: Model
    many: Model
    box: Model
    mesh: Model


@dataclass(frozen=True, slots=True)
class Seen:
    """One picture: `landmarks` (203, 2) in its pixels, `crop` (512, 512, 3) uint8 RGB, where its pixels lie
    as `to_picture` (3, 3), and `mesh` (478, 3) over the crop's (width, height, width)."""

    landmarks: F32
    crop: Picture
    to_picture: Matrix
    mesh: F32


def look(picture: Picture, models: Models, *, previous: F32 | None = None, turned: bool = True) -> Seen:
    """All of `picture` (H, W, 3) uint8 RGB. The landmarks (203, 2) of a `previous` frame of the same face
    replace the search for it. Raises AvatarError when there is no face."""
    landmarks = many_points(picture, _first(picture, models) if previous is None else previous, models.many)
    square = face_square(landmarks, scale=CROP_SCALE, shift=CROP_SHIFT)
    to_picture = square.to_picture(CROP_SIDE, turned=turned)
    crop = cut(picture, to_picture, CROP_SIDE)
    return Seen(landmarks, crop, to_picture, mesh_points(crop, models.box, models.mesh))


def _first(picture: Picture, models: Models) -> F32:
    boxes, _ = faces(picture, models.detector)
    if not len(boxes):
        raise AvatarError("no face was found: use a picture that shows one face from the front")
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return few_points(picture, boxes[int(areas.argmax()), :4], models.few)


def faces(picture: Picture, detector: Model) -> tuple[F32, F32]:
    """Left, top, right, bottom and score (N, 5) of the faces in `picture`, the surest first, and five points
    of each (N, 5, 2)."""
    height, width = picture.shape[:2]
    side = _DETECTOR_SIDE
    tall = height > width
    rows, columns = (side, int(side / (height / width))) if tall else (int(side * height / width), side)
    square = np.zeros((side, side, 3), np.uint8)
    square[:rows, :columns] = resized(picture, rows, columns)
    outputs = detector(_planes((square[..., ::-1].astype(np.float32) - 127.5) / 128))
    found = [_decoded(stride, *outputs[level::3]) for level, stride in enumerate(_STRIDES)]
    boxes, points = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(-boxes[:, 4], kind="stable")
    boxes, points = boxes[order], points[order]
    kept = _without_overlaps(boxes)
    scale = np.float32(rows / height)
    boxes, points = boxes[kept], points[kept]
    boxes[:, :4] /= scale
    points /= scale
    return boxes, points


def _decoded(stride: int, scores: F32, reach: F32, points: F32) -> tuple[F32, F32]:
    """Boxes with scores (N, 5) and points (N, 5, 2) that one level of the detector is sure enough of."""
    cells = _DETECTOR_SIDE // stride
    down, along = np.divmod(np.repeat(np.arange(cells * cells), _BOXES_PER_CELL), cells)
    centres = (np.stack([along, down], -1) * stride).astype(np.float32)
    sure = np.flatnonzero(scores.ravel() >= _LEAST_SCORE)
    centres, reach = centres[sure], reach.reshape(-1, 4)[sure] * stride
    boxes = np.hstack([centres - reach[:, :2], centres + reach[:, 2:], scores.reshape(-1, 1)[sure]])
    return boxes, centres[:, None] + points.reshape(-1, 5, 2)[sure] * stride


def _without_overlaps(boxes: F32) -> list[int]:
    """The rows of `boxes` (N, 5), best first, that overlap no better one by too much."""
    sides = boxes[:, 2:4] - boxes[:, :2] + 1
    areas = sides[:, 0] * sides[:, 1]
    kept: list[int] = []
    left = list(range(len(boxes)))
    while left:
        best, *rest = left
        kept.append(best)
        low = np.maximum(boxes[rest, :2], boxes[best, :2])
        shared = np.maximum(np.minimum(boxes[rest, 2:4], boxes[best, 2:4]) - low + 1, 0).prod(-1)
        overlap = shared / (areas[rest] + areas[best] - shared)
        left = [row for row, share in zip(rest, overlap, strict=True) if share <= _MOST_OVERLAP]
    return kept


def few_points(picture: Picture, box: F32, model: Model) -> F32:
    """106 landmarks (106, 2) of the face in `box` (4,)."""
    side = float(max(box[2] - box[0], box[3] - box[1])) * _FEW_MARGIN
    k = _FEW_SIDE / side
    centre = (box[:2] + box[2:]) / 2
    rows = [[k, 0, _FEW_SIDE / 2 - k * centre[0]], [0, k, _FEW_SIDE / 2 - k * centre[1]], [0, 0, 1]]
    to_picture = inverted(np.array(rows, np.float32))
    crop = cut(picture, to_picture, _FEW_SIDE)
    found = model(_planes(crop[..., ::-1].astype(np.float32)))[0].reshape(-1, 2)
    return moved((found + 1) * np.float32(_FEW_SIDE / 2), to_picture)


def many_points(picture: Picture, landmarks: F32, model: Model) -> F32:
    """203 landmarks (203, 2) of the face that `landmarks` (106 or 203, 2) were found on."""
    to_picture = face_square(landmarks, scale=_MANY_SCALE, shift=_MANY_SHIFT).to_picture(_MANY_SIDE)
    crop = cut(picture, to_picture, _MANY_SIDE)
    found = model(_planes(crop.astype(np.float32) / 255))[-1].reshape(-1, 2)
    return moved(found * np.float32(_MANY_SIDE), to_picture)


def mesh_points(crop: Picture, box_model: Model, mesh_model: Model) -> F32:
    """478 points (478, 3) over (width, height, width) of the one face in `crop` (H, W, 3)."""
    height, width = crop.shape[:2]
    centre, side, angle = _region(crop, box_model)
    cosine, sine = math.cos(angle), math.sin(angle)
    turn = np.array([[cosine, -sine], [sine, cosine]]) * (side / _MESH_SIDE)
    place = np.column_stack([turn, centre - turn @ np.full(2, _MESH_SIDE / 2)])
    patch = np.divide(cut(crop, place, _MESH_SIDE), 255, dtype=np.float32)
    found = mesh_model(patch[None])[0].reshape(-1, 3)
    flat = found[:, :2] @ turn.T + place[:, 2]
    deep = found[:, 2:] * (side / _MESH_SIDE)
    return (np.hstack([flat, deep]) / (width, height, width)).astype(np.float32)


def _region(crop: Picture, model: Model) -> tuple[NDArray[np.float64], float, float]:
    """Centre, side and angle of the square round the face, in pixels and radians."""
    small = resized(crop, _BOX_SIDE, _BOX_SIDE).astype(np.float32)
    raw, logits = model(small[None] / np.float32(127.5) - 1)
    scores = 1 / (1 + np.exp(-np.clip(logits.ravel().astype(np.float64), _LEAST_LOGIT, _MOST_LOGIT)))
    sure = np.flatnonzero(scores >= _LEAST_SCORE)
    if not len(sure):
        raise AvatarError("no face was found in the crop: use a picture that shows one face from the front")
    sure = sure[np.argsort(-scores[sure], kind="stable")]
    scores = scores[sure]
    values = raw.reshape(-1, 8, 2)[sure].astype(np.float64) / _BOX_SIDE
    values[:, [0, *range(2, 8)]] += anchors()[sure][:, None]
    boxes = np.hstack([values[:, 0] - values[:, 1] / 2, values[:, 0] + values[:, 1] / 2])
    same = _overlaps(boxes, boxes[0]) > _SAME_FACE
    mean = np.average(values[same], axis=0, weights=scores[same]) * crop.shape[1::-1]
    eyes = mean[3] - mean[2]
    angle = math.remainder(math.atan2(eyes[1], eyes[0]), math.tau)
    return mean[0], float(mean[1].max()) * _REGION_MARGIN, angle


def _overlaps(boxes: NDArray[np.float64], one: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shared over joint area (N,) of `boxes` (N, 4) with `one` (4,)."""
    low, high = np.maximum(boxes[:, :2], one[:2]), np.minimum(boxes[:, 2:], one[2:])
    shared = np.maximum(high - low, 0).prod(-1)
    return shared / ((boxes[:, 2:] - boxes[:, :2]).prod(-1) + (one[2:] - one[:2]).prod() - shared)


def anchors() -> NDArray[np.float64]:
    """Centres (896, 2) of the box model's anchors, x and y in 0..1."""
    grids: list[NDArray[np.float64]] = []
    for cells, boxes in _GRIDS:
        down, along = np.divmod(np.arange(cells * cells), cells)
        grids.append(np.repeat((np.stack([along, down], -1) + 0.5) / cells, boxes, axis=0))
    return np.concatenate(grids)


def _planes(pixels: NDArray[np.floating]) -> F32:
    """(1, 3, H, W) of `pixels` (H, W, 3)."""
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], np.float32)
