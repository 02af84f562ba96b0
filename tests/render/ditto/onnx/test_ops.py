from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from support.onnx import node
from support.onnx_graphs import Constants, by_onnxruntime, read, windows, written
from visavis.render.ditto.onnx.file import read_graph
from visavis.render.ditto.onnx.network import Network
from visavis.render.ditto.onnx.ops import COMPUTED, Site, UnknownError, aligned
from visavis.render.ditto.onnx.program import program_of

RANDOM = np.random.RandomState(1)


def drawn(*shape: int) -> np.ndarray:
    return (RANDOM.standard_normal(shape) + 0.3).astype(np.float32)


def row(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def whole(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def one(kind: str, *others: str, **traits: object) -> list[bytes]:
    """Of the input as (1, 4, 6), beside constants."""
    cut = node("Reshape", ["x", "cut"], ["in"])
    return [cut, node(kind, ["in", *others], ["y"], **traits)]


def bent(kind: str) -> list[bytes]:
    """Of the input's size, which is above nothing."""
    return [
        node("Abs", ["x"], ["strong"]),
        node("Add", ["strong", "half"], ["up"]),
        node(kind, ["up"], ["y"]),
    ]


def asked(kind: str) -> list[bytes]:
    """Whether, told as numbers."""
    return [node(kind, ["x", "half"], ["is"]), node("Where", ["is", "half", "x"], ["y"])]


CONSTANTS: Constants = {
    **{"cut": whole(1, 4, 6), "half": row(0.5), "two": row(2), "columns": drawn(6), "rows": drawn(4)},
    **{"rows1": drawn(4, 1), "deep": drawn(2, 3, 4, 6), "right": drawn(6, 5), "five": drawn(5)},
    **{"kernel": drawn(5, 4, 3), "pairs": drawn(4, 2, 2), "size": np.abs(drawn(4)) + 1, "one": whole(1)},
    **{"low": np.array(-0.05, np.float32), "high": np.array(0.05, np.float32), "last": whole(-1)},
    **{
        "flat": drawn(24, 5),
        "square": whole(1, 1, 4, 6),
        "cut5": whole(1, 2, 2, 2, 3),
        "w2": drawn(3, 2, 2, 2),
    },
    **{"axis1": np.array(1, np.int64), "mask": np.array([True, False, True, False, True, False])},
    **{"long": drawn(4, 2, 16), "two_rows": drawn(2), "left": drawn(3, 4)},
}
CASES: dict[str, Sequence[bytes]] = {
    **{f"{kind} of a row": one(kind, "columns") for kind in ("Add", "Sub", "Mul", "Div")},
    **{f"{kind} of more dimensions": one(kind, "deep") for kind in ("Add", "Mul", "Min", "Max", "Sum")},
    "Pow": one("Pow", "two"),
    "Mul of a column": one("Mul", "rows1"),
    **{kind: bent(kind) for kind in ("Sqrt", "Log", "Exp", "Reciprocal")},
    **{
        kind: one(kind)
        for kind in ("Erf", "Tanh", "Sigmoid", "Relu", "Neg", "Abs", "Sin", "Cos", "Floor", "Ceil")
    },
    **{kind: asked(kind) for kind in ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal")},
    **{
        f"{kind} of two": [
            node("Less", ["x", "half"], ["a"]),
            node("Greater", ["x", "low"], ["b"]),
            node(kind, ["a", "b"], ["c"]),
            node("Not", ["c"], ["d"]),
            node("Where", ["d", "half", "x"], ["y"]),
        ]
        for kind in ("And", "Or")
    },
    "IsNaN": [node("IsNaN", ["x"], ["is"]), node("Where", ["is", "half", "x"], ["y"])],
    "Where of a known mask": [
        node("Reshape", ["x", "cut"], ["in"]),
        node("Where", ["mask", "in", "half"], ["y"]),
    ],
    "Clip": one("Clip", "low", "high"),
    "Clip below": one("Clip", "low"),
    "Softmax": one("Softmax", axis=1),
    **{
        f"{kind} {keep}": one(kind, axes=[1, -1], keepdims=keep)
        for kind in ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceProd")
        for keep in (0, 1)
    },
    "ReduceMean of all": one("ReduceMean"),
    "ReduceSum told its axes": one("ReduceSum", "last", keepdims=0),
    "ReduceSum of none": one("ReduceSum", noop_with_empty_axes=1),
    "MatMul": one("MatMul", "right"),
    "MatMul from the left": [node("Reshape", ["x", "cut"], ["in"]), node("MatMul", ["left", "in"], ["y"])],
    "MatMul of itself": [
        node("Reshape", ["x", "cut"], ["in"]),
        node("Transpose", ["in"], ["turned"], perm=[0, 2, 1]),
        node("MatMul", ["in", "turned"], ["y"]),
    ],
    "MatMul of other ranks": [
        node("Reshape", ["x", "cut"], ["in"]),
        node("Reshape", ["x", "square"], ["in4"]),
        node("Transpose", ["in"], ["turned"], perm=[0, 2, 1]),
        node("MatMul", ["in4", "turned"], ["y"]),
    ],
    "Gemm": [node("Gemm", ["x", "flat", "five"], ["y"], alpha=0.5, beta=2.0)],
    "Gemm turned": [
        node("Transpose", ["flat"], ["turned"]),
        node("Gemm", ["x", "turned"], ["y"], transB=1),
    ],
    "CumSum": one("CumSum", "axis1"),
    "Trilu": one("Trilu", "axis1", upper=0),
    "Trilu above": one("Trilu"),
}
NEWER: dict[str, Sequence[bytes]] = {
    "Gelu": one("Gelu"),
    "Gelu nearly": one("Gelu", approximate="tanh"),
    "ReduceMean": one("ReduceMean", "last"),
}


def compared(path: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Of a batch of 3 by torch, and of each alone by onnxruntime."""
    heard = 10 * windows(3, 24)
    network = Network(program_of(read_graph(path), (1, 24)), torch.device("cpu"), torch.float32)
    expected = by_onnxruntime(path, heard)
    return network.outcome(heard[:, None]), expected


@pytest.mark.parametrize("name", CASES)
def test_a_batch_is_computed_as_onnxruntime_does_one_by_one(tmp_path: Path, name: str) -> None:
    found, expected = compared(written(tmp_path, CASES[name], CONSTANTS))
    assert found.shape == expected.shape
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NEWER)
def test_so_are_operations_of_later_versions(tmp_path: Path, name: str) -> None:
    found, expected = compared(written(tmp_path, NEWER[name], CONSTANTS, version=20))
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_softmax_meant_more_in_early_versions(tmp_path: Path) -> None:
    found, expected = compared(written(tmp_path, one("Softmax", axis=1), CONSTANTS, version=11))
    assert torch.allclose(found, expected, atol=1e-6)
    assert torch.allclose(found.sum((-2, -1)), torch.ones(3, 1))


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (one("MatMul", "columns"), "a product with a single row"),
        (one("CumSum", "axis1", reverse=1), "a CumSum of an unknown kind"),
        (one("ReduceMean", axes=[1], keepdims=[1]), "a strange keepdims"),
    ],
)
def test_what_is_not_computed_is_said(tmp_path: Path, nodes: Sequence[bytes], words: str) -> None:
    graph = read(tmp_path, nodes, CONSTANTS)
    with pytest.raises(UnknownError, match=words):
        program_of(graph, (1, 24))


def test_values_of_fewer_dimensions_are_lined_up_behind_the_batch() -> None:
    site = Site("Add", {}, 17, (True, True))
    a, b = aligned(site, torch.zeros(7, 2, 3, 4), torch.zeros(7, 4))
    assert (a.shape, b.shape) == ((7, 2, 3, 4), (7, 1, 1, 4))


def test_what_layers_add_up_to_is_not_rounded_to_half_precision() -> None:
    half = torch.ones(2, 3, dtype=torch.float16)
    both, bias = Site("Add", {}, 17, (True, True)), Site("Add", {}, 17, (True, False))
    assert COMPUTED["Add"].run(both, half, half).dtype == torch.float32  # type: ignore[union-attr]
    assert COMPUTED["Add"].run(bias, half, half).dtype == torch.float16  # type: ignore[union-attr]
