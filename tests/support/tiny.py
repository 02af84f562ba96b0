"""A `ditto` engine of tiny networks with random weights, and an avatar for it: quick, and all noise."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor
from visavis.render.avatar import Avatar, find_avatar
from visavis.render.ditto.decoder import Decoder, DecoderSize
from visavis.render.ditto.engine import DittoEngine
from visavis.render.ditto.lmdm import LmdmSize, MotionDecoder
from visavis.render.ditto.networks import Networks
from visavis.render.ditto.random_encoder import random_encoder
from visavis.render.ditto.random_weights import loaded
from visavis.render.ditto.stitch import StitchNetwork, StitchSize
from visavis.render.ditto.warp import WarpNetwork, WarpSize
from visavis.render.ditto.windows import WindowShape

SEED = 7
STEPS = 4
CELLS = 8
"""Of the feature volume, along width and height: crops have eight times as many pixels."""


class Attentive:
    """An audio encoder each of whose rows hears the whole window, as the real one's do."""

    def __init__(self, seed: int) -> None:
        self._local = random_encoder(seed)

    def __call__(self, samples: Tensor) -> Tensor:
        rows = self._local(samples)
        return rows + rows.mean(dim=1, keepdim=True)


def networks(seed: int = SEED) -> Networks:
    return Networks(
        audio=Attentive(seed),
        lmdm=loaded(MotionDecoder(LmdmSize.tiny()), "lmdm", seed),
        stitch=loaded(StitchNetwork(StitchSize.tiny()), "stitch_network", seed),
        warp=loaded(WarpNetwork(WarpSize.tiny()), "warp_network", seed),
        decoder=loaded(Decoder(DecoderSize.tiny()), "decoder", seed),
        device=torch.device("cpu"),
    )


def engine(hop: int = 2, fuse: int | None = None, *, slots: int = 4) -> DittoEngine:
    shape = WindowShape(hop=hop, fuse=hop if fuse is None else fuse)
    return DittoEngine(networks=networks(), shape=shape, steps=STEPS, slots=slots)


class TinyEngine(DittoEngine):
    """For `--engine support.tiny:TinyEngine`."""

    def __init__(self) -> None:
        super().__init__(networks=networks(), shape=WindowShape(hop=2, fuse=2), steps=STEPS)


def avatar(seed: int = SEED) -> Avatar:
    """A face of numbers, on the plate of a presenter."""
    random = np.random.default_rng(seed)
    size = WarpSize.tiny().motion
    tensors = {
        "appearance": random.standard_normal((1, size.channels, size.depth, CELLS, CELLS)).astype(np.float16),
        "motion": random.normal(0, 0.3, (1, 265)).astype(np.float32),
        "canonical": random.normal(0, 0.3, (1, 63)).astype(np.float32),
        "matrix": np.array([[[0.5, 0, 100], [0, 0.5, 50], [0, 0, 1]]], np.float32),
        "eye_open": random.uniform(0.3, 1, (1, 2)).astype(np.float32),
        "eye_ball": random.normal(0, 0.1, (1, 6)).astype(np.float32),
    }
    found = find_avatar("ruby")
    manifest = type(found.manifest)(**{**_fields(found.manifest), "kind": "ditto", "name": f"tiny-{seed}"})
    return replace(found, manifest=manifest, tensors=MappingProxyType(tensors))


def _fields(manifest: object) -> dict[str, object]:
    return {name: getattr(manifest, name) for name in manifest.__struct_fields__}  # type: ignore[attr-defined]
