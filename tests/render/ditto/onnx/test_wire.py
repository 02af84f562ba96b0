import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.ditto.onnx.wire import UnreadableError, fields, floats, signed, text, whole
from visavis.web.onnx_output import _field, _varint


def test_fields_are_read_by_number() -> None:
    message = (
        _varint(3 << 3) + _varint(300) + _field(4, b"abc") + _varint(2 << 3 | 5) + struct.pack("<f", 0.5)
    )
    (third, fourth, second) = fields(memoryview(message))
    assert third == (3, 300)
    assert (fourth[0], text(fourth[1])) == (4, "abc")
    assert (second[0], floats(second[1])) == (2, [0.5])


def test_numbers_below_zero_are_those_that_wrap() -> None:
    assert [signed(one) for one in (5, (1 << 64) - 1, 1 << 63)] == [5, -1, -(1 << 63)]


def test_lists_of_whole_numbers_are_packed_or_single() -> None:
    assert whole(7) == [7]
    assert whole(memoryview(_varint(1) + _varint((1 << 64) - 2) + _varint(300))) == [1, -2, 300]


def test_eight_bytes_are_a_field_too() -> None:
    ((number, value),) = fields(memoryview(_varint(6 << 3 | 1) + struct.pack("<d", 2.5)))
    assert (number, floats(value, "<d")) == (6, [2.5])


@pytest.mark.parametrize(
    "message",
    [_field(1, b"abcdef")[:-2], _varint(1 << 3 | 3), b"\x08" + b"\xff" * 12],
    ids=["cut", "group", "endless"],
)
def test_what_is_damaged_is_said_to_be(message: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"cut short|damaged"):
        list(fields(memoryview(message)))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(message: bytes) -> None:
    try:
        found = list(fields(memoryview(message)))
    except (UnreadableError, IndexError):
        return
    assert all(number >= 0 for number, _ in found)
