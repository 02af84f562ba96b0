"""The viseme net: a causal stack of depthwise-separable convolutions.

What it says at row t is about row t - L, for each look-ahead L of its shape: one trunk, a head each.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from visavis.render.rig.viseme import HOP_SAMPLES, MELS, WINDOW_SAMPLES, hann, mel_bank
from visavis.stream.visemes import VISEMES

F32 = NDArray[np.float32]
KERNEL, FIRST_KERNEL, WIDENING = 7, 5, 2
FLOOR: Final = 1e-6
BEFORE_SAMPLES = 120
FFT: Final = 512
WARPS: Final = tuple(np.linspace(0.9, 1.12, 12).tolist())
"""Lengths of other people's throats: by how much their formants lie higher."""
_WARP_END = 0.75


@dataclass(frozen=True, slots=True)
class Shape:
    """How wide and deep a net is, how far it looks ahead with each head, and what it forgets in training."""

    channels: int = 168
    dilations: tuple[int, ...] = (1, 1, 1, 2, 2, 4, 4)
    lookahead_rows: tuple[int, ...] = (4, 6)
    dropout: float = 0.15


class Features(nn.Module):
    """Log-mel rows (B, 40, T) of sound (B, 160 T), as the stage computes them, or through one of `WARPS`."""

    def __init__(self) -> None:
        super().__init__()
        bank = mel_bank()
        self.register_buffer("taper", torch.from_numpy(hann(WINDOW_SAMPLES)))
        self.register_buffer("bank", torch.from_numpy(bank))
        self.register_buffer("warped", torch.from_numpy(np.stack([_warped(bank, warp) for warp in WARPS])))

    def forward(self, sound: Tensor, warp: Tensor | None = None) -> Tensor:
        after = WINDOW_SAMPLES - HOP_SAMPLES - BEFORE_SAMPLES
        windows = nn.functional.pad(sound, (BEFORE_SAMPLES, after)).unfold(1, WINDOW_SAMPLES, HOP_SAMPLES)
        power = torch.fft.rfft(windows * self.taper, FFT).abs().square()
        bank = self.bank if warp is None else self.warped[warp]
        return torch.log(power @ bank + FLOOR).transpose(1, 2)


def _warped(bank: F32, warp: float) -> F32:
    """`bank` (257, 40) that reads its frequencies `warp` times higher, up to three quarters of the band."""
    place = np.linspace(0, 1, len(bank))
    knee = _WARP_END / max(warp, 1.0)
    moved = np.where(place < knee, place * warp, 1 - (1 - place) * (1 - knee * warp) / (1 - knee))
    bins = np.arange(len(bank))
    source = moved * (len(bank) - 1)
    return np.stack([np.interp(source, bins, row) for row in bank.T], 1).astype(np.float32)


class Block(nn.Module):
    """x + squeeze(relu(widen(mixed over time))), on (B, C, T)."""

    def __init__(self, channels: int, dilation: int, dropout: float) -> None:
        super().__init__()
        self.past = (KERNEL - 1) * dilation
        self.time = nn.Conv1d(channels, channels, KERNEL, dilation=dilation, groups=channels, bias=False)
        self.norm = nn.BatchNorm1d(channels)
        self.widen = nn.Conv1d(channels, channels * WIDENING, 1)
        self.squeeze = nn.Conv1d(channels * WIDENING, channels, 1)
        self.forget = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        mixed = self.norm(self.time(nn.functional.pad(x, (self.past, 0))))
        return x + self.squeeze(self.forget(torch.relu(self.widen(mixed))))


class Net(nn.Module):
    """Mel rows (B, 40, T) to logits (B, H, 15, T), one set for each look-ahead."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.register_buffer("mean", torch.zeros(MELS, 1))
        self.register_buffer("spread", torch.ones(MELS, 1))
        self.first = nn.Conv1d(MELS, shape.channels, FIRST_KERNEL)
        self.blocks = nn.ModuleList(Block(shape.channels, one, shape.dropout) for one in shape.dilations)
        self.forget = nn.Dropout(shape.dropout)
        self.heads = nn.Conv1d(shape.channels, len(shape.lookahead_rows) * len(VISEMES), 1)

    def forward(self, mels: Tensor) -> Tensor:
        rows = (mels - self.mean) / self.spread
        x = torch.relu(self.first(nn.functional.pad(rows, (FIRST_KERNEL - 1, 0), mode="replicate")))
        for block in self.blocks:
            x = block(x)
        logits = self.heads(self.forget(torch.relu(x)))
        return logits.unflatten(1, (len(self.shape.lookahead_rows), len(VISEMES)))


def save(net: Net, target: Path) -> None:
    torch.save({"shape": asdict(net.shape), "weights": net.state_dict()}, target)


def load(source: Path) -> Net:
    """The net that `save` wrote, ready to judge."""
    kept = torch.load(source, map_location="cpu", weights_only=True)  # noqa: TID251
    shape = {
        name: tuple(value) if isinstance(value, list) else value for name, value in kept["shape"].items()
    }
    net = Net(Shape(**shape))
    net.load_state_dict(kept["weights"])
    return net.eval()
