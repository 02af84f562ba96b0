"""Triton's interpreter runs the kernels; each does what its twin does."""

import pytest
import torch
from support.core import DECODERS, alike, decoder, normal, unwritten
from support.eight_bits import EACH_FORMAT, alike_eight, eight_bits, exact_casts, unwritten_eight
from support.interpreter import triton
from visavis.render.ditto.core import decoder_kernels, decoder_twins
from visavis.render.ditto.core.calibration import compared, drawn, fits_of
from visavis.render.ditto.core.conv_twins import largest, rounded
from visavis.render.ditto.core.decoder import FastDecoder
from visavis.render.ditto.core.low_bits import FORMATS, Format, LowBits
from visavis.render.ditto.decoder import DecoderSize

assert triton is not None
PAIR = (decoder_kernels, decoder_twins)
EACH_DTYPE = pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["fp32", "fp16"])


@EACH_DTYPE
@pytest.mark.parametrize("factor", [1, 2, 4])
def test_shared(dtype: torch.dtype, factor: int) -> None:
    height, width, channels, kinds = 3, 5, 6, {1: 1, 2: 2, 4: 3}[factor]
    grown = int(factor > 1)
    found = normal(2, height + grown, width + grown, kinds**2 * channels).to(dtype)
    outs = unwritten((2, factor * height, factor * width, channels), dtype)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.shared(found, normal(channels, seed=1), factor=factor, out=out)
    alike(*outs)


@EACH_DTYPE
@pytest.mark.parametrize("others", [0, 1, 2])
def test_settle_and_rectify(dtype: torch.dtype, others: int) -> None:
    """What is added may be some channels of a wider picture; the area is no multiple of a block."""
    x, wide = normal(2, 9, 11, 18).to(dtype), normal(2, 9, 11, 30, seed=2).to(dtype)
    plus = [normal(2, 9, 11, 18, seed=3).to(dtype), wide[..., 12:]][:others]
    bias = 3 + normal(18, seed=1)
    outs, stats = unwritten(tuple(x.shape), dtype), unwritten((2, 2, 18), torch.float32)
    for out, own, ops in zip(outs, stats, PAIR, strict=True):
        ops.settle(x, bias, plus=plus, out=out, stats=own)
    alike(*outs)
    torch.testing.assert_close(*stats, atol=0, rtol=2e-5)
    outs = unwritten(tuple(x.shape), dtype)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.rectify(x, bias, plus=plus, slope=0.2, out=out)
    alike(*outs)


@EACH_DTYPE
def test_measure_of_a_picture_of_many_blocks_is_the_same_in_any_batch(dtype: torch.dtype) -> None:
    x = (10 + normal(2, 96, 96, 3)).to(dtype)
    stats = unwritten((2, 2, 3), torch.float32)
    for own, ops in zip(stats, PAIR, strict=True):
        ops.measure(x, stats=own)
    torch.testing.assert_close(*stats, atol=0, rtol=1e-4)
    alone = torch.empty(1, 2, 3)
    decoder_kernels.measure(x[1:], stats=alone)
    assert torch.equal(alone[0], stats[0][1])


@EACH_DTYPE
@pytest.mark.parametrize(("enlarge", "shifts"), [(1, True), (2, True), (2, False)])
def test_modulate(dtype: torch.dtype, enlarge: int, shifts: bool) -> None:
    x, channels = normal(2, 3, 5, 18).to(dtype), 18
    size = (2, 3 * enlarge, 5 * enlarge)
    found = normal(*size, 2 * channels if shifts else channels + 7, seed=2).to(dtype)
    scale, shift = found[..., :channels], found[..., channels:] if shifts else None
    bias, stats = normal(channels * (1 + shifts), seed=1), normal(2, 2, channels, seed=3).abs()
    outs = unwritten((*size, channels), dtype)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.modulate(x, stats, scale, shift, bias, enlarge=enlarge, slope=0.2, out=out)
    alike(*outs)


@EACH_DTYPE
def test_picture(dtype: torch.dtype) -> None:
    outs = unwritten((2, 6, 10, 4), dtype)
    found, mask = normal(2, 3, 5, 16).to(dtype), normal(6, 10).sigmoid().to(dtype)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.picture(found, normal(12, seed=1), mask, out=out)
    alike(*outs)


