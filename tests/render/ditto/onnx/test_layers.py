from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from support.onnx import node
from support.onnx_graphs import Constants, by_onnxruntime, read, windows, written
from visavis.render.ditto.onnx.file import read_graph
from visavis.render.ditto.onnx.layers import LONG
from visavis.render.ditto.onnx.network import Network
from visavis.render.ditto.onnx.ops import UnknownError
from visavis.render.ditto.onnx.program import program_of

RANDOM = np.random.RandomState(1)


def drawn(*shape: int) -> np.ndarray:
    return (RANDOM.standard_normal(shape) + 0.3).astype(np.float32)


def one(kind: str, *others: str, **traits: object) -> list[bytes]:
    """Of the input as (1, 4, 6), beside constants."""
    return [node("Reshape", ["x", "cut"], ["in"]), node(kind, ["in", *others], ["y"], **traits)]


CONSTANTS: Constants = {
    **{"cut": np.array([1, 4, 6]), "square": np.array([1, 1, 4, 6]), "cut22": np.array([1, 2, 3, 4])},
    **{"columns": drawn(6), "rows": drawn(4), "two_rows": drawn(2), "five": drawn(5), "half": drawn(1)},
    **{"kernel": drawn(5, 4, 3), "pairs": drawn(4, 2, 2), "w2": drawn(3, 2, 2, 2), "long": drawn(4, 2, LONG)},
    **{"size": np.abs(drawn(4)) + 1, "flat": drawn(24, 5), "sound": drawn(1, 1, 50), "middle": np.array([1])},
    **{"heads": np.array([1, 2, 4, 3]), "mask": np.where(drawn(4, 4) > -0.5, 0, -9).astype(np.float32)},
}
CASES: dict[str, Sequence[bytes]] = {
    "Conv": one("Conv", "kernel", "five", strides=[2], pads=[1, 1], dilations=[2]),
    "Conv with uneven edges": one("Conv", "kernel", pads=[2, 1]),
    "Conv in groups": one("Conv", "pairs", group=2),
    "Conv with a long kernel": one("Conv", "long", "rows", group=2, pads=[8, 8]),
    "Conv with a long kernel, uneven": one("Conv", "long", group=2, pads=[10, 7]),
    "Conv over two": [
        node("Reshape", ["x", "square"], ["in"]),
        node("Reshape", ["in", "cut22"], ["in2"]),
        node("Conv", ["in2", "w2"], ["y"], pads=[1, 0, 0, 2], strides=[1, 2]),
    ],
    "InstanceNormalization": one("InstanceNormalization", "rows", "rows", epsilon=0.1),
    "LayerNormalization": one("LayerNormalization", "columns", "columns", axis=-1, epsilon=0.1),
    "LayerNormalization of one number": one("LayerNormalization", "half", axis=-1),
    "BatchNormalization": one("BatchNormalization", "rows", "rows", "rows", "size", epsilon=0.1),
}


def compared(path: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Of a batch of 3 by torch, and of each alone by onnxruntime."""
    heard = 10 * windows(3, 24)
    network = Network(program_of(read_graph(path), (1, 24)), torch.device("cpu"), torch.float32)
    return network.outcome(heard[:, None]), by_onnxruntime(path, heard)


@pytest.mark.parametrize("name", CASES)
def test_a_batch_is_computed_as_onnxruntime_does_one_by_one(tmp_path: Path, name: str) -> None:
    found, expected = compared(written(tmp_path, CASES[name], CONSTANTS))
    assert found.shape == expected.shape
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("version", [18, 21])
def test_groups_had_one_weight_each_before_channels_had(tmp_path: Path, version: int) -> None:
    weight = "two_rows" if version == 18 else "rows"
    nodes = one("GroupNormalization", weight, weight, num_groups=2)
    found, expected = compared(written(tmp_path, nodes, CONSTANTS, version=version))
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("masked", [False, True], ids=["plain", "masked"])
def test_attention_is_an_operation_of_late_versions(tmp_path: Path, masked: bool) -> None:
    nodes = [
        node("Reshape", ["x", "heads"], ["in"]),
        node("Neg", ["in"], ["k"]),
        node("Attention", ["in", "k", "in", *["mask"] * masked], ["y"]),
    ]
    found, expected = compared(written(tmp_path, nodes, CONSTANTS, version=23))
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (one("Conv", "kernel", auto_pad="SAME_UPPER"), "a convolution of an unknown kind"),
        (one("Conv", "flat"), "a convolution of an unknown kind"),
        (one("Conv", "w2"), "Conv of what it cannot take"),
        (
            [node("Unsqueeze", ["x", "middle"], ["w"]), node("Conv", ["sound", "w"], ["y"])],
            "made of the input",
        ),
        (one("Attention", "in", "in"), "attention of an unknown kind"),
        (one("Attention", "in", "in", is_causal=1), "attention of an unknown kind"),
        (
            [node("Reshape", ["x", "heads"], ["in"]), node("Attention", ["in", "square", "in"], ["y"])],
            "attention to what is known",
        ),
    ],
)
def test_what_is_not_computed_is_said(tmp_path: Path, nodes: Sequence[bytes], words: str) -> None:
    graph = read(tmp_path, nodes, CONSTANTS)
    with pytest.raises(UnknownError, match=words):
        program_of(graph, (1, 24))
