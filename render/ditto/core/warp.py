"""The warp network as few large convolutions of pictures, with everything between them fused.

The same as `WarpNetwork` to rounding: norms are folded, volume convolutions are picture convolutions of depth
slices, enlarged maps are never made, and the occlusion's convolution rides in the mask's.
"""

from dataclasses import dataclass
from typing import Final, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..blocks import Convolution
from ..dense_motion import KERNEL, MOTIONS, DenseMotion
from ..warp import LEAK, WarpNetwork
from . import algebra
from .layers import Layer, channels_last, convolved, lanes

TAPS: Final = 3
DEEP: Final = 16
"""Cells of a map so small that cuDNN sums those of FEW slots in two ways: they have theirs one by one."""
FEW: Final = 3
"""Slots, at most."""


class WarpOps(Protocol):
    """The steps between convolutions; `warp_twins` says what each does."""

    def motion_input(
        self, small: Tensor, which: Tensor, source: Tensor, driven: Tensor, *, out: Tensor
    ) -> None: ...

    def depth_sum(
        self,
        found: Tensor,
        bias: Tensor,
        *,
        depth: int,
        taps: int,
        out: Tensor,
        pool: int = 1,
        enlarge: int = 1,
        beside: Tensor | None = None,
    ) -> None: ...

    def convolved(self, x: Tensor, weight: Tensor, *, out: Tensor) -> None: ...

    def deform(
        self,
        found: Tensor,
        bias: Tensor,
        source: Tensor,
        driven: Tensor,
        volume: Tensor,
        which: Tensor,
        *,
        taps: int,
        out: Tensor,
    ) -> None: ...

    def leak(self, x: Tensor, bias: Tensor, slope: float) -> None: ...

    def occlude(
        self,
        x: Tensor,
        bias: Tensor,
        found: Tensor,
        hidden_bias: Tensor,
        *,
        first: int,
        depth: int,
        out: Tensor,
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Volumes:
    """Avatar frames as the warp reads them: `full` (N, D, H, W, C) in its dtype, `small` (N, D, H, W, C')."""

    full: Tensor
    small: Tensor


class FastWarp(nn.Module):
    """Made of a `WarpNetwork` in float32 whose batch norms are folded, and then independent of it."""

    occlusion_bias: Tensor

    def __init__(self, network: WarpNetwork, ops: WarpOps, *, dtype: torch.dtype) -> None:
        """It computes in `dtype`, which must not be changed later."""
        super().__init__()
        motion, size = network.dense_motion_network, network.size.motion
        self.size, self.dtype, self._ops = network.size, dtype, ops
        blocks = [_conv(block) for block in motion.hourglass.encoder.down_blocks]
        last, third, wide = motion.hourglass.decoder.conv, _conv(network.third), lanes(size.inputs)
        order = torch.arange(size.inputs).unflatten(0, (MOTIONS, -1)).T.flatten()
        """Of the channels of `motion_input` in official ones."""
        up, beside = last.weight.split([size.width, size.inputs], dim=1)
        self.compress = _flat(motion.compress, torch.float32)
        self._down = [
            self._volume(blocks[0].weight[:, order], _bias(blocks[0]), inputs=wide),
            *(self._volume(block.weight, _bias(block)) for block in blocks[1:]),
        ]
        self._up = [self._enlarging(_conv(block)) for block in motion.hourglass.decoder.up_blocks]
        self.hourglass = nn.ModuleList([*self._down, *self._up])
        self.seen = self._volume(
            torch.cat((up, beside[:, order]), 1),
            _bias(last),
            inputs=size.width + wide,
            outputs=lanes(size.outputs),
        )
        self.mask = self._with_occlusion(motion)
        self.register_buffer("occlusion_bias", _bias(motion.occlusion))
        self.third = Layer(
            channels_last(algebra.depth_as_inputs(third.weight.detach(), size.depth), dtype), _bias(third)
        )
        self.fourth = _flat(network.fourth, dtype)

    def volumes(self, feature: Tensor) -> Volumes:
        """Of avatar frames (N, C, D, H, W), once each."""
        full = feature.permute(0, 2, 3, 4, 1).contiguous()
        weight = self.compress.weight.flatten(1)
        small = F.relu(F.linear(full.float(), weight, self.compress.bias))
        return Volumes(full.to(self.dtype), small.to(self.dtype))

    def room(self, frames: int, side: int) -> Volumes:
        """For the volumes of that many frames, `side` cells high and wide, where the weights are."""
        size, device = self.size.motion, self.occlusion_bias.device
        shape = frames, size.depth, side, side
        return Volumes(
            torch.zeros(*shape, size.channels, device=device, dtype=self.dtype),
            torch.zeros(*shape, size.compressed, device=device, dtype=self.dtype),
        )

    def forward(self, volumes: Volumes, which: Tensor, source: Tensor, driven: Tensor) -> Tensor:
        """Flat features (B, H, W, 256) of the frames `which` (B,) int64, moved from keypoints `source` to
        `driven` (B, 21, 3) float32."""
        batch, (depth, height, width, _) = which.shape[0], volumes.full.shape[1:]
        seen = self._hourglass(volumes.small, which, source, driven)
        found = self._empty(*seen.shape[:3], self.mask.weight.shape[0])
        self._ops.convolved(seen, self.mask.weight, out=found)
        flat = self._empty(batch, height, width, depth * volumes.full.shape[-1])
        self._ops.deform(found, self.mask.bias, source, driven, volumes.full, which, taps=KERNEL, out=flat)
        features = self._empty(batch, height, width, self.third.outputs)
        self._ops.convolved(flat, self.third.weight, out=features)
        self._ops.leak(features, self.third.bias, LEAK)
        features = convolved(features, self.fourth.weight)
        out = torch.empty_like(features)
        self._ops.occlude(
            features,
            self.fourth.bias,
            found,
            self.occlusion_bias,
            first=KERNEL * MOTIONS,
            depth=depth,
            out=out,
        )
        return out

    def _hourglass(self, small: Tensor, which: Tensor, source: Tensor, driven: Tensor) -> Tensor:
        batch, (depth, height, width, _) = which.shape[0], small.shape[1:]
        x = self._empty(batch * depth, height, width, self._down[0].weight.shape[1])
        self._ops.motion_input(small, which, source, driven, out=x)
        levels = [x]
        for layer in self._down:
            height, width = height // 2, width // 2
            out = self._empty(batch * depth, height, width, layer.outputs)
            self._sum(self._convolved(levels[-1], layer.weight, 1), layer, out=out, pool=2)
            levels.append(out)
        x = levels.pop()
        for layer in self._up:
            beside = levels.pop()
            out = self._empty(*beside.shape[:3], layer.outputs + beside.shape[-1])
            found = self._convolved(x, layer.weight, 1)
            self._sum(found, layer, out=out, enlarge=2, beside=beside)
            x = out
        found = self._empty(*x.shape[:3], self.seen.weight.shape[0])
        self._ops.convolved(x, self.seen.weight, out=found)
        out = self._empty(*x.shape[:3], self.seen.outputs)
        self._sum(found, self.seen, out=out)
        return out

    def _convolved(self, x: Tensor, weight: Tensor, padding: int) -> Tensor:
        """Depth slices, in the same way wherever a slot stands."""
        depth, cells = self.size.motion.depth, x.shape[1:3].numel()
        if cells > DEEP or len(x) > FEW * depth:
            return convolved(x, weight, padding)
        return torch.cat([convolved(part, weight, padding) for part in x.split(depth)])

    def _sum(
        self,
        found: Tensor,
        layer: Layer,
        *,
        out: Tensor,
        pool: int = 1,
        enlarge: int = 1,
        beside: Tensor | None = None,
    ) -> None:
        self._ops.depth_sum(
            found,
            layer.bias,
            depth=self.size.motion.depth,
            taps=TAPS,
            out=out,
            pool=pool,
            enlarge=enlarge,
            beside=beside,
        )

    def _volume(
        self, weight: Tensor, bias: Tensor, *, inputs: int | None = None, outputs: int | None = None
    ) -> Layer:
        """With as many `inputs` and `outputs`; those added are of no effect, and 0."""
        weight = algebra.padded(weight.detach(), inputs or weight.shape[1], 1)
        weight = algebra.padded(weight, outputs or weight.shape[0], 0)
        bias = algebra.padded(bias, weight.shape[0], 0)
        return Layer(channels_last(algebra.taps_as_outputs(weight), self.dtype), bias)

    def _enlarging(self, conv: Convolution) -> Layer:
        """For a map that is enlarged twice before."""
        weight = algebra.taps_as_outputs(conv.weight.detach())
        return Layer(channels_last(algebra.phases(weight, 2), self.dtype), _bias(conv))

    def _with_occlusion(self, motion: DenseMotion) -> Layer:
        """Its outputs are the mask's taps, then what each slice adds to the occlusion, a channel a depth."""
        mask = algebra.taps_as_outputs(motion.mask.weight.detach())
        hidden = (
            motion.occlusion.weight.detach()[0].unflatten(0, (-1, self.size.motion.depth)).transpose(0, 1)
        )
        weight = algebra.padded(torch.cat((mask, hidden)), self.seen.outputs, 1)
        return Layer(
            channels_last(algebra.padded(weight, lanes(weight.shape[0]), 0), self.dtype), _bias(motion.mask)
        )

    def _empty(self, *shape: int) -> Tensor:
        return torch.empty(shape, device=self.third.bias.device, dtype=self.dtype)


def _conv(block: nn.Module) -> Convolution:
    conv, norm = block.get_submodule("conv"), block.get_submodule("norm")
    if not isinstance(conv, Convolution) or not isinstance(norm, nn.Identity):
        raise TypeError("fold_batch_norms first: the core takes a network whose norms are folded")
    return conv


def _bias(conv: nn.Module) -> Tensor:
    return conv.get_parameter("bias").detach().float()


def _flat(conv: nn.Module, dtype: torch.dtype) -> Layer:
    return Layer(channels_last(conv.get_parameter("weight").detach(), dtype), _bias(conv))
