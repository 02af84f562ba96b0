"""Makes an inner tensor of an ONNX model one of its outputs, without the onnx package.

A protobuf message that is followed by another of the same type reads as both merged: the appended bytes
hold a graph with nothing but the new output.
"""

_MODEL_GRAPH = 7
_GRAPH_OUTPUT = 12
_VALUE_NAME, _VALUE_TYPE = 1, 2
_TYPE_TENSOR = 1
_TENSOR_ELEMENT = 1
_LENGTH_DELIMITED = 2
INT64 = 7


def with_output(model: bytes, name: str, element: int = INT64) -> bytes:
    """`model` with tensor `name`, of ONNX element type `element`, as its last output."""
    tensor = _varint(_TENSOR_ELEMENT << 3) + _varint(element)
    value = _field(_VALUE_NAME, name.encode()) + _field(_VALUE_TYPE, _field(_TYPE_TENSOR, tensor))
    return model + _field(_MODEL_GRAPH, _field(_GRAPH_OUTPUT, value))


def _field(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
