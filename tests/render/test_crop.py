import math

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from visavis.render.crop import (
    LAYOUTS,
    Layout,
    cut,
    face_square,
    fit,
    fit_size,
    halved,
    inverted,
    moved,
    sampled,
)
from visavis.stream.errors import AvatarError

FACE = np.array([[40.0, 40], [60, 40], [50, 50], [43, 60], [57, 60]])
"""Two eyes, nose and mouth corners, upright."""


def turned(points: NDArray[np.float64], angle: float) -> NDArray[np.float64]:
    cosine, sine = math.cos(angle), math.sin(angle)
    return points @ np.array([[cosine, sine], [-sine, cosine]])


def noise(*shape: int) -> NDArray[np.uint8]:
    return np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)


@pytest.mark.parametrize(
    ("size", "limit", "fitted"),
    [
        ((1080, 1920), 1920, (1080, 1920)),
        ((4000, 3000), 1920, (1920, 1440)),
        ((719, 1281), 1280, (718, 1280)),
        ((2161, 3841), -1, (2160, 3840)),
        ((1920, 1921), 1280, (1278, 1280)),
        ((5, 3), 1920, (4, 2)),
    ],
)
def test_the_longer_side_is_limited_and_both_are_even(
    size: tuple[int, int], limit: int, fitted: tuple[int, int]
) -> None:
    assert fit_size(*size, limit) == fitted


def test_a_picture_that_fits_is_left_alone() -> None:
    picture = noise(40, 60, 3)
    assert fit(picture, 60) is picture
    assert fit(picture[:, :59], 30).shape == (20, 30, 3)


@given(st.floats(-3, 3), st.floats(0.5, 20), st.floats(-500, 500), st.floats(-500, 500))
def test_a_square_follows_its_face(angle: float, scale: float, x: float, y: float) -> None:
    upright = face_square(FACE, scale=2, shift=-0.1)
    placed = face_square(scale * turned(FACE, angle) + (x, y), scale=2, shift=-0.1)
    assert placed.side_px == pytest.approx(scale * upright.side_px)
    assert placed.angle == pytest.approx(angle, abs=1e-6)
    expected = scale * turned(upright.centre[None], angle)[0] + (x, y)
    assert placed.centre == pytest.approx(expected, abs=1e-6)


def test_a_square_is_as_large_as_the_points_and_shifts_along_the_face() -> None:
    square = face_square(FACE, scale=1, shift=0)
    assert (square.side_px, square.angle) == (20, 0)
    assert square.centre.tolist() == [50, 50]
    assert face_square(FACE, scale=2, shift=-0.1).centre.tolist() == [50, 46]


@pytest.mark.parametrize("points", LAYOUTS)
def test_each_set_of_points_is_known(points: int) -> None:
    spread = np.random.default_rng(points).uniform(0, 100, (points, 2))
    assert face_square(spread, scale=1, shift=0).side_px > 10


def test_a_set_of_our_own_brings_its_layout() -> None:
    points = np.vstack([FACE, [[50, 90]]])
    square = face_square(points, scale=1, shift=0, layout=Layout((0,), (1,), (3, 4)))
    assert square.side_px == 50


@pytest.mark.parametrize(
    ("points", "said"),
    [(np.zeros((7, 2)), "7 landmarks"), (np.ones((5, 2)), "in one place"), (FACE * np.nan, "in one place")],
)
def test_points_that_are_no_face_are_refused(points: NDArray[np.float64], said: str) -> None:
    with pytest.raises(AvatarError, match=said):
        face_square(points, scale=1, shift=0)


def test_eyes_on_the_mouth_count_as_upright() -> None:
    points = FACE.copy()
    points[3:] = points[:2]
    assert face_square(points, scale=1, shift=0).angle == 0


def test_the_matrices_are_each_other_s_inverse_and_put_the_centre_in_the_middle() -> None:
    square = face_square(turned(FACE, 0.4), scale=2.3, shift=-0.125)
    assert moved(square.centre[None], square.to_crop(512)) == pytest.approx(np.array([[256, 256]]), abs=1e-3)
    assert square.to_picture(512) @ square.to_crop(512) == pytest.approx(np.eye(3), abs=1e-4)
    upright = square.to_crop(512, turned=False)
    assert (upright[0, 1], upright[1, 0]) == (0, 0)


def test_sampling_at_whole_pixels_copies_and_is_black_outside() -> None:
    picture = noise(9, 7, 3)
    shifted = np.array([[1, 0, -2], [0, 1, 3], [0, 0, 1]], np.float32)
    seen = cut(picture, shifted, 9)
    assert (seen[:6, 2:9] == picture[3:, :]).all()
    assert not seen[6:].any()
    assert not seen[:, :2].any()


@given(st.floats(-1.4, 9.4), st.floats(-1.4, 7.4))
def test_sampling_is_bilinear_to_the_last_fraction(x: float, y: float) -> None:
    picture = noise(7, 9, 2).astype(np.float64)
    padded = np.pad(picture, ((2, 3), (2, 3), (0, 0)))
    left, top = math.floor(x), math.floor(y)
    fx, fy = x - left, y - top
    block = padded[top + 2 : top + 4, left + 2 : left + 4]
    expected = (1 - fy) * ((1 - fx) * block[0, 0] + fx * block[0, 1]) + fy * (
        (1 - fx) * block[1, 0] + fx * block[1, 1]
    )
    seen = sampled(picture, [[0, 0, x], [0, 0, y]], 1, 1)[0, 0]
    assert seen == pytest.approx(expected, abs=1e-3)


def test_a_place_that_is_no_number_is_black() -> None:
    assert not sampled(noise(4, 4, 1), np.full((3, 3), np.nan), 2, 2).any()


def test_halving_is_what_area_averaging_gives() -> None:
    picture = noise(64, 32, 3)
    area = cv2.resize(picture, (16, 32), interpolation=cv2.INTER_AREA).astype(int)
    assert np.abs(halved(picture) - area).max() <= 1
    assert halved(np.array([[[1], [2]], [[2], [1]]], np.uint8)).item() == 2


def test_an_inverse_undoes() -> None:
    matrix = np.array([[0.5, -0.2, 30], [0.2, 0.5, -7], [0, 0, 1]], np.float32)
    points = np.array([[1.0, 2], [300, 400]])
    assert moved(moved(points, matrix), inverted(matrix)) == pytest.approx(points, abs=1e-3)
