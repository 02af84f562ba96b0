"""Keyframes where nobody sees them."""

import numpy as np
from numpy.typing import NDArray
from visavis.render.keyframes import LATEST, SOONEST, Keyframes

U8 = NDArray[np.uint8]


def placed(pictures: list[U8]) -> list[int]:
    keyframes = Keyframes()
    return [at for at, picture in enumerate(pictures) if keyframes.due(picture)]


def moving(count: int, leaps: tuple[int, ...] = ()) -> list[U8]:
    """Pictures that change by one level each, and by twenty at `leaps`."""
    steps = np.array([20 if at in leaps else 1 for at in range(count)])
    return [
        np.full((64, 64), level % 100, np.uint8) for level in np.cumsum(steps * (-1) ** np.arange(count)) + 50
    ]


def test_the_first_picture_is_a_keyframe() -> None:
    assert placed(moving(SOONEST)) == [0]


def test_a_leap_of_the_picture_hides_a_keyframe() -> None:
    assert placed(moving(200, leaps=(40, 130, 150))) == [0, 130]


def test_an_even_picture_gets_one_before_ten_seconds_are_over() -> None:
    first, second = placed(moving(LATEST + 1))[:2]
    assert first == 0
    assert SOONEST < second <= LATEST


def test_a_still_picture_gets_one_as_well() -> None:
    assert placed([np.zeros((64, 64), np.uint8)] * (LATEST + 1))[1] <= LATEST
