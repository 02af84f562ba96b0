import gc
from collections.abc import Generator
from contextlib import contextmanager

import pytest
import torch
from visavis.render.ditto.core.replay import BUCKETS, Replay

CPU = torch.device("cpu")


def test_without_a_gpu_the_function_is_called_for_just_what_is_asked() -> None:
    counts: list[int] = []
    replay = Replay(counts.append, CPU)
    replay.capture()
    replay(3)
    replay(16)
    assert counts == [3, 16]


def test_what_lies_between_two_batches_runs_as_the_larger() -> None:
    replay = Replay(lambda _: None, CPU, buckets=(4, 1, 2))
    assert [replay.bucket(count) for count in (1, 2, 3, 4)] == [1, 2, 4, 4]
    assert BUCKETS[-1] == 16


def test_more_than_the_largest_batch_is_refused() -> None:
    counts: list[int] = []
    with pytest.raises(ValueError, match="17 rows are more than the largest batch of 16"):
        Replay(counts.append, CPU)(17)
    assert counts == []


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (1, [1]), (7, [1, 2, 4]), (8, [8]), (13, [1, 4, 8]), (21, [1, 4, 8, 8])]
)
def test_rows_run_in_whole_buckets_the_smallest_first(count: int, sizes: list[int]) -> None:
    parts = list(Replay(lambda _: None, CPU, buckets=(1, 2, 4, 8)).parts(count))
    assert [part.stop - part.start for part in parts] == sizes
    assert [row for part in parts for row in range(part.start, part.stop)] == list(range(count))


class FakeStream:
    def __init__(self, device: object = None, *, priority: int = 0) -> None:
        self.priority = priority

    def wait_stream(self, other: object) -> None:
        pass


class FakeGraph:
    def capture_begin(self, pool: str | None) -> None:
        LOG.append(f"capture in {pool}, priority {CURRENT[-1].priority}")

    def capture_end(self) -> None:
        LOG.append("captured")

    def pool(self) -> str:
        return "pool"

    def replay(self) -> None:
        LOG.append("replay")


LOG: list[str] = []
CURRENT: list[FakeStream] = []


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Replay:
    """On a GPU that only notes what is asked of it."""

    @contextmanager
    def on(stream: FakeStream) -> Generator[None]:
        CURRENT.append(stream)
        yield
        CURRENT.pop()

    monkeypatch.setattr(torch.cuda, "Stream", FakeStream)
    monkeypatch.setattr(torch.cuda, "stream", on)
    monkeypatch.setattr(torch.cuda, "current_stream", FakeStream)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", FakeGraph)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda _device: LOG.append("wait"))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: LOG.append("empty"))
    monkeypatch.setattr(torch._C, "_cuda_clearCublasWorkspaces", lambda: LOG.append("clear"), raising=False)
    LOG.clear()
    return Replay(lambda count: LOG.append(f"run {count}"), torch.device("cuda"), buckets=(1, 2), priority=-1)


def test_each_batch_is_captured_once_the_largest_first_with_room_of_its_own(replay: Replay) -> None:
    replay.capture()
    expected = [
        step
        for count, pool in ((2, None), (1, "pool"))
        for step in (
            *(f"run {count}", "wait", "empty", "clear"),
            *(f"capture in {pool}, priority -1", f"run {count}", "captured", "clear"),
        )
    ]
    assert LOG[:-1] == expected
    assert LOG[-1] == "empty"
    LOG.clear()
    replay.capture()
    replay(2)
    assert LOG == ["empty", "replay"]


def test_a_capture_that_fails_is_ended_and_collecting_goes_on(replay: Replay) -> None:
    def fail(count: int) -> None:
        LOG.append(f"run {count}")
        if "captured" not in LOG and any("capture in" in one for one in LOG):
            raise RuntimeError("no such kernel")

    replay._function = fail
    with pytest.raises(RuntimeError, match="no such kernel"):
        replay.capture()
    assert LOG[-2:] == ["captured", "clear"]
    assert gc.isenabled()


def test_what_was_not_captured_is_run_and_captured_when_it_comes(replay: Replay) -> None:
    replay(1)
    assert LOG[0] == "run 1"
    replay(1)
    assert LOG[-1] == "replay"
