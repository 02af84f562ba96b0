import pytest
import torch
from torch import Tensor, nn
from visavis.render.ditto.blocks import (
    ChannelNorm,
    ConvNorm,
    Residual3d,
    batch_norm,
    convolution,
    fold_batch_norms,
    folded,
    upsample,
)

CONV = {2: nn.functional.conv2d, 3: nn.functional.conv3d}


def used(module: nn.Module) -> nn.Module:
    """`module` in eval mode, its norms as after a training."""
    torch.manual_seed(3)
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d | nn.BatchNorm3d):
            for values, low, high in (
                (norm.running_mean, -1.0, 1.0),
                (norm.running_var, 0.3, 2.0),
                (norm.weight.data, 0.5, 1.5),
                (norm.bias.data, -1.0, 1.0),
            ):
                assert values is not None
                values.uniform_(low, high)
    return module.eval().requires_grad_(False)


def volume(rank: int, channels: int = 3, batch: int = 2) -> Tensor:
    return torch.randn(batch, channels, *(6,) * rank, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("kernel", [1, 3, 7])
def test_a_convolution_keeps_the_size(rank: int, kernel: int) -> None:
    assert convolution(3, 5, rank=rank, kernel=kernel)(volume(rank)).shape == (2, 5, *(6,) * rank)


@pytest.mark.parametrize("rank", [2, 3])
def test_one_folded_convolution_does_what_convolution_and_norm_do(rank: int) -> None:
    block = used(ConvNorm(3, 5, rank=rank))
    assert isinstance(block, ConvNorm)
    weight, bias = folded(block.conv, block.norm)
    got = CONV[rank](volume(rank), weight, bias, padding=1).relu()
    torch.testing.assert_close(got, block(volume(rank)))


def test_folding_keeps_the_dtype() -> None:
    conv, norm = convolution(3, 5, rank=2).half(), batch_norm(5, rank=2)
    assert [part.dtype for part in folded(conv, norm)] == [torch.float16] * 2


def test_folding_leaves_a_norm_before_its_convolution() -> None:
    block = used(Residual3d(3))
    expected = block(volume(3))
    fold_batch_norms(block)
    kinds = {name: type(child) for name, child in block.named_children() if name.startswith("norm")}
    assert kinds == {"norm1": nn.BatchNorm3d, "norm2": nn.Identity}
    torch.testing.assert_close(block(volume(3)), expected)


def test_a_residual_block_without_weights_is_the_identity() -> None:
    block = used(Residual3d(3))
    for value in block.conv2.parameters():
        value.zero_()
    assert torch.equal(block(volume(3)), volume(3))


@pytest.mark.parametrize("leak", [0.0, 0.01])
def test_a_block_lets_its_leak_through(leak: float) -> None:
    block = used(ConvNorm(3, 5, rank=2, leak=leak))
    assert isinstance(block, ConvNorm)
    inner = block.norm(block.conv(volume(2)))
    torch.testing.assert_close(block(volume(2)), torch.where(inner < 0, leak * inner, inner))


def test_channel_norm_levels_each_place_of_a_picture() -> None:
    got = ChannelNorm(3, 1e-6)(volume(2))
    torch.testing.assert_close(got.mean(1), torch.zeros(2, 6, 6), atol=1e-6, rtol=0)
    torch.testing.assert_close(got.square().mean(1), torch.ones(2, 6, 6), atol=1e-3, rtol=0)


def test_upsampling_repeats_each_cell() -> None:
    got = upsample(volume(3), 1, 2, 2)
    assert torch.equal(got, volume(3).repeat_interleave(2, 3).repeat_interleave(2, 4))
