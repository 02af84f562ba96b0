"""Stitch network: moves driven keypoints a little, so that the face stays joined to neck and shoulders."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import torch
from torch import Tensor, nn

from .motion import KEYPOINTS


@dataclass(frozen=True, slots=True)
class StitchSize:
    """Widths of the hidden layers."""

    hidden: tuple[int, ...] = (128, 128, 64)

    @classmethod
    def tiny(cls) -> Self:
        return cls(hidden=(8, 8))


class StitchNetwork(nn.Module):
    """Keys of the state dict are those of the official `retarget_shoulder` without `module.`."""

    def __init__(self, size: StitchSize | None = None) -> None:
        super().__init__()
        self.size = size = size or StitchSize()
        widths = (2 * 3 * KEYPOINTS, *size.hidden, 3 * KEYPOINTS + 2)
        layers: list[nn.Module] = []
        for narrow, wide in pairwise(widths):
            layers += [nn.Linear(narrow, wide), nn.ReLU()]
        self.mlp = nn.Sequential(*layers[:-1])

    def forward(self, source: Tensor, driven: Tensor) -> Tensor:
        """`source` and `driven` (B, 21, 3) float32; the driven keypoints as they should be, (B, 21, 3)
        float32."""
        both = torch.cat((source.flatten(1), driven.flatten(1)), dim=1)
        out = self.mlp(both.to(next(self.parameters()).dtype)).float()
        each, all_xy = out.split((3 * KEYPOINTS, 2), dim=1)
        shift = torch.cat((all_xy, torch.zeros_like(all_xy[:, :1])), dim=1)
        return driven + each.unflatten(1, (KEYPOINTS, 3)) + shift[:, None]
