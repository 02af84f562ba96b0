"""Spectral norm as the official files store it, and as the networks use it: divided out once, at load.

An official layer has `weight_orig` W and the vectors `weight_u` and `weight_v`; what it computes with is W /
sigma, sigma = u . (W v) with W as (outputs, rest). Ours has that as its plain `weight`. All other keys are
the same.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

ORIGINAL, LEFT, RIGHT, PLAIN = "weight_orig", "weight_u", "weight_v", "weight"


class SpectralConv2d(nn.Conv2d):
    """A plain convolution, whose weight the official file stores with its spectral norm."""


def fold(official: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """An `official` state dict with plain weights. One that has no spectral norm stays as it is."""
    plain: dict[str, Tensor] = {}
    for key, value in official.items():
        layer, _, last = key.rpartition(".")
        if last == ORIGINAL:
            left, right = official[f"{layer}.{LEFT}"].double(), official[f"{layer}.{RIGHT}"].double()
            sigma = left @ (value.double().flatten(1) @ right)
            plain[f"{layer}.{PLAIN}"] = (value.double() / sigma).to(value.dtype)
        elif last not in (LEFT, RIGHT):
            plain[key] = value
    return plain


def official_layout(network: nn.Module) -> dict[str, Tensor]:
    """Keys, shapes and dtypes of the official state dict of `network`: tensors of torch's meta device."""
    spectral = {name for name, module in network.named_modules() if isinstance(module, SpectralConv2d)}
    layout: dict[str, Tensor] = {}
    for key, value in network.state_dict().items():
        layer, _, last = key.rpartition(".")
        meta = torch.empty_like(value, device="meta")
        if last == PLAIN and layer in spectral:
            outputs, rest = meta.flatten(1).shape
            layout[f"{layer}.{ORIGINAL}"] = meta
            layout[f"{layer}.{LEFT}"] = meta.new_empty(outputs)
            layout[f"{layer}.{RIGHT}"] = meta.new_empty(rest)
        else:
            layout[key] = meta
    return layout
