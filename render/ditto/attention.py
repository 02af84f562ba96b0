"""Attention and rotary embedding as the motion model has them: rows are turned before they are projected."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Rotary(nn.Module):
    """Turns neighbouring pairs of a row of `width` by angles that grow with the row's position.

    The whole row is turned, before it is projected and split into heads. `freqs` (width/2,) is a constant
    that official files repeat in each layer. What is used are tables without keys, made in full precision.
    """

    freqs: Tensor
    cosine: Tensor
    sine: Tensor

    def __init__(self, width: int, positions: int) -> None:
        super().__init__()
        self.width, self.positions = width, positions
        self.register_buffer("freqs", frequencies(width))
        self.register_buffer("cosine", torch.empty(0), persistent=False)
        self.register_buffer("sine", torch.empty(0), persistent=False)
        self.make_tables()
        self.register_load_state_dict_post_hook(_tables_again)

    def make_tables(self) -> None:
        """Made again after loading, since a module that was built on the meta device has none."""
        frequency = frequencies(self.width).to(self.freqs.device)
        angles = torch.outer(torch.arange(self.positions, device=frequency.device).float(), frequency)
        self.cosine, self.sine = angles.cos().to(self.freqs.dtype), angles.sin().to(self.freqs.dtype)

    def forward(self, rows: Tensor, first: int = 0) -> Tensor:
        """`rows` (..., T, width), the first of which stands at position `first`; as many come back."""
        positions = slice(first, first + rows.shape[-2])
        cosine, sine = self.cosine[positions], self.sine[positions]
        even, odd = rows[..., ::2], rows[..., 1::2]
        return torch.stack((even * cosine - odd * sine, odd * cosine + even * sine), dim=-1).flatten(-2)


def _tables_again(module: Rotary, _: object) -> None:
    module.make_tables()


def frequencies(width: int) -> Tensor:
    """Radians a position, (width/2,) float32."""
    exponents = torch.arange(0, width, 2, dtype=torch.float64) / width
    return (10000.0**-exponents).float()


class Attention(nn.Module):
    """Several heads without a mask, in pieces, so that keys and values can be made ahead."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.width, self.heads = width, heads
        self.in_proj_weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(3 * width, width)))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)

    def queries(self, turned: Tensor) -> Tensor:
        """`turned` (B, T, width) to queries of the same shape."""
        return functional.linear(turned, self.in_proj_weight[: self.width], self.in_proj_bias[: self.width])

    def keys(self, turned: Tensor) -> Tensor:
        """`turned` (..., width) to keys of the same shape."""
        part = slice(self.width, 2 * self.width)
        return functional.linear(turned, self.in_proj_weight[part], self.in_proj_bias[part])

    def values(self, rows: Tensor) -> Tensor:
        """`rows` (..., width), not turned, to values of the same shape."""
        part = slice(2 * self.width, None)
        return functional.linear(rows, self.in_proj_weight[part], self.in_proj_bias[part])

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(B, T, width) from queries (B, T, width), keys and values (B, M, width)."""
        mixed = functional.scaled_dot_product_attention(
            self._split(queries), self._split(keys), self._split(values)
        )
        return self.out_proj(mixed.transpose(1, 2).flatten(-2))

    def forward(self, turned: Tensor, rows: Tensor) -> Tensor:
        """Self-attention of `rows` (B, T, width), whose `turned` twin makes the queries and keys."""
        both = functional.linear(
            turned, self.in_proj_weight[: 2 * self.width], self.in_proj_bias[: 2 * self.width]
        )
        queries, keys = both.chunk(2, dim=-1)
        return self.attend(queries, keys, self.values(rows))

    def _split(self, rows: Tensor) -> Tensor:
        return rows.unflatten(-1, (self.heads, -1)).transpose(1, 2)
