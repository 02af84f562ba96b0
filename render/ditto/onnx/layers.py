"""What ONNX's operations of whole layers compute, in torch: convolutions, norms, products, attention.

As in `ops`, what the graph's input reaches has the batch's dimension in front.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from .ops import Operation, Site, UnknownError

LONG: Final = 16
"""Kernels from here on are products where there are groups: cuDNN has little for those."""
_BACKENDS: Final = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Those that need no plan made for each shape."""


def _conv(site: Site, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if site.word("auto_pad", "NOTSET") not in ("NOTSET", "VALID") or weight.ndim not in (3, 4):
        raise UnknownError("has a convolution of an unknown kind")
    if site.lead and not site.live[0]:
        raise UnknownError("has a convolution whose kernel is made of the input")
    over = weight.ndim - 2
    pads = site.wholes("pads") or [0] * 2 * over
    if pads[:over] != pads[over:]:
        around = [one for pair in zip(pads[:over], pads[over:], strict=True) for one in pair]
        x, pads = F.pad(x, [one for at in range(over) for one in around[-2 * at - 2 :][:2]]), [0] * over
    step, spread = site.wholes("strides") or [1] * over, site.wholes("dilations") or [1] * over
    flat, groups = x.flatten(0, 1) if site.lead else x, site.whole("group", 1)
    if over == 1 and groups > 1 and weight.shape[2] >= LONG and step == spread == [1]:
        found = _long_conv(F.pad(flat, pads[:1] * 2), weight, bias, groups)
    else:
        function = F.conv1d if over == 1 else F.conv2d
        found = function(flat, weight, bias, step, pads[:over], spread, groups)
    return found.unflatten(0, x.shape[:2]) if site.lead else found


def _long_conv(x: Tensor, weight: Tensor, bias: Tensor | None, groups: int) -> Tensor:
    """With a kernel longer than what it gives, as HuBERT tells positions: a product for each group."""
    batch, kernel = len(x), weight.shape[2]
    cut = x.unflatten(1, (groups, -1)).unfold(-1, kernel, 1)
    rows = cut.permute(1, 0, 3, 2, 4).reshape(groups, batch * cut.shape[3], -1)
    by_group = weight.reshape(groups, -1, rows.shape[2]).mT
    if bias is None:
        found = torch.bmm(rows, by_group)
    else:
        found = torch.baddbmm(bias.reshape(groups, 1, -1), rows, by_group)
    return found.unflatten(1, (batch, -1)).permute(1, 0, 3, 2).flatten(1, 2)


def _instance_norm(site: Site, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    flat = x.flatten(0, 1) if site.lead else x
    found = F.instance_norm(flat, weight=weight, bias=bias, eps=site.number("epsilon", 1e-5))
    return found.unflatten(0, x.shape[:2]) if site.lead else found


def _group_norm(site: Site, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    flat = x.flatten(0, 1) if site.lead else x
    groups = site.whole("num_groups", 1)
    if len(weight) == groups != flat.shape[1]:
        weight, bias = (one.repeat_interleave(flat.shape[1] // groups) for one in (weight, bias))
    found = F.group_norm(flat, groups, weight, bias, site.number("epsilon", 1e-5))
    return found.unflatten(0, x.shape[:2]) if site.lead else found


def _batch_norm(site: Site, x: Tensor, weight: Tensor, bias: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    scale = weight / (var + site.number("epsilon", 1e-5)).sqrt()
    room = (-1, *(1,) * (site.rank(x) - 2))
    return x * scale.view(room) + (bias - mean * scale).view(room)


def _layer_norm(site: Site, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    shape = x.shape[site.axis(x, default=-1) :]
    weight, bias = (one if one is None else one.expand(shape) for one in (weight, bias))
    return F.layer_norm(x, shape, weight, bias, site.number("epsilon", 1e-5))


def _linear(site: Site, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    # Of more dimensions torch adds the bias in a launch of its own.
    return F.linear(x.flatten(0, -2), weight, bias).unflatten(0, x.shape[:-1])


def _attend(site: Site, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Of a `key` that is turned already."""
    shape = query.shape[:-2]
    parts = [one.reshape(-1, *one.shape[-3:]) for one in (query, key.mT, value)]
    with sdpa_kernel(_BACKENDS):
        found = F.scaled_dot_product_attention(*parts, attn_mask=mask, scale=site.number("scale", 1.0))
    return found.reshape(*shape, *found.shape[-2:])


def _attention(
    site: Site, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *others: Tensor | None
) -> Tensor:
    strange = [
        name for name in site.traits if name not in ("scale", "softmax_precision") and site.whole(name, 0)
    ]
    if strange or any(one is not None for one in others) or site.rank(query) != 4 or site.outputs > 1:
        raise UnknownError("has attention of an unknown kind")
    if not all(site.live[:3]) or any(site.live[3:]):
        raise UnknownError("has attention to what is known")
    traits = {"scale": site.number("scale", query.shape[-1] ** -0.5)}
    return _attend(replace(site, traits=traits), query, key.mT, value, mask)


LAYERS: Final[Mapping[str, Operation]] = {
    "Conv": Operation(_conv),
    **{"InstanceNormalization": Operation(_instance_norm), "GroupNormalization": Operation(_group_norm)},
    **{"LayerNormalization": Operation(_layer_norm), "BatchNormalization": Operation(_batch_norm)},
    **{"Linear": Operation(_linear), "Attend": Operation(_attend), "Attention": Operation(_attention)},
}
"""By the names of ONNX; `Linear` and `Attend` are ours."""
