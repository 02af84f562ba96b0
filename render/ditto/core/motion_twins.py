"""The steps of sampling motion in plain torch: what their kernels are measured against, and what a CPU runs.

Sums are in float32, whatever rows and weights are in; rows of the model's width D are in the plan's order.
Nothing here asks for a value or has a shape that depends on one.
"""

from typing import Final, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from ..lmdm import GUIDANCE
from ..schedule import Step
from ..seams import Hold
from .motion_plan import Level, Linear
from .motion_room import Memory

Activation = Literal["none", "gelu", "silu"]
_ACTIVATIONS: Final = {"none": lambda rows: rows, "gelu": F.gelu, "silu": F.silu}  # pyright: ignore[reportUnknownLambdaType]


def project(rows: Tensor, layer: Linear, *, activation: Activation = "none", out: Tensor) -> None:
    """Into `out` (..., N) the `layer` of `rows` (..., K), and its `activation`."""
    out.copy_(_ACTIVATIONS[activation](_linear(rows, layer)))


def level_project(
    rows: Tensor,
    level: Level,
    layer: Linear,
    *,
    turned: int = 0,
    activation: Activation = "none",
    levelled: Tensor,
    out: Tensor,
) -> None:
    """Into `out` (R, T, N) the `layer` of `rows` (R, T, D) that are levelled and, for its first `turned`
    outputs, turned by their positions. `levelled` (2, >= R, T, D) may be written on the way."""
    plain = levelled_rows(rows, level)
    for part, taken in ((slice(turned), turn(plain, level)), (slice(turned, None), plain)):
        some = _linear(taken, Linear(layer.weight[part], layer.bias[part]))
        out[..., part].copy_(_ACTIVATIONS[activation](some))


def project_into(rows: Tensor, layer: Linear, *, film: Tensor | None = None, out: Tensor) -> None:
    """Add to `out` (R, T, N) the `layer` of `rows` (R, T, K), scaled and shifted.

    `film` (1 + B, 2, N) is that of the first B rows, which share it, and of B others. Where there are
    half as many `rows`, they are for both.
    """
    found = _linear(rows, layer)
    if film is None:
        out.add_(found)
        return
    if len(found) < len(out):
        found = found.repeat(2, 1, 1)
    scale, shift = _for_both(film).float()[:, :, None].unbind(1)
    out.copy_(out + (scale * found + shift))


def attend(mixed: Tensor, *, heads: int, out: Tensor) -> None:
    """Into `out` (R, T, D) what the queries of `mixed` (R, T, 3 D) find among its keys and values."""
    _attend(*mixed.chunk(3, dim=-1), heads=heads, out=out)


def look(
    rows: Tensor,
    level: Level,
    query: Linear,
    memory: Memory,
    *,
    heads: int,
    levelled: Tensor,
    asked: Tensor,
    out: Tensor,
) -> None:
    """Into `out` (2 B, T, D) what the queries of `rows` of that shape, levelled and turned, find in `memory`.

    `levelled` (2, 2 B, T, D) and `asked` (2 B, T, D) may be written on the way.
    """
    level_project(rows, level, query, turned=rows.shape[-1], levelled=levelled, out=asked)
    keys = torch.cat((_for_both(memory.keys), memory.late_keys.expand(len(rows), -1, -1)), dim=1)
    values = torch.cat((_for_both(memory.values), memory.late_values.expand(len(rows), -1, -1)), dim=1)
    _attend(asked, keys, values, heads=heads, out=out)


def enter(noisy: Tensor, weight: Tensor, lead: Tensor, *, out: Tensor) -> None:
    """Into both halves of `out` (2 B, T, D) the product of `noisy` (B, T, 265) and `weight`, plus `lead`
    (B, D)."""
    out.unflatten(0, (2, -1)).copy_(_product(noisy, weight) + lead[:, None])


def leave(
    hidden: Tensor,
    layer: Linear,
    step: Step,
    *,
    noisy: Tensor,
    fresh: Tensor | None,
    held: Hold,
    out: Tensor,
) -> None:
    """Into `out` (B, T, 265) float32 what `step` makes of `noisy` of that shape: less noisy windows.

    `hidden` (2 B, T, D) gives both branches' estimates; what guidance makes of them is held. `fresh` is the
    noise that is added; without any, `out` is the estimate, not held. `out` may be `noisy`.
    """
    unconditional, conditional = _linear(hidden, layer).chunk(2)
    clean = unconditional + GUIDANCE * (conditional - unconditional)
    if fresh is None:
        out.copy_(clean)
        return
    clean = held(clean)
    estimate = step.of_noisy * noisy - clean / step.of_clean
    out.copy_(step.clean * clean + step.noise * estimate + step.fresh * fresh)


def levelled_rows(rows: Tensor, level: Level) -> Tensor:
    """`rows` (..., D) float32, normed."""
    return F.layer_norm(rows.float(), rows.shape[-1:], level.gain, level.offset)


def turn(rows: Tensor, level: Level) -> Tensor:
    """`rows` (..., T, D) float32, turned by their positions from 0 on."""
    low, high = rows.chunk(2, dim=-1)
    cosine, sine = level.cosine[: rows.shape[-2]], level.sine[: rows.shape[-2]]
    return torch.cat((low * cosine - high * sine, high * cosine + low * sine), dim=-1)


def _linear(rows: Tensor, layer: Linear) -> Tensor:
    return _product(rows, layer.weight) + layer.bias


def _product(rows: Tensor, weight: Tensor) -> Tensor:
    filled = F.pad(rows, (0, weight.shape[1] - rows.shape[-1]))
    return F.linear(filled.to(weight.dtype), weight).float()


def _attend(queries: Tensor, keys: Tensor, values: Tensor, *, heads: int, out: Tensor) -> None:
    q, k, v = (rows.unflatten(-1, (heads, -1)).transpose(1, 2) for rows in (queries, keys, values))
    out.copy_(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2))


def _for_both(rows: Tensor) -> Tensor:
    """(2 B, ...) of `rows` (1 + B, ...): the first for each of B, then the others."""
    return torch.cat((rows[:1].expand(len(rows) - 1, *rows.shape[1:]), rows[1:]))
