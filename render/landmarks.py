"""Where the faces of a picture are and what shape they have, by MediaPipe's models (Apache-2.0).

A detector finds boxes, a mesh model puts 468 points on a face, an iris model refines each eye: together the
478 points that eye values are read from.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from .crop import Layout, sampled
from .ditto.eyes import LEFT_CORNERS, RIGHT_CORNERS
from .ditto.reference_points import anchors
from .onnx import ort

F32 = NDArray[np.float32]
Picture = NDArray[np.uint8]

MODELS: Final = Path(__file__).parent / "landmark_models"
_DETECTOR_SIDE, _MESH_SIDE, _EYE_SIDE = 128, 192, 64
_LEAST_SCORE = _LEAST_PRESENCE = 0.5
SURE_SCORE: Final = 0.75
"""What an upright face of a fair size reaches."""
_SAME_FACE = 0.3
_MARGIN = 1.5
"""Of the square that the mesh model sees, over the box."""
_EYE_MARGIN = 2.3
_REST_PITCH = 9.0
"""What a face that looks straight ahead measures from brow to chin, in degrees."""
_ZOOMS = (1, 2, 3, 4, 6, 8, 12)
"""Into how many overlapping pieces a side is cut, one after the other, until a face is found."""
_LEAST_PIECE = 64
"""Of a picture's side, in pixels, that is worth a look."""

MESH_POINTS, IRIS_POINTS = 468, 5
BROW, CHIN = 10, 152
LEFT_LIDS = (33, 7, 163, 144, 145, 153, 154, 155, 133, 246, 161, 160, 159, 158, 157, 173)
RIGHT_LIDS = (263, 249, 390, 373, 374, 380, 381, 382, 362, 466, 388, 387, 386, 385, 384, 398)
"""The lids' edges in the mesh, as the iris model counts them."""

OUTLINE: Final = (
    *(127, 234, 93, 132, 58, 172, 136, 150, 149, 176, 148, 152),
    *(377, 400, 378, 379, 365, 397, 288, 361, 323, 454, 356),
)
"""From temple to temple through the chin."""
BROWS: Final = (70, 63, 105, 66, 107, 55, 65, 52, 53, 46, 300, 293, 334, 296, 336, 285, 295, 282, 283, 276)
NOSE: Final = (168, 6, 197, 195, 5, 4, 1, 19, 94, 2, 98, 97, 326, 327, 129, 358)
MOUTH: Final = (61, 185, 40, 39, 37, 0, 267, 269, 270, 409, 291, 375, 321, 405, 314, 17, 84, 181, 91, 146)
FACE: Final = (*LEFT_LIDS, *RIGHT_LIDS, *MOUTH, *OUTLINE, *BROWS, *NOSE)
"""Which of the mesh stand for the 203 landmarks that Ditto's crop is made from: all but the forehead."""
FACE_LAYOUT: Final = Layout(
    left_eye=tuple(FACE.index(point) for point in (33, 133, 159, 145)),
    right_eye=tuple(FACE.index(point) for point in (263, 362, 386, 374)),
    mouth=(FACE.index(61), FACE.index(291)),
)


@dataclass(frozen=True, slots=True)
class Box:
    """A face in a picture's pixels: `score` 0..1, `centre` (2,), longer side, and the angle of its eyes."""

    score: float
    centre: NDArray[np.float64]
    side_px: float
    angle: float

    def overlaps(self, other: "Box") -> bool:
        """Whether both are likely the same face."""
        sides = np.array([self.side_px, other.side_px])
        low = np.maximum(self.centre - sides[0] / 2, other.centre - sides[1] / 2)
        high = np.minimum(self.centre + sides[0] / 2, other.centre + sides[1] / 2)
        shared = float(np.maximum(high - low, 0).prod())
        return shared > _SAME_FACE * (float((sides**2).sum()) - shared) or shared > 0.8 * sides.min() ** 2


