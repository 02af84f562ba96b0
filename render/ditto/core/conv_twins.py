"""Convolutions with what follows them, in plain torch: what their kernels are measured against.

Pictures are (B, H, W, C); weights (O, I, h, w) are channels last, so that one output's are one row.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def convolved(
    x: Tensor, weight: Tensor, scale: Tensor | None, *, out: Tensor, sums: Tensor | None = None
) -> None:
    """Into `out` (B, H, W, O), `x` (B, H, W, I) by `weight`, of odd height and width, times `scale` (O,)
    float32, if any: that which undoes how both were scaled to fit few bits.

    Into `sums` (B, 2, O) float32 the sums of each channel, before it is rounded, and of its square.
    """
    found = products(x, weight) if scale is None else products(x, weight) * scale
    out[:] = found
    if sums is not None:
        sums[:, 0] = found.sum((1, 2))
        sums[:, 1] = found.square().sum((1, 2))


def products(x: Tensor, weight: Tensor) -> Tensor:
    """(B, H, W, O) of `x` (B, H, W, I) by `weight`, in float32, in which products of fewer bits are exact."""
    found = F.conv2d(x.permute(0, 3, 1, 2).float(), weight.float(), padding=weight.shape[-1] // 2)
    return found.permute(0, 2, 3, 1).contiguous()


def rounded(weight: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """`weight` (O, I, h, w) in `dtype` of 8 bits, each output scaled so that it fills its range; and the
    factors (O,) float32 that undo it."""
    scale = weight.float().abs().amax((1, 2, 3)).clamp(min=1e-12) / largest(dtype)
    fitted = saturated(weight.float() / scale[:, None, None, None], dtype)
    return fitted.contiguous(memory_format=torch.channels_last), scale


def largest(dtype: torch.dtype) -> float:
    """That a `dtype` of 8 bits holds with either sign."""
    return torch.finfo(dtype).max if dtype.is_floating_point else float(torch.iinfo(dtype).max)


def saturated(value: Tensor, dtype: torch.dtype) -> Tensor:
    """`value` float32 as the nearest of a `dtype` of 8 bits; what is too large for it is the largest."""
    value = value.clamp(-largest(dtype), largest(dtype))
    return (value if dtype.is_floating_point else value.round()).to(dtype)
