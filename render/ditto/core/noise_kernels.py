# pyright: basic, reportCallIssue=false, reportGeneralTypeIssues=false, reportArgumentType=false
"""Normal noise from counters as a kernel, so that it is drawn where it is used; `noise_twins` says how."""

from typing import Final

import torch
import triton
import triton.language as tl
from torch import Tensor

from .noise_twins import ROUNDS

QUADS: Final = 256
"""Counters of a program."""


@triton.jit
def _share(word):
    return (word.to(tl.float32) + 0.5) * 2.3283064365386963e-10


@triton.jit
def _normal(seeds, firsts, out, K, FRAMES, WIDTH, COUNT, ROUNDS: tl.constexpr, QUADS: tl.constexpr):
    """A program owns QUADS counters of one frame of one stream."""
    row = tl.program_id(1)
    stream = row // FRAMES
    frame = row % FRAMES
    quad = tl.program_id(0) * QUADS + tl.arange(0, QUADS)
    nothing = tl.zeros([QUADS], tl.int32)
    counter = nothing + (tl.load(firsts + stream) + frame).to(tl.int32)
    w0, w1, w2, w3 = tl.philox(tl.load(seeds + stream), quad, counter, nothing, nothing, n_rounds=ROUNDS)
    for pair in tl.static_range(2):
        radius = tl.sqrt(-2.0 * tl.log(_share(w2 if pair else w0)))
        angle = 6.283185307179586 * _share(w3 if pair else w1)
        for half in tl.static_range(2):
            value = radius * (tl.sin(angle) if half else tl.cos(angle))
            at = 4 * quad + 2 * pair + half
            place = ((at // WIDTH * K + stream) * FRAMES + frame) * WIDTH + at % WIDTH
            tl.store(out + place, value, mask=at < COUNT)


def normal(seeds: Tensor, firsts: Tensor, *, draws: int, frames: int, width: int) -> Tensor:
    streams, count = len(seeds), draws * width
    out = torch.empty(draws, streams, frames, width, device=seeds.device)
    grid = triton.cdiv(triton.cdiv(count, 4), QUADS), streams * frames
    _normal[grid](seeds, firsts, out, streams, frames, width, count, ROUNDS, QUADS)
    return out
