import pytest
import torch
from support.core import WARPS, warp, warp_inputs
from torch import Tensor
from visavis.render.ditto.core import warp_twins
from visavis.render.ditto.core.layers import convolved
from visavis.render.ditto.core.warp import FastWarp
from visavis.render.ditto.warp import WarpNetwork, WarpSize

EACH_SIZE = pytest.mark.parametrize("size", WARPS.values(), ids=WARPS)


@EACH_SIZE
@pytest.mark.parametrize("batch", [1, 3])
def test_it_is_the_plain_network(size: WarpSize, batch: int) -> None:
    plain, (feature, source, driven) = warp(size), warp_inputs(size, batch)
    fast = FastWarp(plain, warp_twins, dtype=torch.float32)
    got = fast(fast.volumes(feature), torch.arange(batch), source, driven).permute(0, 3, 1, 2)
    expected = plain(feature, source, driven)
    torch.testing.assert_close(got, expected, atol=1e-5 * float(expected.abs().max()), rtol=0)


def test_slots_may_share_a_frame_and_point_anywhere() -> None:
    size = WarpSize.tiny()
    plain, (feature, source, driven) = warp(size), warp_inputs(size, 3)
    fast = FastWarp(plain, warp_twins, dtype=torch.float32)
    which = torch.tensor([2, 0, 2])
    got = fast(fast.volumes(feature), which, source, driven).permute(0, 3, 1, 2)
    torch.testing.assert_close(got, plain(feature[which], source, driven), atol=1e-4, rtol=0)


def test_norms_must_be_folded() -> None:
    with pytest.raises(TypeError, match="fold_batch_norms"):
        FastWarp(WarpNetwork(WarpSize.tiny()), warp_twins, dtype=torch.float32)


def test_few_slots_have_deep_maps_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same comes of it."""
    size = WarpSize.tiny()
    fast = FastWarp(warp(size), warp_twins, dtype=torch.float32)
    feature, source, driven = warp_inputs(size, 2)
    volumes, which = fast.volumes(feature), torch.arange(2)
    together = fast(volumes, which, source, driven)
    counts = list[int]()

    def counted(x: Tensor, weight: Tensor, padding: int | None = None) -> Tensor:
        counts.append(len(x))
        return convolved(x, weight, padding)

    monkeypatch.setattr("visavis.render.ditto.core.warp.convolved", counted)
    monkeypatch.setattr("visavis.render.ditto.core.warp.DEEP", 10**6)
    found = fast(volumes, which, source, driven)
    torch.testing.assert_close(found, together, atol=1e-5, rtol=1e-5)
    assert counts.count(size.motion.depth) == 2 * len(fast.hourglass)