@dataclass(frozen=True, slots=True)
class Mesh:
    """`points` (478, 3) float64: x and y in the picture's pixels, z in the same unit, smaller is nearer. The
    last ten are the irises. `presence` 0..1 says how sure the model is that it saw a face."""

    points: NDArray[np.float64]
    presence: float

    @property
    def face(self) -> NDArray[np.float64]:
        """(105, 2): those of `FACE`."""
        return self.points[list(FACE), :2]

    @property
    def turn(self) -> tuple[float, float, float]:
        """Pitch, yaw and roll of the head in degrees: 0 is straight at the viewer."""
        across = self.points[OUTLINE[-2]] - self.points[OUTLINE[1]]
        down = self.points[CHIN] - self.points[BROW]
        yaw = math.atan2(across[2], math.hypot(across[0], across[1]))
        pitch = math.atan2(down[2], math.hypot(down[0], down[1]))
        roll = math.atan2(across[1], across[0])
        return math.degrees(pitch) - _REST_PITCH, math.degrees(yaw), math.degrees(roll)


@dataclass(frozen=True, slots=True)
class Face:
    """A face found: where, and its shape."""

    box: Box
    mesh: Mesh


class Landmarks:
    """The three models, one thread each call. Holds constants only."""

    def __init__(self, models: Path = MODELS) -> None:
        self._sessions: Mapping[str, ort.InferenceSession] = MappingProxyType(
            {name: _session(models / f"{name}.onnx") for name in ("face_det", "face_landmark", "iris")}
        )
        self._anchors = anchors()

    def faces(self, picture: Picture) -> list[Face]:
        """Those in (H, W, 3) RGB, the largest first. Ever smaller ones are looked for until one is sure; then
        the unsure ones are left out."""
        best: list[Face] = []
        for zoom in _ZOOMS:
            found = self._found(picture, zoom)
            if not best or (found and _score(found) > _score(best)):
                best = found
            if best and _score(best) >= SURE_SCORE:
                best = [face for face in best if face.box.score >= SURE_SCORE]
                break
        return sorted(best, key=lambda face: -face.box.side_px)

    def mesh(self, picture: Picture, box: Box) -> Mesh:
        """The shape of the face in `box`: once by the box, once more by the shape found."""
        first, _ = self._surface(picture, box.centre, box.side_px * _MARGIN, box.angle)
        slope = first[RIGHT_CORNERS[0], :2] - first[LEFT_CORNERS[0], :2]
        low, high = first[:, :2].min(0), first[:, :2].max(0)
        side = float((high - low).max()) * _MARGIN
        points, presence = self._surface(picture, (low + high) / 2, side, math.atan2(slope[1], slope[0]))
        left = self._eye(picture, points, LEFT_CORNERS, LEFT_LIDS, mirrored=False)
        right = self._eye(picture, points, RIGHT_CORNERS, RIGHT_LIDS, mirrored=True)
        return Mesh(np.concatenate([points, left, right]), presence)

    def _found(self, picture: Picture, zoom: int) -> list[Face]:
        found: list[Face] = []
        for box in sorted(self._boxes(picture, zoom), key=lambda box: -box.score):
            if any(box.overlaps(face.box) for face in found):
                continue
            mesh = self.mesh(picture, box)
            if mesh.presence >= _LEAST_PRESENCE:
                found.append(Face(box, mesh))
        return found

    def _boxes(self, picture: Picture, zoom: int) -> list[Box]:
        """From a picture whose side is cut into `zoom` pieces, each half over the next."""
        height, width = picture.shape[:2]
        if zoom == 1:
            return self._detected(picture, np.zeros(2))
        side = 2 * max(height, width) // (zoom + 1)
        found: list[Box] = []
        if side < _LEAST_PIECE:
            return found
        for top in range(0, max(height - side // 2, 1), side // 2):
            for left in range(0, max(width - side // 2, 1), side // 2):
                piece = picture[top : top + side, left : left + side]
                found += self._detected(piece, np.array([left, top], np.float64))
        return found

    def _detected(self, picture: Picture, corner: NDArray[np.float64]) -> list[Box]:
        height, width = picture.shape[:2]
        side = max(height, width)
        square = np.zeros((side, side, 3), np.uint8)
        shift = np.array([(side - width) // 2, (side - height) // 2])
        square[shift[1] : shift[1] + height, shift[0] : shift[0] + width] = picture
        small = cv2.resize(square, (_DETECTOR_SIDE, _DETECTOR_SIDE), interpolation=cv2.INTER_AREA)
        values, logits = self._run("face_det", small[None].astype(np.float32) / np.float32(127.5) - 1)
        scores = _sigmoid(logits.ravel())
        found: list[Box] = []
        for row in np.flatnonzero(scores >= _LEAST_SCORE):
            points = values[0, row].reshape(-1, 2).astype(np.float64) / _DETECTOR_SIDE
            eyes = points[3] - points[2]
            found.append(
                Box(
                    score=float(scores[row]),
                    centre=(points[0] + self._anchors[row]) * side - shift + corner,
                    side_px=float(points[1].max()) * side,
                    angle=math.atan2(eyes[1], eyes[0]),
                )
            )
        return found

    def _surface(
        self, picture: Picture, centre: NDArray[np.float64], side: float, angle: float
    ) -> tuple[NDArray[np.float64], float]:
        place = _place(centre, side / _MESH_SIDE, angle, _MESH_SIDE)
        seen = sampled(picture, place, _MESH_SIDE, _MESH_SIDE)[None] / np.float32(255)
        outputs = sorted(self._run("face_landmark", seen), key=lambda output: output.size)
        points = outputs[-1].reshape(MESH_POINTS, 3).astype(np.float64)
        points[:, 2] *= side / _MESH_SIDE
        points[:, :2] = points[:, :2] @ place[:, :2].T + place[:, 2]
        return points, float(_sigmoid(outputs[0].ravel())[0])

    def _eye(
        self,
        picture: Picture,
        points: NDArray[np.float64],
        corners: tuple[int, int],
        lids: tuple[int, ...],
        *,
        mirrored: bool,
    ) -> NDArray[np.float64]:
        """The iris (5, 3), its middle first. Moves the `lids` of `points` to where the finer model sees
        them."""
        outer, inner = points[corners[0], :2], points[corners[1], :2]
        slope = outer - inner if mirrored else inner - outer
        scale = float(np.hypot(*slope)) * _EYE_MARGIN / _EYE_SIDE
        place = _place((outer + inner) / 2, scale, math.atan2(slope[1], slope[0]), _EYE_SIDE)
        if mirrored:
            place = np.column_stack([-place[:, 0], place[:, 1], place[:, 2] + place[:, 0] * (_EYE_SIDE - 1)])
        seen = sampled(picture, place, _EYE_SIDE, _EYE_SIDE)[None] / np.float32(255)
        contours, iris = (output.reshape(-1, 3)[:, :2] for output in self._run("iris", seen))
        points[list(lids), :2] = contours[: len(lids)] @ place[:, :2].T + place[:, 2]
        depth = np.full((IRIS_POINTS, 1), points[list(lids), 2].mean())
        return np.hstack([iris @ place[:, :2].T + place[:, 2], depth])

    def _run(self, name: str, picture: NDArray[np.floating]) -> list[F32]:
        session = self._sessions[name]
        feed = {session.get_inputs()[0].name: picture.astype(np.float32, copy=False)}
        return [np.asarray(output, np.float32) for output in session.run(None, feed)]


def _score(faces: list[Face]) -> float:
    return max(face.box.score for face in faces)


def _place(centre: NDArray[np.float64], scale: float, angle: float, side: int) -> NDArray[np.float64]:
    """(2, 3): from pixels of a patch of `side` to the picture's, `scale` of them apart."""
    cosine, sine = scale * math.cos(angle), scale * math.sin(angle)
    turn = np.array([[cosine, -sine], [sine, cosine]])
    return np.column_stack([turn, centre - turn @ np.full(2, side / 2)])


def _sigmoid(logits: F32) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -80, 80)))


def _session(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
