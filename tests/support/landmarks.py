"""Where a picture's face is, by MediaPipe's detector and 468-point mesh (Apache-2.0) through onnxruntime."""

from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

MODELS = Path(__file__).resolve().parents[2] / "render" / "landmark_models"
_DETECT = 128
_MESH = 192
_UPPER_LIP, _LOWER_LIP = 13, 14
_BROW, _CHIN = 10, 152
_EYE_LEFT, _EYE_RIGHT = 33, 263
_LIDS = ((159, 145), (386, 374))


@lru_cache(maxsize=2)
def _model(name: str) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(MODELS / name, options, providers=["CPUExecutionProvider"])


@lru_cache(maxsize=1)
def _anchors() -> NDArray[np.float32]:
    """Centres of the detector's 896 boxes, 0..1: a 16-grid with 2 a cell, then an 8-grid with 6."""
    grids = []
    for cells, boxes in ((16, 2), (8, 6)):
        centres = (np.arange(cells, dtype=np.float32) + 0.5) / cells
        x, y = np.meshgrid(centres, centres)
        grids.append(np.repeat(np.stack([x, y], -1).reshape(-1, 2), boxes, axis=0))
    return np.concatenate(grids)


def _box(picture: NDArray[np.uint8]) -> tuple[float, NDArray[np.float64], float, float]:
    """Score, centre, side and angle of the best face in (H, W, 3) RGB, in its pixels."""
    height, width = picture.shape[:2]
    side = max(height, width)
    square = np.zeros((side, side, 3), np.uint8)
    top, left = (side - height) // 2, (side - width) // 2
    square[top : top + height, left : left + width] = picture
    small = cv2.resize(square, (_DETECT, _DETECT), interpolation=cv2.INTER_AREA)
    model = _model("face_det.onnx")
    feed = {model.get_inputs()[0].name: small[None].astype(np.float32) / 127.5 - 1}
    boxes, scores = model.run(["regressors", "classificators"], feed)
    best = int(scores[0, :, 0].argmax())
    score = 1 / (1 + np.exp(-float(np.clip(scores[0, best, 0], -80, 80))))
    points = boxes[0, best].reshape(-1, 2) / _DETECT
    shift = np.array([left, top])
    centre = (points[0] + _anchors()[best]) * side - shift
    eyes = (points[2:4] + _anchors()[best]) * side
    slope = eyes[1] - eyes[0]
    return score, centre, float(points[1].max()) * side * 1.5, float(np.arctan2(slope[1], slope[0]))


def landmarks(picture: NDArray[np.uint8]) -> tuple[float, NDArray[np.float64]]:
    """How sure the detector is (0..1), and the mesh (468, 2) in pixels of (H, W, 3) RGB `picture`."""
    score, centre, side, angle = _box(picture)
    points = _mesh(picture, centre, side, angle)
    slope = points[_EYE_RIGHT] - points[_EYE_LEFT]
    angle = float(np.arctan2(slope[1], slope[0]))
    low, high = points.min(0), points.max(0)
    return score, _mesh(picture, (low + high) / 2, float((high - low).max()) * 1.5, angle)


def _mesh(
    picture: NDArray[np.uint8], centre: NDArray[np.float64], side: float, angle: float
) -> NDArray[np.float64]:
    scale = side / _MESH
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    place = np.c_[turn, centre - turn @ np.full(2, _MESH / 2)]
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    crop = cv2.warpAffine(picture, place, (_MESH, _MESH), flags=flags)
    model = _model("face_landmark.onnx")
    outputs = model.run(None, {model.get_inputs()[0].name: crop[None].astype(np.float32) / 255})
    mesh = max(outputs, key=lambda output: output.size).reshape(468, 3)[:, :2]
    return mesh @ turn.T + place[:, 2]


def lip_gap(points: NDArray[np.float64]) -> float:
    """Distance of the inner lips as a share of the face's height."""
    return _distance(points, _UPPER_LIP, _LOWER_LIP) / _distance(points, _BROW, _CHIN)


def eye_gap(points: NDArray[np.float64]) -> float:
    """Mean opening of the lids as a share of the face's height."""
    return float(np.mean([_distance(points, a, b) for a, b in _LIDS])) / _distance(points, _BROW, _CHIN)


def _distance(points: NDArray[np.float64], a: int, b: int) -> float:
    return float(np.linalg.norm(points[a] - points[b]))
