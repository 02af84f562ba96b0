"""A network built as HuBERT is, of any size, with random weights, and its ONNX file.

Seven convolutions with a norm each, a projection, a convolution that tells where a row stands, then layers of
attention that are normed before, and a last norm. Nothing in it is HuBERT's own.
"""

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

KERNELS, STRIDES = (10, 3, 3, 3, 3, 2, 2), (5, 2, 2, 2, 2, 2, 2)


@dataclass(frozen=True, slots=True)
class Size:
    """`group` norms the first convolution alone, over time, as the base model does. `past` rows, always the
    same, are heard by every window besides its own."""

    channels: int = 512
    width: int = 1024
    layers: int = 24
    heads: int = 16
    feed: int = 4096
    positions: int = 128
    groups: int = 16
    group: bool = False
    past: int = 0

    @classmethod
    def tiny(cls, width: int = 16, *, group: bool = False, past: int = 0) -> Self:
        return cls(8, width, 2, 2, 24, 6, 4, group, past)


class Ear(nn.Module):
    """A convolution, its norm if it has one, and a bend."""

    def __init__(self, read: int, channels: int, kernel: int, stride: int, norm: nn.Module | None) -> None:
        super().__init__()
        self.conv = nn.Conv1d(read, channels, kernel, stride)
        self.norm = norm

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        if isinstance(self.norm, nn.LayerNorm):
            x = self.norm(x.transpose(-2, -1)).transpose(-2, -1)
        elif self.norm is not None:
            x = self.norm(x)
        return F.gelu(x)


class Attention(nn.Module):
    """Every row of every other, and of what is past."""

    keys: Tensor
    values: Tensor

    def __init__(self, width: int, heads: int, past: int) -> None:
        super().__init__()
        self.register_buffer("keys", torch.randn(heads, past, width // heads))
        self.register_buffer("values", torch.randn(heads, past, width // heads))
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        batch, rows, width = x.shape

        def cut(part: Tensor) -> Tensor:
            part = part.view(batch, -1, self.heads, width // self.heads).transpose(1, 2)
            return part.reshape(batch * self.heads, -1, width // self.heads)

        query, key, value = cut(self.query(x) * self.scale), cut(self.key(x)), cut(self.value(x))
        if self.keys.shape[1]:
            key, value = torch.cat((self.keys, key), 1), torch.cat((self.values, value), 1)
        mixed = torch.bmm(torch.softmax(torch.bmm(query, key.transpose(1, 2)), -1), value)
        mixed = mixed.view(batch, self.heads, rows, -1).transpose(1, 2)
        return self.out(mixed.reshape(batch, rows, width))


class Layer(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.before, self.attention = nn.LayerNorm(size.width), Attention(size.width, size.heads, size.past)
        self.after = nn.LayerNorm(size.width)
        self.up, self.down = nn.Linear(size.width, size.feed), nn.Linear(size.feed, size.width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.before(x))
        return x + self.down(F.gelu(self.up(self.after(x))))


class HubertLike(nn.Module):
    """Samples (1, n) to rows (rows, width), as the official file; (B, n) to (B, rows, width) if `batched`."""

    def __init__(self, size: Size, *, batched: bool = False) -> None:
        super().__init__()
        self.batched = batched
        self.ears = nn.Sequential()
        for at, (kernel, stride) in enumerate(zip(KERNELS, STRIDES, strict=True)):
            norm = nn.GroupNorm(size.channels, size.channels) if size.group else nn.LayerNorm(size.channels)
            read = size.channels if at else 1
            kept = norm if at == 0 or not size.group else None
            self.ears.append(Ear(read, size.channels, kernel, stride, kept))
        self.norm, self.project = nn.LayerNorm(size.channels), nn.Linear(size.channels, size.width)
        where = nn.Conv1d(
            size.width, size.width, size.positions, padding=size.positions // 2, groups=size.groups
        )
        self.where = nn.utils.parametrizations.weight_norm(where, dim=2)
        self.layers = nn.Sequential(*(Layer(size) for _ in range(size.layers)))
        self.last = nn.LayerNorm(size.width)

    def forward(self, samples: Tensor) -> Tensor:
        x = self.ears(samples[:, None]).transpose(1, 2)
        x = self.project(self.norm(x))
        where = self.where(x.transpose(1, 2))[:, :, :-1]
        x = x + F.gelu(where).transpose(1, 2)
        x = self.last(self.layers(x))
        return x if self.batched else x.squeeze(0)


def network(size: Size, *, batched: bool = False, seed: int = 1) -> HubertLike:
    """Norms are told apart from ones that do nothing, and rows from silence."""
    torch.manual_seed(seed)
    made = HubertLike(size, batched=batched)
    with torch.no_grad():
        for name, one in made.named_parameters():
            if one.ndim == 1:
                one.add_(0.1 * torch.randn_like(one))
            elif "ears" in name:
                one.mul_(1.5 * math.sqrt(3))
    return made.eval().requires_grad_(False)


def export(made: nn.Module, path: Path, *, opset: int, free: bool, samples: int = 6480) -> None:
    """Through torch's older exporter. Lengths are `free`, or all as for `samples`."""
    axes = {"input_values": {1: "samples"}, "encoding_out": {0: "rows"}} if free else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            made,
            (0.1 * torch.randn(1, samples),),
            str(path),
            input_names=["input_values"],
            output_names=["encoding_out"],
            dynamic_axes=axes,
            opset_version=opset,
            dynamo=False,
        )
