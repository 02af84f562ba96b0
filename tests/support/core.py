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
DECODERS = {
    "tiny": DecoderSize.tiny(),
    "odd": DecoderSize(features=6, shared=5, blocks=1, last=3),
    "even": DecoderSize(features=32, shared=16, blocks=1, last=16),
}


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


def official_shapes() -> None:
    """Launch every kernel of the picture networks as the official size does, half precision and 8 bits. What
    comes out is of no use: for a process in which kernels are only compiled."""
    from visavis.render.ditto.core import conv_kernels, decoder_kernels, sampling_kernels, warp_kernels

    def half(*shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.float16)

    def full(*shape: int) -> Tensor:
        return torch.empty(shape)

    which, points = torch.zeros(1, dtype=torch.int64), full(1, 21, 3)
    sampling_kernels.motion_input(half(1, 16, 64, 64, 4), which, points, points, out=half(16, 64, 64, 112))
    found, flat = half(16, 64, 64, 176), half(1, 64, 64, 512)
    weight = half(176, 144, 7, 7).contiguous(memory_format=torch.channels_last)
    conv_kernels.uneven(half(16, 64, 64, 144), weight, out=found)
    weight = half(432, 144, 3, 3).contiguous(memory_format=torch.channels_last)
    conv_kernels.uneven(half(16, 64, 64, 144), weight, out=half(16, 64, 64, 432))
    volume = half(1, 16, 64, 64, 32)
    sampling_kernels.deform(found, full(22), points, points, volume, which, taps=7, out=flat)
    sums = warp_kernels.depth_sum
    sums(half(16, 64, 64, 192), full(64), depth=16, taps=3, out=half(16, 32, 32, 64), pool=2)
    larger = half(16, 33, 33, 384)
    beside = half(16, 64, 64, 112)
    sums(larger, full(32), depth=16, taps=3, out=half(16, 64, 64, 144), enlarge=2, beside=beside)
    wide = half(1, 64, 64, 256)
    warp_kernels.leak(wide, full(256), 0.01)
    warp_kernels.occlude(wide, full(256), found, full(1), first=154, depth=16, out=wide)
    for factor, kinds in ((1, 1), (2, 4), (4, 9)):
        small, side = half(1, 64 + (factor > 1), 64 + (factor > 1), 128 * kinds), 64 * factor
        decoder_kernels.shared(small, full(128), factor=factor, out=half(1, side, side, 128))
    x, stats = half(1, 64, 64, 512), full(1, 2, 512)
    decoder_kernels.settle(x, full(512), plus=(x,), out=x, stats=stats)
    decoder_kernels.measure(x, stats=stats)
    decoder_kernels.rectify(flat, full(512), plus=(x, half(1, 64, 64, 768)[..., 256:]), slope=0.2, out=x)
    both = half(1, 64, 64, 1024)
    scale, shift = both[..., ::2], both[..., 1::2]
    decoder_kernels.modulate(x, stats, scale, shift, full(1024), enlarge=1, slope=0.2, out=x)
    decoder_kernels.picture(half(1, 256, 256, 16), full(12), full(512, 512), out=half(1, 512, 512, 4))
    weight = half(1024, 128, 3, 3).contiguous(memory_format=torch.channels_last)
    shared = half(1, 64, 64, 128)
    conv_kernels.modulated(shared, weight, full(1024), x, stats, enlarge=1, slope=0.2, out=x)
    weight = half(128, 256, 3, 3).contiguous(memory_format=torch.channels_last)
    for slots in (1, 8):
        seen, out = half(slots, 64, 64, 256), half(slots, 64, 64, 128)
        conv_kernels.convolved(seen, weight, None, out=out)


def official_low_bits(dtype: torch.dtype) -> None:
    """As `official_shapes`, every kernel that reads or writes `dtype` of 8 bits."""
    from visavis.render.ditto.core import decoder_kernels

    def half(*shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.float16)

    def low(*shape: int) -> Tensor:
        made = torch.empty(shape, dtype=dtype)
        return made.contiguous(memory_format=torch.channels_last) if shape[-1] == 3 else made

    def full(*shape: int) -> Tensor:
        return torch.empty(shape)

    for factor, kinds in ((1, 1), (2, 4), (4, 9)):
        small, side = half(1, 64 + (factor > 1), 64 + (factor > 1), 128 * kinds), 64 * factor
        decoder_kernels.shared(small, full(128), factor=factor, out=low(1, side, side, 128), fit=2.0)
    for side, channels, enlarge in ((64, 512, 1), (128, 512, 2), (128, 256, 1), (256, 256, 2), (256, 64, 1)):
        small, stats, bias = (
            half(1, side // enlarge, side // enlarge, channels),
            full(1, 2, channels),
            full(2 * channels),
        )
        shared, weight = low(1, side, side, 128), low(2 * channels, 128, 3, 3)
        for out in (half(1, side, side, channels), low(1, side, side, channels)):
            decoder_kernels.modulated(
                *(shared, weight, bias, small, stats),
                enlarge=enlarge,
                slope=0.2,
                out=out,
                fit=2.0,
                undo=bias,
            )
        scale, shift = half(1, side, side, 2 * channels).split(channels, -1)
        out = low(1, side, side, channels)
        decoder_kernels.modulate(
            small, stats, scale, shift, bias, enlarge=enlarge, slope=0.2, out=out, fit=2.0
        )
    for side, width, outputs in (
        *((64, 512, 512), (128, 512, 256), (128, 256, 256), (256, 256, 64), (256, 64, 64)),
        *((128, 128, 768), (256, 128, 320)),
    ):
        weight, out = low(outputs, width, 3, 3), half(1, side, side, outputs)
        for stats in (None, full(1, 2, outputs)):
            decoder_kernels.convolved(low(1, side, side, width), weight, full(outputs), out=out, stats=stats)
