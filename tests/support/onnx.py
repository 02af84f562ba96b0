"""ONNX models by hand, without the onnx package: enough of the format for small stand-ins.

model([node("Relu", ["x"], ["y"])], inputs=[port("x", [1, 3])], outputs=[port("y", [1, 3])])
"""

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from visavis.web.onnx_output import _field, _varint

FLOAT, INT64, BOOL = 1, 7, 9
_TYPE = {"float32": FLOAT, "int64": INT64, "bool": BOOL, "float16": 10, "int32": 6, "float64": 11}
_OPSET, _IR_VERSION = 17, 9
_FLOAT, _INT, _STRING, _GRAPH, _INTS = 1, 2, 3, 5, 7


def model(
    nodes: Sequence[bytes],
    *,
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    constants: Mapping[str, NDArray[np.generic]] | None = None,
    version: int = _OPSET,
) -> bytes:
    """The bytes of a model file."""
    opset = _text(1, "") + _number(2, version)
    inner = graph(nodes, inputs=inputs, outputs=outputs, constants=constants)
    return _number(1, _IR_VERSION) + _field(8, opset) + _field(7, inner)


def graph(
    nodes: Sequence[bytes],
    *,
    outputs: Sequence[bytes],
    inputs: Sequence[bytes] = (),
    constants: Mapping[str, NDArray[np.generic]] | None = None,
) -> bytes:
    """Of a model, or of one way of a branch."""
    parts = [_field(1, one) for one in nodes] + [_text(2, "graph")]
    parts += [_field(5, constant(name, value)) for name, value in (constants or {}).items()]
    parts += [_field(11, one) for one in inputs] + [_field(12, one) for one in outputs]
    return b"".join(parts)


def node(
    kind: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    **traits: int | float | str | bytes | Sequence[int],
) -> bytes:
    """One operation; traits are numbers, words, graphs or lists of whole numbers."""
    found = [_text(1, name) for name in inputs] + [_text(2, name) for name in outputs] + [_text(4, kind)]
    for name, value in traits.items():
        if isinstance(value, float):
            packed = _varint(2 << 3 | 5) + struct.pack("<f", value)
            found.append(_field(5, _text(1, name) + packed + _number(20, _FLOAT)))
        elif isinstance(value, str):
            found.append(_field(5, _text(1, name) + _text(4, value) + _number(20, _STRING)))
        elif isinstance(value, bytes):
            found.append(_field(5, _text(1, name) + _field(6, value) + _number(20, _GRAPH)))
        elif isinstance(value, int):
            found.append(_field(5, _text(1, name) + _number(3, value) + _number(20, _INT)))
        else:
            many = b"".join(_number(8, one) for one in value)
            found.append(_field(5, _text(1, name) + many + _number(20, _INTS)))
    return b"".join(found)


def port(name: str, shape: Sequence[int | str] | None, element: int = FLOAT) -> bytes:
    """An input or output; a size that is a word is free, as is a shape that is None."""
    if shape is None:
        return _text(1, name) + _field(2, _field(1, _number(1, element)))
    sizes = [_number(1, size) if isinstance(size, int) else _text(2, size) for size in shape]
    dimensions = b"".join(_field(1, size) for size in sizes)
    return _text(1, name) + _field(2, _field(1, _number(1, element) + _field(2, dimensions)))


def constant(name: str, value: NDArray[np.generic]) -> bytes:
    """A tensor of a model."""
    sizes = b"".join(_number(1, size) for size in value.shape)
    kind = _number(2, _TYPE[str(value.dtype)])
    return sizes + kind + _text(8, name) + _field(9, np.ascontiguousarray(value).tobytes())


def _text(number: int, text: str) -> bytes:
    return _field(number, text.encode())


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value & (1 << 64) - 1)
