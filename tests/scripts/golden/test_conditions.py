"""The runner of `cond` finds emotions by the numbers at the end of an array's name."""

import numpy as np
import pytest
import torch
from visavis.render.ditto.conditions import emotion_vectors
from visavis.scripts.golden.conditions import run
from visavis.scripts.golden.harness import GoldenFile


@pytest.mark.parametrize(
    ("name", "labels"), [("emo_pair_3_4", [3, 4]), ("emo_1_6", [1, 6]), ("emo_of_three_0_4_7", [0, 4, 7])]
)
def test_mixtures_are_those_of_the_name(name: str, labels: list[int]) -> None:
    arrays = {name: emotion_vectors(labels)[0].numpy()}
    file = GoldenFile("cond", 1, {}, arrays, torch.device("cpu"), torch.float32)
    assert [(one.case, one.passed) for one in run(file)] == [(name, True)]
    other = GoldenFile("cond", 1, {}, {name: np.roll(arrays[name], 1)}, file.device, file.dtype)
    assert [one.passed for one in run(other)] == [False]
