"""Slits in light cloth, and black in dark cloth."""

import numpy as np
from visavis.scripts.presenters.slits import unblack, unslit


def test_a_narrow_slit_in_light_cloth_is_lit_and_wide_or_dark_ones_stay() -> None:
    cloth = np.full((200, 1600, 4), 200, np.uint8)
    cloth[:, 400:406, :3] = 20
    cloth[:, 800:840, :3] = 20
    cloth[:, 1200:, :3] = 40
    cloth[:, 1400:1406, :3] = 10
    made = unslit(cloth)
    assert made[100, 402, 0] > 110
    np.testing.assert_array_equal(made[:, 806:834], cloth[:, 806:834])
    np.testing.assert_array_equal(made[:, 1220:], cloth[:, 1220:])
    np.testing.assert_array_equal(made[..., 3], cloth[..., 3])


def test_black_in_cloth_becomes_a_dark_tone_and_lit_cloth_and_the_outline_stay() -> None:
    cloth = np.zeros((4, 6, 4), np.uint8)
    cloth[:, :2] = (2, 2, 3, 255)
    cloth[:, 2:4] = (80, 90, 110, 255)
    made = unblack(cloth)
    assert 10 < made[0, 0, 0] < made[0, 0, 2] < 40
    np.testing.assert_array_equal(made[:, 2:4], cloth[:, 2:4])
    np.testing.assert_array_equal(made[..., 3], cloth[..., 3])
