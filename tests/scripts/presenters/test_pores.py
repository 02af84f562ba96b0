"""Skin from near: pores that lie where they lie, lips with lines."""

import numpy as np
from visavis.scripts.presenters.pores import RELIEF, lined, relief

PLACES = np.random.default_rng(2).uniform(-0.4, 0.4, (20000, 3))


def test_pores_are_small_and_apart() -> None:
    height, pore = relief(PLACES)
    assert 0 <= pore.min() <= pore.max() <= 1
    assert 0.01 < (pore > 0.4).mean() < 0.2
    assert height[pore > 0.4].mean() < height[pore < 0.05].mean() - 0.3
    assert np.abs(height).max() < 1.2 + sum(share for _, share in RELIEF)


def test_relief_belongs_to_places() -> None:
    np.testing.assert_array_equal(relief(PLACES)[0][::5], relief(PLACES[::5])[0])


def test_lines_of_lips_run_down() -> None:
    x, y = np.meshgrid(np.linspace(-0.2, 0.2, 160), np.linspace(-0.05, 0.05, 40))
    at = np.stack([x, y, 0 * x], 2).reshape(-1, 3)
    normal = np.tile([0.0, 0.0, 1.0], (len(at), 1))
    lip = np.tile([190.0, 100.0, 92.0], (len(at), 1))
    light = lined(lip, at, normal, np.ones(len(at))).mean(1).reshape(x.shape)
    assert np.abs(np.diff(light, axis=1)).mean() > 2 * np.abs(np.diff(light, axis=0)).mean()


def test_a_dark_corner_of_a_mouth_gets_no_darker() -> None:
    normal = np.tile([0.0, 0.0, -1.0], (len(PLACES), 1))
    dark = np.tile([70.0, 34.0, 30.0], (len(PLACES), 1))
    np.testing.assert_allclose(lined(dark, PLACES, normal, np.zeros(len(PLACES))), dark)
