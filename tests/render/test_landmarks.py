from functools import lru_cache

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.render.avatar import find_avatar
from visavis.render.crop import face_square, moved
from visavis.render.ditto.eyes import LEFT_CORNERS, POINTS, RIGHT_CORNERS, eye_values
from visavis.render.landmarks import (
    BROWS,
    CHIN,
    FACE,
    FACE_LAYOUT,
    LEFT_LIDS,
    OUTLINE,
    RIGHT_LIDS,
    SURE_SCORE,
    Box,
    Landmarks,
)

PEOPLE = ("ruby", "marcus")


@pytest.fixture(scope="module")
def landmarks() -> Landmarks:
    return Landmarks()


@lru_cache
def head(name: str) -> NDArray[np.uint8]:
    """The preview (360, 360, 3) RGB."""
    return np.asarray(cv2.cvtColor(cv2.imread(str(find_avatar(name).preview)), cv2.COLOR_BGR2RGB), np.uint8)


def turned(picture: NDArray[np.uint8], degrees: float) -> NDArray[np.uint8]:
    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 0.8)
    seen = cv2.warpAffine(picture, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen, np.uint8)


def test_the_crop_s_points_are_the_face_without_the_forehead() -> None:
    assert len(set(FACE)) == len(FACE)
    assert set(LEFT_LIDS) | set(RIGHT_LIDS) | set(BROWS) <= set(FACE)
    assert CHIN in OUTLINE
    assert not {10, 109, 338, 67, 297} & set(FACE)
    assert FACE[FACE_LAYOUT.mouth[0]] == 61


@pytest.mark.parametrize("name", PEOPLE)
def test_a_face_is_found_once_and_is_straight(landmarks: Landmarks, name: str) -> None:
    (face,) = landmarks.faces(head(name))
    assert face.box.score > SURE_SCORE
    assert face.mesh.presence > 0.99
    assert face.mesh.points.shape == (POINTS, 3)
    assert np.abs(face.mesh.turn).max() < 7


@pytest.mark.parametrize("name", PEOPLE)
def test_the_crop_holds_the_whole_head_with_room(landmarks: Landmarks, name: str) -> None:
    mesh = landmarks.faces(head(name))[0].mesh
    square = face_square(mesh.face, scale=2.3, shift=-0.125, layout=FACE_LAYOUT)
    seen = moved(mesh.points[:, :2], square.to_crop(512))
    face = seen[list(FACE)]
    assert np.ptp(face, 0).max() == pytest.approx(512 / 2.3, rel=0.03)
    assert face[:, 0].mean() == pytest.approx(256, abs=12)
    assert 190 < seen[[*LEFT_CORNERS, *RIGHT_CORNERS], 1].mean() < 270
    assert 380 < seen[CHIN, 1] < 450


@pytest.mark.parametrize("name", PEOPLE)
def test_eyes_are_open_and_look_ahead(landmarks: Landmarks, name: str) -> None:
    points = landmarks.faces(head(name))[0].mesh.points
    opened, ball = eye_values((points / 360).astype(np.float32))
    assert 0.6 < opened.min() <= opened.max() < 1.4
    assert np.abs(ball).max() < 0.03
    for iris, corners in ((468, LEFT_CORNERS), (473, RIGHT_CORNERS)):
        middle = points[list(corners), :2].mean(0)
        width = np.hypot(*np.ptp(points[list(corners), :2], 0))
        assert np.hypot(*(points[iris, :2] - middle)) < 0.2 * width


def test_a_mirrored_face_has_mirrored_points(landmarks: Landmarks) -> None:
    plain = landmarks.faces(head("ruby"))[0].mesh.points
    mirrored = landmarks.faces(np.ascontiguousarray(head("ruby")[:, ::-1]))[0].mesh.points
    for left, right in ((33, 263), (468, 473), (61, 291), (159, 386)):
        assert mirrored[left, 0] == pytest.approx(359 - plain[right, 0], abs=5)
        assert mirrored[left, 1] == pytest.approx(plain[right, 1], abs=5)


@pytest.mark.parametrize("degrees", [-60, -30, 20, 45])
def test_a_tilted_head_gives_an_upright_crop(landmarks: Landmarks, degrees: float) -> None:
    mesh = landmarks.faces(turned(head("marcus"), degrees))[0].mesh
    assert mesh.turn[2] == pytest.approx(-degrees, abs=4)
    square = face_square(mesh.face, scale=2.3, shift=-0.125, layout=FACE_LAYOUT)
    eyes = moved(mesh.points[[33, 263], :2], square.to_crop(512))
    assert eyes[0, 1] == pytest.approx(eyes[1, 1], abs=10)
    assert eyes[0, 0] < eyes[1, 0]


@pytest.mark.parametrize(("side", "left", "top"), [(200, 1000, 500), (160, 30, 600), (400, 700, 20)])
def test_a_small_face_in_a_large_picture_is_found(
    landmarks: Landmarks, side: int, left: int, top: int
) -> None:
    picture = np.full((900, 1300, 3), 90, np.uint8)
    picture[top : top + side, left : left + side] = cv2.resize(head("ruby"), (side, side))
    face = landmarks.faces(picture)[0]
    small = np.array([left, top]) + np.array([0.5, 0.58]) * side
    assert face.box.centre == pytest.approx(small, abs=0.1 * side)
    assert face.box.score > SURE_SCORE


def test_the_largest_of_several_faces_comes_first(landmarks: Landmarks) -> None:
    small = cv2.resize(head("marcus"), (240, 240), interpolation=cv2.INTER_AREA)
    both = np.hstack([np.pad(small, ((60, 60), (0, 0), (0, 0)), mode="edge"), head("ruby")])
    faces = landmarks.faces(np.ascontiguousarray(both))
    assert len(faces) == 2
    assert faces[0].box.centre[0] > 240 > faces[1].box.centre[0]


def test_no_face_is_found_where_there_is_none(landmarks: Landmarks) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (300, 400, 3)).astype(np.uint8)
    for picture in (noise, np.full((64, 2000, 3), 128, np.uint8), np.zeros((2, 2, 3), np.uint8)):
        assert landmarks.faces(picture) == []


def test_the_same_picture_gives_the_same_points(landmarks: Landmarks) -> None:
    again = Landmarks().faces(head("ruby"))[0].mesh.points
    assert (landmarks.faces(head("ruby"))[0].mesh.points == again).all()


def test_boxes_of_one_face_overlap() -> None:
    box = Box(0.9, np.array([100.0, 100]), 60, 0)
    assert box.overlaps(Box(0.8, np.array([110.0, 100]), 66, 0))
    assert box.overlaps(Box(0.8, np.array([100.0, 100]), 200, 0))
    assert not box.overlaps(Box(0.8, np.array([150.0, 100]), 60, 0))
