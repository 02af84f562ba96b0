"""The decoder as few large convolutions, with everything between them fused.

The same as `Decoder` to rounding. The maps that modulate are made from the small features, never enlarged;
where a modulated map is itself brought to another width, its shift is brought there with the modulation.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from ..decoder import LEAK, Decoder, Spade, SpadeBlock
from . import algebra
from .layers import Layer, channels_last, convolved, lanes
from .low_bits import LayerMaker, LowBits

COLORS = 12
"""Outputs of the last convolution: four places of three colours."""


class DecoderOps(Protocol):
    """The steps between convolutions; `decoder_twins` says what each does."""

    def shared(self, found: Tensor, bias: Tensor, *, factor: int, out: Tensor, fit: float = 1.0) -> None: ...

    def settle(
        self,
        x: Tensor,
        bias: Tensor,
        *,
        plus: Sequence[Tensor] = (),
        out: Tensor,
        stats: Tensor | None = None,
    ) -> None: ...

    def measure(self, x: Tensor, *, stats: Tensor) -> None: ...

    def modulate(
        self,
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
    ) -> None: ...

    def modulated(
        self,
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
    ) -> None: ...

    def convolved(
        self, x: Tensor, weight: Tensor, undo: Tensor | None, *, out: Tensor, stats: Tensor | None = None
    ) -> None: ...

    def rectify(
        self, x: Tensor, bias: Tensor, *, plus: Sequence[Tensor], slope: float, out: Tensor
    ) -> None: ...

    def picture(self, found: Tensor, bias: Tensor, mask: Tensor, *, out: Tensor) -> None: ...


class Modulation(nn.Module):
    """A `Spade` of C channels: the map that is `shared`, for features enlarged `factor` times, and the
    convolution of it that gives scale and shift in turns, `both`. Of a shortcut, `both` gives all of the
    scale, and after it the shift already brought to the shortcut's width."""

    def __init__(self, shared: Layer, both: Layer, *, factor: int, channels: int) -> None:
        super().__init__()
        self.shared, self.both, self.factor, self.channels = shared, both, factor, channels


class Block(nn.Module):
    """A `SpadeBlock`. The first convolution's bias is never added, as the norm after it takes it away."""

    conv_s: Tensor

    def __init__(self, block: SpadeBlock, factor: int, dtype: torch.dtype, layer: LayerMaker) -> None:
        """`layer` makes those that may read 8 bits."""
        super().__init__()
        self.first = _modulation(block.norm_0, "norm_0", factor, dtype, layer)
        self.second = _modulation(block.norm_1, "norm_1", factor, dtype, layer)
        bias = _bias(block.conv_1.bias)
        if block.learned:
            self.shortcut, brought = _shortcut(block, factor, dtype, layer)
            self.register_buffer("conv_s", channels_last(block.conv_s.weight.detach(), dtype))
            bias = bias + brought
        self.conv_0 = layer("conv_0", block.conv_0.weight.detach(), _bias(block.conv_0.bias))
        self.conv_1 = layer("conv_1", block.conv_1.weight.detach(), bias)


