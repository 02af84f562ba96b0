"""Triton's interpreter runs the kernels; each does what its twin does."""

import pytest
import torch
from support.core import alike, normal, unwritten
from support.eight_bits import EACH_FORMAT, alike_eight, eight_bits, exact_casts, unwritten_eight
from support.interpreter import triton
from torch import Tensor
from visavis.render.ditto.core import conv_kernels, conv_tiles, conv_twins, decoder_twins, warp_twins
from visavis.render.ditto.core.low_bits import FORMATS, Format
from visavis.render.ditto.core.tile import ConvTile

assert triton is not None
PAIR = (conv_kernels, conv_twins)
EACH_DTYPE = pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["fp32", "fp16"])


def last(weight: Tensor) -> Tensor:
    return weight.contiguous(memory_format=torch.channels_last)


@EACH_DTYPE
@pytest.mark.parametrize(("side", "inputs", "outputs"), [(3, 24, 33), (7, 8, 6), (1, 16, 7)])
def test_convolved(dtype: torch.dtype, side: int, inputs: int, outputs: int) -> None:
    x = normal(2, 9, 11, inputs).to(dtype)
    weight = last(normal(outputs, inputs, side, side, seed=1).to(dtype))
    outs = unwritten((2, 9, 11, outputs), dtype)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.convolved(x, weight, 0.1 + normal(outputs, seed=2).abs(), out=out)
    alike(*outs)


@EACH_DTYPE
def test_sums_of_channels_come_with_it(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(conv_tiles.TILES, "convolved", ConvTile(32, 16, 16, 4, 2))
    x, weight = normal(2, 8, 8, 16).to(dtype), last(normal(20, 16, 3, 3, seed=1).to(dtype))
    outs, sums = unwritten((2, 8, 8, 20), dtype), unwritten((2, 2, 20), torch.float32)
    for out, own, ops in zip(outs, sums, PAIR, strict=True):
        ops.convolved(x, weight, torch.ones(20), out=out, sums=own)
    alike(*outs)
    torch.testing.assert_close(*sums, atol=1e-3, rtol=1e-4)
    alone = torch.empty(1, 2, 20)
    conv_kernels.convolved(x[1:], weight, torch.ones(20), out=torch.empty_like(outs[0][1:]), sums=alone)
    assert torch.equal(alone[0], sums[0][1])


@EACH_DTYPE
@pytest.mark.parametrize(("side", "inputs", "outputs"), [(7, 48, 22), (5, 80, 17), (3, 48, 50)])
def test_uneven(
    dtype: torch.dtype, side: int, inputs: int, outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("uneven", "uneven_3"):
        monkeypatch.setitem(conv_tiles.TILES, name, ConvTile(16, 16, 32, 4, 2))
    x, weight = (
        normal(2, 6, 11, inputs).to(dtype),
        last(normal(outputs, inputs, side, side, seed=1).to(dtype)),
    )
    outs = unwritten((2, 6, 11, outputs), dtype)
    conv_kernels.uneven(x, weight, out=outs[0])
    warp_twins.convolved(x, weight, out=outs[1])
    alike(*outs)


@EACH_DTYPE
@pytest.mark.parametrize("enlarge", [1, 2])
def test_modulated(dtype: torch.dtype, enlarge: int) -> None:
    channels, size = 18, (2, 3 * enlarge, 5 * enlarge)
    x, shared = normal(2, 3, 5, channels).to(dtype), normal(*size, 16, seed=2).to(dtype)
    weight, bias = last(normal(2 * channels, 16, 3, 3, seed=1).to(dtype)), normal(2 * channels, seed=3)
    stats = normal(2, 2, channels, seed=4).abs()
    outs = unwritten((*size, channels), dtype)
    for out, ops in zip(outs, (conv_kernels, decoder_twins), strict=True):
        ops.modulated(shared, weight, bias, x, stats, enlarge=enlarge, slope=0.2, out=out)
    alike(*outs)


@EACH_FORMAT
def test_inputs_of_eight_bits_are_multiplied_exactly(format: Format) -> None:
    x, factor = eight_bits(normal(1, 4, 8, 48), format)
    weight, undo = conv_twins.rounded(normal(18, 48, 3, 3, seed=1), FORMATS[format])
    outs = unwritten((1, 4, 8, 18), torch.float16)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.convolved(x, weight, undo * factor, out=out)
    alike(*outs)


@EACH_FORMAT
def test_modulated_by_eight_bits(format: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into 16 bits, and into 8, for which some is too large."""
    exact_casts(monkeypatch)
    x, (shared, factor) = normal(2, 3, 5, 18), eight_bits(normal(2, 6, 10, 16, seed=2), format)
    weight, undo = conv_twins.rounded(normal(36, 16, 3, 3, seed=1), FORMATS[format])
    bias, stats = normal(36, seed=3), normal(2, 2, 18, seed=4).abs()
    most = conv_twins.largest(FORMATS[format])
    halves, eights = (
        unwritten((2, 6, 10, 18), torch.float16),
        unwritten_eight((2, 6, 10, 18), FORMATS[format]),
    )
    for half, eight, ops in zip(halves, eights, (conv_kernels, decoder_twins), strict=True):
        for out in (half, eight):
            ops.modulated(
                *(shared, weight, bias, x, stats),
                enlarge=2,
                slope=0.2,
                out=out,
                fit=most / 10,
                undo=undo * factor,
            )
    alike(*halves)
    alike_eight(*eights, rare=1e-3)
    assert float(eights[0].float().max()) == most


@pytest.mark.parametrize(("outputs", "more"), [(176, 64), (432, 16), (130, 16), (256, 128), (512, 128)])
def test_programs_of_uneven_outputs_have_few_that_are_none(outputs: int, more: int) -> None:
    """Beside 128."""
    assert conv_kernels.beside(outputs, 128) == more


def test_nothing_is_scaled_where_nothing_was() -> None:
    x, weight = normal(1, 8, 8, 16), last(normal(20, 16, 3, 3, seed=1))
    outs = unwritten((1, 8, 8, 20), torch.float32)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.convolved(x, weight, None, out=out)
    alike(*outs)
