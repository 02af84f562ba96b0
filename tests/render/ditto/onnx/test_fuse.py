from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from support.onnx import node
from support.onnx_graphs import NAMES, Constants, golden, read, windows
from visavis.render.ditto.onnx.file import read_graph
from visavis.render.ditto.onnx.fuse import fused
from visavis.render.ditto.onnx.network import Network
from visavis.render.ditto.onnx.program import Program, program_of

RANDOM = np.random.RandomState(1)
CONSTANTS: Constants = {
    **{"cut": np.array([1, 4, 6]), "heads": np.array([1, 4, 2, 3]), "two": np.array(2, np.float32)},
    **{"eps": np.array(1e-3, np.float32), "half": np.array(0.5, np.float32), "one": np.array(1, np.float32)},
    **{"root": np.array(2**0.5, np.float32), "inverse": np.array(0.5**0.5, np.float32)},
    **{f"w{at}": RANDOM.standard_normal((6, 6)).astype(np.float32) for at in range(3)},
    **{f"b{at}": RANDOM.standard_normal(6).astype(np.float32) for at in range(3)},
    **{"hidden": np.zeros((1, 1, 4, 4), np.float32), "seen": np.ones((1, 1, 4, 4), np.float32)},
    **{
        "never": np.zeros((4, 4), bool),
        "some": np.tril(np.ones((1, 1, 4, 4), bool)),
        "all": np.ones((1, 1, 4, 4), bool),
        "column": np.ones((4, 1), np.float32),
    },
    **{"zeros": np.zeros((2, 1, 1, 1), np.float32)},
}
NORMS = {"group": 6, "official": 14}
"""The official one's input is normed as well."""
CUT = node("Reshape", ["x", "cut"], ["in"])


def both(folder: Path, nodes: Sequence[bytes], version: int = 17) -> tuple[Program, Program]:
    """As it is, and in fewer calls."""
    graph = read(folder, nodes, CONSTANTS, version=version)
    return program_of(graph, (1, 24)), fused(program_of(graph, (1, 24)))


def kinds(program: Program) -> list[str]:
    return [call.kind for call in program.calls]


