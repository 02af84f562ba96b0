import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from visavis.render.ditto import random_weights
from visavis.render.ditto.decoder import ENLARGED, Decoder, DecoderSize, Spade, SpadeBlock

SIZE = DecoderSize.tiny()


def noise(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def zeroed(*modules: torch.nn.Module) -> None:
    for module in modules:
        for value in module.parameters():
            torch.nn.init.zeros_(value)


def test_spade_without_scale_and_shift_is_instance_norm() -> None:
    spade, x = Spade(6, SIZE), 3 + 5 * noise(2, 6, 8, 8)
    zeroed(spade.mlp_gamma, spade.mlp_beta)
    got = spade(x, noise(2, SIZE.features, 8, 8))
    torch.testing.assert_close(got, F.instance_norm(x))
    torch.testing.assert_close(got.mean((2, 3)), torch.zeros(2, 6), atol=1e-5, rtol=0)


def test_spade_scales_by_one_more_than_gamma_and_then_shifts() -> None:
    spade, x = Spade(6, SIZE), noise(2, 6, 8, 8)
    zeroed(spade.mlp_gamma, spade.mlp_beta)
    for part, value in ((spade.mlp_gamma, 0.5), (spade.mlp_beta, -2.0)):
        assert part.bias is not None
        torch.nn.init.constant_(part.bias, value)
    got = spade(x, noise(2, SIZE.features, 8, 8))
    torch.testing.assert_close(got, 1.5 * F.instance_norm(x) - 2)


def test_statistics_of_halves_are_taken_in_float32() -> None:
    spade, x = Spade(2, SIZE), 300 + 20 * noise(1, 2, 64, 64)
    zeroed(spade.mlp_gamma, spade.mlp_beta)
    got = spade.half()(x.half(), noise(1, SIZE.features, 64, 64).half())
    torch.testing.assert_close(got.float(), F.instance_norm(x.half().float()), atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize("outputs", [6, 4])
def test_a_block_that_adds_nothing_gives_its_shortcut(outputs: int) -> None:
    block, x, features = SpadeBlock(6, outputs, SIZE), noise(2, 6, 8, 8), noise(2, SIZE.features, 8, 8)
    zeroed(block.conv_1)
    expected = x if outputs == 6 else F.conv2d(block.norm_s(x, features), block.conv_s.weight)
    torch.testing.assert_close(block(x, features), expected)


def test_only_a_block_of_other_width_learns_its_shortcut() -> None:
    assert not any("_s" in name for name, _ in SpadeBlock(6, 6, SIZE).named_children())
    wide = SpadeBlock(6, 4, SIZE)
    assert wide.conv_s.bias is None
    assert wide.conv_0.out_channels == 4


def test_a_picture_is_eight_times_its_features_and_between_0_and_1() -> None:
    decoder = random_weights.loaded(Decoder(SIZE), "decoder", 3)
    picture = decoder(noise(2, SIZE.features, 5, 7))
    assert picture.shape == (2, 3, 5 * ENLARGED, 7 * ENLARGED)
    assert picture.min() > 0
    assert picture.max() < 1


def test_each_four_channels_are_the_sub_pixels_of_one_colour() -> None:
    decoder = random_weights.loaded(Decoder(SIZE), "decoder", 3)
    last = decoder.conv_img[0]
    assert isinstance(last, torch.nn.Conv2d)
    assert last.bias is not None
    last.weight.zero_()
    last.bias.copy_(torch.arange(12.0) / 10)
    picture = decoder(noise(1, SIZE.features, 4, 4))
    for colour in range(3):
        for row in range(2):
            for column in range(2):
                expected = torch.tensor((4 * colour + 2 * row + column) / 10).sigmoid()
                torch.testing.assert_close(picture[0, colour, row::2, column::2], expected.expand(16, 16))
