"""What sampling windows of motion needs of a `MotionDecoder` and a `Schedule`, re-arranged once and exactly.

Rows of the model's width hold their even columns first, then their odd ones: a pair that the rotary embedding
turns is then a column of the one half and the same column of the other. What depends on the step, or on
nothing, is made here: the time tokens' and the unconditional branch's keys and values, and the latter's FiLM.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..attention import Rotary
from ..lmdm import DecoderLayer, EncoderLayer, LmdmSize, MotionDecoder
from ..schedule import Schedule

FILMS: Final = 3
"""Of a layer: after its self-attention, after the look at what is heard, after the feed-forward."""
LANES: Final = 16


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear layer of K inputs: `weight` (N, K), whose rows are filled up with zeros to a multiple of
    `LANES`, and `bias` (N,) float32."""

    weight: Tensor
    bias: Tensor


@dataclass(frozen=True, slots=True)
class Level:
    """A layer norm, `gain` and `offset` (D,) float32, and by how much the row at each of P positions is
    turned after it: `cosine` and `sine` (P, D/2) float32."""

    gain: Tensor
    offset: Tensor
    cosine: Tensor
    sine: Tensor


@dataclass(frozen=True, slots=True)
class EncoderPlan:
    """A layer over what is heard. `mix` gives queries, keys and values (3 D)."""

    first: Level
    mix: Linear
    close: Linear
    last: Level
    widen: Linear
    narrow: Linear


@dataclass(frozen=True, slots=True)
class DecoderPlan:
    """A layer over motion: as `EncoderPlan`, with a look at what is heard in between."""

    first: Level
    mix: Linear
    close: Linear
    second: Level
    query: Linear
    recall: Linear
    last: Level
    widen: Linear
    narrow: Linear


@dataclass(frozen=True, slots=True)
class MotionPlan:
    """Constants of sampling in S steps with a model of L layers of width D.

    `enter` (a `Linear`'s weight) and `lead` are the two parts of the input projection, of the noisy window
    and of what it follows. `memory` gives the keys of all layers, then their values (2 L D); `film` the
    scales, to which 1 is already added, and shifts (L, 3, 2, D). `times` (S, D) float32 are the steps'
    vectors, `late` (S, 2, 2 L, D) their tokens' keys and values. `deaf_memory` (T, 2 L, D) and `deaf_film`
    (S, L, 3, 2, D) are the unconditional branch's.
    """

    size: LmdmSize
    schedule: Schedule
    enter: Tensor
    lead: Linear
    hear: Linear
    encoders: tuple[EncoderPlan, ...]
    pooled: tuple[Level, Linear, Linear]
    memory_level: Level
    memory: Linear
    film: Linear
    times: Tensor
    late: Tensor
    deaf_memory: Tensor
    deaf_film: Tensor
    layers: tuple[DecoderPlan, ...]
    leave: Linear

    @property
    def dtype(self) -> torch.dtype:
        """Of the weights."""
        return self.enter.dtype

    @property
    def device(self) -> torch.device:
        return self.enter.device

    @classmethod
    @torch.no_grad()
    def of(cls, model: MotionDecoder, schedule: Schedule, dtype: torch.dtype) -> Self:
        """From a `model` in float32; the plan does not share its weights."""
        size, fold = model.size, _Fold(model.rotary, dtype)
        layers: list[DecoderLayer] = list(model.seqTransDecoder.stack)  # pyright: ignore[reportAssignmentType]
        encoders: list[EncoderLayer] = list(model.cond_encoder)  # pyright: ignore[reportAssignmentType]
        entry = model.input_projection
        norm, first, _, second = model.non_attn_cond_projection
        times = torch.tensor(schedule.times, device=entry.weight.device)
        moments, pooled, deaf_memory = model.moments(times), *_deaf(model)
        film = fold.film(layers)
        vectors = moments.vector.float()
        return cls(
            size=size,
            schedule=schedule,
            enter=fold.linear(entry.weight[:, : size.motion], entry.bias, gives=True).weight,
            lead=fold.linear(entry.weight[:, size.motion :], entry.bias, gives=True),
            hear=fold.layer(model.cond_projection, gives=True),
            encoders=tuple(fold.encoder(layer) for layer in encoders),
            pooled=(fold.level(norm), fold.layer(first, takes=True), fold.layer(second)),
            memory_level=fold.level(model.norm_cond),
            memory=fold.memory(layers),
            film=Linear(film.weight.to(dtype), film.bias),
            times=vectors,
            late=_beside(moments.keys, moments.values).to(dtype),
            deaf_memory=deaf_memory.to(dtype),
            deaf_film=F.linear(F.mish(pooled + vectors), film.weight, film.bias)
            .unflatten(-1, (size.layers, FILMS, 2, size.width))
            .to(dtype),
            layers=tuple(fold.decoder(layer) for layer in layers),
            leave=fold.layer(model.final_layer, takes=True),
        )


