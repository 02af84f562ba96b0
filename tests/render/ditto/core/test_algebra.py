import pytest
import torch
from torch.nn import functional as F
from visavis.render.ditto.core import algebra


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


@pytest.mark.parametrize("taps", [3, 7])
def test_a_volume_convolution_is_a_sum_of_shifted_slices(taps: int) -> None:
    volume, weight = drawn(2, 5, 6, 9, 8), drawn(4, 5, taps, 3, 3)
    expected = F.conv3d(volume, weight, padding=(taps // 2, 1, 1))
    slices = volume.transpose(1, 2).flatten(0, 1)
    found = F.conv2d(slices, algebra.taps_as_outputs(weight), padding=1).unflatten(0, (2, 6))
    total = torch.zeros_like(expected)
    for tap, part in enumerate(found.unflatten(2, (taps, 4)).unbind(2)):
        for depth in range(6):
            if 0 <= (at := depth + tap - taps // 2) < 6:
                total[:, :, depth] += part[:, at]
    torch.testing.assert_close(total, expected)


def test_channels_of_a_flattened_volume_may_come_depth_first() -> None:
    volume, weight = drawn(2, 5, 6, 9, 8), drawn(4, 30, 3, 3)
    expected = F.conv2d(volume.flatten(1, 2), weight, padding=1)
    found = F.conv2d(volume.transpose(1, 2).flatten(1, 2), algebra.depth_as_inputs(weight, 6), padding=1)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("factor", [2, 4])
def test_a_convolution_of_an_enlarged_map_is_one_of_the_small_map(factor: int) -> None:
    small, weight = drawn(2, 5, 3, 4), drawn(7, 5, 3, 3)
    expected = F.conv2d(F.interpolate(small, scale_factor=factor, mode="nearest"), weight, padding=1)
    found = F.conv2d(small, algebra.phases(weight, factor), padding=1).permute(0, 2, 3, 1)
    large = algebra.unfolded(found, factor, 7).permute(0, 3, 1, 2)
    torch.testing.assert_close(large, expected)


def test_padding_is_of_zeros_at_the_end() -> None:
    wide = algebra.padded(drawn(2, 3), 5, 1)
    assert wide.shape == (2, 5)
    assert torch.equal(wide[:, :3], drawn(2, 3))
    assert not wide[:, 3:].any()
