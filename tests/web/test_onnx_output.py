from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hibari.voices import voice_path
from hypothesis import given
from hypothesis import strategies as st
from visavis.web.onnx_output import with_output


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """A protobuf message of varints and length-delimited fields."""
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if tag & 7 == 2:
            found.append((tag >> 3, data[at : at + value]))
            at += value
        else:
            found.append((tag >> 3, value))
    return found


@given(name=st.text(min_size=1, max_size=300), element=st.integers(1, 20))
def test_the_appended_bytes_are_a_graph_with_one_output(name: str, element: int) -> None:
    assert with_output(b"model", name, element).startswith(b"model")
    [(graph, content)] = fields(with_output(b"", name, element))
    assert graph == 7
    assert isinstance(content, bytes)
    [(output, value)] = fields(content)
    assert output == 12
    assert isinstance(value, bytes)
    (named, label), (typed, kind) = fields(value)
    assert (named, label) == (1, name.encode())
    assert typed == 2
    assert isinstance(kind, bytes)
    assert [fields(inner) for _, inner in fields(kind) if isinstance(inner, bytes)] == [[(1, element)]]


def test_the_voice_tells_its_phonemes_durations_and_sounds_the_same() -> None:
    model = Path(voice_path("heart", download_missing=False)).read_bytes()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    plain = onnxruntime.InferenceSession(model, options)
    more = onnxruntime.InferenceSession(with_output(model, "/Cast_32_output_0"), options)
    ids = np.array([[0, *range(20, 32), 0]], np.int64)
    feeds = {"ids": ids, "speed": np.ones(1, np.float32)}
    *same, durations = more.run(None, feeds)
    for before, now in zip(plain.run(None, feeds), same, strict=True):
        np.testing.assert_array_equal(before, now)
    assert durations.dtype == np.int64
    assert durations.size == ids.size
    assert durations.sum() * 2 == same[0].shape[-1]


def test_an_output_that_the_model_lacks_is_noticed_when_it_is_loaded() -> None:
    model = Path(voice_path("heart", download_missing=False)).read_bytes()
    with pytest.raises(Exception, match="no_such_tensor"):
        onnxruntime.InferenceSession(with_output(model, "no_such_tensor"))
