import pytest
import torch
from torch import Tensor, nn
from visavis.render.ditto import random_weights
from visavis.render.ditto.dense_motion import (
    MOTIONS,
    DenseMotion,
    DenseMotionSize,
    Flow,
    Hourglass,
    blobs,
    halved,
    motions,
    places,
    sample,
)

SIZE = DenseMotionSize.tiny()


def noise(*shape: int, scale: float = 1.0) -> Tensor:
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def network() -> DenseMotion:
    return random_weights.loaded(DenseMotion(SIZE), "warp_network", 3)


def flow(source: Tensor, driven: Tensor) -> Flow:
    return network()(noise(len(source), 4, 4, 8, 8), source, driven)


def test_places_run_from_minus_one_to_one_along_width_height_and_depth() -> None:
    grid = places(torch.zeros(1, 1, 3, 5, 9))
    assert grid.shape == (3, 5, 9, 3)
    assert grid[0, 0, 0].tolist() == [-1, -1, -1]
    assert grid[2, 4, 8].tolist() == [1, 1, 1]
    assert grid[1, 2, 6].tolist() == [0.5, 0, 0]
    assert grid[0, 1, 0].tolist() == [-1, -0.5, -1]


def test_sampling_at_the_places_themselves_is_not_the_identity() -> None:
    """The grid's ends are middles of cells, sampling's are outer edges: what is read lies half a cell further
    out at both ends, and zeros come in there."""
    volume = torch.ones(1, 1, 4, 8, 8)
    got = sample(volume, places(volume)[None])[0, 0]
    torch.testing.assert_close(got[1:3, 1:7, 1:7], volume[0, 0, 1:3, 1:7, 1:7])
    assert got[0, 0, 0].item() == pytest.approx(0.125)
    assert got[0, 4, 4].item() == pytest.approx(0.5)


def test_sampling_reads_cell_middles_where_the_outer_edges_are_one() -> None:
    volume = noise(1, 2, 4, 8, 8)
    steps = [(2 * torch.arange(cells) + 1) / cells - 1 for cells in (4, 8, 8)]
    z, y, x = torch.meshgrid(*steps, indexing="ij")
    torch.testing.assert_close(sample(volume, torch.stack((x, y, z), -1)[None]), volume)


def test_half_volumes_are_sampled_at_float32_places() -> None:
    volume, grid = noise(1, 2, 4, 64, 64), places(torch.zeros(1, 1, 4, 64, 64))[None] * 0.987
    half = sample(volume.half(), grid)
    assert half.dtype == torch.float16
    torch.testing.assert_close(half.float(), sample(volume, grid), atol=3e-3, rtol=0)


def test_each_motion_is_that_of_its_keypoint_and_the_first_is_none() -> None:
    grid, source, driven = places(torch.zeros(1, 1, 2, 3, 4)), noise(2, 21, 3), noise(2, 21, 3).flip(0)
    got = motions(grid, source, driven)
    assert got.shape == (2, MOTIONS, 2, 3, 4, 3)
    assert torch.equal(got[:, 0], grid.expand(2, *grid.shape))
    torch.testing.assert_close(got[1, 5], grid - driven[1, 4] + source[1, 4])


def test_a_blob_is_one_at_its_keypoint_and_falls_off_with_distance() -> None:
    grid = places(torch.zeros(1, 1, 1 + 2, 5, 9))
    got = blobs(grid, grid[1, 2, 6].expand(1, 21, 3))
    assert got[0, 3, 1, 2, 6] == 1
    assert got[0, 3, 1, 2, 7].item() == pytest.approx(torch.exp(torch.tensor(-(0.25**2) / 0.02)).item())


def test_halving_takes_the_mean_of_four_cells_and_leaves_depth() -> None:
    volume = noise(2, 3, 4, 8, 6)
    torch.testing.assert_close(halved(volume), nn.functional.avg_pool3d(volume, (1, 2, 2)))


def test_shares_add_up_to_one_and_occlusion_is_a_share() -> None:
    got = flow(noise(2, 21, 3, scale=0.3), noise(2, 21, 3, scale=0.3).flip(0))
    assert got.mask.shape == (2, MOTIONS, 4, 8, 8)
    torch.testing.assert_close(got.mask.sum(1), torch.ones(2, 4, 8, 8))
    assert got.occlusion.shape == (2, 1, 8, 8)
    assert got.occlusion.min() > 0
    assert got.occlusion.max() < 1


def test_keypoints_that_stay_leave_every_cell_in_its_place() -> None:
    source = noise(2, 21, 3, scale=0.3)
    got = flow(source, source)
    expected = places(torch.zeros(1, 1, 4, 8, 8)).expand(2, 4, 8, 8, 3)
    torch.testing.assert_close(got.deformation, expected, atol=1e-5, rtol=0)


def test_keypoints_that_all_move_alike_move_cells_by_no_more() -> None:
    source = noise(2, 21, 3, scale=0.3)
    got = flow(source, source + torch.tensor([0.1, 0.0, 0.0]))
    shift = places(torch.zeros(1, 1, 4, 8, 8)) - got.deformation
    torch.testing.assert_close(shift[..., 0], 0.1 * (1 - got.mask[:, 0]), atol=1e-6, rtol=0)
    assert shift[..., 1:].abs().max() < 1e-6


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_coordinates_and_shares_stay_float32(dtype: torch.dtype) -> None:
    source = noise(1, 21, 3, scale=0.3)
    got = network().to(dtype)(noise(1, 4, 4, 8, 8).to(dtype), source, source.flip(1))
    assert (got.deformation.dtype, got.mask.dtype, got.occlusion.dtype) == (
        torch.float32,
        torch.float32,
        dtype,
    )


def test_an_hourglass_keeps_size_and_depth() -> None:
    assert Hourglass(SIZE).eval()(noise(1, SIZE.inputs, 3, 8, 12)).shape == (1, SIZE.outputs, 3, 8, 12)
    assert (DenseMotionSize().inputs, DenseMotionSize().outputs) == (110, 142)
