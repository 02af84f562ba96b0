"""Deep shade on skin."""

import numpy as np
from visavis.scripts.presenters.umber import muted


def shade(*color: int) -> list[int]:
    return muted(np.full((4, 4, 4), (*color, 255), np.uint8))[0, 0].tolist()


def test_rust_in_deep_shade_turns_umber_of_the_same_light() -> None:
    red, green, blue, alpha = shade(70, 24, 8)
    assert red < 70
    assert green > 24
    assert blue > 16
    assert alpha == 255
    assert abs(0.299 * red + 0.587 * green + 0.114 * blue - 35.9) < 1.5


def test_lit_skin_lips_and_dark_cloth_keep_their_colours() -> None:
    assert shade(150, 70, 66) == [150, 70, 66, 255]
    assert shade(216, 164, 139) == [216, 164, 139, 255]
    assert shade(22, 44, 72) == [22, 44, 72, 255]
