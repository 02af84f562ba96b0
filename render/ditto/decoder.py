"""Decoder: flat features become a picture, by SPADE blocks that the features themselves modulate."""

from dataclasses import dataclass
from typing import Final, Self

from torch import Tensor, nn
from torch.nn import functional as F

from .blocks import upsample
from .spectral import SpectralConv2d

LEAK: Final = 0.2
ENLARGED: Final = 8
"""How many times as wide and high as its features a picture is."""


@dataclass(frozen=True, slots=True)
class DecoderSize:
    """`features` read, `shared` channels of each modulation, `blocks` before the first enlargement, and
    `last` channels that the picture is made of."""

    features: int = 256
    shared: int = 128
    blocks: int = 6
    last: int = 64

    @classmethod
    def tiny(cls) -> Self:
        return cls(features=8, shared=4, blocks=2, last=4)


class Spade(nn.Module):
    """Instance norm whose scale and shift are read from a map, place by place."""

    def __init__(self, channels: int, size: DecoderSize) -> None:
        super().__init__()
        self.mlp_shared = nn.Sequential(nn.Conv2d(size.features, size.shared, 3, padding=1), nn.ReLU())
        self.mlp_gamma = nn.Conv2d(size.shared, channels, 3, padding=1)
        self.mlp_beta = nn.Conv2d(size.shared, channels, 3, padding=1)

    def forward(self, x: Tensor, features: Tensor) -> Tensor:
        """`x` (B, C, H, W), `features` (B, F, H, W)."""
        normed = F.instance_norm(x.float()).to(x.dtype)
        shared = self.mlp_shared(features)
        return normed * (1 + self.mlp_gamma(shared)) + self.mlp_beta(shared)


class SpadeBlock(nn.Module):
    """`x` plus two convolutions of it, each modulated; one of other width is itself brought to it, modulated
    too."""

    def __init__(self, inputs: int, outputs: int, size: DecoderSize) -> None:
        super().__init__()
        middle = min(inputs, outputs)
        self.conv_0 = SpectralConv2d(inputs, middle, 3, padding=1)
        self.conv_1 = SpectralConv2d(middle, outputs, 3, padding=1)
        self.norm_0 = Spade(inputs, size)
        self.norm_1 = Spade(middle, size)
        self.learned = inputs != outputs
        if self.learned:
            self.conv_s = SpectralConv2d(inputs, outputs, 1, bias=False)
            self.norm_s = Spade(inputs, size)

    def forward(self, x: Tensor, features: Tensor) -> Tensor:
        inner = self.conv_0(F.leaky_relu(self.norm_0(x, features), LEAK))
        inner = self.conv_1(F.leaky_relu(self.norm_1(inner, features), LEAK))
        return (self.conv_s(self.norm_s(x, features)) if self.learned else x) + inner


class Decoder(nn.Module):
    """Keys of the state dict are the official ones with spectral norm folded (`spectral.fold`)."""

    def __init__(self, size: DecoderSize | None = None) -> None:
        super().__init__()
        self.size = size = size or DecoderSize()
        width = 2 * size.features
        self.fc = nn.Conv2d(size.features, width, 3, padding=1)
        for index in range(size.blocks):
            self.register_module(f"G_middle_{index}", SpadeBlock(width, width, size))
        self.up_0 = SpadeBlock(width, size.features, size)
        self.up_1 = SpadeBlock(size.features, size.last, size)
        self.conv_img = nn.Sequential(nn.Conv2d(size.last, 3 * 2 * 2, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, features: Tensor) -> Tensor:
        """`features` (B, 256, 64, 64) as the warp network gives them; RGB (B, 3, 512, 512) 0..1."""
        x = self.fc(features)
        for index in range(self.size.blocks):
            x = self.get_submodule(f"G_middle_{index}")(x, features)
        for block in (self.up_0, self.up_1):
            x, features = upsample(x, 2, 2), upsample(features, 2, 2)
            x = block(x, features)
        return self.conv_img(F.leaky_relu(x, LEAK)).sigmoid()
