"""Ears are widest above their middle and round at both ends."""

import numpy as np
from visavis.scripts.presenters.taper import tapered

HEIGHT, OUT = (grid.ravel() for grid in np.meshgrid(np.linspace(-0.3, 0.3, 31), np.linspace(0, 0.16, 9)))
EAR = np.concatenate([np.stack([side * (0.7 + OUT), HEIGHT, 0 * OUT], 1) for side in (1.0, -1.0)])


def test_a_block_becomes_an_ear() -> None:
    made = tapered(EAR, np.ones(len(EAR)))
    out = made[:, 0] - 0.7
    top, middle, lobe = (
        out[(made[:, 0] > 0) & (np.abs(EAR[:, 1] - at) < 0.02)].max() for at in (0.3, 0.05, -0.3)
    )
    assert middle > top > lobe > 0.3 * middle
    outer = (EAR[:, 0] > 0.85) & (EAR[:, 1] < -0.28)
    assert (made[outer, 1] > EAR[outer, 1] + 0.05).all()


def test_both_sides_are_alike_and_the_rest_stays() -> None:
    made = tapered(EAR, np.ones(len(EAR)))
    half = len(EAR) // 2
    np.testing.assert_allclose(made[:half] * (-1, 1, 1), made[half:])
    np.testing.assert_array_equal(tapered(EAR, np.zeros(len(EAR))), EAR)
