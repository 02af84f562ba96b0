"""Whether the face in a picture can be an avatar, and where it lies. What cannot be is told what to do."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from ..stream.errors import AvatarError
from .crop import (
    CROP_SCALE,
    CROP_SHIFT,
    CROP_SIDE,
    MAX_SIDE,
    Matrix,
    Square,
    cut,
    face_square,
    fit,
    fit_size,
    moved,
    sampled,
)
from .landmarks import FACE_LAYOUT, MESH_POINTS, Face, Landmarks

Picture = NDArray[np.uint8]

PREVIEW_SIDE: Final = 360
LEAST_FACE_PX, _NOTED_FACE_PX = 64, 128
"""Of the face's box; the crop shows it with 222."""
_LEAST_SCORE = 0.6
"""Of the detector: cats stay below."""
_LEAST_PICTURE_PX = 64
_MOST_PITCH, _MOST_YAW, _MOST_ROLL = 25.0, 30.0, 45.0
_MOST_LOST_POINTS = 0.01
_MOST_OUTSIDE, _NOTED_OUTSIDE = 0.45, 0.15
_DOUBTFUL_SCORE, _CLEARLY_BETTER = 0.9, 0.1
"""Below the first, the picture is also tried upside down."""
_SHARPNESS_SIDE = 128
_LEAST_SHARPNESS = 0.012
"""Variance of the face's Laplacian over that of its levels, at 128 pixels: four pixels of blur of a face of
300 give 0.008 to 0.010, two give 0.03."""
_GRID = 64


@dataclass(frozen=True, slots=True)
class Portrait:
    """A `picture` (H, W, 3) uint8 RGB with even sides, and the `square` of it that the networks see. `mesh`
    (478, 3) is in its pixels. `notes` are for whoever gave it."""

    picture: Picture
    square: Square
    mesh: NDArray[np.float64]
    notes: tuple[str, ...]

    @property
    def to_plate(self) -> Matrix:
        """(3, 3) float32: pixels of the crop to pixels of the picture."""
        return self.square.to_picture(CROP_SIDE)

    def crop(self) -> Picture:
        """(512, 512, 3)."""
        return cut(self.picture, self.to_plate, CROP_SIDE)

    def eye_points(self) -> NDArray[np.float32]:
        """(1, 478, 3) float32 over the sides of the crop, as `eye_values` takes them."""
        flat = moved(self.mesh[:, :2], self.square.to_crop(CROP_SIDE)) / CROP_SIDE
        return np.column_stack([flat, self.mesh[:, 2] / self.square.side_px]).astype(np.float32)[None]

    def reach(self) -> tuple[int, int, int, int]:
        """(x, y, width, height) of the part of the picture that the crop can touch."""
        corners = np.array([[x, y] for x in (-1, CROP_SIDE) for y in (-1, CROP_SIDE)], np.float64)
        found = moved(corners, self.to_plate).astype(np.float64)
        height, width = self.picture.shape[:2]
        low = np.clip(np.floor(found.min(0)), 0, (width - 1, height - 1)).astype(int)
        high = np.clip(np.ceil(found.max(0)) + 1, low + 1, (width, height)).astype(int)
        return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])

    def preview(self) -> Picture:
        """(360, 360, 3): the head, as much of it as is in the picture."""
        height, width = self.picture.shape[:2]
        side = min(round(self.square.side_px), height, width)
        left, top = (
            int(np.clip(middle - side / 2, 0, most - side))
            for middle, most in zip(self.square.centre, (width, height), strict=True)
        )
        head = self.picture[top : top + side, left : left + side]
        return resized(head, PREVIEW_SIDE, PREVIEW_SIDE)


