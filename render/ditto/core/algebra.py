"""Weights re-arranged, for good and exactly, so that the same result costs fewer and larger convolutions.

A volume is looked at as its depth slices, (B D, C, H, W): a convolution in three dimensions is then one in
two, whose outputs are its depth taps, and a sum of shifted slices. A map enlarged by nearest neighbours has
few different neighbourhoods: a convolution of it is one of 2 by 2 on the small map, with an output for each
kind of place, a phase.
"""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor

PLACES: Final = {2: (0, 1), 4: (0, 1, 1, 2)}
"""By how many times a map is enlarged: the phase of each place within a small cell, along one axis."""


def taps_as_outputs(weight: Tensor) -> Tensor:
    """(K O, I, H, W) of a volume convolution's `weight` (O, I, K, H, W): tap k's outputs begin at k O."""
    return weight.movedim(2, 0).flatten(0, 1)


def depth_as_inputs(weight: Tensor, depth: int) -> Tensor:
    """(O, D I, H, W), channel d I + i, of a `weight` (O, I D, H, W) that reads channel i D + d."""
    return weight.unflatten(1, (-1, depth)).transpose(1, 2).flatten(1, 2)


def phases(weight: Tensor, factor: int) -> Tensor:
    """(P P O, I, 2, 2) of `weight` (O, I, 3, 3), for a map that is enlarged `factor` (2 or 4) times.

    Output p P O + q O + o belongs to the places whose phase is p down and q across. Convolved with a border
    of one zero, the small map's H by W cells give (H + 1) by (W + 1): the place at offset f of cell y is
    found in row y, or y + 1 where f is the last of the cell (`rows_of`).
    """
    down = [torch.stack(pair, 2) for pair in _pairs(weight.unbind(2), factor)]
    both = [torch.stack(pair, 3) for one in down for pair in _pairs(one.unbind(3), factor)]
    return torch.cat(both)


def rows_of(factor: int) -> tuple[int, ...]:
    """How many rows below its cell's own the result for each place of a cell lies: 0, or 1 for the last."""
    return (*(0 for _ in range(factor - 1)), 1)


def unfolded(found: Tensor, factor: int, channels: int) -> Tensor:
    """The enlarged map (B, factor H, factor W, `channels`) from what a convolution with `phases` gives,
    (B, H + 1, W + 1, P P `channels`)."""
    kinds = max(PLACES[factor]) + 1
    split = found.unflatten(-1, (kinds, kinds, channels))
    height, width = found.shape[1] - 1, found.shape[2] - 1
    rows: list[Tensor] = []
    for place, below in zip(PLACES[factor], rows_of(factor), strict=True):
        row = split[:, below : below + height, :, place]
        columns = [
            row[:, :, right : right + width, other]
            for other, right in zip(PLACES[factor], rows_of(factor), strict=True)
        ]
        rows.append(torch.stack(columns, 3).flatten(2, 3))
    return torch.stack(rows, 2).flatten(1, 2)


def padded(tensor: Tensor, size: int, dim: int) -> Tensor:
    """`tensor` with zeros up to `size` at the end of `dim`."""
    missing = list(tensor.shape)
    missing[dim] = size - tensor.shape[dim]
    return torch.cat((tensor, tensor.new_zeros(missing)), dim)


def _pairs(taps: Sequence[Tensor], factor: int) -> list[tuple[Tensor, Tensor]]:
    """For each phase along an axis, the weights of two neighbouring cells, from the three taps."""
    before, middle, after = taps
    pairs = [(before, middle + after), (before + middle, after)]
    if factor == 4:
        pairs.insert(1, (torch.zeros_like(before), before + middle + after))
    return pairs
