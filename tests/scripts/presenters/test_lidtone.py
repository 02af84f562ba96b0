"""Lids take their tone from the picture of shut eyes."""

import numpy as np
from numpy.typing import NDArray
from visavis.scripts.presenters.lidtone import lidded, lined

SIDE = 96
F32 = NDArray[np.float32]


def toned(shut: float) -> F32:
    """One channel of a texture of 100 with a lid in the middle that is `shut` in the other picture."""
    y, x = np.mgrid[:SIDE, :SIDE]
    fall = np.where((abs(y - 36) < 12) & (abs(x - 48) < 20), 0.1, 0.0)
    hole = (abs(y - 60) < 3) & (abs(x - 48) < 16)
    color = np.full((SIDE, SIDE, 3), 100, np.float32)
    return lidded(color, np.full_like(color, shut), fall, np.ones((SIDE, SIDE)), hole)[..., 0]


def test_a_lid_takes_the_brighter_tone_of_a_shut_one_and_fades_into_the_skin_around() -> None:
    tone = toned(160.0)
    assert tone[30, 48] > 150
    assert abs(tone[5, 5] - 100) < 1
    assert np.abs(np.diff(tone[30])).max() < 6


def test_where_shut_lids_are_dark_a_lid_stays_as_it_was() -> None:
    assert toned(20.0)[30, 48] > 90


def test_a_lid_is_smooth_and_rounder_in_the_light_than_the_skin_above() -> None:
    y = np.mgrid[:SIDE, :SIDE][0]
    fall = np.clip((y - 24) / 240, 0, 0.1) * (y < 56)
    color = np.full((SIDE, SIDE, 3), 120, np.float32)
    color[:, ::2] += 20
    made = lidded(color, color.copy(), fall, np.ones((SIDE, SIDE)), np.zeros((SIDE, SIDE), bool))[..., 0]
    assert np.abs(np.diff(made[42, 20:76])).max() < 6
    assert np.abs(np.diff(made[10, 20:76])).min() > 15
    assert made[38:41].mean() > made[27:30].mean() + 2


def test_a_dark_line_beside_the_corner_of_an_eye_goes() -> None:
    color = np.full((SIDE, SIDE, 3), 120, np.float32)
    hole = np.zeros((SIDE, SIDE), bool)
    hole[46:50, 30:66] = True
    color[44:52, 66:70] = 60
    made = lidded(color, color.copy(), np.zeros((SIDE, SIDE)), np.ones((SIDE, SIDE)), hole)
    assert made[48, 68].mean() > 100
    assert abs(made[48, 90].mean() - 120) < 3


def test_a_lid_has_a_fold_and_the_light_of_a_ball_and_skin_beside_it_stays_as_it_is() -> None:
    y, x = np.mgrid[:SIDE, :SIDE].astype(np.float64)
    fall = np.where((y >= 24) & (y < 64) & (abs(x - 48) < 30), (y - 24) / 400, 0.0)
    place = np.stack(
        [
            (x - 48) / 200,
            (44 - y) / 200,
            np.sqrt(np.maximum(0.04 - ((x - 48) ** 2 + (y - 44) ** 2) / 4e4, 0)),
        ],
        2,
    )
    eyes = np.array([[0.0, 0.0, 0.0], [-9.0, 0.0, 0.0]])
    color = np.full((SIDE, SIDE, 3), 120, np.float32)
    made = lined(color, fall, np.ones((SIDE, SIDE)), np.zeros((SIDE, SIDE), bool), place, eyes)
    tone = made[..., 0]
    np.testing.assert_allclose(made[:10], 120, atol=0.01)
    fold = tone[30:44, 44:52].mean(1)
    assert 3 < int(fold.argmin()) < 9
    assert fold.min() < 0.93 * tone[46:52, 44:52].mean()
    assert tone[46:56, 24:34].mean() > tone[46:56, 62:72].mean() + 3
