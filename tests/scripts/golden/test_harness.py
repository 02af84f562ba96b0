"""Slices are read from a description as numpy would read them."""

import numpy as np
import pytest
from visavis.scripts.golden.harness import sliced


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("res[:, ::5] after the last window", np.s_[:, ::5]),
        ("the whole array is (3,80), sliced [::2, 1:70:4]", np.s_[::2, 1:70:4]),
        ("first [0, :, ::5]", np.s_[0, :, ::5]),
        ("last row [-1, ::3]", np.s_[-1, ::3]),
    ],
)
def test_a_slice_is_what_it_says(text: str, index: object) -> None:
    assert sliced(text) == index


def test_a_text_without_a_slice_is_refused() -> None:
    with pytest.raises(ValueError, match="no slice"):
        sliced("all of [it]")
