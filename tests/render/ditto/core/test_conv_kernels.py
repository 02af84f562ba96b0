"""Triton's interpreter runs the kernels; each does what its twin does."""

import pytest
import torch
from support.core import alike, normal, unwritten
from support.interpreter import triton
from torch import Tensor
from visavis.render.ditto.core import conv_kernels, conv_twins, decoder_twins
from visavis.render.ditto.core.tile import ConvTile

assert triton is not None
PAIR = (conv_kernels, conv_twins)
EACH_DTYPE = pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["fp32", "fp16"])


def last(weight: Tensor) -> Tensor:
    return weight.contiguous(memory_format=torch.channels_last)


@EACH_DTYPE
@pytest.mark.parametrize(("side", "inputs", "outputs"), [(3, 20, 33), (7, 5, 6), (1, 18, 7)])
def test_convolved(dtype: torch.dtype, side: int, inputs: int, outputs: int) -> None:
    x = normal(2, 9, 11, inputs).to(dtype)
    weight = last(normal(outputs, inputs, side, side, seed=1).to(dtype))
    outs = unwritten((2, 9, 11, outputs), dtype)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.convolved(x, weight, 0.1 + normal(outputs, seed=2).abs(), out=out)
    alike(*outs)


@EACH_DTYPE
def test_sums_of_channels_come_with_it(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(conv_kernels.TILES, "convolved", ConvTile(32, 16, 16, 4, 2))
    x, weight = normal(2, 8, 8, 12).to(dtype), last(normal(20, 12, 3, 3, seed=1).to(dtype))
    outs, sums = unwritten((2, 8, 8, 20), dtype), unwritten((2, 2, 20), torch.float32)
    for out, own, ops in zip(outs, sums, PAIR, strict=True):
        ops.convolved(x, weight, torch.ones(20), out=out, sums=own)
    alike(*outs)
    torch.testing.assert_close(*sums, atol=1e-3, rtol=1e-4)
    alone = torch.empty(1, 2, 20)
    conv_kernels.convolved(x[1:], weight, torch.ones(20), out=torch.empty_like(outs[0][1:]), sums=alone)
    assert torch.equal(alone[0], sums[0][1])


@EACH_DTYPE
@pytest.mark.parametrize("enlarge", [1, 2])
def test_modulated(dtype: torch.dtype, enlarge: int) -> None:
    channels, size = 18, (2, 3 * enlarge, 5 * enlarge)
    x, shared = normal(2, 3, 5, channels).to(dtype), normal(*size, 12, seed=2).to(dtype)
    weight, bias = last(normal(2 * channels, 12, 3, 3, seed=1).to(dtype)), normal(2 * channels, seed=3)
    stats = normal(2, 2, channels, seed=4).abs()
    outs = unwritten((*size, channels), dtype)
    for out, ops in zip(outs, (conv_kernels, decoder_twins), strict=True):
        ops.modulated(shared, weight, bias, x, stats, enlarge=enlarge, slope=0.2, out=out)
    alike(*outs)


def test_inputs_of_eight_bits_are_multiplied_exactly() -> None:
    x, weight = normal(1, 4, 8, 20), normal(18, 20, 3, 3, seed=1)
    fitted, scale = conv_twins.rounded(weight, torch.float8_e4m3fn)
    outs = unwritten((1, 4, 8, 18), torch.float16)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.convolved(x.to(torch.float8_e4m3fn), fitted, scale, out=out)
    alike(*outs)