@pytest.mark.parametrize("size", DECODERS.values(), ids=DECODERS)
def test_the_whole_network(size: DecoderSize) -> None:
    features, mask = normal(2, 4, 6, size.features), torch.ones(32, 48)
    exact = unwritten((2, 32, 48, 4), torch.float32)
    for out, ops in zip(exact, PAIR, strict=True):
        FastDecoder(decoder(size), ops, dtype=torch.float32)(features, mask, out=out)
    torch.testing.assert_close(*exact, atol=1e-5, rtol=0)
    half = torch.empty(2, 32, 48, 4, dtype=torch.float16)
    fast = FastDecoder(decoder(size), decoder_kernels, dtype=torch.float16)
    fast(features.half(), mask.half(), out=half)
    assert float((half.float() - exact[1]).abs().mean()) < 2e-3


def test_a_slot_is_the_same_alone_and_in_a_batch() -> None:
    x = normal(3, 9, 11, 18).half()
    many, alone = unwritten((3, 9, 11, 18), torch.float16)[0], unwritten((1, 9, 11, 18), torch.float16)[0]
    stats, own = torch.empty(3, 2, 18), torch.empty(1, 2, 18)
    decoder_kernels.settle(x, normal(18), out=many, stats=stats)
    decoder_kernels.settle(x[2:], normal(18), out=alone, stats=own)
    assert torch.equal(alone[0], many[2])
    assert torch.equal(own[0], stats[2])


@EACH_FORMAT
@pytest.mark.parametrize("factor", [1, 2])
def test_shared_in_eight_bits(format: Format, factor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is written, some is too large."""
    exact_casts(monkeypatch)
    dtype, grown = FORMATS[format], int(factor > 1)
    found = normal(2, 3 + grown, 5 + grown, factor**2 * 6)
    outs = unwritten_eight((2, 3 * factor, 5 * factor, 6), dtype)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.shared(found, normal(6, seed=1), factor=factor, out=out, fit=largest(dtype) / 2)
    alike_eight(*outs)
    assert float(outs[0].float().max()) == largest(dtype)


@EACH_FORMAT
def test_modulate_in_eight_bits(format: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    exact_casts(monkeypatch)
    dtype, x, found = FORMATS[format], normal(2, 3, 5, 18), normal(2, 3, 5, 36, seed=2)
    bias, stats = normal(36, seed=1), normal(2, 2, 18, seed=3).abs()
    outs = unwritten_eight((2, 3, 5, 18), dtype)
    for out, ops in zip(outs, PAIR, strict=True):
        scale, shift = found.split(18, dim=-1)
        ops.modulate(x, stats, scale, shift, bias, enlarge=1, slope=0.2, out=out, fit=largest(dtype) / 2)
    alike_eight(*outs)


@EACH_FORMAT
@pytest.mark.parametrize("area", [(9, 11), (8, 16)], ids=["odd", "even"])
def test_convolved(format: Format, area: tuple[int, int]) -> None:
    """Statistics come with the convolution."""
    x, factors = eight_bits(normal(2, *area, 32), format)
    weight, undo = rounded(normal(18, 32, 3, 3, seed=1), FORMATS[format])
    outs, stats = unwritten((2, *area, 18), torch.float32), unwritten((2, 2, 18), torch.float32)
    for out, own, ops in zip(outs, stats, PAIR, strict=True):
        ops.convolved(x, weight, undo * factors, out=out, stats=own)
    alike(*outs)
    torch.testing.assert_close(*stats, atol=1e-5, rtol=1e-4)


@EACH_FORMAT
def test_the_whole_network_in_eight_bits(format: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    exact_casts(monkeypatch)
    size = DECODERS["even"]
    features = normal(2, 4, 6, size.features)
    plan = LowBits(format, fits_of(decoder(size), [features], format))
    low = [FastDecoder(decoder(size), ops, dtype=torch.float32, low_bits=plan) for ops in PAIR]
    found, expected = (drawn(one, [features]) for one in low)
    exact = drawn(FastDecoder(decoder(size), decoder_twins, dtype=torch.float32), [features])
    assert compared(found, expected).error < 0.02 * compared(expected, exact).error