def portrait(picture: Picture, landmarks: Landmarks) -> Portrait:
    """The largest face of `picture` (H, W, 3) uint8 RGB, brought to at most 1920 pixels a side.

    Raises AvatarError, with what to do, when there is no face or it would make no good avatar.
    """
    height, width = fit_size(*picture.shape[:2])
    if min(height, width) < _LEAST_PICTURE_PX:
        raise AvatarError(
            f"the picture is {picture.shape[1]}x{picture.shape[0]}, which is too small; use a larger one"
        )
    # Bilinear, as the reference does it, leaves out pixels when a picture shrinks to less than half.
    shrunk = max(picture.shape[:2]) >= 2 * MAX_SIDE
    picture = resized(picture, height, width) if shrunk else fit(picture)
    faces = landmarks.faces(picture)
    if not faces or faces[0].box.score < _LEAST_SCORE:
        raise AvatarError("no face was found: use a picture that shows one face from the front, well lit")
    face = faces[0]
    square = face_square(face.mesh.face, scale=CROP_SCALE, shift=CROP_SHIFT, layout=FACE_LAYOUT)
    outside = _outside(picture, square)
    _check_place(picture, face, square, outside)
    _check_turn(picture, face, landmarks)
    _check_sharpness(picture, face)
    notes: list[str] = []
    if len(faces) > 1:
        notes.append(f"{len(faces)} faces were found; the largest is used")
    if _size(square) < _NOTED_FACE_PX:
        notes.append(f"the face has only {_size(square):.0f} pixels; a larger picture would look sharper")
    if outside > _NOTED_OUTSIDE:
        notes.append(
            f"{outside:.0%} of the area round the face lies outside the picture; more room round the head "
            "would look better"
        )
    return Portrait(picture, square, face.mesh.points, tuple(notes))


def resized(picture: Picture, height: int, width: int) -> Picture:
    """`picture` (H, W, 3) made smaller by averaging, or larger bilinearly."""
    way = cv2.INTER_AREA if height <= picture.shape[0] else cv2.INTER_LINEAR
    return cv2.resize(picture, (width, height), interpolation=way).astype(np.uint8, copy=False)


def _check_turn(picture: Picture, face: Face, landmarks: Landmarks) -> None:
    pitch, yaw, roll = face.mesh.turn
    score = face.box.score
    if score < _DOUBTFUL_SCORE:
        other = landmarks.faces(np.ascontiguousarray(picture[::-1, ::-1]))
        if other and max(one.box.score for one in other) > score + _CLEARLY_BETTER:
            raise AvatarError("the face stands on its head: turn the picture upright")
    if abs(roll) > _MOST_ROLL:
        raise AvatarError(f"the head is tilted by {abs(roll):.0f} degrees: turn the picture upright")
    if abs(yaw) > _MOST_YAW:
        raise AvatarError(
            f"the head is turned aside by {abs(yaw):.0f} degrees: use a picture that looks at the camera"
        )
    if abs(pitch) > _MOST_PITCH:
        raise AvatarError(
            f"the head is lifted or lowered by {abs(pitch):.0f} degrees: use a picture that looks at the "
            "camera"
        )


def _check_place(picture: Picture, face: Face, square: Square, outside: float) -> None:
    if _size(square) < LEAST_FACE_PX:
        raise AvatarError(
            f"the face has {_size(square):.0f} pixels in a picture of {picture.shape[1]}x{picture.shape[0]}, "
            f"which is too small: it needs {LEAST_FACE_PX}, so use one taken nearer, or cut the head and "
            "shoulders out of the original"
        )
    points = face.mesh.points[:MESH_POINTS, :2]
    lost = ((points < 0) | (points > np.array(picture.shape[1::-1]) - 1)).any(1).mean()
    if lost > _MOST_LOST_POINTS:
        raise AvatarError("part of the face lies outside the picture: use one that shows the whole head")
    if outside > _MOST_OUTSIDE:
        raise AvatarError(
            f"the face is too near the edge, {outside:.0%} of the area round it lies outside the picture: "
            "use one with more room round the head"
        )


def _check_sharpness(picture: Picture, face: Face) -> None:
    close = face_square(face.mesh.face, scale=1, shift=0, layout=FACE_LAYOUT)
    small = cut(picture, close.to_picture(_SHARPNESS_SIDE), _SHARPNESS_SIDE)
    grey = small.astype(np.float32).mean(-1)
    edges = cv2.Laplacian(grey, cv2.CV_32F)
    if float(np.var(edges)) < _LEAST_SHARPNESS * (float(grey.var()) + 1):
        raise AvatarError("the face is too blurred: use a sharper picture")


def _size(square: Square) -> float:
    """The longer side of the face's box in pixels."""
    return square.side_px / CROP_SCALE


def _outside(picture: Picture, square: Square) -> float:
    """Which share of the `square` lies outside the picture."""
    everywhere = np.ones((*picture.shape[:2], 1), np.float32)
    return 1 - float(sampled(everywhere, square.to_picture(_GRID), _GRID, _GRID).mean())
