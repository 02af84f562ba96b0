"""What face units do besides what their data says."""

import numpy as np
import pytest
from visavis.scripts.presenters.base import Target
from visavis.scripts.presenters.muscles import APPLE, bulged, moved, pursed

HALF = 0.25
MOUTH = np.array([0.0, 5.0, 1.0])
SIDES = np.linspace(-1.2, 1.2, 241)


def line(height: float) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return np.stack([SIDES, np.full_like(SIDES, height), np.zeros_like(SIDES)], 1)


def test_a_pucker_draws_the_corners_to_the_middle_and_pushes_the_lips_forward() -> None:
    corner, middle, cheek, ear = pursed(
        np.array([(HALF, 0.03, -0.1), (0, 0.05, 0), (0.47, 0.06, -0.3), (1.2, 0.3, -0.5)]), HALF
    )
    assert -0.25 * HALF < corner[0] < -0.12 * HALF
    assert corner[1] < -0.02
    assert middle[2] > 0.015
    assert cheek[2] < 0
    np.testing.assert_allclose(ear, 0, atol=1e-3)


@pytest.mark.parametrize("height", [-0.2, 0.0, 0.1, 0.3])
def test_a_pucker_folds_no_skin_over_and_mirrors_itself(height: float) -> None:
    way = pursed(line(height), HALF)
    assert np.diff(SIDES + way[:, 0]).min() > 0
    np.testing.assert_allclose(way[::-1] * (-1, 1, 1), way, atol=1e-9)


def test_a_pucker_leaves_the_wings_of_the_nose_where_they_are() -> None:
    wing, chin = pursed(np.array([(0.17, 0.27, -0.1), (0.17, -0.2, -0.1)]), HALF)
    np.testing.assert_allclose(wing[0], 0, atol=2e-3)
    assert chin[0] < -0.02


def test_a_cheek_bulges_on_its_own_side() -> None:
    at = np.array([(*APPLE, -0.2), (-APPLE[0], APPLE[1], -0.2)])
    mine, other = bulged(at, (0.01, 0.03, 0.02), 1.0)
    np.testing.assert_allclose(mine, (0.01, 0.03, 0.02))
    np.testing.assert_allclose(other, 0)
    np.testing.assert_allclose(bulged(at, (0.01, 0.03, 0.02), -1.0)[1], (-0.01, 0.03, 0.02))


def test_what_lies_behind_and_what_is_no_member_keeps_to_its_data() -> None:
    points = MOUTH + np.array([(0.2, 0.0, 0.0), (0.2, 0.0, -0.8), (0.2, 0.0, 0.0)])
    plain = Target(np.array([0, 2]), np.full((2, 3), 0.01))
    made = moved({"mouthPucker": plain, "jawOpen": plain}, points, np.array([0, 1]), MOUTH, HALF)
    assert made["jawOpen"] is plain
    assert made["mouthPucker"].index.tolist() == [0, 2]
    assert made["mouthPucker"].delta[0, 0] < -0.01
    np.testing.assert_allclose(made["mouthPucker"].delta[1], 0.01)