def same(plain: Program, better: Program) -> None:
    cpu, heard = torch.device("cpu"), 10 * windows(3, 24)[:, None]
    found = [Network(one, cpu, torch.float32).outcome(heard) for one in (plain, better)]
    assert torch.allclose(found[1], found[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_what_exporters_write_out_becomes_what_torch_has(name: str) -> None:
    program = program_of(read_graph(golden(name)), (1, 6480))
    better = fused(program_of(read_graph(golden(name)), (1, 6480)))
    found = Counter(kinds(better))
    assert found["Erf"] == found["Pow"] == found["MatMul"] == found["Softmax"] == 0 or name == "official-18"
    assert found["Gelu"] == 10
    assert found["LayerNormalization"] == NORMS.get(name.partition("-")[0], 13)
    assert found["Linear"] == 1 + 2 * 4
    assert len(better.calls) < len(program.calls)


@pytest.mark.parametrize("square", ["Pow", "Mul"])
@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
def test_a_norm_in_steps_is_one(tmp_path: Path, square: str, again: bool) -> None:
    steps = [
        CUT,
        node("ReduceMean", ["in"], ["mean"], axes=[-1]),
        node("Sub", ["in", "mean"], ["off"]),
        node("Sub", ["in", "mean"], ["off2"]),
        node(
            square,
            ["off2" if again else "off", "two" if square == "Pow" else "off2" if again else "off"],
            ["sq"],
        ),
        node("ReduceMean", ["sq"], ["var"], axes=[2]),
        node("Add", ["var", "eps"], ["more"]),
        node("Sqrt", ["more"], ["root_of"]),
        node("Div", ["off", "root_of"], ["norm"]),
        node("Mul", ["norm", "b0"], ["scaled"]),
        node("Add", ["b1", "scaled"], ["y"]),
    ]
    plain, better = both(tmp_path, steps)
    assert kinds(better) == ["Reshape", "LayerNormalization"]
    same(plain, better)


@pytest.mark.parametrize("axis", [1, 2], ids=["rows", "columns"])
def test_only_norms_over_columns_are(tmp_path: Path, axis: int) -> None:
    steps = [
        CUT,
        node("ReduceMean", ["in"], ["mean"], axes=[axis]),
        node("Sub", ["in", "mean"], ["off"]),
        node("Mul", ["off", "off"], ["sq"]),
        node("ReduceMean", ["sq"], ["var"], axes=[axis]),
        node("Add", ["eps", "var"], ["more"]),
        node("Sqrt", ["more"], ["root_of"]),
        node("Div", ["off", "root_of"], ["norm"]),
        node("Mul", ["norm", "column"], ["y"]),
    ]
    plain, better = both(tmp_path, steps)
    assert ("LayerNormalization" in kinds(better)) == (axis == 2)
    same(plain, better)


BENDS = {
    "half last": [("Mul", "in", "grown", "t"), ("Mul", "t", "half", "y")],
    "half first": [("Mul", "in", "half", "t"), ("Mul", "t", "grown", "y")],
    "half in between": [("Mul", "half", "grown", "t"), ("Mul", "in", "t", "y")],
}


@pytest.mark.parametrize("order", BENDS)
@pytest.mark.parametrize("step", [("Div", "root"), ("Mul", "inverse")], ids=["div", "mul"])
def test_a_bend_in_steps_is_one(tmp_path: Path, order: str, step: tuple[str, str]) -> None:
    steps = [CUT, node(step[0], ["in", step[1]], ["small"]), node("Erf", ["small"], ["erf"])]
    steps += [node("Add", ["erf", "one"], ["grown"])]
    steps += [node(kind, [a, b], [to]) for kind, a, b, to in BENDS[order]]
    plain, better = both(tmp_path, steps)
    assert kinds(better) == ["Reshape", "Gelu"]
    same(plain, better)


def test_another_bend_stays(tmp_path: Path) -> None:
    steps = [CUT, node("Div", ["in", "two"], ["small"]), node("Erf", ["small"], ["erf"])]
    steps += [node("Add", ["erf", "one"], ["grown"])]
    steps += [node(kind, [a, b], [to]) for kind, a, b, to in BENDS["half last"]]
    plain, better = both(tmp_path, steps)
    assert "Gelu" not in kinds(better)
    same(plain, better)


def test_products_of_the_same_rows_are_one_with_their_sums_and_scales(tmp_path: Path) -> None:
    steps = [CUT]
    for at in range(3):
        steps += [node("MatMul", ["in", f"w{at}"], [f"p{at}"]), node("Add", [f"b{at}", f"p{at}"], [f"s{at}"])]
    steps += [node("Mul", ["s0", "half"], ["q"]), node("Div", ["s1", "two"], ["k"])]
    steps += [node("Sub", ["q", "k"], ["d"]), node("Sub", ["d", "s2"], ["y"])]
    plain, better = both(tmp_path, steps)
    assert kinds(better) == ["Reshape", "Linear", "Split", "Sub", "Sub"]
    same(plain, better)


def test_what_others_take_too_is_not_changed(tmp_path: Path) -> None:
    steps = [
        CUT,
        node("MatMul", ["in", "w0"], ["p"]),
        node("Add", ["p", "b0"], ["s"]),
        node("Sub", ["s", "p"], ["y"]),
    ]
    plain, better = both(tmp_path, steps)
    assert kinds(better) == ["Reshape", "Linear", "Add", "Sub"]
    same(plain, better)


@pytest.mark.parametrize("turned", [0, 1])
def test_a_product_with_a_sum_of_its_own_is_one(tmp_path: Path, turned: int) -> None:
    steps = [
        node("Reshape", ["x", "flat"], ["in"]),
        node("Gemm", ["in", "w0", "b0"], ["y"], transB=turned),
    ]
    graph = read(tmp_path, steps, {**CONSTANTS, "flat": np.array([4, 6])})
    better = fused(program_of(graph, (1, 24)))
    assert kinds(better) == ["Reshape", "Linear"]
    same(program_of(graph, (1, 24)), better)


def attention(*scores: bytes, last: str = "scores") -> list[bytes]:
    return [
        node("Reshape", ["x", "heads"], ["in"]),
        node("Transpose", ["in"], ["q"], perm=[0, 2, 1, 3]),
        node("Transpose", ["in"], ["k"], perm=[0, 2, 3, 1]),
        node("Mul", ["q", "half"], ["q2"]),
        node("Div", ["k", "two"], ["k2"]),
        node("MatMul", ["q2", "k2"], ["scores"]),
        *scores,
        node("Softmax", [last], ["shares"], axis=-1),
        node("MatMul", ["shares", "q"], ["y"]),
    ]


def test_attention_is_one_with_its_scales(tmp_path: Path) -> None:
    plain, better = both(tmp_path, attention(node("Mul", ["scores", "half"], ["scaled"]), last="scaled"))
    assert kinds(better) == ["Reshape", "Transpose", "Transpose", "Attend"]
    assert better.calls[-1].traits["scale"] == 0.125
    same(plain, better)


def test_a_mask_that_hides_nothing_is_left_out(tmp_path: Path) -> None:
    plain, better = both(tmp_path, attention(node("Add", ["scores", "hidden"], ["masked"]), last="masked"))
    assert kinds(better)[-1] == "Attend"
    same(plain, better)


@pytest.mark.parametrize(("mask", "ways"), [("all", ("scores", "half")), ("never", ("half", "scores"))])
def test_so_is_one_that_chooses_the_same_everywhere(tmp_path: Path, mask: str, ways: tuple[str, str]) -> None:
    plain, better = both(tmp_path, attention(node("Where", [mask, *ways], ["masked"]), last="masked"))
    assert kinds(better)[-1] == "Attend"
    same(plain, better)


@pytest.mark.parametrize("mask", ["seen", "zeros"])
def test_other_masks_stay(tmp_path: Path, mask: str) -> None:
    plain, better = both(tmp_path, attention(node("Add", ["scores", mask], ["masked"]), last="masked"))
    assert ("Attend" in kinds(better)) == (mask == "zeros") or kinds(better)[-1] == "MatMul"
    same(plain, better)


@pytest.mark.parametrize(("mask", "taken"), [("all", ("",)), ("some", ("some",)), ("hidden", ("",))])
def test_attention_of_later_versions_is_known(tmp_path: Path, mask: str, taken: tuple[str]) -> None:
    steps = [
        node("Reshape", ["x", "heads"], ["in"]),
        node("Transpose", ["in"], ["q"], perm=[0, 2, 1, 3]),
        node("Attention", ["q", "q", "q", mask], ["y"], scale=0.3),
    ]
    plain, better = both(tmp_path, steps, version=23)
    assert better.calls[-1].inputs[3:] == taken
    same(plain, better)