class _Fold:
    """Copies of layers in `dtype`, whose rows of the model's width are in the plan's order."""

    def __init__(self, rotary: Rotary, dtype: torch.dtype) -> None:
        self._rotary, self._dtype = rotary, dtype
        columns = torch.arange(rotary.width, device=rotary.freqs.device)
        self._order = torch.cat((columns[::2], columns[1::2]))

    def linear(self, weight: Tensor, bias: Tensor, *, takes: bool = False, gives: bool = False) -> Linear:
        """One that `takes`, or `gives`, rows in the plan's order."""
        if takes:
            weight = weight[:, self._order]
        if gives:
            weight, bias = weight[self._order], bias[self._order]
        filled = F.pad(weight, (0, -weight.shape[1] % LANES))
        return Linear(filled.to(self._dtype, copy=True).contiguous(), bias.float().clone())

    def layer(self, layer: nn.Module, *, takes: bool = False, gives: bool = False) -> Linear:
        assert isinstance(layer, nn.Linear)
        return self.linear(layer.weight, layer.bias, takes=takes, gives=gives)

    def level(self, norm: nn.Module) -> Level:
        assert isinstance(norm, nn.LayerNorm)
        gain, offset = norm.weight[self._order].float(), norm.bias[self._order].float()
        return Level(gain, offset, self._rotary.cosine.float(), self._rotary.sine.float())

    def encoder(self, layer: EncoderLayer) -> EncoderPlan:
        own = layer.self_attn
        return EncoderPlan(
            first=self.level(layer.norm1),
            mix=self.linear(own.in_proj_weight, own.in_proj_bias, takes=True),
            close=self.layer(own.out_proj, gives=True),
            last=self.level(layer.norm2),
            widen=self.layer(layer.linear1, takes=True),
            narrow=self.layer(layer.linear2, gives=True),
        )

    def decoder(self, layer: DecoderLayer) -> DecoderPlan:
        own, other, width = layer.self_attn, layer.multihead_attn, self._rotary.width
        return DecoderPlan(
            first=self.level(layer.norm1),
            mix=self.linear(own.in_proj_weight, own.in_proj_bias, takes=True),
            close=self.layer(own.out_proj, gives=True),
            second=self.level(layer.norm2),
            query=self.linear(other.in_proj_weight[:width], other.in_proj_bias[:width], takes=True),
            recall=self.layer(other.out_proj, gives=True),
            last=self.level(layer.norm3),
            widen=self.layer(layer.linear1, takes=True),
            narrow=self.layer(layer.linear2, gives=True),
        )

    def memory(self, layers: Sequence[DecoderLayer]) -> Linear:
        """Keys of all layers, then values of all."""
        width = self._rotary.width
        rows = [slice(width, 2 * width), slice(2 * width, 3 * width)]
        weights = [layer.multihead_attn.in_proj_weight[part] for part in rows for layer in layers]
        biases = [layer.multihead_attn.in_proj_bias[part] for part in rows for layer in layers]
        return self.linear(torch.cat(weights), torch.cat(biases), takes=True)

    def film(self, layers: Sequence[DecoderLayer]) -> Linear:
        """In float32: scales and shifts of all layers."""
        blocks = [film.block[1] for layer in layers for film in (layer.film1, layer.film2, layer.film3)]
        weights = [self._scale_and_shift(block.weight) for block in blocks]
        biases = [self._scale_and_shift(block.bias) for block in blocks]
        for bias in biases:
            bias[0] += 1
        return Linear(torch.cat(weights).flatten(0, 1), torch.cat(biases).flatten())

    def _scale_and_shift(self, rows: Tensor | nn.Module) -> Tensor:
        assert isinstance(rows, Tensor)
        return rows.unflatten(0, (2, -1))[:, self._order].float()


def _deaf(model: MotionDecoder) -> tuple[Tensor, Tensor]:
    """Of the unconditional branch: its pooled vector (1, D) float32; keys and values (T, 2 L, D)."""
    size, weight = model.size, model.final_layer.weight
    encoded = model.encode(torch.zeros(1, size.rows, size.condition, device=weight.device))
    return encoded.pooled[:1].float(), _beside(encoded.keys[:, :1], encoded.values[:, :1])[0]


def _beside(keys: Tensor, values: Tensor) -> Tensor:
    """(B, T, 2 L, D) of keys and values (L, B, T, D)."""
    return torch.cat((keys, values)).permute(1, 2, 0, 3).contiguous()
