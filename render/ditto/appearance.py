"""Appearance extractor: a picture of a face becomes a volume of features, once for each avatar frame."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from torch import Tensor, nn
from torch.nn import functional as F

from .blocks import ConvNorm, Residual3d


@dataclass(frozen=True, slots=True)
class AppearanceSize:
    """`width` channels are doubled and the picture is halved `halvings` times; then the channels are dealt
    out as `channels` over `depth`, for `residuals` blocks."""

    width: int = 64
    halvings: int = 2
    channels: int = 32
    depth: int = 16
    residuals: int = 6

    @classmethod
    def tiny(cls) -> Self:
        return cls(width=4, channels=4, depth=4, residuals=2)


class AppearanceExtractor(nn.Module):
    """Keys of the state dict are the official ones."""

    def __init__(self, size: AppearanceSize | None = None) -> None:
        super().__init__()
        self.size = size = size or AppearanceSize()
        widths = [size.width << step for step in range(size.halvings + 1)]
        self.first = ConvNorm(3, size.width, rank=2)
        self.down_blocks = nn.ModuleList(ConvNorm(narrow, wide, rank=2) for narrow, wide in pairwise(widths))
        self.second = nn.Conv2d(widths[-1], size.channels * size.depth, 1)
        self.resblocks_3d = nn.ModuleDict(
            {f"3dr{index}": Residual3d(size.channels) for index in range(size.residuals)}
        )

    def forward(self, image: Tensor) -> Tensor:
        """`image` (B, 3, H, W) RGB 0..1, officially 256 x 256; (B, C, D, H/4, W/4), officially 32 x 16 x 64 x
        64."""
        x = self.first(image)
        for block in self.down_blocks:
            x = F.avg_pool2d(block(x), 2)
        x = self.second(x).unflatten(1, (self.size.channels, self.size.depth))
        for block in self.resblocks_3d.values():
            x = block(x)
        return x
