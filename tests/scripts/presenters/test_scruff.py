"""A beard ends in single hairs and stubble."""

import numpy as np
from numpy.typing import NDArray
from visavis.scripts.presenters.scruff import scruffy

SIDE = 240
SKIN, BEARD = (200.0, 150.0, 130.0), (90.0, 85.0, 80.0)
EDGE = 120


def changed(free: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """How far (S, S) the hairs change a cheek whose beard begins below the row EDGE."""
    color = np.full((SIDE, SIDE, 3), SKIN, np.float32)
    color[EDGE:] = BEARD
    density = np.zeros((SIDE, SIDE))
    density[EDGE:] = 1
    y, x = np.mgrid[0:SIDE, 0:SIDE] * 0.004
    made = scruffy(
        color, density, np.ones((SIDE, SIDE)) if free is None else free, np.stack([x, y, 0 * x], 2)
    )
    return np.abs(made - color).mean(2).astype(np.float64)


def test_hairs_become_fewer_away_from_the_beard() -> None:
    rows = changed()[:EDGE].mean(1)
    assert rows[-6:].mean() > 2 * rows[-26:-20].mean() > 0
    assert rows[:30].max() < 0.01


def test_hairs_are_single() -> None:
    band = changed()[EDGE - 20 : EDGE - 4]
    assert (band > 25).mean() < 0.5
    assert band.std(1).mean() > 5


def test_lips_and_ears_stay_bare() -> None:
    free = np.ones((SIDE, SIDE))
    free[:, :80] = 0
    assert changed(free)[:EDGE, :60].max() < 1
    assert changed(np.zeros((SIDE, SIDE))).max() < 1
