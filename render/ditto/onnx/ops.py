"""What ONNX's operations compute, in torch.

A value that the input reaches has one dimension more than ONNX says, in front: the windows of a batch, each
of which ONNX takes for the only one. Axes are therefore counted from the end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import functional as F

from .file import Graph, Trait, Weight


class UnknownError(ValueError):
    """The graph asks for what is not computed here. The message is the rest of a sentence."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where an operation stands. `live` tells which of its inputs the graph's input reaches."""

    kind: str
    traits: Mapping[str, Trait]
    version: int
    live: tuple[bool, ...]
    outputs: int = 1

    @property
    def lead(self) -> int:
        """Dimensions of the result that ONNX knows nothing of."""
        return int(any(self.live))

    def rank(self, value: Tensor, at: int = 0) -> int:
        """What ONNX takes it for."""
        return value.ndim - self.live[at]

    def axis(self, value: Tensor, name: str = "axis", default: int = 0) -> int:
        """Counted from the end."""
        return from_end(self.whole(name, default), self.rank(value))

    def whole(self, name: str, default: int) -> int:
        return int(self._one(name, default))

    def number(self, name: str, default: float) -> float:
        return float(self._one(name, default))

    def word(self, name: str, default: str) -> str:
        return str(self._one(name, default))

    def wholes(self, name: str) -> list[int] | None:
        found = self.traits.get(name)
        return [int(one) for one in found] if isinstance(found, list) else None

    def _one(self, name: str, default: float | str) -> Any:  # of the kind of `default`
        found = self.traits.get(name, default)
        if isinstance(found, list | Weight | Graph):
            raise UnknownError(f"has {self.kind} with a strange {name}")
        return found


Made = Tensor | tuple[Tensor, ...]
Function = Callable[..., Made]
"""Of a site and its inputs, None where one is left out."""


@dataclass(frozen=True, slots=True)
class Operation:
    """`told` are the inputs that must be known beforehand, and stay with the host."""

    run: Function
    told: tuple[int, ...] = ()


def from_end(axis: int, rank: int) -> int:
    return axis if axis < 0 else axis - rank


def aligned(site: Site, *values: Tensor) -> list[Tensor]:
    """So that they are broadcast as ONNX would, whatever the dimension in front."""
    rank = max(site.rank(one, at) for at, one in enumerate(values))
    return [
        one.reshape(one.shape[0], *(1,) * (rank + 1 - one.ndim), *one.shape[1:])
        if site.live[at] and one.ndim <= rank
        else one
        for at, one in enumerate(values)
    ]


def _each(function: Callable[[Tensor], Tensor]) -> Operation:
    def run(site: Site, x: Tensor) -> Tensor:
        return function(x)

    return Operation(run)


def _both(function: Callable[[Tensor, Tensor], Tensor]) -> Operation:
    def run(site: Site, a: Tensor, b: Tensor) -> Tensor:
        return function(*aligned(site, a, b))

    return Operation(run)


def _all(function: Callable[[Tensor, Tensor], Tensor]) -> Operation:
    def run(site: Site, *values: Tensor) -> Tensor:
        found, *others = aligned(site, *values)
        for one in others:
            found = function(found, one)
        return found

    return Operation(run)


def _add(site: Site, a: Tensor, b: Tensor) -> Tensor:
    a, b = aligned(site, a, b)
    # What layers add to one another grows, and half precision would round it each time.
    return a.float() + b if all(site.live) and a.dtype == b.dtype == torch.float16 else a + b


def _div(a: Tensor, b: Tensor) -> Tensor:
    whole = not (a.is_floating_point() or b.is_floating_point())
    return torch.div(a, b, rounding_mode="trunc") if whole else a / b


def _where(site: Site, which: Tensor, a: Tensor, b: Tensor) -> Tensor:
    which, a, b = aligned(site, which, a, b)
    return torch.where(which.bool(), a, b)


