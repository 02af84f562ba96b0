"""The plain steps do what the plain network does at the same place."""

import pytest
import torch
from support.core import normal, warp_inputs
from torch import Tensor
from torch.nn import functional as F
from visavis.render.ditto.core import algebra, warp_twins
from visavis.render.ditto.core.layers import convolved
from visavis.render.ditto.dense_motion import halved, places, sample
from visavis.render.ditto.warp import WarpSize

DEPTH, CHANNELS = 4, 5


def slices(volume: Tensor) -> Tensor:
    """(B, C, D, H, W) as (B D, H, W, C)."""
    return volume.permute(0, 2, 3, 4, 1).flatten(0, 1).contiguous()


@pytest.mark.parametrize("way", ["pooled", "enlarged", "plain"])
def test_depth_sum_ends_a_volume_convolution(way: str) -> None:
    volume, weight, bias = normal(2, 3, DEPTH, 6, 8), normal(CHANNELS, 3, 3, 3, 3, seed=1), normal(CHANNELS)
    given = volume.repeat_interleave(2, 3).repeat_interleave(2, 4) if way == "enlarged" else volume
    expected = F.relu(F.conv3d(given, weight, bias, padding=1))
    expected = slices(halved(expected) if way == "pooled" else expected)
    flat = algebra.taps_as_outputs(weight)
    if way == "enlarged":
        found = convolved(slices(volume), algebra.phases(flat, 2), padding=1)
    else:
        found = convolved(slices(volume), flat)
    beside = normal(*expected.shape[:3], 2, seed=2)
    out = torch.full((*expected.shape[:3], CHANNELS + 2), torch.nan)
    warp_twins.depth_sum(
        found,
        bias,
        depth=DEPTH,
        taps=3,
        out=out,
        pool=2 if way == "pooled" else 1,
        enlarge=2 if way == "enlarged" else 1,
        beside=beside,
    )
    torch.testing.assert_close(out, torch.cat((expected, beside), -1), atol=1e-5, rtol=0)


def test_a_face_that_keeps_its_keypoints_is_sampled_where_it_is() -> None:
    _, source, _ = warp_inputs(WarpSize.tiny(), 2)
    volume, found = normal(3, DEPTH, 6, 8, CHANNELS), normal(2 * DEPTH, 6, 8, 7 * 22)
    out, which = torch.empty(2, 6, 8, DEPTH * CHANNELS), torch.tensor([2, 0])
    warp_twins.deform(found, normal(22), source, source, volume, which, taps=7, out=out)
    taken = volume[which].permute(0, 4, 1, 2, 3)
    expected = sample(taken, places(taken).expand(2, DEPTH, 6, 8, 3))
    expected = expected.permute(0, 3, 4, 2, 1).flatten(3)
    torch.testing.assert_close(out, expected, atol=1e-4, rtol=0)


def test_what_is_hidden_is_zero_and_what_is_seen_has_its_bias() -> None:
    x, bias, found = normal(2, 3, 5, 6), normal(6, seed=1), torch.zeros(2 * DEPTH, 3, 5, 9)
    out = torch.empty_like(x)
    warp_twins.occlude(x, bias, found, torch.tensor([60.0]), first=2, depth=DEPTH, out=out)
    torch.testing.assert_close(out, x + bias)
    warp_twins.occlude(x, bias, found, torch.tensor([-200.0]), first=2, depth=DEPTH, out=out)
    assert not out.any()
    found[DEPTH + 1, ..., 3] = -200.0
    warp_twins.occlude(x, bias, found, torch.tensor([60.0]), first=2, depth=DEPTH, out=out)
    assert out[0].any()
    assert not out[1].any()
