"""Patterns in space are the same wherever they are asked for."""

import numpy as np
from visavis.scripts.presenters.grain import cells, noise

PLACES = np.random.default_rng(2).uniform(-2, 2, (4000, 3))


def test_a_place_has_one_value_however_it_is_asked_for() -> None:
    whole, some = noise(PLACES, 0.1, 5), noise(PLACES[::7], 0.1, 5)
    np.testing.assert_array_equal(whole[::7], some)
    for all_at_once, few in zip(cells(PLACES, 0.1, 5), cells(PLACES[::7], 0.1, 5), strict=True):
        np.testing.assert_array_equal(all_at_once[::7], few)


def test_another_seed_is_another_pattern() -> None:
    assert np.abs(noise(PLACES, 0.1, 5) - noise(PLACES, 0.1, 6)).mean() > 0.1
    assert np.abs(cells(PLACES, 0.1, 5)[0] - cells(PLACES, 0.1, 6)[0]).mean() > 0.01


def test_noise_is_even_about_nothing_and_soft() -> None:
    value = noise(PLACES, 0.1, 7)
    assert np.abs(value).max() <= 1
    assert abs(value.mean()) < 0.03
    assert 0.2 < value.std() < 0.5
    beside = noise(PLACES + 0.001, 0.1, 7)
    assert np.abs(beside - value).max() < 0.08


def test_dots_lie_about_their_spacing_apart() -> None:
    distance, chance = cells(PLACES, 0.1, 9)
    assert 0 <= distance.min() < 0.02
    assert 0.03 < distance.mean() < 0.08
    assert distance.max() < 0.2
    assert 0.4 < chance.mean() < 0.6
