"""Order on a GPU is tried with streams that only note what they are told."""

import pytest
import torch
from visavis.render.ditto.core import lane
from visavis.render.ditto.core.lane import CudaLane, PlainLane, lane_for

GPU = torch.device("cuda")
LOG: list[str] = []


class FakeStream:
    def __init__(self, device: object = None, *, priority: int = 0, name: str = "lane") -> None:
        self.name, self.priority, self.device = name, priority, torch.device("cuda", 0)

    def wait_stream(self, other: "FakeStream") -> None:
        LOG.append(f"{self.name} waits for {other.name}")

    def wait_event(self, event: "FakeEvent") -> None:
        LOG.append(f"{self.name} waits for {event.at}")


class FakeEvent:
    at = "nothing"

    def record(self, stream: FakeStream) -> None:
        self.at = stream.name


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> CudaLane:
    drawing = FakeStream(name="drawing")

    monkeypatch.setattr(torch.cuda, "Stream", FakeStream)
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "set_stream", lambda stream: LOG.append(f"on {stream.name}"))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: drawing)
    LOG.clear()
    return CudaLane(GPU)


def test_work_in_the_lane_comes_after_what_is_drawn_only_where_that_is_wanted(cuda: CudaLane) -> None:
    with cuda():
        pass
    assert LOG == ["lane waits for drawing", "on lane", "on drawing"]
    LOG.clear()
    with cuda(after=False):
        pass
    assert LOG == ["on lane", "on drawing"]


def test_what_fails_in_the_lane_leaves_it(cuda: CudaLane) -> None:
    with pytest.raises(ValueError, match="in vain"), cuda(after=False):
        raise ValueError("in vain")
    assert LOG == ["on lane", "on drawing"]


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
