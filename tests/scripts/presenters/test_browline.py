"""The line that a brow follows."""

import numpy as np
import pytest
from visavis.scripts.presenters.browline import line
from visavis.scripts.presenters.looks import LOOKS

ALONG = np.linspace(0, 1, 41)


@pytest.mark.parametrize("name", ["ruby", "marcus"])
def test_a_brow_rises_from_the_nose_to_its_arch_and_falls_to_the_temple(name: str) -> None:
    look = LOOKS[name].brow
    height = line(look, ALONG)
    top = int(height.argmax())
    assert height[0] == pytest.approx(look.y)
    assert 0.5 < ALONG[top] < 0.8
    assert (np.diff(height[: top + 1]) > 0).all()
    assert (np.diff(height[top:]) < 0).all()


def test_marcus_brows_do_not_fall_below_their_ends_at_the_nose() -> None:
    """Brows higher at the nose than at the temple look worried."""
    height = line(LOOKS["marcus"].brow, ALONG)
    assert height[-1] > height[0]
