"""What every picture network promises, whatever it computes."""

import copy
import hashlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.networks import Inputs, inputs, networks, official, results, rows
from torch import Tensor, nn
from visavis.render.ditto.blocks import fold_batch_norms
from visavis.render.ditto.spectral import official_layout

LAYOUTS = {
    "appearance_extractor": "8838a0d3936052b34c43c920642231d93761093ce81144f59da397264a0758aa",
    "motion_extractor": "9d8dc590e1d15ff5fa182c23bccdba9c22741340231902d7746c12c29a57fe45",
    "stitch_network": "431bf8b8fecb3369a853ea9d069984625ee73683718c36b3e20675c6c7c5f4db",
    "warp_network": "0e8277ca0b151e5e31e6c5343c124a3399671e4e705bea7e9e723a8026b66654",
    "decoder": "1927cf235aacf1cdfa7d7584c57c0ac07b21ace858fe104d693fef1e99a4fcfd",
}
"""SHA-256 of the sorted lines `key (shape)` of the official files."""
TINY = Path(__file__).parents[2] / "golden/tiny/networks.npz"
"""Made by `PYTHONPATH=tests python -m support.networks tests/golden/tiny/networks.npz`."""
ARGUMENTS = {"stitch_network": ("source", "driven"), "warp_network": ("feature", "source", "driven")}
every_network = pytest.mark.parametrize("name", LAYOUTS)


@cache
def tiny() -> dict[str, nn.Module]:
    return networks()


@cache
def found() -> dict[str, np.ndarray]:
    return results()


def run(network: nn.Module, values: Inputs) -> Tensor:
    with torch.inference_mode():
        return network(*values)


def reduced(values: Inputs, dtype: torch.dtype) -> Inputs:
    """Pictures and features in `dtype`; keypoints stay float32."""
    return tuple(value if value.shape[1:] == (21, 3) else value.to(dtype) for value in values)


def distance(got: Tensor, expected: Tensor) -> tuple[float, float]:
    """1 - cosine, and the mean absolute error over the mean absolute value."""
    a, b = got.flatten().double(), expected.flatten().double()
    return 1 - float(a @ b / (a.norm() * b.norm())), float((a - b).abs().mean() / b.abs().mean())


@every_network
def test_official_files_fit_the_official_size(name: str) -> None:
    layout = official_layout(official()[name])
    lines = sorted(f"{key} {tuple(value.shape)}" for key, value in layout.items())
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == LAYOUTS[name]


@pytest.mark.parametrize(
    ("name", "shapes", "out"),
    [
        ("appearance_extractor", [(3, 256, 256)], (32, 16, 64, 64)),
        ("stitch_network", [(21, 3), (21, 3)], (21, 3)),
        ("warp_network", [(32, 16, 64, 64), (21, 3), (21, 3)], (256, 64, 64)),
        ("decoder", [(256, 64, 64)], (3, 512, 512)),
    ],
)
def test_official_sizes_fit_each_other_and_forward_never_asks_for_a_value(
    name: str, shapes: list[tuple[int, ...]], out: tuple[int, ...]
) -> None:
    """Nothing on the meta device has a value, and nothing of another device may meet it."""
    got = official()[name].eval()(*(torch.empty(5, *shape, device="meta") for shape in shapes))
    assert got.shape == (5, *out)


@every_network
def test_tiny_results_are_those_of_the_code_that_was_right_at_full_size(name: str) -> None:
    with np.load(TINY) as expected:
        mine = {key: value for key, value in expected.items() if key.split(".")[0] == name}
    assert mine
    for key, value in mine.items():
        np.testing.assert_allclose(found()[key], value, atol=2e-5, rtol=0)


def test_the_tiny_golden_file_holds_every_result() -> None:
    with np.load(TINY) as expected:
        assert set(expected) == set(found())


@every_network
def test_rows_of_a_batch_are_what_each_gives_alone(name: str) -> None:
    values = inputs(name, 3)
    whole = run(tiny()[name], values)
    assert whole.isfinite().all()
    for row in range(3):
        alone = run(tiny()[name], rows(values, slice(row, row + 1)))
        torch.testing.assert_close(alone[0], whole[row], atol=2e-6, rtol=1e-5)


@every_network
@given(order=st.permutations(range(4)))
@settings(max_examples=5, deadline=None)
def test_rows_in_another_order_give_the_same_in_that_order(name: str, order: list[int]) -> None:
    values = inputs(name, 4)
    whole, permuted = run(tiny()[name], values), run(tiny()[name], rows(values, order))
    torch.testing.assert_close(permuted, whole[order], atol=2e-6, rtol=1e-5)


@every_network
@pytest.mark.parametrize(
    ("dtype", "angle", "error"), [(torch.float16, 1e-5, 5e-3), (torch.bfloat16, 3e-4, 3e-2)], ids=str
)
@pytest.mark.parametrize("fold", [False, True], ids=["plain", "folded"])
def test_reduced_precision_is_near_float32(
    name: str, dtype: torch.dtype, angle: float, error: float, *, fold: bool
) -> None:
    values = inputs(name, 2)
    network = copy.deepcopy(tiny()[name])
    if fold:
        fold_batch_norms(network)
    away, mean = distance(run(network.to(dtype), reduced(values, dtype)), run(tiny()[name], values))
    assert away < angle
    assert mean < error


@every_network
def test_one_graph_without_breaks_serves_any_batch(name: str) -> None:
    network = copy.deepcopy(tiny()[name])
    fold_batch_norms(network)
    batch = torch.export.Dim("batch", max=16)
    names = ARGUMENTS.get(name, ("features" if name == "decoder" else "image",))
    shapes = {argument: {0: batch} for argument in names}
    graph = torch.export.export(network, inputs(name, 2), dynamic_shapes=shapes).module()
    values = inputs(name, 3)
    torch.testing.assert_close(graph(*values), network(*values), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ["appearance_extractor", "warp_network"])
def test_folding_batch_norms_changes_nothing_but_the_steps(name: str) -> None:
    values = inputs(name, 2)
    network = copy.deepcopy(tiny()[name])
    before = sum(isinstance(module, nn.BatchNorm2d | nn.BatchNorm3d) for module in network.modules())
    fold_batch_norms(network)
    left = [
        key for key, module in network.named_modules() if isinstance(module, nn.BatchNorm2d | nn.BatchNorm3d)
    ]
    assert len(left) < before
    assert all(key.startswith("resblocks_3d") and key.endswith("norm1") for key in left)
    torch.testing.assert_close(run(network, values), run(tiny()[name], values), atol=5e-6, rtol=1e-5)
    fold_batch_norms(network)
    torch.testing.assert_close(run(network, values), run(tiny()[name], values), atol=5e-6, rtol=1e-5)


@every_network
def test_another_seed_gives_another_result(name: str) -> None:
    values = inputs(name, 1)
    assert not torch.equal(run(networks(seed=8)[name], values), run(tiny()[name], values))
