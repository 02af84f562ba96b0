"""The decoder's own steps in plain torch: what its kernels are measured against, and what a CPU runs.

Pictures are (B, H, W, C); where a part of another picture's channels is read, it is a view of that shape.
Statistics and sums are in float32. An `out` of 8 bits gets what is written times `fit`, and the largest it
holds for what is too large.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from . import algebra, layers
from .conv_twins import products, saturated

EPSILON = 1e-5


def shared(found: Tensor, bias: Tensor, *, factor: int, out: Tensor, fit: float = 1.0) -> None:
    """Into `out` (B, factor H, factor W, C), `found` plus `bias` (C,) float32, negative values cut off.

    `found` is (B, H, W, C), or, where `factor` is 2 or 4, what a convolution with `algebra.phases` gives.
    """
    if factor > 1:
        found = algebra.unfolded(found, factor, bias.shape[0])
    _write(F.relu(found.float() + bias), fit, out)


def settle(
    x: Tensor, bias: Tensor, *, plus: Sequence[Tensor] = (), out: Tensor, stats: Tensor | None = None
) -> None:
    """Into `out` (B, H, W, C), `x` of that shape plus `bias` (C,) float32 and all of `plus`.

    Into `stats` (B, 2, C) float32 the mean of each channel and one over its deviation.
    """
    total = x.float() + bias
    for other in plus:
        total = total + other.float()
    out[:] = total
    if stats is not None:
        measure(total, stats=stats)


def measure(x: Tensor, *, stats: Tensor) -> None:
    """Into `stats` (B, 2, C) float32 the mean of each channel of `x` (B, H, W, C) and one over its
    deviation."""
    variance, mean = torch.var_mean(x.float(), dim=(1, 2), correction=0)
    stats[:, 0] = mean
    stats[:, 1] = torch.rsqrt(variance + EPSILON)


def modulate(
    x: Tensor,
    stats: Tensor,
    scale: Tensor,
    shift: Tensor | None,
    bias: Tensor,
    *,
    enlarge: int,
    slope: float,
    out: Tensor,
    fit: float = 1.0,
) -> None:
    """Into `out` (B, H, W, C), `x` normed by `stats`, times `scale`, plus `shift` (B, H, W, C), if any.

    `bias` (2 C,) or (C,) float32 comes on top of both. `x` is (B, H / enlarge, W / enlarge, C) and enlarged
    by nearest neighbours. What is negative in the end is multiplied by `slope`.
    """
    channels = x.shape[-1]
    normed = (x.float() - stats[:, 0, None, None]) * stats[:, 1, None, None]
    if enlarge > 1:
        normed = normed.repeat_interleave(enlarge, 1).repeat_interleave(enlarge, 2)
    total = normed * (scale.float() + bias[:channels])
    if shift is not None:
        total = total + shift.float() + bias[channels:]
    _write(F.leaky_relu(total, slope), fit, out)


def modulated(
    shared: Tensor,
    weight: Tensor,
    bias: Tensor,
    x: Tensor,
    stats: Tensor,
    *,
    enlarge: int,
    slope: float,
    out: Tensor,
    fit: float = 1.0,
    undo: Tensor | None = None,
) -> None:
    """Into `out` (B, H, W, C), `x` as `modulate` does it, by scale and shift that are `shared` (B, H, W, S)
    by `weight` (2 C, S, 3, 3), in turns; `bias` (2 C,) float32, that of all scales first, comes on top.
    Where both have 8 bits, their products are multiplied by `undo` (2 C,) float32, in turns as well."""
    found = layers.convolved(shared, weight) if undo is None else products(shared, weight) * undo
    scale, shift = found[..., ::2], found[..., 1::2]
    modulate(x, stats, scale, shift, bias, enlarge=enlarge, slope=slope, out=out, fit=fit)


def convolved(
    x: Tensor, weight: Tensor, undo: Tensor | None, *, out: Tensor, stats: Tensor | None = None
) -> None:
    """Into `out` (B, H, W, O), `x` by `weight`, where both have 8 bits times `undo` (O,) float32. Into
    `stats` what `measure` finds in it before it is rounded."""
    found = products(x, weight) if undo is None else products(x, weight) * undo
    out[:] = found
    if stats is not None:
        measure(found, stats=stats)


def rectify(x: Tensor, bias: Tensor, *, plus: Sequence[Tensor], slope: float, out: Tensor) -> None:
    """Into `out` (B, H, W, C), `x` plus `bias` (C,) float32 and all of `plus`; what is negative is multiplied
    by `slope`."""
    total = x.float() + bias
    for other in plus:
        total = total + other.float()
    out[:] = F.leaky_relu(total, slope)


def picture(found: Tensor, bias: Tensor, mask: Tensor, *, out: Tensor) -> None:
    """Into `out` (B, 2 H, 2 W, 4) red, green and blue 0..1, and `mask` (2 H, 2 W) of its dtype, bit by bit.

    `found` (B, H, W, >= 12) holds for each colour the four places of a cell, row by row; `bias` (12,) float32
    comes on top.
    """
    cells = (found[..., :12].float() + bias).permute(0, 3, 1, 2)
    out[..., :3] = F.pixel_shuffle(cells, 2).sigmoid().permute(0, 2, 3, 1)
    out[..., 3] = mask


def _write(value: Tensor, fit: float, out: Tensor) -> None:
    out[:] = value if out.element_size() > 1 else saturated(value * fit, out.dtype)
