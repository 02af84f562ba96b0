import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.render.ditto.eyes import POINTS, eye_directions, eye_values


def face(*, lids: float = 0.01, gaze: float = 0.0) -> NDArray[np.float32]:
    """Eyes 0.1 wide in one plane; `gaze` moves both irises to the picture's right."""
    points = np.zeros((POINTS, 3), np.float32)
    for corners, pairs, iris, middle in (
        ((33, 133), ((145, 159), (144, 160), (153, 158)), 468, 0.3),
        ((263, 362), ((374, 386), (373, 387), (380, 385)), 473, 0.7),
    ):
        outward = -0.05 if middle < 0.5 else 0.05
        points[corners[0], 0], points[corners[1], 0] = middle + outward, middle - outward
        for low, high in pairs:
            points[low, 1], points[high, 1] = lids / 2, -lids / 2
        points[iris, 0] = middle + gaze
    return points


def test_open_is_the_lids_share_of_the_width() -> None:
    opened, _ = eye_values(face(lids=0.02))
    assert opened == pytest.approx([0.6, 0.6], rel=1e-5)


def test_closed_eyes_are_zero() -> None:
    assert eye_values(face(lids=0))[0].tolist() == [0, 0]


def test_an_iris_in_the_middle_has_no_ball() -> None:
    assert np.abs(eye_values(face())[1]).max() < 1e-6


def test_the_ball_is_measured_from_the_eye_s_own_axis_and_interleaved() -> None:
    _, ball = eye_values(face(gaze=0.01))
    assert ball == pytest.approx([0.02, 0, 0, 0, 0, 0], abs=1e-6)
    assert eye_directions(face(gaze=0.01))[0] == pytest.approx([0.1, 0.1], abs=1e-4)


def test_a_batch_is_its_rows() -> None:
    points = np.random.default_rng(1).uniform(0, 1, (3, POINTS, 3)).astype(np.float32)
    opened, ball = eye_values(points)
    assert (opened.shape, ball.shape, opened.dtype, ball.dtype) == ((3, 2), (3, 6), np.float32, np.float32)
    for row in range(3):
        assert opened[row] == pytest.approx(eye_values(points[row])[0])
        assert ball[row] == pytest.approx(eye_values(points[row])[1])
