import builtins
import os
import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.ditto.plain_pickle import MOST_FILE_BYTES, PickleError, read_pickle

PROTOCOLS = pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))


class Call:
    """Pickles into a call of `function` with `arguments`."""

    def __init__(self, function: Callable[..., Any], *arguments: object) -> None:
        self.how = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return self.how


@PROTOCOLS
def test_plain_values_come_out_as_they_went_in(protocol: int) -> None:
    value = {
        "none": None,
        "flags": [True, False],
        "numbers": [0, -1, 255, 65536, 2**40, -(2**70), 1.5, float("-inf")],
        "texts": ["", "ä", "x" * 300],
        "bytes": b"\x00\xff",
        "deep": {"a": {1: []}},
    }
    assert read_pickle(pickle.dumps(value, protocol)) == value


@PROTOCOLS
def test_tuples_sets_and_ordered_dicts_become_lists_and_dicts(protocol: int) -> None:
    value = {"t": (1, (2, 3), ()), "s": {4}, "f": frozenset({5}), "o": OrderedDict(a=1), "four": (1, 2, 3, 4)}
    read = read_pickle(pickle.dumps(value, protocol))
    assert read == {"t": [1, [2, 3], []], "s": [4], "f": [5], "o": {"a": 1}, "four": [1, 2, 3, 4]}


@PROTOCOLS
@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.float32).reshape(3, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(6, dtype=">i4").reshape(1, 2, 3),
        np.array(2.5),
        np.zeros((0, 63), np.float32),
        np.array([True, False]),
        np.arange(4, dtype=np.float16)[::2],
    ],
    ids=["float32", "columns first", "big-endian", "no dimension", "empty", "flags", "strided"],
)
def test_arrays_come_out_equal_native_and_read_only(array: np.ndarray, protocol: int) -> None:
    read = read_pickle(pickle.dumps([array, array], protocol))
    assert isinstance(read, list)
    for one in read:
        assert isinstance(one, np.ndarray)
        np.testing.assert_array_equal(one, array)
        assert one.dtype == array.dtype.newbyteorder("=")
        assert not one.flags.writeable


def test_the_module_names_of_older_numpys_are_known() -> None:
    new = pickle.dumps(np.arange(3.0), 2)
    assert b"numpy._core.multiarray" in new
    read = read_pickle(new.replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    np.testing.assert_array_equal(read, [0, 1, 2])


@PROTOCOLS
def test_numbers_of_numpy_become_numbers(protocol: int) -> None:
    assert read_pickle(pickle.dumps([np.float32(1.5), np.int64(-3)], protocol)) == [1.5, -3]


@PROTOCOLS
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (os.system, ("exit 1",)),
        (builtins.eval, ("1 + 1",)),
        (builtins.getattr, ("a", "upper")),
        (np.load, ("x.npy",)),
        (np.fromfile, ("x",)),
        (pickle.loads, (b"",)),
        (bytearray, (1 << 40,)),
    ],
    ids=["system", "eval", "getattr", "load", "fromfile", "loads", "bytearray"],
)
def test_a_call_is_refused_by_name(
    function: Callable[..., Any], arguments: tuple[object, ...], protocol: int
) -> None:
    blob = pickle.dumps({"a": Call(function, *arguments)}, protocol)
    with pytest.raises(PickleError, match=rf"wants to run .*{function.__name__}"):
        read_pickle(blob)


class Plain:
    pass


