"""ONNX models by hand, without the onnx package: enough of the format for small stand-ins.

model([node("Relu", ["x"], ["y"])], inputs=[port("x", [1, 3])], outputs=[port("y", [1, 3])])
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from visavis.web.onnx_output import _field, _varint

FLOAT, INT64 = 1, 7
_TYPE = {"float32": FLOAT, "int64": INT64}
_OPSET, _IR_VERSION = 17, 9
_INT, _INTS = 2, 7


def model(
    nodes: Sequence[bytes],
    *,
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    constants: Mapping[str, NDArray[np.generic]] | None = None,
) -> bytes:
    """The bytes of a model file."""
    graph = [_field(1, one) for one in nodes] + [_text(2, "graph")]
    graph += [_field(5, _constant(name, value)) for name, value in (constants or {}).items()]
    graph += [_field(11, one) for one in inputs] + [_field(12, one) for one in outputs]
    opset = _text(1, "") + _number(2, _OPSET)
    return _number(1, _IR_VERSION) + _field(8, opset) + _field(7, b"".join(graph))


def node(kind: str, inputs: Sequence[str], outputs: Sequence[str], **traits: int | Sequence[int]) -> bytes:
    """One operation; traits are whole numbers or lists of them."""
    found = [_text(1, name) for name in inputs] + [_text(2, name) for name in outputs] + [_text(4, kind)]
    for name, value in traits.items():
        if isinstance(value, int):
            found.append(_field(5, _text(1, name) + _number(3, value) + _number(20, _INT)))
        else:
            many = b"".join(_number(8, one) for one in value)
            found.append(_field(5, _text(1, name) + many + _number(20, _INTS)))
    return b"".join(found)


def port(name: str, shape: Sequence[int | str], element: int = FLOAT) -> bytes:
    """An input or output; a size that is a word is free."""
    sizes = [_number(1, size) if isinstance(size, int) else _text(2, size) for size in shape]
    dimensions = b"".join(_field(1, size) for size in sizes)
    return _text(1, name) + _field(2, _field(1, _number(1, element) + _field(2, dimensions)))


def _constant(name: str, value: NDArray[np.generic]) -> bytes:
    sizes = b"".join(_number(1, size) for size in value.shape)
    kind = _number(2, _TYPE[str(value.dtype)])
    return sizes + kind + _text(8, name) + _field(9, np.ascontiguousarray(value).tobytes())


def _text(number: int, text: str) -> bytes:
    return _field(number, text.encode())


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value & (1 << 64) - 1)
