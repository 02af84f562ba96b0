"""The fields of protobuf messages, as many as ONNX files are made of, without a copy of what is in them."""

import struct
from collections.abc import Iterator
from typing import TypeAlias, cast

Field: TypeAlias = "tuple[int, int | memoryview]"
"""Its number, and a whole number or bytes."""


class UnreadableError(ValueError):
    """The file is no ONNX, or has in it what is not read here. The message is the rest of a sentence."""


def fields(message: memoryview) -> Iterator[Field]:
    """The numbered fields of a protobuf message: whole numbers, or bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        match key & 7:
            case 0:
                value, at = _varint(message, at)
                yield key >> 3, value
                continue
            case 1:
                size = 8
            case 2:
                size, at = _varint(message, at)
            case 5:
                size = 4
            case kind:
                raise UnreadableError(f"is damaged or no ONNX: it has a field of kind {kind}")
        if at + size > len(message):
            raise UnreadableError("is cut short")
        yield key >> 3, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise UnreadableError("is damaged or no ONNX: it has a number without end")


def signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def text(value: int | memoryview) -> str:
    return bytes(cast(memoryview, value)).decode()


def whole(value: int | memoryview) -> list[int]:
    """Of a field of whole numbers, packed or not."""
    if isinstance(value, int):
        return [signed(value)]
    found, at = list[int](), 0
    while at < len(value):
        one, at = _varint(value, at)
        found.append(signed(one))
    return found


def floats(value: int | memoryview, layout: str = "<f") -> list[float]:
    return [one for (one,) in struct.iter_unpack(layout, cast(memoryview, value))]
