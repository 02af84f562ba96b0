from pathlib import Path

import numpy as np
import pytest
import torch
from support.onnx import node
from support.onnx_graphs import NAMES, Constants, by_onnxruntime, golden, read, windows
from visavis.render.ditto.onnx.file import read_graph
from visavis.render.ditto.onnx.fuse import fused
from visavis.render.ditto.onnx.network import Network
from visavis.render.ditto.onnx.program import program_of

CPU = torch.device("cpu")


def network(
    name: str, dtype: torch.dtype = torch.float32, *, samples: int = 6480, plain: bool = False
) -> Network:
    program = program_of(read_graph(golden(name)), (1, samples))
    return Network(program if plain else fused(program), CPU, dtype)


def by_hand(
    tmp_path: Path, *nodes: bytes, constants: Constants, dtype: torch.dtype = torch.float16
) -> Network:
    return Network(program_of(read(tmp_path, nodes, constants), (1, 24)), CPU, dtype)


def off(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


@pytest.mark.parametrize("plain", [True, False], ids=["as it is", "in fewer calls"])
@pytest.mark.parametrize("name", NAMES)
def test_rows_of_a_batch_are_those_of_onnxruntime_for_each_window(name: str, plain: bool) -> None:
    heard = windows(3)
    expected = by_onnxruntime(golden(name), heard).reshape(3, 20, -1)
    rows = network(name, plain=plain)(heard)
    assert rows.dtype == torch.float32
    assert off(rows, expected) < 1e-5
    assert torch.allclose(network(name, plain=plain)(heard[1:2])[0], rows[1], atol=1e-4)


@pytest.mark.parametrize("plain", [True, False], ids=["as it is", "in fewer calls"])
@pytest.mark.parametrize("name", NAMES)
def test_half_precision_is_near(name: str, plain: bool) -> None:
    heard = windows(2)
    expected = by_onnxruntime(golden(name), heard).reshape(2, 20, -1)
    half = network(name, torch.float16, plain=plain)
    assert half(heard).dtype == torch.float32
    assert off(half(heard), expected) < 5e-3
    assert half.nbytes < 0.6 * network(name, plain=plain).nbytes


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_the_hosts_is_mixed_with_what_is_on_the_device(name: str) -> None:
    program = fused(program_of(read_graph(golden(name)), (1, 6480)))
    device = torch.device("meta")
    found = Network(program, device, torch.float32)(torch.empty(3, 6480, device=device))
    assert (found.device, found.shape[:2]) == (device, (3, 20))


def test_windows_of_another_length_need_another_program() -> None:
    heard = windows(2, 3240)
    expected = by_onnxruntime(golden("layer-17"), heard)
    assert expected.shape[1] == 9
    assert off(network("layer-17", samples=3240)(heard), expected) < 1e-5


def test_statistics_are_of_single_precision(tmp_path: Path) -> None:
    constants = {
        "w": np.eye(24, dtype=np.float32),
        "big": np.array(300, np.float32),
        "two": np.array(2, np.float32),
    }
    nodes = [
        node("MatMul", ["x", "w"], ["half"]),
        node("Add", ["half", "big"], ["far"]),
        node("Pow", ["far", "two"], ["square"]),
        node("ReduceMean", ["square"], ["mean"], axes=[-1]),
        node("Sqrt", ["mean"], ["y"]),
    ]
    found = by_hand(tmp_path, *nodes, constants=constants).outcome(windows(2, 24)[:, None])
    assert found.dtype == torch.float32
    assert torch.allclose(found, torch.full((2, 1, 1), 300.0), atol=0.2)


def test_weights_that_half_precision_cannot_hold_stay_as_they_are(tmp_path: Path) -> None:
    constants = {"w": np.eye(24, dtype=np.float32), "far": np.full((1, 24), 1e6, np.float32)}
    nodes = [node("MatMul", ["x", "w"], ["half"]), node("Sub", ["half", "far"], ["y"])]
    found = by_hand(tmp_path, *nodes, constants=constants).outcome(windows(2, 24)[:, None])
    assert torch.allclose(found, torch.full((2, 1, 24), -1e6))


def test_a_weight_that_several_take_is_kept_once(tmp_path: Path) -> None:
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("MatMul", ["a", "w"], ["y"])]
    found = by_hand(tmp_path, *nodes, constants={"w": np.eye(24, dtype=np.float32)})
    assert (found.nbytes, found.steps) == (24 * 24 * 2, 2)


def test_what_is_given_out_may_also_be_used_on(tmp_path: Path) -> None:
    nodes = [node("Neg", ["x"], ["y"]), node("Neg", ["y"], ["z"])]
    found = by_hand(tmp_path, *nodes, constants={})
    heard = windows(2, 24)[:, None]
    assert torch.equal(found.outcome(heard), -heard)
