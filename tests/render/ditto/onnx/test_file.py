from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.onnx import FLOAT, constant, graph, model, node, port
from support.onnx_graphs import NAMES, golden, written
from visavis.render.ditto.onnx.file import Graph, Weight, read_graph
from visavis.render.ditto.onnx.wire import UnreadableError
from visavis.web.onnx_output import _field, _varint

INNER = graph([node("Neg", ["x"], ["z"])], outputs=[port("z", None)])
PORTS = {"inputs": [port("x", [1, 4])], "outputs": [port("y", None)]}


def test_calls_and_their_traits_are_read(tmp_path: Path) -> None:
    traits = {"axis": -1, "epsilon": 0.25, "mode": "edge", "pads": [1, -2], "body": INNER}
    found = read_graph(written(tmp_path, [node("Odd", ["x", "", "w"], ["y", "z"], **traits)], version=13))
    (one,) = found.nodes
    assert (one.kind, one.inputs, one.outputs) == ("Odd", ("x", "", "w"), ("y", "z"))
    body = one.traits["body"]
    assert dict(one.traits) == {"axis": -1, "epsilon": 0.25, "mode": "edge", "pads": [1, -2], "body": body}
    assert isinstance(body, Graph)
    assert [inner.kind for inner in body.nodes] == ["Neg"]
    assert (found.inputs, found.outputs, found.version) == (("x",), ("y",), 13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, np.int32, np.bool_])
def test_weights_are_those_that_were_written(tmp_path: Path, dtype: type[np.generic]) -> None:
    values = np.arange(-3, 3).reshape(2, 3).astype(dtype)
    weight = read_graph(written(tmp_path, [], {"w": values})).weights["w"]
    assert weight.shape == (2, 3)
    assert weight.read().numpy().dtype == values.dtype
    assert np.array_equal(weight.read().numpy(), values)


def test_a_weight_that_was_read_is_nobody_elses(tmp_path: Path) -> None:
    weight = read_graph(written(tmp_path, [], {"w": np.ones(4, np.float32)})).weights["w"]
    weight.read().zero_()
    assert weight.read().tolist() == [1, 1, 1, 1]


def unpacked(kind: int, field: int, values: bytes, shape: bytes = _varint(1 << 3) + _varint(2)) -> bytes:
    """A tensor (2,) whose values stand in a field of their kind."""
    return shape + _varint(2 << 3) + _varint(kind) + _field(8, b"w") + _field(field, values)


@pytest.mark.parametrize(
    ("kind", "field", "values", "expected"),
    [
        (1, 4, np.array([0.5, -2], "<f4").tobytes(), [0.5, -2]),
        (11, 10, np.array([0.5, -2], "<f8").tobytes(), [0.5, -2]),
        (7, 7, _varint(3) + _varint((1 << 64) - 1), [3, -1]),
        (6, 5, _varint(3) + _varint(4), [3, 4]),
        (9, 5, _varint(1) + _varint(0), [True, False]),
        (10, 5, _varint(0x3C00) + _varint(0xC000), [1, -2]),
    ],
    ids=["float", "double", "int64", "int32", "bool", "half"],
)
def test_values_may_stand_in_fields_of_their_kind(
    tmp_path: Path, kind: int, field: int, values: bytes, expected: list[float]
) -> None:
    path = tmp_path / "graph.onnx"
    path.write_bytes(model([], **PORTS) + _field(7, b""))
    content = _field(8, _field(1, b"") + _varint(2 << 3) + _varint(17))
    path.write_bytes(
        content + _field(7, _field(5, unpacked(kind, field, values)) + _field(12, _field(1, b"y")))
    )
    assert read_graph(path).weights["w"].read().tolist() == expected


def external(location: str, offset: int = 8) -> bytes:
    def entry(key: str, value: str) -> bytes:
        return _field(13, _field(1, key.encode()) + _field(2, value.encode()))

    shape = _varint(1 << 3) + _varint(2) + _varint(2 << 3) + _varint(FLOAT) + _field(8, b"w")
    where = entry("location", location) + entry("offset", str(offset)) + entry("length", "8")
    tensor = shape + where + _varint(14 << 3) + _varint(1)
    return _field(8, _field(1, b"") + _varint(2 << 3) + _varint(17)) + _field(7, _field(5, tensor))


def test_weights_may_lie_in_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(bytes(8) + np.array([1.5, 2], "<f4").tobytes())
    (tmp_path / "graph.onnx").write_bytes(external("weights"))
    assert read_graph(tmp_path / "graph.onnx").weights["w"].read().tolist() == [1.5, 2]


@pytest.mark.parametrize("location", ["../weights", "gone"])
def test_files_elsewhere_are_not_touched(tmp_path: Path, location: str) -> None:
    (tmp_path / "weights").write_bytes(bytes(16))
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/graph.onnx").write_bytes(external(location))
    with pytest.raises(UnreadableError, match="that is not there"):
        read_graph(tmp_path / "inner/graph.onnx")


@pytest.mark.parametrize("name", NAMES)
def test_what_exporters_write_is_read_without_its_weights(name: str) -> None:
    found = read_graph(golden(name))
    assert (found.inputs, found.outputs) == (("input_values",), ("encoding_out",))
    assert sum(one.read().numel() for one in found.weights.values() if isinstance(one, Weight)) > 5000


def test_operations_of_others_have_another_name(tmp_path: Path) -> None:
    call = node("Gelu", ["x"], ["y"]) + _field(7, b"com.microsoft")
    assert read_graph(written(tmp_path, [call])).nodes[0].kind == "com.microsoft::Gelu"


def test_an_empty_file_and_one_without_a_graph_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.onnx"
    for content in (b"", _field(9, b"x"), b"<!DOCTYPE html>"):
        path.write_bytes(content)
        with pytest.raises(UnreadableError):
            read_graph(path)


def test_a_tensor_of_another_size_than_it_says_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.onnx"
    whole = constant("w", np.ones(4, np.float32))
    for tensor in (whole[:-16] + _field(9, bytes(12)), unpacked(1, 4, bytes(4)), unpacked(8, 5, b"")):
        path.write_bytes(external("x")[:6] + _field(7, _field(5, tensor)))
        with pytest.raises(UnreadableError):
            read_graph(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(data=st.data())
def test_a_file_that_was_changed_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(
        model([node("Add", ["x", "w"], ["y"], axis=1)], constants={"w": np.ones(3, np.float32)}, **PORTS)
    )
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "graph.onnx"
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    try:
        found = read_graph(path)
    except UnreadableError:
        return
    assert all(isinstance(one.read(), torch.Tensor) for one in found.weights.values())