class FastDecoder(nn.Module):
    """Made of a `Decoder` in float32 whose spectral norm is folded, and then independent of it."""

    def __init__(
        self, network: Decoder, ops: DecoderOps, *, dtype: torch.dtype, low_bits: LowBits | None = None
    ) -> None:
        """It computes in `dtype`, which must not be changed later, but for what `low_bits` names."""
        super().__init__()
        self.size, self.dtype, self._ops = network.size, dtype, ops
        self.fc = Layer(channels_last(network.fc.weight.detach(), dtype), _bias(network.fc.bias))
        plan = low_bits or LowBits()
        made = [
            Block(one, factor, dtype, plan.maker(name, dtype)) for name, one, factor in blocks_of(network)
        ]
        self._middles, self._ups = made[:-2], made[-2:]
        self.blocks = nn.ModuleList(made)
        image = network.conv_img.get_submodule("0")
        weight = algebra.padded(image.get_parameter("weight").detach(), lanes(COLORS), 0)
        self.image = Layer(channels_last(weight, dtype), _bias(image.get_parameter("bias")))

    def forward(self, features: Tensor, mask: Tensor, *, out: Tensor) -> None:
        """Into `out` (B, 8 H, 8 W, 4) the pictures of `features` (B, H, W, 256), RGB 0..1 and `mask` (8 H,
        8 W) of its dtype."""
        found = convolved(features, self.fc.weight)
        x, stats = torch.empty_like(found), self._stats(len(found), found.shape[-1])
        self._ops.settle(found, self.fc.bias, out=x, stats=stats)
        for block in self._middles:
            inner = self._inner(block, features, x, stats, enlarge=1)
            after = torch.empty_like(x)
            self._ops.settle(inner, block.conv_1.bias, plus=(x,), out=after, stats=stats)
            x = after
        for block in self._ups:
            beside = self._shortcut(block, features, x, stats)
            inner = self._inner(block, features, x, stats, enlarge=2)
            x = torch.empty_like(inner)
            if block is self._ups[-1]:
                self._ops.rectify(inner, block.conv_1.bias, plus=beside, slope=LEAK, out=x)
            else:
                stats = self._stats(len(x), x.shape[-1])
                self._ops.settle(inner, block.conv_1.bias, plus=beside, out=x, stats=stats)
        self._ops.picture(convolved(x, self.image.weight), self.image.bias, mask, out=out)

    def _inner(self, block: Block, features: Tensor, x: Tensor, stats: Tensor, *, enlarge: int) -> Tensor:
        """What the block adds to `x`, but for the last bias."""
        first = self._modulated(block.first, features, x, stats, enlarge=enlarge, reader=block.conv_0)
        own = self._stats(len(first), block.conv_0.outputs)
        middle = self._convolved(first, block.conv_0, stats=own)
        second = self._modulated(block.second, features, middle, own, enlarge=1, reader=block.conv_1)
        return self._convolved(second, block.conv_1)

    def _convolved(self, x: Tensor, by: Layer, *, stats: Tensor | None = None) -> Tensor:
        """Without the bias; into `stats` those of what comes out."""
        if by.undo is not None:
            found = self._empty(*x.shape[:3], by.weight.shape[0])
            self._ops.convolved(x, by.weight, by.undo, out=found, stats=stats)
            return found
        found = convolved(x, by.weight)
        if stats is not None:
            self._ops.measure(found, stats=stats)
        return found

    def _modulated(
        self, by: Modulation, features: Tensor, x: Tensor, stats: Tensor, *, enlarge: int, reader: Layer
    ) -> Tensor:
        """As `reader` reads it."""
        shared = self._map(by, features)
        out = self._empty(*shared.shape[:3], by.channels, dtype=reader.weight.dtype)
        self._ops.modulated(
            shared,
            by.both.weight,
            by.both.bias,
            x,
            stats,
            enlarge=enlarge,
            slope=LEAK,
            out=out,
            fit=reader.fit,
            undo=by.both.undo,
        )
        return out

    def _shortcut(self, block: Block, features: Tensor, x: Tensor, stats: Tensor) -> tuple[Tensor, Tensor]:
        """The two parts of `x` enlarged and brought to the block's width; the bias is in `conv_1`'s."""
        by = block.shortcut
        found = self._convolved(self._map(by, features), by.both)
        scale, shift = found.split([by.channels, found.shape[-1] - by.channels], dim=-1)
        scaled = self._empty(*scale.shape)
        self._ops.modulate(x, stats, scale, None, by.both.bias, enlarge=2, slope=1.0, out=scaled)
        return convolved(scaled, block.conv_s), shift

    def _map(self, by: Modulation, features: Tensor) -> Tensor:
        """(B, factor H, factor W, S), as `by.both` reads it."""
        batch, height, width, _ = features.shape
        if by.factor == 1:
            found = self._empty(*features.shape[:3], by.shared.weight.shape[0])
            self._ops.convolved(features, by.shared.weight, None, out=found)
        else:
            found = convolved(features, by.shared.weight, padding=1)
        shape = batch, by.factor * height, by.factor * width, by.shared.outputs
        out = self._empty(*shape, dtype=by.both.weight.dtype)
        self._ops.shared(found, by.shared.bias, factor=by.factor, out=out, fit=by.both.fit)
        return out

    def _stats(self, batch: int, channels: int) -> Tensor:
        return torch.empty(batch, 2, channels, device=self.image.bias.device, dtype=torch.float32)

    def _empty(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        return torch.empty(shape, device=self.image.bias.device, dtype=dtype or self.dtype)


def blocks_of(network: Decoder) -> list[tuple[str, SpadeBlock, int]]:
    """By official name, and how many times as wide as the features they are."""
    found = [(name, one) for name, one in network.named_children() if isinstance(one, SpadeBlock)]
    factors = [*[1] * (len(found) - 2), 2, 4]
    return [(name, one, factor) for (name, one), factor in zip(found, factors, strict=True)]


def _modulation(spade: Spade, name: str, factor: int, dtype: torch.dtype, layer: LayerMaker) -> Modulation:
    gamma, beta = spade.mlp_gamma, spade.mlp_beta
    weight = torch.stack((gamma.weight.detach(), beta.weight.detach()), 1).flatten(0, 1)
    both = layer(name, weight, torch.cat((_bias(gamma.bias) + 1, _bias(beta.bias))))
    return Modulation(_shared(spade, factor, dtype), both, factor=factor, channels=gamma.out_channels)


def _shortcut(
    block: SpadeBlock, factor: int, dtype: torch.dtype, layer: LayerMaker
) -> tuple[Modulation, Tensor]:
    """And the bias (C,) float32 that comes of it."""
    spade, weight = block.norm_s, block.conv_s.weight.detach().flatten(1).double()
    gamma, beta = spade.mlp_gamma, spade.mlp_beta
    brought = torch.einsum("oc,cihw->oihw", weight, beta.weight.detach().double())
    weights = torch.cat((gamma.weight.detach(), brought.to(gamma.weight.dtype)))
    both = layer("norm_s", weights, _bias(gamma.bias) + 1)
    assert beta.bias is not None
    by = Modulation(_shared(spade, factor, dtype), both, factor=factor, channels=gamma.out_channels)
    return by, (weight @ beta.bias.detach().double()).float()


def _shared(spade: Spade, factor: int, dtype: torch.dtype) -> Layer:
    conv = spade.mlp_shared.get_submodule("0")
    weight = conv.get_parameter("weight").detach()
    weight = algebra.phases(weight, factor) if factor > 1 else weight
    return Layer(channels_last(weight, dtype), _bias(conv.get_parameter("bias")))


def _bias(bias: Tensor | None) -> Tensor:
    assert bias is not None
    return bias.detach().float()
