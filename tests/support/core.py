"""Small networks that the GPU core is made of, and what they read."""

from dataclasses import replace

import pytest
import torch
from support.networks import inputs
from torch import Tensor
from visavis.render.ditto import random_weights
from visavis.render.ditto.blocks import fold_batch_norms
from visavis.render.ditto.core.tile import Tile
from visavis.render.ditto.decoder import Decoder, DecoderSize
from visavis.render.ditto.dense_motion import DenseMotionSize
from visavis.render.ditto.warp import WarpNetwork, WarpSize

WARPS = {
    "tiny": WarpSize.tiny(),
    "odd": WarpSize(DenseMotionSize(channels=3, depth=5, compressed=2, width=5, halvings=3), features=7),
}
DECODERS = {"tiny": DecoderSize.tiny(), "odd": DecoderSize(features=6, shared=5, blocks=1, last=3)}


def warp(size: WarpSize) -> WarpNetwork:
    """With its norms folded."""
    made = random_weights.loaded(WarpNetwork(size), "warp_network", 3).eval().requires_grad_(False)
    fold_batch_norms(made)
    return made


def warp_inputs(size: WarpSize, batch: int) -> tuple[Tensor, Tensor, Tensor]:
    """Volumes, and keypoints of sources and driven ones."""
    _, source, driven = inputs("warp_network", batch)
    return normal(batch, size.motion.channels, size.motion.depth, 8, 16), source, driven


def decoder(size: DecoderSize) -> Decoder:
    return random_weights.loaded(Decoder(size), "decoder", 3).eval().requires_grad_(False)


def normal(*shape: int, seed: int = 5) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def larger_tiles(monkeypatch: pytest.MonkeyPatch, *tables: dict[str, Tile]) -> None:
    """The interpreter takes its time for each program: fewer do more."""
    for table in tables:
        for name, tile in table.items():
            monkeypatch.setitem(table, name, replace(tile, cells=512))


def unwritten(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Two outputs, in which nothing may stay as it is."""
    return torch.full(shape, torch.nan, dtype=dtype), torch.full(shape, torch.nan, dtype=dtype)


def alike(got: Tensor, expected: Tensor) -> None:
    """To the last rounding of what is stored."""
    close = 2e-6 if got.dtype == torch.float32 else 1e-3
    assert not torch.isnan(got).any()
    scale = float(expected.float().abs().max())
    torch.testing.assert_close(got.float(), expected.float(), atol=close * scale, rtol=close)
