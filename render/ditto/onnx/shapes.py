"""What ONNX's operations do with shapes, in torch: values move, none is computed.

As in `ops`, what the graph's input reaches has the batch's dimension in front.
"""

import math
from collections.abc import Mapping
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F

from .file import DTYPES, Weight
from .ops import Operation, Site, UnknownError, aligned, from_end


def _wholes(told: Tensor) -> list[int]:
    return [int(one) for one in told.flatten().tolist()]


def _axes(site: Site, told: Tensor | None) -> list[int] | None:
    """Older versions have them as a trait, later ones as an input."""
    return site.wholes("axes") if told is None else _wholes(told)


def _identity(site: Site, x: Tensor, *others: object) -> Tensor:
    return x


def _cast(site: Site, x: Tensor) -> Tensor:
    """What the input reaches keeps the precision that it is computed in."""
    if (dtype := DTYPES.get(site.whole("to", 0))) is None:
        raise UnknownError("has a cast to an unknown type")
    return _as(site, x, dtype)


def _cast_like(site: Site, x: Tensor, like: Tensor) -> Tensor:
    return _as(site, x, like.dtype)


def _as(site: Site, x: Tensor, dtype: torch.dtype) -> Tensor:
    if site.live[0] and dtype.is_floating_point:
        return x if x.is_floating_point() else x.float()
    return x.to(dtype)


def _reshape(site: Site, x: Tensor, told: Tensor) -> Tensor:
    before, target = x.shape[site.lead :], _wholes(told)
    if not site.whole("allowzero", 0):
        target = [size or before[at] for at, size in enumerate(target)]
    return x.reshape(*x.shape[: site.lead], *target)


def _flatten(site: Site, x: Tensor) -> Tensor:
    axis = site.whole("axis", 1)
    shape = x.shape[site.lead :]
    first = math.prod(shape[:axis])
    return x.reshape(*x.shape[: site.lead], first, -1)


def _transpose(site: Site, x: Tensor) -> Tensor:
    order = site.wholes("perm") or list(range(site.rank(x)))[::-1]
    return x.permute(*range(site.lead), *(one + site.lead for one in order))


def _unsqueeze(site: Site, x: Tensor, told: Tensor | None = None) -> Tensor:
    axes = _axes(site, told) or []
    rank = site.rank(x) + len(axes)
    for axis in sorted(one % rank for one in axes):
        x = x.unsqueeze(axis + site.lead)
    return x


def _squeeze(site: Site, x: Tensor, told: Tensor | None = None) -> Tensor:
    rank = site.rank(x)
    if (axes := _axes(site, told)) is None:
        axes = [at for at, size in enumerate(x.shape[site.lead :]) if size == 1]
    places = sorted((one % rank for one in axes), reverse=True)
    if any(x.shape[one + site.lead] != 1 for one in places):
        raise UnknownError("takes out a dimension that holds more than one")
    for one in places:
        x = x.squeeze(one + site.lead)
    return x


def _expand(site: Site, x: Tensor, told: Tensor) -> Tensor:
    target = _wholes(told)
    if len(target) > site.rank(x):
        blank = torch.empty((1,) * len(target))
        x = aligned(Site(site.kind, {}, site.version, (site.live[0], False)), x, blank)[0]
    if not site.lead:
        return x.expand(torch.broadcast_shapes(x.shape, target))
    return x.expand(x.shape[0], *torch.broadcast_shapes(x.shape[1:], target))


def _tile(site: Site, x: Tensor, told: Tensor) -> Tensor:
    return x.repeat(*(1,) * site.lead, *_wholes(told))


def _concat(site: Site, *values: Tensor) -> Tensor:
    axis = from_end(site.whole("axis", 0), site.rank(values[0]))
    if not site.lead:
        return torch.cat(values, axis)
    batch = next(len(one) for at, one in enumerate(values) if site.live[at])
    parts = [
        one if site.live[at] else one.expand(batch, *one.shape)
        for at, one in enumerate(values)
        if one.numel()
    ]
    return torch.cat(parts, axis)


