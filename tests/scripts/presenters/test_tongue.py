"""The tongue's tip."""

import numpy as np
from visavis.scripts.presenters.tongue import rounded


def test_a_tip_is_narrow_round_and_raised_and_the_root_stays() -> None:
    x, z = (part.ravel() for part in np.meshgrid(np.linspace(-0.2, 0.2, 9), np.linspace(0.0, 0.6, 7)))
    points = np.stack([x, np.zeros_like(x), z], 1)
    shaped = rounded(points, np.abs(x) / 0.2)
    tip, root = z == z.max(), z == 0
    assert np.abs(shaped[tip, 0]).max() < 0.9 * 0.2
    assert shaped[tip, 2].argmax() == 4
    assert shaped[tip, 1].argmax() == 4
    np.testing.assert_array_equal(shaped[root], points[root])
