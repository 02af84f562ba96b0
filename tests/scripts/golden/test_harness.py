"""Slices are read from a description as numpy would read them; what is exact is so in every dtype."""

import numpy as np
import pytest
import torch
from visavis.scripts.golden.harness import GoldenFile, sliced

ZEROS = np.zeros(3)


def passes(expected: np.ndarray, got: np.ndarray, tolerance: float, dtype: torch.dtype) -> bool:
    file = GoldenFile("any", 1, {}, {"it": expected}, torch.device("cpu"), dtype)
    return file.compare("it", got, tolerance).passed


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_whole_numbers_are_exact_in_every_dtype(dtype: torch.dtype) -> None:
    steps = np.arange(1000)
    assert passes(steps, steps, 0, dtype)
    assert not passes(steps, steps + (steps == 500), 0, dtype)
    assert passes(ZEROS, ZEROS, 0, dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_nothing_is_like_nothing_and_like_nothing_else(dtype: torch.dtype) -> None:
    assert passes(ZEROS, ZEROS, 1e-5, dtype)
    assert not passes(ZEROS, ZEROS + 0.1, 1e-5, dtype)
    assert not passes(ZEROS + 1, ZEROS, 1e-5, dtype)
    assert not passes(ZEROS, ZEROS * np.nan, 1e-5, dtype)
