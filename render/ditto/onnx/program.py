"""An ONNX graph for inputs of one length: calls of tensors and nothing else, what could be known is known.

All that depends on shapes and weights alone is gone from it, branches as well. Weights stay in their file.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import torch
from torch import Tensor

from .file import Graph, Node, Trait, Weight
from .layers import LAYERS
from .ops import COMPUTED, Made, Operation, Site, UnknownError
from .shapes import SHAPED

OPERATIONS: Final[Mapping[str, Operation]] = {**COMPUTED, **LAYERS, **SHAPED}
LARGE: Final = 1 << 14
"""Constants with more elements are computed when they are asked for, and not kept."""
_BATCH: Final = 2
"""Of the trial that tells shapes."""


@dataclass(frozen=True, slots=True)
class Call:
    """Of the operation `kind`; an input that is left out is ``""``."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    traits: Mapping[str, Trait]
    version: int

    def site(self, live: Callable[[str], bool]) -> Site:
        return Site(
            self.kind, self.traits, self.version, tuple(live(one) for one in self.inputs), len(self.outputs)
        )


@dataclass(slots=True)
class Program:
    """`calls` in order, of which the last gives `output`. `shapes` are of what they give, as ONNX sees it,
    and of `input`; all else that they take is in `weights`."""

    input: str
    output: str = ""
    calls: list[Call] = field(default_factory=list[Call])
    weights: dict[str, Weight] = field(default_factory=dict[str, Weight])
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    def live(self, name: str) -> bool:
        """Whether it depends on the input."""
        return name in self.shapes

    def pruned(self) -> "Program":
        """Without calls and weights that nobody needs."""
        needed, kept = {self.output}, list[Call]()
        for call in reversed(self.calls):
            if not needed.isdisjoint(call.outputs):
                needed.update(call.inputs)
                kept.append(call)
        weights = {name: one for name, one in self.weights.items() if name in needed}
        return replace(self, calls=kept[::-1], weights=weights)


def program_of(graph: Graph, shape: tuple[int, ...]) -> Program:
    """Of a graph with one input, of that shape, and one output. Raises UnknownError where it asks for what is
    not computed here, or is not consistent."""
    if len(graph.inputs) != 1 or len(graph.outputs) != 1:
        raise UnknownError(f"has inputs {graph.inputs} and outputs {graph.outputs}")
    work = _Work(Program(graph.inputs[0]), graph.version)
    work.give(graph.inputs[0], torch.empty(_BATCH, *shape, device="meta"))
    work.add(graph)
    program = work.program
    program.output = work.named(graph.outputs[0])
    if not program.live(program.output):
        raise UnknownError("gives the same whatever it hears")
    return program.pruned()


