from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from support.onnx import node
from support.onnx_graphs import Constants, by_onnxruntime, read, windows, written
from visavis.render.ditto.onnx.file import read_graph
from visavis.render.ditto.onnx.network import Network
from visavis.render.ditto.onnx.ops import UnknownError
from visavis.render.ditto.onnx.program import program_of


def whole(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


CONSTANTS: Constants = {
    **{
        "cut": whole(1, 4, 6),
        "keep": whole(0, -1, 3),
        "axis1": whole(1),
        "axis0": whole(0),
        "zero": whole(0),
    },
    **{"begin": whole(1, -4), "end": whole(9, -1), "axes": whole(1, 2), "steps": whole(1, 2)},
    **{"from_end": whole(-1), "to_front": whole(-100), "back": whole(-2), "last": whole(2)},
    **{
        "at": np.array(2, np.int64),
        "some": whole(2, 0, -1),
        "in_a_row": whole(1, 2),
        "table": whole(0, 1, 1, 0).reshape(2, 2),
    },
    **{"wide": whole(5, 4, 6), "deep": whole(2, 1, 4, 1), "twice": whole(1, 2, 1), "sizes": whole(1, 3)},
    **{"around": whole(0, 1, 2, 0, 0, 3), "sides": whole(1, 2), "half": np.array(0.5, np.float32)},
    **{"row": np.ones((1, 4, 1), np.float32), "left": np.arange(12, dtype=np.float32).reshape(3, 4)},
    **{
        "none": np.zeros((1, 0, 6), np.float32),
        "three": whole(3),
        "true": np.array(True),
        "start": np.array(0, np.int64),
    },
    **{"limit": np.array(6, np.int64), "step": np.array(2, np.int64), "places": whole(0, 1).reshape(1, 2)},
    **{"new": np.array([7], np.float32), "ones6": np.ones((6, 3), np.float32)},
}
CUT = node("Reshape", ["x", "cut"], ["in"])


def one(kind: str, *others: str, **traits: object) -> list[bytes]:
    """Of the input as (1, 4, 6)."""
    return [CUT, node(kind, ["in", *others], ["y"], **traits)]


def added(*nodes: bytes) -> list[bytes]:
    """What is known beforehand, `k`, added to the input's rows."""
    return [CUT, *nodes, node("Cast", ["k"], ["told"], to=1), node("Add", ["in", "told"], ["y"])]


CASES: dict[str, Sequence[bytes]] = {
    "Reshape that keeps": one("Reshape", "keep"),
    "Flatten": one("Flatten", axis=2),
    "Flatten of all": one("Flatten", axis=0),
    "Transpose": one("Transpose", perm=[2, 0, 1]),
    "Transpose turned around": one("Transpose"),
    "Unsqueeze": one("Unsqueeze", "axes"),
    "Squeeze": one("Squeeze", "axis0"),
    "Squeeze of all": one("Squeeze"),
    "Expand": one("Expand", "wide"),
    "Expand to more dimensions": [
        node("Unsqueeze", ["x", "axis1"], ["in"]),
        node("Expand", ["in", "deep"], ["y"]),
    ],
    "Tile": one("Tile", "twice"),
    "Concat": [CUT, node("Concat", ["in", "in"], ["y"], axis=1)],
    "Concat with what is known": [CUT, node("Concat", ["row", "in", "row"], ["y"], axis=-1)],
    "Concat with nothing": [CUT, node("Concat", ["none", "in"], ["y"], axis=1)],
    "Split": [CUT, node("Split", ["in", "sizes"], ["a", "b"], axis=1), node("Mul", ["a", "b"], ["y"])],
    "Split in equals": [CUT, node("Split", ["in"], ["a", "b"], axis=2), node("Sub", ["a", "b"], ["y"])],
    "Slice": one("Slice", "begin", "end", "axes", "steps"),
    "Slice backwards": one("Slice", "from_end", "to_front", "last", "back"),
    "Slice of nothing": [
        CUT,
        node("Slice", ["in", "last", "axis1", "axis1"], ["a"]),
        node("Concat", ["a", "in"], ["y"], axis=1),
    ],
    "Gather": one("Gather", "at", axis=1),
    "Gather of some": one("Gather", "some", axis=2),
    "Gather of a table": one("Gather", "table", axis=1),
    "Gather of neighbours": one("Gather", "in_a_row", axis=1),
    "Pad": one("Pad", "around", "half"),
    "Pad by mirroring": one("Pad", "mirrored", mode="reflect"),
    "Pad by repeating": one("Pad", "mirrored", mode="edge"),
    "Cast": one("Cast", to=1),
    "Cast of a question": [node("Less", ["x", "half"], ["is"]), node("Cast", ["is"], ["y"], to=1)],
    "CastLike": one("CastLike", "half"),
    "Identity": [CUT, node("Identity", ["in"], ["out"]), node("Neg", ["out"], ["y"])],
    "Dropout": [CUT, node("Dropout", ["in"], ["out"]), node("Neg", ["out"], ["y"])],
    "Einsum": [CUT, node("Einsum", ["left", "in"], ["y"], equation="ij, bjk -> bik")],
    "ConstantOfShape": added(
        node("ConstantOfShape", ["three"], ["k0"]), node("Slice", ["k0", "axis0", "axis1"], ["k"])
    ),
    "Range": added(node("Range", ["start", "limit", "step"], ["k0"]), node("Gather", ["k0", "axis0"], ["k"])),
    "ScatterND": added(
        node("ScatterND", ["left", "places", "new"], ["k0"]),
        node("Slice", ["k0", "axis0", "axis1", "axis1"], ["k1"]),
        node("Slice", ["k1", "axis0", "axis1", "axis0"], ["k"]),
    ),
    "GatherND": added(node("GatherND", ["left", "places"], ["k"])),
    "Slice of what is known, backwards": added(
        node("Slice", ["cut", "from_end", "to_front", "axis0", "from_end"], ["k0"]),
        node("Slice", ["k0", "axis0", "axis1"], ["k"]),
    ),
}
EARLIER: dict[str, Sequence[bytes]] = {
    "Unsqueeze": [CUT, node("Unsqueeze", ["in"], ["y"], axes=[0, -1])],
    "Squeeze": [CUT, node("Squeeze", ["in"], ["y"], axes=[0])],
    "Split": [CUT, node("Split", ["in"], ["a", "b"], axis=1, split=[1, 3]), node("Mul", ["a", "b"], ["y"])],
    "Slice": [CUT, node("Slice", ["in"], ["y"], starts=[1, 2], ends=[3, 9], axes=[1, 2])],
    "Pad": [CUT, node("Pad", ["in"], ["y"], pads=[0, 1, 2, 0, 0, 3], value=0.5)],
}


def compared(path: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Of a batch of 3 by torch, and of each alone by onnxruntime."""
    heard = 10 * windows(3, 24)
    network = Network(program_of(read_graph(path), (1, 24)), torch.device("cpu"), torch.float32)
    return network.outcome(heard[:, None]), by_onnxruntime(path, heard)


@pytest.mark.parametrize("name", CASES)
def test_a_batch_is_moved_as_onnxruntime_does_one_by_one(tmp_path: Path, name: str) -> None:
    constants = {**CONSTANTS, "mirrored": whole(0, 0, 2, 0, 0, 3)}
    found, expected = compared(written(tmp_path, CASES[name], constants))
    assert found.shape == expected.shape
    assert torch.allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("name", EARLIER)
def test_early_versions_have_axes_and_sizes_as_traits(tmp_path: Path, name: str) -> None:
    version = 9 if name in ("Slice", "Pad") else 11
    found, expected = compared(written(tmp_path, EARLIER[name], CONSTANTS, version=version))
    assert torch.equal(found, expected)


def test_padding_may_be_of_some_axes(tmp_path: Path) -> None:
    nodes = one("Pad", "sides", "half", "last")
    found, expected = compared(written(tmp_path, nodes, CONSTANTS, version=18))
    assert torch.equal(found, expected)


def test_what_the_input_reaches_keeps_its_precision(tmp_path: Path) -> None:
    nodes = [
        node("Cast", ["x"], ["half_x"], to=10),
        node("Cast", ["half_x"], ["one_x"], to=1),
        node("Neg", ["one_x"], ["y"]),
    ]
    found, _ = compared(written(tmp_path, nodes))
    assert torch.equal(found, -10 * windows(3, 24)[:, None])


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (one("Cast", to=8), "a cast to an unknown type"),
        (one("Squeeze", "axis1"), "takes out a dimension that holds more than one"),
        (one("Pad", "around", mode="wrap"), "padding of the kind wrap"),
        (one("Pad"), "padding of no size"),
        (one("Slice"), "a slice without ends"),
        (one("Einsum", equation="...i -> ..."), "an Einsum of an unknown kind"),
        (one("ScatterND", "places", "new"), "a ScatterND of an unknown kind"),
        (one("GatherND", "places"), "a GatherND of an unknown kind"),
        (one("Reshape", "three"), "Reshape of what it cannot take"),
    ],
)
def test_what_is_not_done_is_said(tmp_path: Path, nodes: Sequence[bytes], words: str) -> None:
    graph = read(tmp_path, nodes, CONSTANTS)
    with pytest.raises(UnknownError, match=words):
        program_of(graph, (1, 24))
