"""Convolutions as the core has them: pictures (B, H, W, C), weights channels last, biases left for later."""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LANES: Final = 16
"""Channels come in multiples of so many, which tensor cores read best."""


class Layer(nn.Module):
    """A convolution's `weight`, channels last, and its `bias` float32, which is added later.

    Where it reads 8 bits, what it reads is multiplied by `fit` before it is stored, and `undo` (O,) float32
    are the factors by which what comes out is as large as it should be."""

    weight: Tensor
    bias: Tensor
    undo: Tensor | None

    def __init__(self, weight: Tensor, bias: Tensor, *, fit: float = 1.0, undo: Tensor | None = None) -> None:
        super().__init__()
        self.fit = fit
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        self.register_buffer("undo", undo)

    @property
    def outputs(self) -> int:
        """Channels after the bias."""
        return self.bias.shape[0]


def convolved(x: Tensor, weight: Tensor, padding: int | None = None) -> Tensor:
    """`x` (B, H, W, I) by `weight` (O, I, h, w), channels last; by default as large as before."""
    border = weight.shape[2] // 2 if padding is None else padding
    return F.conv2d(x.permute(0, 3, 1, 2), weight, padding=border).permute(0, 2, 3, 1).contiguous()


def channels_last(weight: Tensor, dtype: torch.dtype) -> Tensor:
    """`weight` (O, I, ...) in `dtype`; one output's are one row of memory."""
    weight = weight.to(dtype)
    return weight.contiguous(memory_format=torch.channels_last) if weight.dim() == 4 else weight


def lanes(channels: int) -> int:
    """`channels` and what is missing to whole lanes."""
    return -(-channels // LANES) * LANES