def _clip(site: Site, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    least = low.item() if low is not None else site.traits.get("min")
    most = high.item() if high is not None else site.traits.get("max")
    return torch.clamp(x, least, most)  # pyright: ignore[reportCallIssue, reportArgumentType]


def _gelu(site: Site, x: Tensor) -> Tensor:
    return F.gelu(x, approximate=site.word("approximate", "none"))


def _softmax(site: Site, x: Tensor) -> Tensor:
    if site.version >= 13:
        return torch.softmax(x, site.axis(x, default=-1))
    # Earlier ones mean all the dimensions from the axis on.
    axis = site.axis(x, default=1)
    return torch.softmax(x.flatten(axis), -1).unflatten(-1, x.shape[axis:])


def _reduce(function: Callable[[Tensor, list[int], bool], Tensor]) -> Operation:
    def run(site: Site, x: Tensor, told: Tensor | None = None) -> Tensor:
        axes = site.wholes("axes") if told is None else [int(one) for one in told.tolist()]
        if not axes and site.whole("noop_with_empty_axes", 0):
            return x
        rank = site.rank(x)
        found = [from_end(one, rank) for one in axes] if axes else list(range(-rank, 0))
        return function(x, found, bool(site.whole("keepdims", 1)))

    return Operation(run, told=(1,))


def _matmul(site: Site, a: Tensor, b: Tensor) -> Tensor:
    if min(site.rank(a, 0), site.rank(b, 1)) < 2:
        raise UnknownError("has a product with a single row")
    return torch.matmul(*aligned(site, a, b))


def _gemm(site: Site, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    a = a.mT if site.whole("transA", 0) else a
    b = b.mT if site.whole("transB", 0) else b
    found = torch.matmul(a, b) * site.number("alpha", 1.0)
    return found if c is None else found + c * site.number("beta", 1.0)


def _cumulated(site: Site, x: Tensor, told: Tensor) -> Tensor:
    if site.whole("exclusive", 0) or site.whole("reverse", 0):
        raise UnknownError("has a CumSum of an unknown kind")
    return x.cumsum(from_end(int(told), site.rank(x)))


def _triangle(site: Site, x: Tensor, told: Tensor | None = None) -> Tensor:
    function = torch.triu if site.whole("upper", 1) else torch.tril
    return function(x, 0 if told is None else int(told))


COMPUTED: Final[Mapping[str, Operation]] = {
    **{"Add": Operation(_add), "Sub": _both(torch.sub), "Mul": _both(torch.mul), "Div": _both(_div)},
    **{"Pow": _both(torch.pow), "Mod": _both(torch.remainder), "Where": Operation(_where)},
    **{"Min": _all(torch.minimum), "Max": _all(torch.maximum), "Sum": _all(torch.add)},
    **{"Equal": _both(torch.eq), "Less": _both(torch.lt), "Greater": _both(torch.gt)},
    **{"LessOrEqual": _both(torch.le), "GreaterOrEqual": _both(torch.ge)},
    **{"And": _both(torch.logical_and), "Or": _both(torch.logical_or), "Not": _each(torch.logical_not)},
    **{"Sqrt": _each(torch.sqrt), "Exp": _each(torch.exp), "Log": _each(torch.log), "Erf": _each(torch.erf)},
    **{"Tanh": _each(torch.tanh), "Sigmoid": _each(torch.sigmoid), "Relu": _each(torch.relu)},
    **{"Neg": _each(torch.neg), "Abs": _each(torch.abs), "Sin": _each(torch.sin), "Cos": _each(torch.cos)},
    **{"Floor": _each(torch.floor), "Ceil": _each(torch.ceil), "Reciprocal": _each(torch.reciprocal)},
    **{"IsNaN": _each(torch.isnan), "Clip": Operation(_clip, (1, 2)), "Gelu": Operation(_gelu)},
    **{"Softmax": Operation(_softmax), "CumSum": Operation(_cumulated, (1,))},
    "Trilu": Operation(_triangle, (1,)),
    "ReduceMean": _reduce(lambda x, axes, keep: x.mean(axes, keep)),
    "ReduceSum": _reduce(lambda x, axes, keep: x.sum(axes, keep)),
    "ReduceMax": _reduce(lambda x, axes, keep: x.amax(axes, keep)),
    "ReduceMin": _reduce(lambda x, axes, keep: x.amin(axes, keep)),
    "ReduceL2": _reduce(lambda x, axes, keep: x.square().sum(axes, keep).sqrt()),
    "ReduceProd": _reduce(lambda x, axes, keep: _product(x, axes, keep)),
    **{"MatMul": Operation(_matmul), "Gemm": Operation(_gemm)},
}
"""By the names of ONNX."""


def _product(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    for axis in sorted(axes):
        x = x.prod(axis, keepdim=True)
    return x if keep else x.squeeze(axes)
