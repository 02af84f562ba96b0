"""An audio encoder of HuBERT's size, for benches on machines that lack its file: the same work, no sense.

Seven convolutions, then layers of attention over 1024 columns. Sound comes from the host, and rows stay.
"""

from dataclasses import dataclass
from typing import Final, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .captured_encoder import CapturedEncoder
from .core.memory import STAYS, Memory
from .features import WIDTH

STRIDES: Final = (5, 2, 2, 2, 2, 2, 2)
KERNELS: Final = (10, 3, 3, 3, 3, 2, 2)


@dataclass(frozen=True, slots=True)
class EncoderSize:
    """Of HuBERT-large: `channels` of the convolutions, and `layers` of `heads` with `feed` columns."""

    channels: int = 512
    layers: int = 24
    heads: int = 16
    feed: int = 4096

    @classmethod
    def tiny(cls) -> Self:
        return cls(channels=4, layers=1, heads=2, feed=8)


class EncoderNetwork(nn.Module):
    """Samples (B, n) to rows (B, `rows_of(n)`, 1024), in the dtype of the weights."""

    def __init__(self, size: EncoderSize) -> None:
        super().__init__()
        inputs = (1, *(size.channels for _ in KERNELS[1:]))
        self.convs = nn.ModuleList(
            nn.Conv1d(read, size.channels, kernel, stride)
            for read, kernel, stride in zip(inputs, KERNELS, STRIDES, strict=True)
        )
        self.project = nn.Linear(size.channels, WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, size.heads, size.feed, 0, "gelu", batch_first=True)
            for _ in range(size.layers)
        )

    def forward(self, samples: Tensor) -> Tensor:
        x = samples[:, None].to(self.project.weight.dtype)
        for conv in self.convs:
            x = F.gelu(conv(x))
        x = self.project(x.transpose(1, 2))
        for layer in self.layers:
            x = layer(x)
        return x


class StandInEncoder:
    """An `AudioEncoder` with that network on `device`, captured where there is a GPU."""

    def __init__(
        self,
        device: torch.device,
        *,
        samples: int,
        most: int,
        size: EncoderSize | None = None,
        eager: bool = False,
        memory: Memory = STAYS,
    ) -> None:
        """For up to `most` windows of `samples` a run. `eager` as `Replay` takes it; weights lie in
        `memory`."""
        dtype = torch.float16 if device.type == "cuda" else torch.float32
        torch.manual_seed(1)
        network = EncoderNetwork(size or EncoderSize()).to(dtype).eval().requires_grad_(False)
        with memory.kept():
            network = network.to(device)
        self._encode = CapturedEncoder(network, device, samples=samples, most=most, eager=eager)

    def __call__(self, samples: Tensor) -> Tensor:
        return self._encode(samples)
