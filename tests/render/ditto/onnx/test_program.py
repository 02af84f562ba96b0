from pathlib import Path

import numpy as np
import pytest
import torch
from support.onnx import graph, node, port
from support.onnx_graphs import NAMES, Constants, golden, read, windows, written
from visavis.render.ditto.onnx.file import Graph, read_graph
from visavis.render.ditto.onnx.network import Network
from visavis.render.ditto.onnx.ops import UnknownError
from visavis.render.ditto.onnx.program import LARGE, Program, program_of

SHAPE_KINDS = {"Shape", "Constant", "ConstantOfShape", "Range", "If", "Identity", "Cast", "Size"}


def given(program: Program, samples: int = 24) -> torch.Tensor:
    network = Network(program, torch.device("cpu"), torch.float32)
    return network.outcome(windows(2, samples)[:, None])


def program(tmp_path: Path, *nodes: bytes, constants: Constants | None = None, sizes: int = 24) -> Program:
    return program_of(read(tmp_path, nodes, constants, sizes=[1, "n"]), (1, sizes))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_shapes_decide_is_left(name: str) -> None:
    found = program_of(read_graph(golden(name)), (1, 6480))
    assert not {call.kind for call in found.calls} & SHAPE_KINDS
    assert found.shapes[found.output][-2:-1] == (20,)
    assert found.live(found.output)


def test_shapes_are_those_of_the_length(tmp_path: Path) -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "one"], ["n"]),
        node("Div", ["n", "four"], ["rows"]),
        node("Concat", ["none", "rows"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["y"]),
    ]
    whole = {name: np.array([value]) for name, value in (("one", 1), ("four", 4), ("none", -1))}
    for samples in (24, 40):
        found = program(tmp_path, *nodes, constants=whole, sizes=samples)
        assert [call.kind for call in found.calls] == ["Reshape"]
        assert found.shapes["y"] == (4, samples // 4)


def test_the_size_of_an_input_and_a_part_of_its_shape_are_known(tmp_path: Path) -> None:
    nodes = [
        node("Size", ["x"], ["n"]),
        node("Shape", ["x"], ["s"], start=-1),
        node("Mul", ["n", "s"], ["k"]),
        node("Cast", ["k"], ["told"], to=1),
        node("Add", ["x", "told"], ["y"]),
    ]
    found = given(program(tmp_path, *nodes))
    assert torch.allclose(found, windows(2, 24)[:, None] + 24 * 24)


def branch(condition: str) -> bytes:
    ways = {
        "then_branch": graph([node("Squeeze", ["in", "two"], ["a"])], outputs=[port("a", None)]),
        "else_branch": graph([node("Identity", ["in"], ["b"])], outputs=[port("b", None)]),
    }
    return node("If", [condition], ["y"], **ways)


def test_a_branch_goes_the_way_of_the_length(tmp_path: Path) -> None:
    nodes = [
        node("Reshape", ["x", "cut"], ["in"]),
        node("Shape", ["in"], ["s"]),
        node("Gather", ["s", "two"], ["n"]),
        node("Equal", ["n", "one"], ["is"]),
        branch("is"),
    ]
    whole = {"cut": np.array([1, 6, -1]), "two": np.array([2]), "one": np.array([1])}
    assert given(program(tmp_path, *nodes, constants=whole, sizes=6), 6).shape == (2, 1, 6)
    assert given(program(tmp_path, *nodes, constants=whole)).shape == (2, 1, 6, 4)


def test_a_branch_by_what_is_heard_is_refused(tmp_path: Path) -> None:
    nodes = [node("ReduceMax", ["x"], ["m"], keepdims=0), node("Less", ["m", "one"], ["is"]), branch("is")]
    with pytest.raises(UnknownError, match="goes two ways by what it hears"):
        program(tmp_path, *nodes, constants={"one": np.array(1, np.float32)})


@pytest.mark.parametrize(
    ("traits", "value"),
    [({"value_float": 0.5}, 0.5), ({"value_int": 3}, 3), ({"value_ints": [2]}, 2)],
)
def test_constants_come_in_many_ways(tmp_path: Path, traits: dict[str, int | float], value: float) -> None:
    nodes = [
        node("Constant", [], ["k"], **traits),
        node("Cast", ["k"], ["told"], to=1),
        node("Add", ["x", "told"], ["y"]),
    ]
    assert torch.allclose(given(program(tmp_path, *nodes)), windows(2, 24)[:, None] + value)


def test_large_weights_that_are_made_of_others_are_not_kept(tmp_path: Path) -> None:
    wide = np.random.RandomState(1).standard_normal((LARGE // 20, 24)).astype(np.float32)
    nodes = [node("Transpose", ["w"], ["turned"]), node("MatMul", ["x", "turned"], ["y"])]
    found = program(tmp_path, *nodes, constants={"w": wide})
    (name,) = found.weights
    assert found.weights[name].read() is not found.weights[name].read()
    assert torch.allclose(given(found), windows(2, 24)[:, None] @ torch.from_numpy(wide.T), atol=1e-5)


def test_calls_that_nobody_needs_are_left_out(tmp_path: Path) -> None:
    found = program(tmp_path, node("Neg", ["x"], ["y"]), node("Exp", ["x"], ["z"]))
    assert [call.kind for call in found.calls] == ["Neg"]


def ports(graph: Graph, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Graph:
    return Graph(graph.nodes, graph.weights, inputs, outputs, graph.version)


def test_what_is_not_a_function_of_one_input_is_refused(tmp_path: Path) -> None:
    found = read(
        tmp_path, [node("Neg", ["x"], ["y"]), node("Neg", ["w"], ["k"])], {"w": np.ones(3, np.float32)}
    )
    with pytest.raises(UnknownError, match="has inputs"):
        program_of(ports(found, ("x", "z"), ("y",)), (1, 24))
    with pytest.raises(UnknownError, match="the same whatever it hears"):
        program_of(ports(found, ("x",), ("k",)), (1, 24))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (node("Loop", ["x"], ["y"]), "asks for Loop, which is not computed here"),
        (node("Reshape", ["x", "x"], ["y"]), "whose shape depends on what it hears"),
        (node("Add", ["x", "nothing"], ["y"]), "that nothing gives"),
        (node("MatMul", ["x", "w"], ["y"]), "asks for MatMul of what it cannot take"),
    ],
)
def test_what_cannot_be_run_is_said(tmp_path: Path, call: bytes, words: str) -> None:
    graph = read_graph(written(tmp_path, [call], {"w": np.ones((5, 5), np.float32)}))
    with pytest.raises(UnknownError, match=words):
        program_of(graph, (1, 24))