@PROTOCOLS
@pytest.mark.parametrize(
    ("value", "line"),
    [
        (np.array([{"a": 1}, None], object), "no plain numbers"),
        (np.zeros(2, [("a", "f4")]), "no plain numbers"),
        (np.array(["text"]), "no plain numbers"),
        (np.ma.masked_array([1.0]), "wants to run"),
        (Plain(), "wants to run"),
        (np.ndarray, "no plain value"),
        (np.dtype("f4"), "no plain value"),
        ({(1, 2): 3}, "a key that is neither text nor a small number"),
        ({1 << 61: 3}, "a key that is neither"),
        (1j, "wants to run builtins.complex|wants to run __builtin__.complex"),
        (Call(set, "ab"), "damaged"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_no_plain_value_is_refused(value: object, line: str, protocol: int) -> None:
    with pytest.raises(PickleError, match=line):
        read_pickle(pickle.dumps(value, protocol))


ARRAY = b"cnumpy._core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tC\x01btR"
DTYPE = (
    b"cnumpy\ndtype\n(X\x02\x00\x00\x00f4K\x00K\x01tR(K\x03X\x01\x00\x00\x00<NNNJ" + b"\xff\xff\xff\xffJ" * 2
)
DTYPE = DTYPE.removesuffix(b"J") + b"K\x00tb"


def array(shape: bytes, raw: bytes, dtype: bytes = DTYPE) -> bytes:
    return b"\x80\x03" + ARRAY + b"(K\x01" + shape + dtype + b"\x89C" + bytes([len(raw)]) + raw + b"tb."


def test_an_array_written_by_hand_is_read() -> None:
    np.testing.assert_array_equal(read_pickle(array(b"K\x01\x85", struct.pack("<f", 2.5))), [2.5])


@pytest.mark.parametrize(
    ("blob", "line"),
    [
        (array(b"K\x02\x85", b"1234"), "an array that is damaged"),
        (array(b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86", b"1234"), "an array that is damaged"),
        (array(b"J\xff\xff\xff\xffJ\xfc\xff\xff\xff\x86", b"1234"), "an array that is damaged"),
        (array(b"]", b"1234"), "an array that is damaged"),
        (array(b"K\x01\x85", b"1234", b"K\x05"), "an array that is damaged"),
        (array(b"K\x01\x85", b"1234", DTYPE.replace(b"f4", b"O8")), "no plain numbers"),
        (array(b"K\x01\x85", b"1234", DTYPE.replace(b"NNN", b"]NN")), "compound"),
        (b"\x80\x03" + ARRAY.replace(b"cnumpy\nndarray\n", b"N") + b".", "unusual kind"),
        (b"\x80\x03" + ARRAY + b".", "no plain value"),
        (b"\x80\x03cnumpy\nndarray\n}X\x01\x00\x00\x00aK\x01sb.", "set the insides"),
        (b"\x80\x03K\x01)R.", "call something that is no array"),
        (b"\x80\x03cnumpy\nndarray\n)R.", "damaged"),
        (b"\x80\x03c_codecs\nencode\n(X\x01\x00\x00\x00aX\x03\x00\x00\x00zipt\x85R.", "damaged"),
        (b"\x80\x03c_codecs\nencode\n(X\x01\x00\x00\x00aX\x03\x00\x00\x00ziptR.", "unusual encoding"),
        (b"\x80\x03ccollections\nOrderedDict\n(]K\x01atR.", "damaged"),
        (b"cos\nsystem\n(S'id'\ntR.", "wants to run os.system"),
        (b"(ios\nsystem\n.", "no plain value needs .INST"),
        (b"\x80\x02\x82\x01.", "no plain value needs .EXT1"),
        (b"P1\n.", "no plain value needs .PERSID"),
        (b"\x80\x04)\x81.", "no plain value needs .NEWOBJ"),
        (b"\x80\x04(.", "damaged"),
        (b"\x80\x04K\x01K\x02s.", "damaged"),
        (b"\x80\x04}(K\x01u.", "damaged"),
        (b"\x80\x04K\x01K\x02a.", "damaged"),
        (b"\x80\x04h\x07.", "damaged"),
        (b"\x80\x04]", "damaged"),
        (b"<!DOCTYPE html>", "damaged or no pickle|no plain value needs"),
        (b"", "damaged"),
    ],
)
def test_a_pickle_written_by_hand_is_refused(blob: bytes, line: str) -> None:
    with pytest.raises(PickleError, match=line):
        read_pickle(blob)


def doubling(times: int) -> bytes:
    """A list of the same list twice, and so on: few operations, 2 ** `times` values."""
    value: list[object] = ["ha"]
    for _ in range(times):
        value = [value, value]
    return pickle.dumps(value)


def itself() -> bytes:
    value: list[object] = []
    value.append(value)
    return pickle.dumps(value)


def nested(depth: int) -> bytes:
    return b"\x80\x04N" + b"\x85" * depth + b"."


def shared_array() -> bytes:
    return pickle.dumps([np.zeros(1 << 18)] * 40)


TEXT = struct.pack("<I", 1 << 20) + b"a" * (1 << 20)


@pytest.mark.parametrize(
    ("blob", "line"),
    [
        (doubling(30), "made to do harm"),
        (itself(), "made to do harm"),
        (nested(1000), "made to do harm"),
        (nested(1 << 17), "made to do harm"),
        (nested(1 << 19), "too many operations"),
        (shared_array(), "larger arrays"),
        (b"\x80\x04N" + b"0N" * (1 << 20) + b".", "too many operations"),
        (b"\x80\x02" + b"N" + b"." + bytes(MOST_FILE_BYTES), "are allowed"),
        (b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b"a.", "damaged"),
        (
            b"\x80\x04(X" + TEXT + b"X\x06\x00\x00\x00latin1tq\x00" + b"c_codecs\nencode\nh\x00R" * 9 + b".",
            "repeats itself",
        ),
    ],
    ids=[
        *("laughs", "itself", "deep", "deeper", "deepest", "one array often", "operations", "long"),
        *("bytes", "one text often"),
    ],
)
def test_a_bomb_does_not_go_off(blob: bytes, line: str) -> None:
    with pytest.raises(PickleError, match=line):
        read_pickle(blob)


def test_a_far_place_in_the_memo_takes_no_room() -> None:
    assert read_pickle(b"\x80\x02Nr\xff\xff\xff\x7f.") is None


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(blob: bytes) -> None:
    for head in (b"", b"\x80\x04"):
        with suppress(PickleError):
            read_pickle(head + blob)


@given(st.data())
def test_any_change_of_a_real_file_is_read_or_refused(data: st.DataObject) -> None:
    blob = bytearray(pickle.dumps({"a": np.arange(3, dtype=np.float32), "b": [1, (2.0, "x")]}))
    for _ in range(data.draw(st.integers(1, 4))):
        blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    with suppress(PickleError):
        read_pickle(bytes(blob))
