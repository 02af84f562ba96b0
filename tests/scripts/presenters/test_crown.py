"""The outline of long hair over its parting."""

import numpy as np
from visavis.scripts.presenters.camera import MASTER
from visavis.scripts.presenters.crown import calmed, firm, rounded

WIDTH = MASTER[0] // 2
TOP, DEEP = 100, 20


def test_a_notch_is_filled_at_the_depth_of_the_hair_beside_and_above_the_row_only() -> None:
    picture = np.zeros((400, WIDTH, 4), np.uint8)
    picture[TOP:300, 200:600] = (90, 70, 50, 255)
    picture[TOP : TOP + DEEP, 390:410] = 0
    depth = np.where(picture[..., 3] > 0, np.float32(7), np.float32(np.inf))
    made, far = rounded(picture, depth, 200.0)
    assert made[TOP + 4 : TOP + DEEP, 392:408, 3].min() == 255
    assert np.abs(made[TOP + 4 : TOP + DEEP, 392:408, :3].astype(int) - (90, 70, 50)).max() <= 2
    np.testing.assert_allclose(far[TOP + 4 : TOP + DEEP, 392:408], 7, atol=1e-3)
    assert made[: TOP - 4, :, 3].max() == 0
    kept, same = rounded(picture, depth, TOP - 1.0)
    np.testing.assert_array_equal(kept, picture)
    np.testing.assert_array_equal(same, depth)


def test_a_filled_notch_stands_up_in_its_middle_and_has_the_strands_of_the_hair_beside() -> None:
    picture = np.zeros((400, WIDTH, 4), np.uint8)
    picture[TOP:300, 200:600] = (90, 70, 50, 255)
    picture[TOP:300, 320:400:2, :3] += 16
    picture[TOP : TOP + DEEP, 390:430] = 0
    made, _ = rounded(picture, np.full(picture.shape[:2], 7, np.float32), 200.0)
    assert made[TOP - 2, 408:412, 3].min() > 120
    assert made[TOP - 2, 391:393, 3].max() < 60
    inside = made[TOP + 4 : TOP + DEEP - 4, 396:424, 0].astype(int)
    assert np.abs(np.diff(inside, axis=1)).mean() > 8


def test_hair_that_stands_clear_of_the_mass_is_not_joined_to_it() -> None:
    picture = np.zeros((400, WIDTH, 4), np.uint8)
    picture[TOP:300, 200:600] = (90, 70, 50, 255)
    picture[TOP + 20 : 300, 620:622] = (90, 70, 50, 255)
    made, _ = rounded(picture, np.full(picture.shape[:2], 7, np.float32), 300.0)
    assert made[TOP + 60 : 200, 606:616, 3].max() == 0


def test_a_light_tuft_is_as_light_as_the_hair_around_above_the_rows_only() -> None:
    picture = np.full((400, WIDTH, 4), (60, 50, 40, 255), np.uint8)
    for top in (40, 340):
        picture[top : top + 20, 390:410, :3] = (110, 95, 80)
    made = calmed(picture, (200.0, 120.0))
    assert made[50, 400, 0] < 85
    assert made[50, 300, 0] < 63
    np.testing.assert_array_equal(made[210:], picture[210:])


def test_an_outline_is_made_sharp_above_a_row_and_stays_soft_below_it() -> None:
    picture = np.zeros((4, 5, 4), np.uint8)
    picture[..., :3], picture[..., 3] = 90, (0, 100, 128, 150, 255)
    made = firm(picture, 2)
    assert made[:2, :, 3].tolist() == [[0, 0, 128, 255, 255]] * 2
    np.testing.assert_array_equal(made[2:], picture[2:])
    np.testing.assert_array_equal(made[..., :3], picture[..., :3])
