"""The warp network's own steps in plain torch: what its kernels are measured against, and what a CPU runs.

Pictures are (B, H, W, C) and volumes are their depth slices, (B D, H, W, C). Volumes of avatars lie in a
store (N, D, H, W, C) that `which` (B,) int64 points into. Sums are in float32.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from ..dense_motion import blobs, motions, places, sample
from . import algebra, layers


def motion_input(small: Tensor, which: Tensor, source: Tensor, driven: Tensor, *, out: Tensor) -> None:
    """Into `out` (B D, H, W, >= 22 (C + 1)): for each motion, how much nearer a cell is to the driven than to
    the source's keypoint; then, channel by channel, `small` (N, D, H, W, C) moved by each motion alone.
    Channels left over are 0.

    `source`, `driven` (B, 21, 3) float32.
    """
    depth, channels = small.shape[1], small.shape[-1]
    volume = small[which].permute(0, 4, 1, 2, 3)
    grid = places(volume)
    flows = motions(grid, source, driven)
    count = flows.shape[1]
    moved = sample(volume.repeat_interleave(count, 0), flows.flatten(0, 1)).unflatten(0, (-1, count))
    heat = F.pad(blobs(grid, driven) - blobs(grid, source), (0, 0, 0, 0, 0, 0, 1, 0))
    joined = torch.cat((heat[:, :, None].to(moved.dtype), moved), dim=2).transpose(1, 2).flatten(1, 2)
    used = count * (channels + 1)
    out[..., used:] = 0
    out.unflatten(0, (-1, depth))[..., :used] = joined.permute(0, 2, 3, 4, 1)


def convolved(x: Tensor, weight: Tensor, *, out: Tensor) -> None:
    """Into `out` (B, H, W, O), `x` (B, H, W, I) by `weight`, of odd height and width."""
    out[:] = layers.convolved(x, weight)


def depth_sum(
    found: Tensor,
    bias: Tensor,
    *,
    depth: int,
    taps: int,
    out: Tensor,
    pool: int = 1,
    enlarge: int = 1,
    beside: Tensor | None = None,
) -> None:
    """Into `out` the sum over depth `taps` of what a convolution with `taps_as_outputs` has `found`
    (B D, H, W, taps C), plus `bias` (C,) float32, negative values cut off.

    Then means over `pool` by `pool` cells; or, if `enlarge` is 2, `found` is that of `algebra.phases`. After
    the C channels come those of `beside` (B D, H', W', E) as they are.
    """
    channels = bias.shape[0]
    if enlarge > 1:
        found = algebra.unfolded(found, enlarge, taps * channels)
    total = _over_depth(found[..., : taps * channels], depth, taps) + bias
    total = F.relu(total)
    if pool > 1:
        total = F.avg_pool2d(total.permute(0, 3, 1, 2), pool).permute(0, 2, 3, 1)
    out[..., :channels] = total
    if beside is not None:
        out[..., channels:] = beside


def deform(
    found: Tensor,
    bias: Tensor,
    source: Tensor,
    driven: Tensor,
    volume: Tensor,
    which: Tensor,
    *,
    taps: int,
    out: Tensor,
) -> None:
    """Into `out` (B, H, W, D C), depth first, `volume` (N, D, H, W, C) as all motions together move it.

    Each motion's share is a softmax of the sum over depth `taps` of `found` (B D, H, W, >= taps 22), plus
    `bias` (22,) float32.
    """
    depth = volume.shape[1]
    count = bias.shape[0]
    scores = _over_depth(found[..., : taps * count], depth, taps) + bias
    shares = scores.softmax(-1).unflatten(0, (-1, depth)).movedim(-1, 1)
    taken = volume[which].permute(0, 4, 1, 2, 3)
    flow = (shares[..., None] * motions(places(taken), source, driven)).sum(1)
    moved = sample(taken, flow)
    out[:] = moved.permute(0, 3, 4, 2, 1).flatten(3)


def leak(x: Tensor, bias: Tensor, slope: float) -> None:
    """`x` (B, H, W, C) plus `bias` (C,) float32, in place; what is negative is multiplied by `slope`."""
    x[:] = F.leaky_relu(x.float() + bias, slope)


def occlude(
    x: Tensor, bias: Tensor, found: Tensor, hidden_bias: Tensor, *, first: int, depth: int, out: Tensor
) -> None:
    """Into `out` (B, H, W, C), `x` of that shape plus `bias` (C,) float32, as far as it is seen: a sigmoid of
    `hidden_bias` (1,) float32 and, of each depth slice d of `found` (B D, H, W, Z), channel `first` + d."""
    slices = found[..., first : first + depth].float().unflatten(0, (-1, depth))
    hidden = slices.diagonal(dim1=1, dim2=4).sum(-1) + hidden_bias
    out[:] = (x.float() + bias) * hidden.sigmoid()[..., None]


def _over_depth(found: Tensor, depth: int, taps: int) -> Tensor:
    """(B D, H, W, C) float32, slice d the sum of tap k's outputs (taps C) of slice d + k - taps // 2."""
    parts = found.float().unflatten(-1, (taps, -1)).unflatten(0, (-1, depth)).unbind(-2)
    total = torch.zeros_like(parts[0])
    for tap, part in enumerate(parts):
        shift = tap - taps // 2
        low, high = max(0, -shift), min(depth, depth - shift)
        if low < high:
            total[:, low:high] += part[:, low + shift : high + shift]
    return total.flatten(0, 1)
