"""The cameras around a head."""

import numpy as np
import pytest
from visavis.scripts.presenters.camera import VIEWS, front_camera, turn

PIVOT = np.array([0.0, 5.2, 0.3])
POINTS = np.random.default_rng(1).normal(size=(40, 3)) * 0.6 + (0, 6, 0.8)
FRONT = front_camera(np.array([0.0, 6.0, 1.0]), 10.7)


@pytest.mark.parametrize("view", VIEWS)
def test_an_orbited_camera_sees_a_still_head_as_the_front_camera_sees_it_turned(view: str) -> None:
    turned = PIVOT + (POINTS - PIVOT) @ turn(*VIEWS[view]).T
    np.testing.assert_allclose(
        FRONT.orbited(*VIEWS[view], PIVOT).project(POINTS), FRONT.project(turned), atol=1e-9
    )


def test_left_means_that_the_nose_goes_to_the_left_of_the_picture() -> None:
    nose = np.array([0.0, 6.2, 1.6])
    columns = [FRONT.orbited(*VIEWS[view], PIVOT).project(nose)[0] for view in ("left", "front", "right")]
    assert columns[0] < columns[1] < columns[2]


def test_from_below_the_nose_rises_against_the_ears() -> None:
    nose, ear = np.array([0.0, 6.2, 1.6]), np.array([0.7, 6.2, 0.4])

    def rise(view: str) -> float:
        camera = FRONT.orbited(*VIEWS[view], PIVOT)
        return float(camera.project(ear)[1] - camera.project(nose)[1])

    assert rise("low") > rise("front")


def test_unproject_undoes_project() -> None:
    seen = FRONT.project(POINTS)
    np.testing.assert_allclose(FRONT.unproject(seen[:, :2], seen[:, 2]), POINTS, atol=1e-9)


def test_a_scaled_camera_sees_the_same_in_fewer_pixels() -> None:
    half = FRONT.scaled(0.5)
    assert half.size == (800, 960)
    np.testing.assert_allclose(half.project(POINTS)[:, :2] * 2, FRONT.project(POINTS)[:, :2])
