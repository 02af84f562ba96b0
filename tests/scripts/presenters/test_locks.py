"""Locks differ in tone along the strands of a picture."""

import numpy as np
from numpy.typing import NDArray
from visavis.scripts.presenters.locks import varied

HIGH, WIDE = 300, 320


def hair() -> NDArray[np.uint8]:
    """Hair that falls straight down, in fine strands."""
    chance = np.random.default_rng(4)
    strands = np.clip(90 + 18 * chance.standard_normal((1, WIDE)), 20, 200) + np.zeros((HIGH, 1))
    picture = np.zeros((HIGH, WIDE, 4), np.uint8)
    picture[..., :3] = np.round(strands[..., None] * (1.0, 0.8, 0.65))
    picture[20:-20, 20:-20, 3] = 255
    return picture


def test_tones_last_along_strands_and_change_across_them() -> None:
    before, after = hair(), varied(hair())
    ratio = (after[60:-60, 60:-60, :3].sum(2) + 1) / (before[60:-60, 60:-60, :3].sum(2) + 1.0)
    assert ratio.std() > 0.05
    near = 6
    across = np.abs(ratio[:, near:] - ratio[:, :-near]).mean()
    along = np.abs(ratio[near:] - ratio[:-near]).mean()
    assert across > 2 * along


def test_light_stays_in_sum_and_alpha_as_it_is() -> None:
    before, after = hair(), varied(hair())
    np.testing.assert_array_equal(after[..., 3], before[..., 3])
    inside = before[..., 3] > 0
    assert abs(after[inside].mean() / before[inside].mean() - 1) < 0.05


def test_short_hair_varies_less_and_none_not_at_all() -> None:
    before = hair().astype(int)
    changes = [np.abs(varied(hair(), share) - before).mean() for share in (0.0, 0.5, 1.0)]
    assert changes[0] < 0.01 < changes[1] < changes[2]
