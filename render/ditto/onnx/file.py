"""ONNX files read where they lie: the graph's calls as they are, weights only when somebody wants them.

The file stays mapped, so a tensor takes memory for as long as it is used. Reading the format needs neither
the onnx package, nor protobuf, which would hold the weights twice over to begin with.
"""

import math
import mmap
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias, cast

import torch
from torch import Tensor

from .wire import UnreadableError, fields, floats, signed, text, whole

DTYPES: Final[Mapping[int, torch.dtype]] = MappingProxyType(
    {
        **{1: torch.float32, 2: torch.uint8, 3: torch.int8, 5: torch.int16, 6: torch.int32, 7: torch.int64},
        **{9: torch.bool, 10: torch.float16, 11: torch.float64, 16: torch.bfloat16},
    }
)
"""By ONNX's numbers."""
_PLACES: Final = MappingProxyType({4: "<f", 10: "<d"})
"""Fields of a tensor that hold packed floats; 5 and 7 hold whole numbers."""
_EXTERNAL: Final = 1


@dataclass(frozen=True, slots=True)
class Weight:
    """A constant, whose values are there when asked for."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    read: Callable[[], Tensor]

    @classmethod
    def of(cls, values: Tensor) -> "Weight":
        return cls(tuple(values.shape), values.dtype, lambda: values)


Trait: TypeAlias = "int | float | str | list[int] | list[float] | Weight | Graph"


@dataclass(frozen=True, slots=True)
class Node:
    """A call of the operation `kind`; an input that is left out is ``""``."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    traits: Mapping[str, Trait]


@dataclass(frozen=True, slots=True)
class Graph:
    """Calls in an order in which they can be made. `inputs` lack those that are constants."""

    nodes: tuple[Node, ...]
    weights: Mapping[str, Weight]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    version: int
    """Of the operations of ONNX itself."""


def read_graph(path: Path) -> Graph:
    """Raises UnreadableError for a file that is damaged or of another kind, OSError for one out of reach."""
    with path.open("rb") as stream:
        try:
            # A private copy of pages that nobody writes: torch wants memory that could be written.
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY)
        except ValueError as error:
            raise UnreadableError("is empty") from error
    try:
        return _model(memoryview(mapped), path.parent)
    except (IndexError, KeyError, TypeError, UnicodeDecodeError, struct.error) as error:
        raise UnreadableError("is damaged or no ONNX") from error


def _model(message: memoryview, folder: Path) -> Graph:
    version, graph = 0, None
    for number, value in fields(message):
        if number == 7:
            graph = cast(memoryview, value)
        elif number == 8:
            parts = dict(fields(cast(memoryview, value)))
            if not text(parts.get(1, memoryview(b""))):
                version = cast(int, parts[2])
    if graph is None or not version:
        raise UnreadableError("is damaged or no ONNX: it holds no graph")
    return _graph(graph, folder, version)


def _graph(message: memoryview, folder: Path, version: int) -> Graph:
    nodes, inputs, outputs = list[Node](), list[str](), list[str]()
    weights = dict[str, Weight]()
    for number, value in fields(message):
        match number:
            case 1:
                nodes.append(_node(cast(memoryview, value), folder, version))
            case 5:
                name, weight = _tensor(cast(memoryview, value), folder)
                weights[name] = weight
            case 11:
                inputs.append(text(dict(fields(cast(memoryview, value)))[1]))
            case 12:
                outputs.append(text(dict(fields(cast(memoryview, value)))[1]))
            case 15:
                raise UnreadableError("has sparse weights")
            case _:
                pass
    free = tuple(name for name in inputs if name not in weights)
    return Graph(tuple(nodes), weights, free, tuple(outputs), version)


