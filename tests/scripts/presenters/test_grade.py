"""Layers of hair made ready for their reliefs."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.scripts.presenters.camera import MASTER
from visavis.scripts.presenters.grade import (
    FADE_PX,
    FEATHER_PX,
    changing,
    combed,
    crisp,
    faded,
    feathered,
    graded,
    matched,
    regraded,
    tidied,
)
from visavis.scripts.presenters.looks import Grade

PLAIN = Grade(tone=60, even=0.5, calm=0.5, tint=(1.0, 1.0, 1.0), share=0.0)
MIDDLE = np.array([800.0, 900.0])
INNER, OUTER = 150, 210


def hair() -> NDArray[np.uint8]:
    """A mass of hair (400, 800, 4), light at the left and dark at the right, and one strand off it."""
    picture = np.zeros((400, 800, 4), np.uint8)
    picture[:, 100:400] = (120, 116, 112, 255)
    picture[:, 400:700] = (16, 14, 12, 255)
    picture[:, 740:741] = (16, 14, 12, 255)
    return picture


def test_a_strand_that_stands_clear_goes_and_the_mass_stays() -> None:
    alpha = tidied(hair())[..., 3]
    assert alpha[50:350, 730:750].max() == 0
    assert alpha[50:350, 110:690].min() == 255


def test_grading_brings_light_and_dark_regions_closer() -> None:
    before, after = (picture[200, :, :3].mean(1).astype(float) for picture in (hair(), graded(hair(), PLAIN)))
    assert 60 < after[200] < before[200]
    assert before[600] < after[600] < 60


def test_grading_at_full_share_gives_the_tint_and_keeps_the_outline() -> None:
    made = graded(hair(), Grade(tone=60, even=0.0, calm=0.0, tint=(1.2, 1.0, 0.8), share=1.0))
    red, green, blue = made[200, 200, :3].astype(float)
    np.testing.assert_allclose((red / green, blue / green), (1.2, 0.8), atol=0.02)
    np.testing.assert_array_equal(made[..., 3], hair()[..., 3])


def test_black_hair_is_lifted_to_the_floor() -> None:
    black = np.zeros((40, 40, 4), np.uint8)
    black[..., 3] = 255
    made = graded(black, Grade(tone=60, even=0.5, calm=0.5, tint=(1, 1, 1), share=0.5, floor=(7, 4, 3)))
    np.testing.assert_array_equal(made[20, 20], (7, 4, 3, 255))


def test_strands_come_closer_to_their_region_by_a_power() -> None:
    striped = hair()
    striped[:, 100:400:4, :3] = 200
    contrast = [
        float(graded(striped, replace(PLAIN, fine=fine))[200, 200:300, 1].std()) for fine in (1.0, 0.5)
    ]
    assert contrast[1] < 0.7 * contrast[0]


def test_only_a_share_of_a_layer_is_graded() -> None:
    share = np.zeros((400, 800), np.float32)
    share[:200] = 1
    made = regraded(hair(), share, PLAIN)
    np.testing.assert_array_equal(made[200:], hair()[200:])
    np.testing.assert_array_equal(made[..., 3], hair()[..., 3])
    assert made[100, 200, 1] < 116
    assert made[100, 600, 1] > 14


def test_short_hair_thins_out_towards_a_face_between_two_rows() -> None:
    layer = np.full((960, 800, 4), 100, np.uint8)
    layer[..., 3] = 255
    layer[:, :400, 3] = 0
    skin = np.full_like(layer, 255)
    thin = faded(layer, skin, (300.0, 600.0))[..., 3].astype(float)
    reach = round(FADE_PX * 800 / MASTER[0])
    assert thin[300:600, 400].mean() < thin[300:600, 400 + reach // 2].mean() < 250
    assert thin[:, 400 + 4 * reach :].min() == 255
    assert thin[:200].min(1).max() == 0
    np.testing.assert_array_equal(thin[:200], layer[:200, :, 3])


def test_specks_at_the_ends_of_long_hair_become_strands() -> None:
    chance = np.random.default_rng(3)
    layer = np.full((960, 800, 4), 80, np.uint8)
    layer[..., 3] = np.where(chance.random((960, 800)) < 0.5, 255, 0)
    made = combed(layer, 500.0, 2000.0)
    np.testing.assert_array_equal(made[:400], layer[:400])
    down, across = (np.abs(np.diff(made[600:900, :, 3].astype(float), axis=axis)).mean() for axis in (0, 1))
    assert down < 0.5 * across
    np.testing.assert_allclose(made[600:900][made[600:900, :, 3] > 100][:, :3], 80, atol=1)


def test_the_outline_of_long_hair_is_strands_and_its_inside_stays() -> None:
    chance = np.random.default_rng(4)
    layer = np.full((960, 800, 4), 80, np.uint8)
    layer[..., 3] = 0
    layer[:, 200:600, 3] = 255
    layer[:, 600:606, 3] = np.where(chance.random((960, 6)) < 0.4, 118, 0)
    made = combed(layer, 2000.0, 300.0)
    np.testing.assert_array_equal(made[:250], layer[:250])
    np.testing.assert_array_equal(made[:, 230:570], layer[:, 230:570])
    before, after = (
        np.abs(np.diff(each[400:900, 601:605, 3].astype(float), axis=0)) for each in (layer, made)
    )
    assert after.mean() < 0.3 * before.mean()


def test_one_layer_turns_into_another_below_a_row() -> None:
    upper, lower = (np.full((400, 800, 4), value, np.uint8) for value in (40, 90))
    mixed = changing(upper, lower, 100.0)
    assert (mixed[:100] == 40).all()
    assert (mixed[200:] == 90).all()
    assert (np.diff(mixed[:, 0, 0].astype(int)) >= 0).all()


def test_a_beard_has_the_colours_of_the_face_below_and_its_own_outline() -> None:
    skin = np.full((400, 800, 4), (90, 86, 82, 255), np.uint8)
    skin[:, :200, 3] = 0
    made = matched(hair(), skin)
    np.testing.assert_array_equal(made[..., 3], hair()[..., 3])
    np.testing.assert_array_equal(made[:, 200:, :3], skin[:, 200:, :3])
    np.testing.assert_array_equal(made[:, :200], hair()[:, :200])


def test_sparse_beard_keeps_the_colours_of_its_own_hairs() -> None:
    sparse = hair()
    sparse[..., 3] //= 2
    skin = np.full((400, 800, 4), (200, 150, 130, 255), np.uint8)
    np.testing.assert_array_equal(matched(sparse, skin), sparse)


def ring() -> NDArray[np.uint8]:
    wide, high = MASTER
    y, x = np.mgrid[0:high, 0:wide]
    distance = np.hypot(x + 0.5 - MIDDLE[0], y + 0.5 - MIDDLE[1])
    layer = np.full((high, wide, 4), 60, np.uint8)
    layer[..., 3] = 255 * ((distance > INNER) & (distance < OUTER))
    return layer


def test_a_beard_has_no_hard_line_under_the_chin() -> None:
    below = feathered(ring(), MIDDLE, 850)[900:, 800, 3].astype(int)
    rising = below[INNER : INNER + FEATHER_PX + 2]
    assert np.abs(np.diff(rising)).max() < 30
    assert (below[INNER + FEATHER_PX + 2 : OUTER - 2] == 255).all()


def test_a_beard_is_whole_beside_the_face_and_above_the_mouth() -> None:
    layer = ring()
    faded = feathered(layer, MIDDLE, 850)
    assert (faded[:950] == layer[:950]).all()


def test_a_face_without_a_beard_stays() -> None:
    layer = ring()
    assert (feathered(layer, MIDDLE, 1500) == layer).all()


def test_crisp_strengthens_what_is_fine_and_keeps_what_is_flat() -> None:
    color = np.full((24, 24, 3), 100, np.float32)
    color[:, 12:] = 140
    sharp = crisp(color, 1.3, 0.5)
    assert sharp[:, :4] == pytest.approx(100, abs=0.01)
    assert sharp[:, 12].min() > 141
    assert sharp[:, 11].max() < 99


def test_the_tips_of_long_hair_thin_out() -> None:
    layer = np.full((960, 800, 4), 80, np.uint8)
    layer[..., 3] = 0
    layer[:800, 200:600, 3] = 255
    layer[700:, 200:600, 3] = np.linspace(255, 0, 260).astype(np.uint8)[:, None]
    alpha = combed(layer, 500.0, 2000.0)[700:960, 400, 3].astype(int)
    assert (np.diff(alpha) <= 0).all()
    assert np.count_nonzero((alpha > 20) & (alpha < 200)) > 100
