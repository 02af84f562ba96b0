"""The picture networks in a tiny size, what goes into them, and what comes out.

    PYTHONPATH=tests python -m support.networks tests/golden/tiny/networks.npz

writes what they give for `SEED`. Only code that `scripts/parity.py` has found right at full size may do that.
"""

import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from visavis.render.ditto import random_weights
from visavis.render.ditto.appearance import AppearanceExtractor, AppearanceSize
from visavis.render.ditto.decoder import Decoder, DecoderSize
from visavis.render.ditto.motion_net import MotionExtractor, MotionSize
from visavis.render.ditto.stitch import StitchNetwork, StitchSize
from visavis.render.ditto.warp import WarpNetwork, WarpSize

SEED = 7
SIDE = 32
"""Of a picture that tiny networks read; their features are a quarter as wide, the picture they give twice."""

Inputs = tuple[Tensor, ...]


class Rows(nn.Module):
    """A motion extractor with one tensor as its result, as what traces or exports a network wants it."""

    def __init__(self, extractor: MotionExtractor) -> None:
        super().__init__()
        self.extractor = extractor

    def forward(self, image: Tensor) -> Tensor:
        source = self.extractor(image)
        return torch.cat((source.motion.to_rows(), source.canonical), dim=1)


def networks(seed: int = SEED) -> dict[str, nn.Module]:
    """By official name, each with one tensor as its result."""
    made: dict[str, nn.Module] = {
        "appearance_extractor": AppearanceExtractor(AppearanceSize.tiny()),
        "motion_extractor": MotionExtractor(MotionSize.tiny()),
        "stitch_network": StitchNetwork(StitchSize.tiny()),
        "warp_network": WarpNetwork(WarpSize.tiny()),
        "decoder": Decoder(DecoderSize.tiny()),
    }
    for name, network in made.items():
        random_weights.loaded(network, name, seed)
    return made | {"motion_extractor": Rows(made["motion_extractor"])}


def official() -> dict[str, nn.Module]:
    """By official name, of official size and without contents."""
    with torch.device("meta"):
        return {
            "appearance_extractor": AppearanceExtractor(),
            "motion_extractor": MotionExtractor(),
            "stitch_network": StitchNetwork(),
            "warp_network": WarpNetwork(),
            "decoder": Decoder(),
        }


def inputs(name: str, batch: int, seed: int = SEED) -> Inputs:
    """What the tiny network `name` reads."""
    random = np.random.RandomState(seed)
    features = SIDE // 4

    def normal(*shape: int, scale: float = 1.0) -> Tensor:
        return torch.from_numpy((scale * random.standard_normal((batch, *shape))).astype(np.float32))

    if name in ("appearance_extractor", "motion_extractor"):
        return (normal(3, SIDE, SIDE).sigmoid(),)
    if name == "decoder":
        return (normal(DecoderSize.tiny().features, features, features, scale=0.5),)
    source = normal(21, 3, scale=0.3)
    driven = source + normal(21, 3, scale=0.1)
    if name == "stitch_network":
        return source, driven
    volume = AppearanceSize.tiny()
    return normal(volume.channels, volume.depth, features, features), source, driven


def results() -> dict[str, np.ndarray]:
    """What each tiny network gives for two rows, and the warp network's intermediate results: every seventh
    number of a row."""
    made = networks()
    with torch.inference_mode():
        found: dict[str, Tensor] = {name: made[name](*inputs(name, 2)) for name in made}
        warp = made["warp_network"]
        assert isinstance(warp, WarpNetwork)
        flow = warp.flow(*inputs("warp_network", 2))
    found |= {f"warp_network.{field.name}": getattr(flow, field.name) for field in fields(flow)}
    return {name: value.flatten(1)[:, ::7].numpy() for name, value in found.items()}


def rows(values: Inputs, which: slice | list[int]) -> Inputs:
    """The same rows of each input."""
    return tuple(value[which] for value in values)


if __name__ == "__main__":
    np.savez_compressed(Path(sys.argv[1]), **results())  # type: ignore[arg-type]
