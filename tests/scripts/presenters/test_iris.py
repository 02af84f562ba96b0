"""The picture of an eye."""

import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.scripts.presenters.cast import CAST
from visavis.scripts.presenters.iris import SIDE, paint
from visavis.scripts.presenters.looks import LOOKS

NAMES = tuple(CAST)


def ring(picture: NDArray[np.uint8], degrees: float) -> NDArray[np.float64]:
    """Brightness (N,) of the texels within a degree of an angle about the eye's axis."""
    row, column = (np.mgrid[0:SIDE, 0:SIDE] + 0.5) / SIDE * 2 - 1
    near = np.abs(np.hypot(column, row) * 90 - degrees) < 1
    return picture[near][:, :3].mean(1)


@pytest.mark.parametrize("name", NAMES)
def test_the_pupil_is_black_and_the_white_is_light(name: str) -> None:
    picture, look = paint(CAST[name]), LOOKS[name].eye
    assert picture.shape == (SIDE, SIDE, 4)
    assert ring(picture, look.pupil / 2).max() < 16
    assert ring(picture, look.iris + 6).min() > 180


@pytest.mark.parametrize("name", NAMES)
def test_the_iris_ends_in_a_dark_ring_at_its_angle(name: str) -> None:
    picture, look = paint(CAST[name]), LOOKS[name].eye
    middle = ring(picture, (look.pupil + look.iris) / 2).mean()
    assert ring(picture, look.iris - 2).mean() < 0.75 * middle
    assert ring(picture, look.iris + 2.5).mean() > 2 * middle


@pytest.mark.parametrize("name", NAMES)
def test_no_light_is_painted_in(name: str) -> None:
    picture = paint(CAST[name]).astype(float)
    left, right = picture[:, : SIDE // 2].mean(), picture[:, SIDE // 2 :].mean()
    above, below = picture[: SIDE // 2].mean(), picture[SIDE // 2 :].mean()
    assert abs(left - right) < 4
    assert abs(above - below) < 4


def test_the_same_cast_gives_the_same_picture_and_another_cast_another() -> None:
    first, second = (CAST[name] for name in NAMES)
    np.testing.assert_array_equal(paint(first), paint(first))
    assert (paint(first) != paint(second)).any()