def _node(message: memoryview, folder: Path, version: int) -> Node:
    inputs, outputs, kind, domain = list[str](), list[str](), "", ""
    traits = dict[str, Trait]()
    for number, value in fields(message):
        match number:
            case 1:
                inputs.append(text(value))
            case 2:
                outputs.append(text(value))
            case 4:
                kind = text(value)
            case 5:
                name, trait = _attribute(cast(memoryview, value), folder, version)
                if trait is not None:
                    traits[name] = trait
            case 7:
                domain = text(value)
            case _:
                pass
    known = domain in ("", "ai.onnx")
    return Node(kind if known else f"{domain}::{kind}", tuple(inputs), tuple(outputs), traits)


def _attribute(message: memoryview, folder: Path, version: int) -> "tuple[str, Trait | None]":
    name, wholes, many = "", list[int](), list[float]()
    kind, found = 0, None
    for number, value in fields(message):
        match number:
            case 1:
                name = text(value)
            case 2:
                found = floats(value)[0]
            case 3:
                found = signed(cast(int, value))
            case 4:
                found = text(value)
            case 5:
                found = _tensor(cast(memoryview, value), folder)[1]
            case 6:
                found = _graph(cast(memoryview, value), folder, version)
            case 7:
                many += floats(value)
            case 8:
                wholes += whole(value)
            case 20:
                kind = cast(int, value)
            case _:
                pass
    if kind == 6 or many:
        return name, many
    return name, wholes if kind == 7 or wholes else found


def _tensor(message: memoryview, folder: Path) -> tuple[str, Weight]:
    shape, kind, name = list[int](), 0, ""
    raw: memoryview | None = None
    values, elsewhere, external = list[float](), dict[str, str](), False
    for number, value in fields(message):
        match number:
            case 1:
                shape += whole(value)
            case 2:
                kind = cast(int, value)
            case 4 | 10:
                values += floats(value, _PLACES[number])
            case 5 | 7:
                values += whole(value)
            case 8:
                name = text(value)
            case 9:
                raw = cast(memoryview, value)
            case 13:
                entry = dict(fields(cast(memoryview, value)))
                elsewhere[text(entry[1])] = text(entry[2])
            case 14:
                external = value == _EXTERNAL
            case _:
                pass
    if (dtype := DTYPES.get(kind)) is None:
        raise UnreadableError(f"has tensors of ONNX's type {kind}, as {name[:40]!r}")
    if external:
        raw = _external(elsewhere, folder)
    return name, _weight(tuple(shape), dtype, raw, values)


def _external(entries: Mapping[str, str], folder: Path) -> memoryview:
    """The bytes of a tensor that lies in a file beside the graph's."""
    path = (folder / entries["location"]).resolve()
    if folder.resolve() not in path.parents or not path.is_file():
        raise UnreadableError(f"wants a file {entries['location'][:80]!r} beside it that is not there")
    with path.open("rb") as stream:
        mapped = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY))
    start = int(entries.get("offset", "0"))
    return mapped[start : start + int(entries.get("length", str(len(mapped) - start)))]


def _weight(
    shape: tuple[int, ...], dtype: torch.dtype, raw: memoryview | None, values: list[float]
) -> Weight:
    count = math.prod(shape) if min(shape, default=0) >= 0 else -1
    if raw is not None and len(raw) != count * dtype.itemsize:
        raise UnreadableError("is damaged: a tensor has not the size that it says")
    if raw is None and len(values) != count:
        raise UnreadableError("is damaged: a tensor has not as many values as it says")

    def read() -> Tensor:
        if raw is None:
            return _unpacked(values, dtype).reshape(shape)
        if not count:
            return torch.zeros(shape, dtype=dtype)
        # Tensors in the file begin anywhere, those of torch where their elements may.
        return torch.frombuffer(raw, dtype=torch.uint8).clone().view(dtype).reshape(shape)

    return Weight(shape, dtype, read)


def _unpacked(values: list[float], dtype: torch.dtype) -> Tensor:
    """Half precision lies in fields of whole numbers as its bits."""
    if dtype in (torch.float16, torch.bfloat16):
        return torch.tensor(values, dtype=torch.int32).to(torch.int16).view(dtype)
    return torch.tensor(values, dtype=dtype)
