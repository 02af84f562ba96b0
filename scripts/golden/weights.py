"""Golden file `weights`: what a seed's weights are. If this fails, no network can pass."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from visavis.render.ditto import random_weights
from visavis.render.ditto.lmdm import MotionDecoder

from .harness import Comparison, GoldenFile, largest
from .networks import NETWORKS

DIGEST = 1e-9
"""Of the sum of all absolute values: the order of adding up is free."""


def run(file: GoldenFile) -> Iterator[Comparison]:
    for name, options in file.cases.items():
        with torch.device("meta"):
            network = {**NETWORKS, "lmdm": MotionDecoder}[name]()
        weights = random_weights.official_state_dict(network, name, file.seed)
        for key in options["sampled_keys"]:
            case = f"{name}/{key}.first8"
            expected = file.arrays[case]
            got = weights[key].flatten()[: expected.size].numpy() if key in weights else np.full(1, np.nan)
            yield Comparison(case, largest(got - expected), 0.0)
        expected = file.arrays[f"{name}.digest"]
        yield Comparison(f"{name}.digest", largest(digest(weights) - expected) / float(expected[2]), DIGEST)


def digest(weights: Mapping[str, torch.Tensor]) -> np.ndarray:
    """How many entries there are, their sum and the sum of their absolute values."""
    count, total, absolute = 0, 0.0, 0.0
    for value in weights.values():
        entries = value.double().numpy()
        count += entries.size
        total += float(entries.sum())
        absolute += float(np.abs(entries).sum())
    return np.array([count, total, absolute])
