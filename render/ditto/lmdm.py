"""The motion model: what a noisy window of motion looks like without its noise, given what is heard.

A window is `encode`d once; each step of the sampler then runs both branches of the guidance as one batch.
What depends on the step alone is a `Moments`, made ahead. A half-precision model takes and gives float32.
"""

import math
from dataclasses import dataclass
from typing import Final, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from .attention import Attention, Rotary

GUIDANCE: Final = 2.0
"""How far the result goes from the unconditional towards the conditional estimate; 1 would be the latter."""
TIME_TOKENS: Final = 2


@dataclass(frozen=True, slots=True)
class LmdmSize:
    """Columns of a row of motion and of a condition row, rows of a window, and the widths in between."""

    motion: int = 265
    condition: int = 1103
    rows: int = 80
    width: int = 512
    feed: int = 1024
    layers: int = 8
    encoders: int = 2
    heads: int = 8

    @classmethod
    def tiny(cls) -> Self:
        """Official rows in and out, hardly anything between."""
        return cls(width=32, feed=48, layers=2, encoders=1, heads=4)


@dataclass(frozen=True, slots=True)
class Encoded:
    """What the steps of a window share. Of 2B rows the first B are the unconditional branch.

    `tokens` (B, 80, width); `pooled` (2B, width); `keys` and `values` (layers, 2B, 80, width).
    """

    tokens: Tensor
    pooled: Tensor
    keys: Tensor
    values: Tensor


@dataclass(frozen=True, slots=True)
class Moments:
    """What depends on the step number alone, for S of them: constants of a schedule.

    `vector` (S, width); `keys` and `values` (layers, S, 2, width) of the two time tokens.
    """

    vector: Tensor
    keys: Tensor
    values: Tensor

    def at(self, index: int) -> Self:
        """The one at `index`, which all slots share."""
        one = slice(index, index + 1)
        return type(self)(self.vector[one], self.keys[:, one], self.values[:, one])


class EncoderLayer(nn.Module):
    """One layer over the condition rows (B, T, width)."""

    def __init__(self, size: LmdmSize, rotary: Rotary) -> None:
        super().__init__()
        self.rotary = rotary
        self.self_attn = Attention(size.width, size.heads)
        self.linear1 = nn.Linear(size.width, size.feed)
        self.linear2 = nn.Linear(size.feed, size.width)
        self.norm1 = nn.LayerNorm(size.width)
        self.norm2 = nn.LayerNorm(size.width)

    def forward(self, rows: Tensor) -> Tensor:
        level = self.norm1(rows)
        rows = rows + self.self_attn(self.rotary(level), level)
        return rows + self.linear2(functional.gelu(self.linear1(self.norm2(rows))))


