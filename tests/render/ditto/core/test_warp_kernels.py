"""Triton's interpreter runs the kernels; each does what its twin does."""

import pytest
import torch
from support.core import WARPS, alike, larger_tiles, normal, unwritten, warp, warp_inputs
from support.interpreter import triton
from torch import Tensor
from visavis.render.ditto.core import sampling_kernels, warp_kernels, warp_twins
from visavis.render.ditto.core.warp import FastWarp
from visavis.render.ditto.warp import WarpSize

assert triton is not None
EACH_DTYPE = pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["fp32", "fp16"])


@EACH_DTYPE
@pytest.mark.parametrize(("taps", "pool", "enlarge", "extra"), [(3, 2, 1, 0), (3, 1, 2, 5), (7, 1, 1, 0)])
def test_depth_sum(dtype: torch.dtype, taps: int, pool: int, enlarge: int, extra: int) -> None:
    depth, channels = 4, 6
    height, width = (5, 7) if enlarge == 2 else (4, 6)
    found = normal(2 * depth, height, width, enlarge**2 * taps * channels + 2 * (enlarge == 1)).to(dtype)
    size = (height // pool, width // pool) if enlarge == 1 else (2 * (height - 1), 2 * (width - 1))
    beside = normal(2 * depth, *size, extra).to(dtype) if extra else None
    got, expected = unwritten((2 * depth, *size, channels + extra), dtype)
    for out, ops in ((got, warp_kernels), (expected, warp_twins)):
        ops.depth_sum(
            found,
            normal(channels, seed=1),
            depth=depth,
            taps=taps,
            out=out,
            pool=pool,
            enlarge=enlarge,
            beside=beside,
        )
    alike(got, expected)


@EACH_DTYPE
def test_leak_and_occlude(dtype: torch.dtype) -> None:
    x, bias, depth = normal(2, 3, 5, 18).to(dtype), normal(18, seed=1), 4
    got, expected = x.clone(), x.clone()
    warp_kernels.leak(got, bias, 0.01)
    warp_twins.leak(expected, bias, 0.01)
    alike(got, expected)
    found, hidden = normal(2 * depth, 3, 5, 11, seed=2).to(dtype), normal(1, seed=3)
    got, expected = unwritten((2, 3, 5, 18), dtype)
    warp_kernels.occlude(x, bias, found, hidden, first=6, depth=depth, out=got)
    warp_twins.occlude(x, bias, found, hidden, first=6, depth=depth, out=expected)
    alike(got, expected)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    larger_tiles(monkeypatch, warp_kernels.TILES, sampling_kernels.TILES)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("size", WARPS.values(), ids=WARPS)
def test_the_whole_network_in_full_precision(size: WarpSize) -> None:
    feature, source, driven = warp_inputs(size, 2)
    which, found = torch.tensor([1, 0]), list[Tensor]()
    for ops in (warp_kernels, warp_twins):
        fast = FastWarp(warp(size), ops, dtype=torch.float32)
        found.append(fast(fast.volumes(feature), which, source, driven))
    alike(*found)


@pytest.mark.usefixtures("large")
def test_the_whole_network_in_half_precision() -> None:
    size = WarpSize.tiny()
    feature, source, driven = warp_inputs(size, 2)
    fast = FastWarp(warp(size), warp_kernels, dtype=torch.float16)
    got = fast(fast.volumes(feature), torch.tensor([0, 1]), source, driven).float()
    expected = warp(size)(feature, source, driven).permute(0, 2, 3, 1)
    assert float((got - expected).norm() / expected.norm()) < 5e-3
