"""Motion extractor: what a picture of a face holds as motion, by a ConvNeXt V2. Once an avatar frame."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .blocks import ChannelNorm
from .motion import BINS, KEYPOINTS, Motion, Source

EPS = 1e-6


@dataclass(frozen=True, slots=True)
class MotionSize:
    """For each stage its width and its number of blocks. The first divides the picture's sides by 4, each
    other by 2."""

    widths: tuple[int, ...] = (96, 192, 384, 768)
    blocks: tuple[int, ...] = (3, 3, 9, 3)

    def __post_init__(self) -> None:
        if len(self.widths) != len(self.blocks):
            raise ValueError(f"{len(self.widths)} widths, but {len(self.blocks)} numbers of blocks")

    @classmethod
    def tiny(cls) -> Self:
        return cls(widths=(8, 12, 16, 24), blocks=(1, 1, 2, 1))


class ResponseNorm(nn.Module):
    """Global response norm of (B, H, W, C): each channel is scaled by its share of the energy of its
    picture."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.zeros(1, 1, 1, width))
        self.beta = nn.Parameter(torch.zeros(1, 1, 1, width))

    def forward(self, x: Tensor) -> Tensor:
        energy = x.float().square().sum((1, 2), keepdim=True).sqrt()
        share = energy / (energy.mean(-1, keepdim=True) + EPS)
        return self.gamma * (x * share.to(x.dtype)) + self.beta + x


class ConvNextBlock(nn.Module):
    """A picture plus what its surroundings add to each of its places."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dwconv = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, EPS)
        self.pwconv1 = nn.Linear(width, 4 * width)
        self.grn = ResponseNorm(4 * width)
        self.pwconv2 = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.norm(self.dwconv(x).permute(0, 2, 3, 1))
        inner = self.pwconv2(self.grn(F.gelu(self.pwconv1(inner))))
        return x + inner.permute(0, 3, 1, 2)


class Detector(nn.Module):
    """The ConvNeXt with a linear head for each item of motion."""

    def __init__(self, size: MotionSize) -> None:
        super().__init__()
        widths, last = size.widths, size.widths[-1]
        self.downsample_layers = nn.ModuleList(
            [nn.Sequential(nn.Conv2d(3, widths[0], 4, stride=4), ChannelNorm(widths[0], EPS))]
        )
        for narrow, wide in pairwise(widths):
            self.downsample_layers.append(
                nn.Sequential(ChannelNorm(narrow, EPS), nn.Conv2d(narrow, wide, 2, stride=2))
            )
        self.stages = nn.ModuleList(
            nn.Sequential(*(ConvNextBlock(width) for _ in range(blocks)))
            for width, blocks in zip(widths, size.blocks, strict=True)
        )
        self.norm = nn.LayerNorm(last, EPS)
        self.fc_kp = nn.Linear(last, 3 * KEYPOINTS)
        self.fc_scale = nn.Linear(last, 1)
        self.fc_pitch = nn.Linear(last, BINS)
        self.fc_yaw = nn.Linear(last, BINS)
        self.fc_roll = nn.Linear(last, BINS)
        self.fc_t = nn.Linear(last, 3)
        self.fc_exp = nn.Linear(last, 3 * KEYPOINTS)

    def forward(self, image: Tensor) -> Source:
        x = image
        for smaller, stage in zip(self.downsample_layers, self.stages, strict=True):
            x = stage(smaller(x))
        x = self.norm(x.mean((2, 3)))
        motion = Motion(
            scale=self.fc_scale(x).float(),
            pitch=self.fc_pitch(x).float(),
            yaw=self.fc_yaw(x).float(),
            roll=self.fc_roll(x).float(),
            translation=self.fc_t(x).float(),
            expression=self.fc_exp(x).float(),
        )
        return Source(motion, canonical=self.fc_kp(x).float())


class MotionExtractor(nn.Module):
    """Keys of the state dict are the official ones."""

    def __init__(self, size: MotionSize | None = None) -> None:
        super().__init__()
        self.size = size = size or MotionSize()
        self.detector = Detector(size)

    def forward(self, image: Tensor) -> Source:
        """`image` (B, 3, H, W) RGB 0..1, officially 256 x 256; rows (B, ...), float32 whatever the network's
        dtype."""
        return self.detector(image)
