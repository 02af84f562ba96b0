"""Normal noise from counters in plain torch, on any device: Philox, and Box and Muller's pairs of it.

Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC 2011), 4x32 with ten rounds.
"""

import math
from typing import Final

import torch
from torch import Tensor

ROUNDS: Final = 10
_MULTIPLIERS: Final = 0xD2511F53, 0xCD9E8D57
_WEYL: Final = 0x9E3779B9, 0xBB67AE85
_LOW: Final = 0xFFFFFFFF

Quad = tuple[Tensor, Tensor, Tensor, Tensor]


def normal(seeds: Tensor, firsts: Tensor, *, draws: int, frames: int, width: int) -> Tensor:
    """(draws, k, frames, width) float32, for k streams of `seeds` (k,) int64, each from its frame `firsts`
    (k,) int64 on. What a frame sees follows from the seed and the frame; fewer draws are the first of more.
    """
    count = draws * width
    frame = firsts[:, None] + torch.arange(frames, device=firsts.device)
    quad = torch.arange(-(-count // 4), device=firsts.device)[None, None]
    nothing = torch.zeros_like(quad)
    seed = seeds[:, None, None]
    bits = philox((quad, frame[..., None] & _LOW, nothing, nothing), (seed & _LOW, seed >> 32 & _LOW))
    found = torch.stack((*_pair(bits[0], bits[1]), *_pair(bits[2], bits[3])), -1).flatten(2)
    return found[..., :count].unflatten(2, (draws, width)).permute(2, 0, 1, 3).contiguous()


def philox(counter: Quad, key: tuple[Tensor, Tensor]) -> Quad:
    """Four words for a counter of four and a key of two: all int64 that hold 32 bits."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        first, second = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c2 = (second >> 32 & _LOW) ^ c1 ^ k0, (first >> 32 & _LOW) ^ c3 ^ k1
        c1, c3 = second & _LOW, first & _LOW
        k0, k1 = k0 + _WEYL[0] & _LOW, k1 + _WEYL[1] & _LOW
    return c0, c1, c2, c3


def _pair(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Two normal numbers of two words."""
    radius, angle = (-2 * _share(one).log()).sqrt(), 2 * math.pi * _share(other)
    return radius * angle.cos(), radius * angle.sin()


def _share(word: Tensor) -> Tensor:
    """Above 0, and up to 1."""
    return (word.float() + 0.5) * 2.0**-32
