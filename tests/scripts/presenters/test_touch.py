"""What is retouched in the skin's texture."""

import numpy as np
import pytest
from visavis.scripts.presenters.touch import Twin, browed, cornered, dull, eared, lipped

SIDE = 160
SKIN = (200.0, 150.0, 130.0)


def test_an_ear_takes_on_the_hue_of_a_cheek_and_the_rest_stays() -> None:
    color = np.full((SIDE, SIDE, 3), SKIN, np.float32)
    color[:, 100:] = (210, 110, 80)
    ear, cheek = np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE))
    ear[:, 120:], cheek[:, :40] = 1, 1
    made = eared(color, ear, np.zeros((SIDE, SIDE)), cheek)
    np.testing.assert_array_equal(made[:, :120], color[:, :120])
    before, after, wanted = (pixel[0] / pixel[2] for pixel in (color[0, 150], made[0, 150], np.array(SKIN)))
    assert wanted < after < (wanted + before) / 2
    darker = eared(color, ear, ear, cheek)
    assert darker[0, 150].mean() < 0.8 * made[0, 150].mean()


def test_a_stray_hair_goes_and_a_dense_tail_thins() -> None:
    color = np.full((SIDE, SIDE, 3), SKIN, np.float32)
    color[73:89, 60:100] = (50, 40, 30)
    color[40:48, 80:81] = (50, 40, 30)
    made = browed(color, np.ones((SIDE, SIDE)))
    assert np.abs(made[40:48, 80] - SKIN).max() < 0.2 * np.abs(color[40:48, 80] - SKIN).max()
    assert color[81, 80].mean() + 10 < made[81, 80].mean() < 0.9 * np.mean(SKIN)
    np.testing.assert_array_equal(browed(color, np.zeros((SIDE, SIDE))), color)


def test_a_grey_brow_keeps_light_hairs_and_loses_its_brown() -> None:
    color = np.full((SIDE, SIDE, 3), SKIN, np.float32)
    color[76:84, 60:100] = (70, 62, 58)
    color[76:84, 60:100:4] = (214, 206, 198)
    near = np.ones((SIDE, SIDE))
    brown, grey = (browed(color, near, None, share)[78:82, 64:96].reshape(-1, 3) for share in (0.0, 1.0))
    redness = [float((hairs[:, 0] / hairs[:, 2]).mean()) for hairs in (brown, grey)]
    assert redness[1] < redness[0] - 0.1
    assert grey.mean(1).max() > brown.mean(1).max() + 10
    np.testing.assert_array_equal(browed(color, np.zeros((SIDE, SIDE)), None, 1.0), color)


def test_a_brow_is_the_twin_of_the_other() -> None:
    color = np.full((SIDE, SIDE, 3), SKIN, np.float32)
    color[40:46, 20:60] = (120, 90, 70)
    color[40:50, 100:140] = (50, 40, 30)
    row, column = (each.ravel() for each in np.mgrid[20:80, 80:SIDE])
    others = np.stack([row] * 4, 1), np.stack([SIDE - 1 - column] * 4, 1)
    made = browed(color, np.ones((SIDE, SIDE)), Twin((row, column), others, np.full((len(row), 4), 0.25)))
    np.testing.assert_allclose(made[20:80, 80:], made[20:80, :80][:, ::-1], atol=8)


def test_an_upper_lip_in_the_shade_is_lit_as_the_lower_one_and_nothing_else_changes() -> None:
    color = np.full((SIDE, SIDE, 3), 120, np.float32)
    upper, lower = np.zeros((2, SIDE, SIDE))
    upper[80:100, 60:140] = lower[110:140, 60:140] = 1
    color[80:100, 60:140] = (80, 50, 44)
    color[110:140, 60:140] = (160, 100, 88)
    made = lipped(color, upper, lower)
    assert 110 < made[90, 100, 0] < 0.95 * 160
    assert made[90, 100, 1] / made[90, 100, 0] == pytest.approx(50 / 80, abs=0.01)
    np.testing.assert_array_equal(made[upper == 0], color[upper == 0])
    np.testing.assert_allclose(lipped(made, lower, lower)[lower > 0], color[lower > 0])


def test_a_white_line_on_a_lip_goes_and_the_rest_of_the_lip_and_the_skin_beside_stay() -> None:
    color = np.full((80, 80, 3), (170, 90, 84), np.float32)
    color[38:41] = (250, 220, 215)
    lip = np.zeros((80, 80))
    lip[20:60, :60] = 1
    made = dull(color, lip)
    assert made[39, 30, 1] < 145
    np.testing.assert_allclose(made[25, 30], color[25, 30])
    np.testing.assert_allclose(made[39, 70], color[39, 70])


def test_a_beard_closes_over_bare_skin_at_a_corner_of_the_mouth_and_beside_it_stays_as_it_is() -> None:
    side = 128
    y, x = np.mgrid[:side, :side]
    color = np.full((side, side, 3), (90, 85, 80), np.float32)
    away = np.hypot(x - 80, y - 64)
    color[away < 6] = (220, 160, 140)
    lip = ((x < 70) & (abs(y - 64) < 8)).astype(np.float64)
    color[lip > 0] = (200, 100, 90)
    made = cornered(color, away / 200, lip)
    assert made[64, 80, 0] < 130
    assert np.abs(made[5:20, 100:120] - (90, 85, 80)).max() < 2
    red = made[64, 40, 0] / made[64, 40, 2]
    assert 1.3 < red < 200 / 90
