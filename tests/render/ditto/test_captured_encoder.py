import pytest
import torch
from torch import Tensor
from visavis.render.ditto.captured_encoder import MOST, CapturedEncoder
from visavis.render.ditto.core.replay import BUCKETS
from visavis.render.ditto.features import WIDTH, rows_of

CPU = torch.device("cpu")


class Ear:
    """Rows that tell their window apart, and how many it was asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, windows: Tensor) -> Tensor:
        self.asked.append(len(windows))
        return windows[:, :3, None] * torch.ones(4)


def windows(count: int) -> Tensor:
    return torch.arange(count * 10.0).reshape(count, 10)


def encoder(ear: Ear, most: int = MOST) -> CapturedEncoder:
    return CapturedEncoder(ear, CPU, samples=10, most=most, rows=(3, 4))


def test_rows_are_those_of_the_windows() -> None:
    rows = encoder(Ear())(windows(3))
    assert torch.equal(rows, windows(3)[:, :3, None].expand(3, 3, 4))


def test_rows_are_the_callers_own() -> None:
    heard = encoder(Ear())
    before = heard(windows(2))
    kept = before.clone()
    heard(-windows(2))
    assert torch.equal(before, kept)


def test_more_windows_than_a_run_takes_are_heard_in_several() -> None:
    ear = Ear()
    rows = encoder(ear, most=4)(windows(10))
    assert ear.asked == [4, 4, 2]
    assert torch.equal(rows, windows(10)[:, :3, None].expand(10, 3, 4))


def test_no_windows_give_no_rows() -> None:
    assert encoder(Ear())(windows(0)).shape == (0, 3, 4)


def test_windows_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"windows are \(B, 10\) samples here, not \(2, 9\)"):
        encoder(Ear())(windows(2)[:, :9])


def test_rows_are_as_many_and_as_wide_as_huberts_unless_told() -> None:
    heard = CapturedEncoder(lambda one: torch.zeros(len(one), 20, WIDTH), CPU, samples=6480)
    assert heard(torch.zeros(1, 6480)).shape == (1, rows_of(6480), WIDTH)
    assert max(BUCKETS) == MOST


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_replays_without_waiting() -> None:
    device = torch.device("cuda")
    heard = CapturedEncoder(lambda one: one[:, :3, None] * one.new_ones(4), device, samples=10, rows=(3, 4))
    heard(windows(3))
    torch.cuda.set_sync_debug_mode("error")
    try:
        rows = [heard(windows(count)) for count in (1, 3, 20)]
    finally:
        torch.cuda.set_sync_debug_mode("default")
    for one in rows:
        assert torch.equal(one.cpu(), windows(len(one))[:, :3, None].expand(len(one), 3, 4))
