"""The runner of `weights` finds a weight that is not what the seed gives."""

import numpy as np
import torch
from support.tree import ROOT
from visavis.scripts.golden.harness import GoldenFile, load
from visavis.scripts.golden.weights import run

GOLDEN = ROOT / "tests/golden/ditto"


def stitch_alone() -> GoldenFile:
    whole = load(GOLDEN, "weights", device=torch.device("cpu"), dtype=torch.float32)
    arrays = {name: value for name, value in whole.arrays.items() if name.startswith("stitch_network")}
    cases = {"stitch_network": whole.cases["stitch_network"]}
    return GoldenFile("weights", whole.seed, cases, arrays, whole.device, whole.dtype)


def test_the_weights_of_the_golden_seed_pass() -> None:
    found = list(run(stitch_alone()))
    assert len(found) == 4
    assert all(one.passed for one in found)


def test_another_seed_misses_every_comparison() -> None:
    one = stitch_alone()
    other = GoldenFile(one.name, one.seed + 1, one.cases, one.arrays, one.device, one.dtype)
    assert not any(found.passed for found in run(other))


def test_a_key_that_no_network_has_is_a_miss() -> None:
    one = stitch_alone()
    cases = {"stitch_network": {"sampled_keys": ["mlp.9.weight"]}}
    arrays = {**one.arrays, "stitch_network/mlp.9.weight.first8": np.zeros(8, np.float32)}
    found = list(run(GoldenFile(one.name, one.seed, cases, arrays, one.device, one.dtype)))
    assert [result.passed for result in found] == [False, True]
