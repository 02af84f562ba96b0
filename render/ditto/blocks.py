"""What the picture networks are built from: convolution with batch norm, and how the norm folds away.

Attribute names are those of the official files; a rank of 2 is pictures (B, C, H, W), 3 volumes (B, C, D, H,
W).
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FOLDS: Final = (("conv", "norm"), ("conv1", "norm2"), ("compress", "norm"))
"""The convolutions directly before a batch norm, by the names of both in one module."""

Convolution = nn.Conv2d | nn.Conv3d
BatchNorm = nn.BatchNorm2d | nn.BatchNorm3d


class ConvNorm(nn.Module):
    """Convolution of kernel 3, batch norm, then ReLU, which lets `leak` of what is negative through."""

    def __init__(self, inputs: int, outputs: int, *, rank: int, leak: float = 0.0) -> None:
        super().__init__()
        self.conv = convolution(inputs, outputs, rank=rank)
        self.norm = batch_norm(outputs, rank=rank)
        self.activation = nn.LeakyReLU(leak) if leak else nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.norm(self.conv(x)))


class Residual3d(nn.Module):
    """A volume plus two convolutions of it, each after batch norm and ReLU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = convolution(channels, channels, rank=3)
        self.conv2 = convolution(channels, channels, rank=3)
        self.norm1 = batch_norm(channels, rank=3)
        self.norm2 = batch_norm(channels, rank=3)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.conv1(F.relu(self.norm1(x)))
        return x + self.conv2(F.relu(self.norm2(inner)))


class ChannelNorm(nn.LayerNorm):
    """Layer norm over the channels of a picture (B, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def convolution(inputs: int, outputs: int, *, rank: int, kernel: int = 3) -> Convolution:
    """A convolution that keeps the size of what it reads."""
    kind = nn.Conv2d if rank == 2 else nn.Conv3d
    return kind(inputs, outputs, kernel, padding=kernel // 2)


def batch_norm(channels: int, *, rank: int) -> BatchNorm:
    return nn.BatchNorm2d(channels) if rank == 2 else nn.BatchNorm3d(channels)


def upsample(x: Tensor, *factors: float) -> Tensor:
    """`x` by a whole factor for each of its last dimensions, nearest neighbour."""
    return F.interpolate(x, scale_factor=list(factors), mode="nearest")


def fold_batch_norms(network: nn.Module) -> None:
    """Work each batch norm that follows a convolution into it, for good, in place.

    The network computes the same with fewer steps, and its state dict is no longer the official one: load
    first. A norm before its convolution stays.
    """
    for module in network.modules():
        parts = dict(module.named_children())
        for before, after in FOLDS:
            conv, norm = parts.get(before), parts.get(after)
            if isinstance(conv, Convolution) and isinstance(norm, BatchNorm):
                conv.weight, conv.bias = (
                    nn.Parameter(part, requires_grad=False) for part in folded(conv, norm)
                )
                module.register_module(after, nn.Identity())


def folded(conv: Convolution, norm: BatchNorm) -> tuple[Tensor, Tensor]:
    """Weight and bias of the one convolution that does what `conv` and then `norm` in eval mode do."""
    assert conv.bias is not None
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight.double() / torch.sqrt(norm.running_var.double() + norm.eps)
    weight = conv.weight.double() * scale.reshape(-1, *(1 for _ in conv.weight.shape[1:]))
    bias = (conv.bias.double() - norm.running_mean.double()) * scale + norm.bias.double()
    return weight.to(conv.weight.dtype), bias.to(conv.bias.dtype)
