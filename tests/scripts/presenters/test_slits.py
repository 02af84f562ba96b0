"""Slits in light cloth."""

import numpy as np
from visavis.scripts.presenters.slits import unslit


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
