"""Triton's interpreter runs the kernels; each does what its twin does."""

import pytest
import torch
from support.core import alike, normal, unwritten, warp_inputs
from support.interpreter import triton
from visavis.render.ditto.core import sampling_kernels, warp_twins
from visavis.render.ditto.warp import WarpSize

assert triton is not None
PAIR = (sampling_kernels, warp_twins)
EACH_DTYPE = pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["fp32", "fp16"])
WHICH = torch.tensor([2, 0])


@EACH_DTYPE
def test_motion_input(dtype: torch.dtype) -> None:
    _, source, driven = warp_inputs(WarpSize.tiny(), 2)
    small = normal(3, 4, 5, 6, 2).to(dtype)
    outs = unwritten((2 * 4, 5, 6, 3 * 22 + 14), dtype)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.motion_input(small, WHICH, source, driven, out=out)
    alike(*outs)


@EACH_DTYPE
@pytest.mark.parametrize("taps", [3, 7])
def test_deform(dtype: torch.dtype, taps: int) -> None:
    _, source, driven = warp_inputs(WarpSize.tiny(), 2)
    volume, found = normal(3, 4, 5, 6, 7).to(dtype), normal(2 * 4, 5, 6, taps * 22 + 3, seed=1).to(dtype)
    outs = unwritten((2, 5, 6, 4 * 7), dtype)
    for out, ops in zip(outs, PAIR, strict=True):
        ops.deform(found, normal(22, seed=2), source, driven, volume, WHICH, taps=taps, out=out)
    alike(*outs)


def test_a_slot_is_the_same_alone_and_in_a_batch() -> None:
    _, source, driven = warp_inputs(WarpSize.tiny(), 2)
    small = normal(2, 4, 4, 5, 1).half()
    many = torch.full((2 * 4, 4, 5, 48), torch.nan, dtype=torch.float16)
    sampling_kernels.motion_input(small, torch.tensor([0, 1]), source, driven, out=many)
    alone = torch.empty(4, 4, 5, 48, dtype=torch.float16)
    sampling_kernels.motion_input(small, torch.tensor([1]), source[1:], driven[1:], out=alone)
    assert torch.equal(alone, many[4:])
