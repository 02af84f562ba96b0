"""Order on a GPU is tried with streams that only note what they are told."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
import torch
from visavis.render.ditto.core import lane
from visavis.render.ditto.core.lane import CudaLane, PlainLane, lane_for

GPU = torch.device("cuda")
LOG: list[str] = []


class FakeStream:
    def __init__(self, device: object = None, *, priority: int = 0, name: str = "lane") -> None:
        self.name, self.priority = name, priority

    def wait_stream(self, other: "FakeStream") -> None:
        LOG.append(f"{self.name} waits for {other.name}")


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> CudaLane:
    drawing = FakeStream(name="drawing")

    @contextmanager
    def on(stream: FakeStream) -> Generator[None]:
        LOG.append(f"{stream.name} begins")
        yield
        LOG.append(f"{stream.name} ends")

    monkeypatch.setattr(torch.cuda, "Stream", FakeStream)
    monkeypatch.setattr(torch.cuda, "stream", on)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: drawing)
    LOG.clear()
    return CudaLane(GPU)


def test_work_in_the_lane_comes_after_what_is_drawn_only_where_that_is_wanted(cuda: CudaLane) -> None:
    with cuda():
        pass
    assert LOG == ["lane waits for drawing", "lane begins", "lane ends"]
    LOG.clear()
    with cuda(after=False):
        pass
    assert LOG == ["lane begins", "lane ends"]


def test_what_is_drawn_next_waits_for_the_lane_and_the_host_does_not(cuda: CudaLane) -> None:
    cuda.join()
    assert LOG == ["drawing waits for lane"]


def test_memory_that_is_lent_stays_until_what_is_drawn_has_read_it(
    cuda: CudaLane, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_lent: torch.Tensor, stream: FakeStream) -> None:
        LOG.append(f"{stream.name} reads it")

    monkeypatch.setattr(torch.Tensor, "record_stream", read)
    lent = torch.ones(1)
    assert cuda.lend(lent) is lent
    assert LOG == ["drawing reads it"]


def test_small_kernels_of_the_lane_come_first(cuda: CudaLane) -> None:
    assert cuda._stream.priority == lane.FIRST < 0


def test_on_the_cpu_work_is_done_as_it_is_called_for() -> None:
    one = lane_for(torch.device("cpu"))
    assert isinstance(one, PlainLane)
    with one(after=False):
        found = torch.ones(1)
    one.join()
    assert one.lend(found) is found
    assert found.item() == 1