class Film(nn.Module):
    """Scales and shifts rows (B, T, width) as a vector (B, width) says that has been through Mish."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Mish(), nn.Linear(width, 2 * width))

    def forward(self, rows: Tensor, activated: Tensor) -> Tensor:
        scale, shift = self.block[1](activated)[:, None].chunk(2, dim=-1)
        return (1 + scale) * rows + shift


class DecoderLayer(nn.Module):
    """One layer over the motion rows (B, T, width), with a memory of M rows made ahead."""

    def __init__(self, size: LmdmSize, rotary: Rotary) -> None:
        super().__init__()
        self.rotary = rotary
        self.self_attn = Attention(size.width, size.heads)
        self.multihead_attn = Attention(size.width, size.heads)
        self.linear1 = nn.Linear(size.width, size.feed)
        self.linear2 = nn.Linear(size.feed, size.width)
        self.norm1 = nn.LayerNorm(size.width)
        self.norm2 = nn.LayerNorm(size.width)
        self.norm3 = nn.LayerNorm(size.width)
        self.film1 = Film(size.width)
        self.film2 = Film(size.width)
        self.film3 = Film(size.width)

    def memory(self, rows: Tensor, first: int) -> tuple[Tensor, Tensor]:
        """Keys and values of memory rows (B, M, width) that stand at positions from `first` on."""
        return self.multihead_attn.keys(self.rotary(rows, first)), self.multihead_attn.values(rows)

    def forward(self, rows: Tensor, activated: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        level = self.norm1(rows)
        rows = rows + self.film1(self.self_attn(self.rotary(level), level), activated)
        queries = self.multihead_attn.queries(self.rotary(self.norm2(rows)))
        rows = rows + self.film2(self.multihead_attn.attend(queries, keys, values), activated)
        fed = self.linear2(functional.gelu(self.linear1(self.norm3(rows))))
        return rows + self.film3(fed, activated)


class DecoderStack(nn.Module):
    """The decoder layers in order, under their official name."""

    def __init__(self, size: LmdmSize, rotary: Rotary) -> None:
        super().__init__()
        self.stack = nn.ModuleList(DecoderLayer(size, rotary) for _ in range(size.layers))


class MotionDecoder(nn.Module):
    """LMDM. Its state dict has the official keys (`model_state_dict` of the official file)."""

    def __init__(self, size: LmdmSize | None = None) -> None:
        super().__init__()
        self.size = size = size or LmdmSize()
        width = size.width
        self.null_cond_embed = nn.Parameter(torch.zeros(1, size.rows, width))
        self.null_cond_hidden = nn.Parameter(torch.zeros(1, width))
        self.rotary = Rotary(width, size.rows + TIME_TOKENS)
        self.time_mlp = nn.Sequential(nn.Identity(), nn.Linear(width, 4 * width), nn.Mish())
        self.to_time_cond = nn.Sequential(nn.Linear(4 * width, width))
        self.to_time_tokens = nn.Sequential(nn.Linear(4 * width, TIME_TOKENS * width))
        self.norm_cond = nn.LayerNorm(width)
        self.input_projection = nn.Linear(2 * size.motion, width)
        self.cond_encoder = nn.Sequential(*(EncoderLayer(size, self.rotary) for _ in range(size.encoders)))
        self.cond_projection = nn.Linear(size.condition, width)
        self.non_attn_cond_projection = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width)
        )
        self.seqTransDecoder = DecoderStack(size, self.rotary)
        self.final_layer = nn.Linear(width, size.motion)

    @property
    def dtype(self) -> torch.dtype:
        """What the weights are in."""
        return self.final_layer.weight.dtype

    def encode(self, conditions: Tensor) -> Encoded:
        """What the steps of a window of condition rows (B, 80, 1103) share."""
        batch = conditions.shape[0]
        tokens = self.cond_encoder(self.cond_projection(conditions.to(self.dtype)))
        pooled = self.non_attn_cond_projection(tokens.mean(dim=-2))
        # The unconditional branch's memory is the same for all slots: it is row 0 of B + 1.
        keys, values = self._memory(torch.cat((self.null_cond_embed, tokens)), first=0)
        return Encoded(
            tokens,
            torch.cat((self.null_cond_hidden.expand(batch, -1), pooled)),
            _spread_first(keys, batch),
            _spread_first(values, batch),
        )

    def moments(self, times: Tensor) -> Moments:
        """The constants of the step numbers `times` (S,), 0 to 999."""
        hidden = self.time_mlp(time_embedding(times, self.size.width).to(self.dtype))
        tokens = self.to_time_tokens(hidden).unflatten(-1, (TIME_TOKENS, -1))
        return Moments(self.to_time_cond(hidden), *self._memory(tokens, first=self.size.rows))

    def branches(self, noisy: Tensor, lead: Tensor, encoded: Encoded, moments: Moments) -> Tensor:
        """(2, B, 80, 265) float32: the unconditional and the conditional estimates of B windows.

        `noisy` (B, 80, 265); `lead` (B, 265), the row of motion that comes before the window; `moments` of
        one step number for all, or of B.
        """
        batch, rows, _ = noisy.shape
        joined = torch.cat((noisy, lead[:, None].expand(-1, rows, -1)), dim=-1).to(self.dtype)
        hidden = self.input_projection(joined).repeat(2, 1, 1)
        activated = functional.mish(encoded.pooled + moments.vector.expand(batch, -1).repeat(2, 1))
        time_keys = moments.keys.expand(-1, batch, -1, -1).repeat(1, 2, 1, 1)
        time_values = moments.values.expand(-1, batch, -1, -1).repeat(1, 2, 1, 1)
        keys = torch.cat((encoded.keys, time_keys), dim=2)
        values = torch.cat((encoded.values, time_values), dim=2)
        for index, layer in enumerate(self.seqTransDecoder.stack):
            hidden = layer(hidden, activated, keys[index], values[index])
        return self.final_layer(hidden).float().unflatten(0, (2, batch))

    def step(self, noisy: Tensor, lead: Tensor, encoded: Encoded, moments: Moments) -> Tensor:
        """The guided estimate (B, 80, 265) float32 of windows without noise; arguments as for `branches`."""
        unconditional, conditional = self.branches(noisy, lead, encoded, moments)
        return unconditional + GUIDANCE * (conditional - unconditional)

    def forward(self, noisy: Tensor, lead: Tensor, conditions: Tensor, times: Tensor) -> Tensor:
        """One guided step, nothing made ahead; `times` (B,) or (1,)."""
        return self.step(noisy, lead, self.encode(conditions), self.moments(times))

    def _memory(self, rows: Tensor, first: int) -> tuple[Tensor, Tensor]:
        level = self.norm_cond(rows)
        pairs = [layer.memory(level, first) for layer in self.seqTransDecoder.stack]  # pyright: ignore[reportCallIssue]
        return torch.stack([keys for keys, _ in pairs]), torch.stack([values for _, values in pairs])


def time_embedding(times: Tensor, width: int) -> Tensor:
    """(S, width) float32: sines, then cosines, of the step numbers `times` (S,)."""
    half = width // 2
    falling = torch.exp(torch.arange(half, device=times.device) * -(math.log(10000) / (half - 1)))
    angles = times[:, None].float() * falling
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


def _spread_first(rows: Tensor, batch: int) -> Tensor:
    """(layers, 1 + B, ...) to (layers, 2B, ...): the first row for each of B, then the others."""
    return torch.cat((rows[:, :1].expand(-1, batch, -1, -1), rows[:, 1:]), dim=1)