class _Work:
    """What is known so far of each value: a weight, or a tensor without memory."""

    def __init__(self, program: Program, version: int) -> None:
        self.program, self._version = program, version
        self._trial = dict[str, Tensor]()
        self._same = dict[str, str]()

    def named(self, name: str) -> str:
        """What `name` is another name of."""
        return self._same.get(name, name)

    def give(self, name: str, value: Tensor) -> None:
        self._trial[name] = value
        self.program.shapes[name] = tuple(value.shape[1:])

    def add(self, graph: Graph) -> None:
        self.program.weights |= graph.weights
        for node in graph.nodes:
            self._node(replace(node, inputs=tuple(self.named(one) for one in node.inputs)))

    def _node(self, node: Node) -> None:
        weights = self.program.weights
        match node.kind:
            case "Constant":
                weights[node.outputs[0]] = _constant(node)
            case "Shape" | "Size":
                weights[node.outputs[0]] = Weight.of(self._sizes(node))
            case "If":
                self._branch(node)
            case _ if (operation := OPERATIONS.get(node.kind)) is None:
                raise UnknownError(f"asks for {node.kind}, which is not computed here")
            case _ if any(self.program.live(one) for one in node.inputs):
                self._live(node, operation)
            case _:
                self._folded(node, operation)

    def _sizes(self, node: Node) -> Tensor:
        (name,) = node.inputs
        shape = self.program.shapes[name] if self.program.live(name) else self._weight(name).shape
        if node.kind == "Size":
            return torch.tensor(torch.Size(shape).numel())
        first, last = node.traits.get("start", 0), node.traits.get("end", None)
        assert isinstance(first, int)
        assert isinstance(last, int | None)
        return torch.tensor(shape[first:last], dtype=torch.int64)

    def _weight(self, name: str) -> Weight:
        if (found := self.program.weights.get(name)) is None:
            raise UnknownError(f"has a value {name[:40]!r} that nothing gives")
        return found

    def _branch(self, node: Node) -> None:
        """Of two ways the one that is gone at this length."""
        if self.program.live(node.inputs[0]):
            raise UnknownError("goes two ways by what it hears")
        way = node.traits["then_branch" if self._weight(node.inputs[0]).read().item() else "else_branch"]
        assert isinstance(way, Graph)
        self.add(way)
        for outer, inner in zip(node.outputs, way.outputs, strict=True):
            self._same[outer] = self.named(inner)

    def _folded(self, node: Node, operation: Operation) -> None:
        call = Call(node.kind, node.inputs, node.outputs, node.traits, self._version)
        site = call.site(self.program.live)
        sources = [self._weight(name) if name else None for name in node.inputs]

        def made() -> Made:
            return _tried(operation, site, [one and one.read() for one in sources])

        size = max((torch.Size(one.shape).numel() for one in sources if one), default=0)
        if size > LARGE and len(node.outputs) == 1:
            trial = _tried(
                operation, site, [one and _blank(operation, at, one) for at, one in enumerate(sources)]
            )
            assert isinstance(trial, Tensor)
            self.program.weights[node.outputs[0]] = Weight(
                tuple(trial.shape), trial.dtype, lambda: _one(made())
            )
            return
        for name, value in zip(node.outputs, _several(made()), strict=False):
            self.program.weights[name] = Weight.of(value)

    def _live(self, node: Node, operation: Operation) -> None:
        call = Call(node.kind, node.inputs, node.outputs, node.traits, self._version)
        arguments = list[Tensor | None]()
        for at, name in enumerate(node.inputs):
            if not name:
                arguments.append(None)
            elif not self.program.live(name):
                arguments.append(_blank(operation, at, self._weight(name)))
            elif at in operation.told:
                raise UnknownError(f"has {node.kind} whose shape depends on what it hears")
            else:
                arguments.append(self._trial[name])
        made = _several(_tried(operation, call.site(self.program.live), arguments))
        if made[0] is arguments[0]:
            self._same[node.outputs[0]] = node.inputs[0]
            return
        self.program.calls.append(call)
        for name, value in zip(node.outputs, made, strict=False):
            self.give(name, value)


def _tried(operation: Operation, site: Site, arguments: list[Tensor | None]) -> Made:
    try:
        return operation.run(site, *arguments)
    except UnknownError:
        raise
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        text = str(error).partition("\n")[0][:120]
        raise UnknownError(f"asks for {site.kind} of what it cannot take ({text})") from error


def _blank(operation: Operation, at: int, weight: Weight) -> Tensor:
    """A weight as the trial needs it."""
    if at in operation.told:
        return weight.read()
    return torch.empty(weight.shape, dtype=weight.dtype, device="meta")


def _several(made: Made) -> tuple[Tensor, ...]:
    return made if isinstance(made, tuple) else (made,)


def _one(made: Made) -> Tensor:
    assert isinstance(made, Tensor)
    return made


def _constant(node: Node) -> Weight:
    for value in node.traits.values():
        if isinstance(value, Weight):
            return value
        if isinstance(value, int | float | list):
            wholes = isinstance(value, int) or (
                isinstance(value, list) and all(isinstance(one, int) for one in value)
            )
            return Weight.of(torch.tensor(value, dtype=torch.int64 if wholes else torch.float32))
    raise UnknownError("has a constant of an unknown kind")


def consumers(program: Program) -> Mapping[str, int]:
    """How often each value is used."""
    found = {program.output: 1}
    for name in _uses(program):
        found[name] = found.get(name, 0) + 1
    return found


def _uses(program: Program) -> Iterator[str]:
    for call in program.calls:
        yield from call.inputs