def _split(site: Site, x: Tensor, told: Tensor | None = None) -> tuple[Tensor, ...]:
    axis = site.axis(x)
    sizes = site.wholes("split") if told is None else _wholes(told)
    if sizes is None:
        each = -(-x.shape[axis] // site.outputs)
        return x.split(each, axis)
    return x.split(sizes, axis)


def _slice(
    site: Site,
    x: Tensor,
    starts: Tensor | None = None,
    ends: Tensor | None = None,
    axes: Tensor | None = None,
    steps: Tensor | None = None,
) -> Tensor:
    begin = site.wholes("starts") if starts is None else _wholes(starts)
    end = site.wholes("ends") if ends is None else _wholes(ends)
    if begin is None or end is None:
        raise UnknownError("has a slice without ends")
    places = _axes(site, axes) or list(range(len(begin)))
    stride = _wholes(steps) if steps is not None else [1] * len(begin)
    for first, last, place, step in zip(begin, end, places, stride, strict=True):
        axis = from_end(place, site.rank(x))
        found = range(*slice(first, last, step).indices(x.shape[axis]))
        x = _taken(site, x, axis, found)
    return x


def _taken(site: Site, x: Tensor, axis: int, places: range) -> Tensor:
    """Along `axis`, those at `places`."""
    if places.step > 0:
        last = places[-1] + 1 if places else places.start
        return x[(..., slice(places.start, last, places.step), *(slice(None),) * (-axis - 1))]
    turned = range(places[-1], places[0] + 1, -places.step) if places else range(0)
    return _taken(site, x, axis, turned).flip(axis)


def _gather(site: Site, x: Tensor, told: Tensor) -> Tensor:
    axis = site.axis(x)
    size = x.shape[axis]
    places = [one % size for one in _wholes(told)]
    if not told.ndim:
        return x.select(axis, places[0])
    if not site.lead:
        found = x.index_select(axis, torch.tensor(places, dtype=torch.int64))
    elif places and places == list(range(places[0], places[0] + len(places))):
        found = x.narrow(axis, places[0], len(places))
    else:
        found = torch.cat([x.narrow(axis, one, 1) for one in places], axis)
    at = x.ndim + axis
    return found.reshape(*x.shape[:at], *told.shape, *x.shape[at + 1 :])


def _pad(
    site: Site, x: Tensor, told: Tensor | None = None, value: Tensor | None = None, axes: Tensor | None = None
) -> Tensor:
    pads = site.wholes("pads") if told is None else _wholes(told)
    if pads is None:
        raise UnknownError("has padding of no size")
    rank = site.rank(x)
    around = [[0, 0] for _ in range(rank)]
    places = _wholes(axes) if axes is not None else list(range(rank))
    for at, place in enumerate(places):
        around[place] = [pads[at], pads[at + len(places)]]
    flat = [size for pair in reversed(around) for size in pair]
    fill = float(value) if value is not None else site.number("value", 0.0)
    mode = site.word("mode", "constant")
    if mode == "constant":
        return F.pad(x, flat, value=fill)
    if mode not in ("reflect", "edge") or rank != 3 or any(flat[2:]) or not site.lead:
        raise UnknownError(f"has padding of the kind {mode}")
    found = F.pad(x.flatten(0, 1), flat[:2], mode="replicate" if mode == "edge" else mode)
    return found.unflatten(0, x.shape[:2])


def _filled(site: Site, told: Tensor) -> Tensor:
    value = site.traits.get("value")
    one = value.read() if isinstance(value, Weight) else torch.zeros(1)
    return one.reshape(()).expand(_wholes(told)).clone()


def _range(site: Site, start: Tensor, limit: Tensor, step: Tensor) -> Tensor:
    return torch.arange(start.item(), limit.item(), step.item(), dtype=start.dtype)


def _einsum(site: Site, *values: Tensor) -> Tensor:
    sides = site.word("equation", "").replace(" ", "").split("->")
    if len(sides) != 2 or "." in sides[0]:
        raise UnknownError("has an Einsum of an unknown kind")
    parts = [f"...{one}" if site.live[at] else one for at, one in enumerate(sides[0].split(","))]
    return torch.einsum(f"{','.join(parts)}->{'...' * site.lead}{sides[1]}", *values)


def _scattered(site: Site, x: Tensor, places: Tensor, values: Tensor) -> Tensor:
    if site.lead or site.word("reduction", "none") != "none":
        raise UnknownError("has a ScatterND of an unknown kind")
    found = x.clone()
    found[tuple(places.unbind(-1))] = values
    return found


def _gathered(site: Site, x: Tensor, places: Tensor) -> Tensor:
    if site.lead or site.whole("batch_dims", 0):
        raise UnknownError("has a GatherND of an unknown kind")
    return x[tuple(places.unbind(-1))]


SHAPED: Final[Mapping[str, Operation]] = {
    **{"Identity": Operation(_identity), "Dropout": Operation(_identity), "Cast": Operation(_cast)},
    "CastLike": Operation(_cast_like),
    **{"Reshape": Operation(_reshape, (1,)), "Flatten": Operation(_flatten)},
    **{"Transpose": Operation(_transpose), "Unsqueeze": Operation(_unsqueeze, (1,))},
    **{"Squeeze": Operation(_squeeze, (1,)), "Expand": Operation(_expand, (1,))},
    **{"Tile": Operation(_tile, (1,)), "Concat": Operation(_concat), "Split": Operation(_split, (1,))},
    **{"Slice": Operation(_slice, (1, 2, 3, 4)), "Gather": Operation(_gather, (1,))},
    **{"Pad": Operation(_pad, (1, 2, 3)), "ConstantOfShape": Operation(_filled, (0,))},
    **{"Range": Operation(_range, (0, 1, 2)), "Einsum": Operation(_einsum)},
    **{"ScatterND": Operation(_scattered, (1,)), "GatherND": Operation(_gathered, (1,))},
}
"""By the names of ONNX."""
