"""The plain steps do what the plain network does at the same place."""

import torch
from support.core import DECODERS, decoder, normal
from support.eight_bits import EACH_FORMAT, eight_bits
from torch.nn import functional as F
from visavis.render.ditto.core import decoder_twins
from visavis.render.ditto.core.conv_twins import largest, rounded
from visavis.render.ditto.core.layers import convolved
from visavis.render.ditto.core.low_bits import FORMATS, Format
from visavis.render.ditto.decoder import LEAK


def test_a_map_is_modulated_as_spade_does_it() -> None:
    spade = decoder(DECODERS["odd"]).get_submodule("G_middle_0").get_submodule("norm_0")
    gamma, beta = spade.get_submodule("mlp_gamma"), spade.get_submodule("mlp_beta")
    x, features = normal(2, 12, 4, 6), normal(2, 6, 4, 6, seed=1)
    expected = F.leaky_relu(spade(x, features), LEAK).permute(0, 2, 3, 1)
    shared = spade.get_submodule("mlp_shared")(features).permute(0, 2, 3, 1).contiguous()
    weight = torch.stack((gamma.get_parameter("weight"), beta.get_parameter("weight")), 1).flatten(0, 1)
    bias = torch.cat((gamma.get_parameter("bias") + 1, beta.get_parameter("bias")))
    rows, stats = x.permute(0, 2, 3, 1), torch.empty(2, 2, 12)
    decoder_twins.measure(rows, stats=stats)
    out = torch.empty_like(expected)
    decoder_twins.modulated(shared, weight, bias, rows, stats, enlarge=1, slope=LEAK, out=out)
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=0)


def test_statistics_are_those_of_what_is_written() -> None:
    x, other, bias = normal(2, 4, 6, 3), normal(2, 4, 6, 3, seed=1), normal(3)
    out, stats, again = torch.empty_like(x), torch.empty(2, 2, 3), torch.empty(2, 2, 3)
    decoder_twins.settle(x, bias, plus=(other,), out=out, stats=stats)
    torch.testing.assert_close(out, x + bias + other)
    decoder_twins.measure(out, stats=again)
    torch.testing.assert_close(stats, again)
    normed = (out - stats[:, 0, None, None]) * stats[:, 1, None, None]
    expected = F.instance_norm(out.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    torch.testing.assert_close(normed, expected, atol=1e-5, rtol=0)


def test_a_picture_has_four_places_a_cell_and_keeps_the_bits_of_its_mask() -> None:
    found, bias = normal(2, 3, 5, 16), normal(12, seed=1)
    mask = torch.arange(60, dtype=torch.int16).view(torch.float16).reshape(6, 10)
    mask.view(torch.int16)[0, 0] = -1
    out = torch.empty(2, 6, 10, 4, dtype=torch.float16)
    decoder_twins.picture(found, bias, mask, out=out)
    cells = (found[..., :12] + bias).permute(0, 3, 1, 2)
    expected = F.pixel_shuffle(cells, 2).sigmoid().permute(0, 2, 3, 1)
    torch.testing.assert_close(out[..., :3].float(), expected, atol=1e-3, rtol=0)
    assert torch.equal(out.view(torch.int16)[1, ..., 3], mask.view(torch.int16))


@EACH_FORMAT
def test_eight_bits_are_undone(format: Format) -> None:
    """Of what both stand for, in 8 bits, the same comes out as without."""
    x, (shared, factor) = normal(2, 4, 6, 5), eight_bits(normal(2, 4, 6, 7, seed=2).relu(), format)
    weight, undo = rounded(normal(10, 7, 3, 3, seed=1), FORMATS[format])
    plain = shared.float() * factor, weight.float() * undo[:, None, None, None]
    bias, stats, outs = (
        normal(10, seed=3),
        normal(2, 2, 5, seed=4).abs(),
        [torch.empty(2, 4, 6, 5) for _ in "ab"],
    )
    for out, given, factors in zip(outs, (plain, (shared, weight)), (None, undo * factor), strict=True):
        decoder_twins.modulated(*given, bias, x, stats, enlarge=1, slope=LEAK, out=out, undo=factors)
    torch.testing.assert_close(*outs, atol=1e-5, rtol=1e-5)
    found, own, expected = torch.empty(2, 4, 6, 10), torch.empty(2, 2, 10), torch.empty(2, 2, 10)
    decoder_twins.convolved(shared, weight, undo * factor, out=found, stats=own)
    torch.testing.assert_close(found, convolved(*plain), atol=1e-5, rtol=1e-5)
    decoder_twins.measure(found, stats=expected)
    torch.testing.assert_close(own, expected)


@EACH_FORMAT
def test_what_is_written_in_eight_bits_is_times_its_fit_and_no_more_than_they_hold(format: Format) -> None:
    dtype, found, bias = FORMATS[format], normal(1, 4, 6, 7), normal(7, seed=1)
    out, exact = torch.empty(1, 4, 6, 7, dtype=dtype), torch.empty(1, 4, 6, 7)
    decoder_twins.shared(found, bias, factor=1, out=exact)
    decoder_twins.shared(found, bias, factor=1, out=out, fit=largest(dtype))
    expected = (exact * largest(dtype)).clamp(max=largest(dtype))
    torch.testing.assert_close(out.float(), expected, atol=0.5, rtol=2**-4)
    assert float(exact.max()) > 1
