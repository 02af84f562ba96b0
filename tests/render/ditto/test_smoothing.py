import pytest
import torch
from visavis.render.ditto.smoothing import VIDEO_FRAMES, moving_mean


def by_hand(rows: torch.Tensor, frames: int) -> torch.Tensor:
    reach = frames // 2
    return torch.stack([rows[max(0, i - reach) : i + reach + 1].mean(0) for i in range(len(rows))])


@pytest.mark.parametrize("length", [2, 5, 13, 40])
@pytest.mark.parametrize("frames", [2, 3, VIDEO_FRAMES])
def test_each_row_is_the_mean_of_those_around_it_and_ends_are_cut(length: int, frames: int) -> None:
    rows = torch.randn(length, 7, generator=torch.Generator().manual_seed(length))
    assert torch.allclose(moving_mean(rows, frames), by_hand(rows, frames), atol=1e-6)


def test_nothing_changes_without_neighbours() -> None:
    rows = torch.randn(9, 3)
    assert torch.equal(moving_mean(rows, 1), rows)
    assert torch.equal(moving_mean(rows[:1], VIDEO_FRAMES), rows[:1])


def test_slots_are_smoothed_apart() -> None:
    rows = torch.randn(3, 20, 5, generator=torch.Generator().manual_seed(0))
    whole = moving_mean(rows, 13)
    assert torch.equal(whole[[2, 0, 1]], moving_mean(rows[[2, 0, 1]], 13))
    assert torch.equal(whole[1], moving_mean(rows[1], 13))
