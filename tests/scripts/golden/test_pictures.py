"""The runner of `opencv4` and `opencv5` follows what a golden directory says."""

from typing import Any

import numpy as np
import pytest
import torch
from visavis.render.crop import fit
from visavis.scripts.golden.harness import GoldenFile
from visavis.scripts.golden.pictures import _every, run


def loaded(name: str, case: dict[str, Any], stream: str, most: int) -> GoldenFile:
    empty = GoldenFile("opencv5", 3, {}, {}, torch.device("cpu"), torch.float32)
    seen = fit(empty.smooth_image(stream, 64, 99), most)
    whole = case | {"result_shape": list(seen.shape), "stored": "[::3, ::5] RGB"}
    return GoldenFile("opencv5", 3, {name: whole}, {name: seen[::3, ::5]}, empty.device, empty.dtype)


@pytest.mark.parametrize(
    ("name", "case", "stream", "most"),
    [
        ("load64x99_50", {"input": "a/b smooth_image"}, "a/b", 50),
        ("load2_64x99_50", {"input": "a/b smooth_image"}, "a/b", 50),
        ("wide", {"input": "a/b smooth_image 64x99", "max_size": 50}, "a/b", 50),
        ("any", {"input": "a/b smooth_image 64x99", "max_size": 0}, "a/b", 0),
    ],
    ids=str,
)
def test_sizes_of_a_loaded_picture_are_said_or_named(
    name: str, case: dict[str, Any], stream: str, most: int
) -> None:
    found = list(run(loaded(name, case, stream, most)))
    assert [(one.case, one.passed) for one in found] == [(name, True)]


@pytest.mark.parametrize(
    ("text", "step"),
    [("every 7th pixel", 7), ("every third pixel", 3), ("every fifth one", 5), ("every other pixel", 2)],
)
def test_a_step_is_a_number_or_a_word(text: str, step: int) -> None:
    assert _every(text) == step
    assert np.arange(30)[::step].size == -(-30 // step)
