"""Order on a GPU is tried with streams that only note what they are told, and with real ones if any."""

import pytest
import torch
from visavis.render.ditto.core.transfers import CudaTransfers, PlainTransfers, transfers_for

CPU = torch.device("cpu")
LOG: list[tuple[str, str, object]] = []


class FakeStream:
    def __init__(self, device: object = None, name: str = "copies") -> None:
        self.name, self.device = name, torch.device("cuda", 0)

    def wait_event(self, event: "FakeEvent") -> None:
        LOG.append((self.name, "waits for", event.number))


class FakeEvent:
    made = 0
    is_over = False

    def __init__(self, *, blocking: bool = False) -> None:
        self.number, self.blocking = FakeEvent.made, blocking
        FakeEvent.made += 1

    def query(self) -> bool:
        return self.is_over

    def record(self, stream: FakeStream) -> None:
        LOG.append((stream.name, "reaches", self.number))

    def synchronize(self) -> None:
        LOG.append(("host", "waits for", self.number))


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> CudaTransfers:
    def on(stream: FakeStream) -> None:
        LOG.append((stream.name, "is current", None))

    LOG.clear()
    FakeEvent.made = 0
    drawing = FakeStream(name="drawing")
    monkeypatch.setattr(torch.cuda, "Stream", FakeStream)
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "set_stream", on)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: drawing)
    return CudaTransfers(CPU)


def test_copies_follow_what_has_been_drawn(cuda: CudaTransfers) -> None:
    with cuda.beside():
        pass
    assert LOG[:2] == [("drawing", "reaches", 0), ("copies", "waits for", 0)]


def test_copies_run_on_their_own_stream_and_marks_are_set_there(cuda: CudaTransfers) -> None:
    mark, out = cuda.mark(), torch.zeros(4, dtype=torch.uint8)
    with cuda.beside():
        cuda.copy(torch.ones(4, dtype=torch.uint8), out)
        cuda.set(mark)
    assert out.tolist() == [1] * 4
    assert LOG[2:] == [
        ("copies", "is current", None),
        ("copies", "reaches", 1),
        ("drawing", "is current", None),
    ]


def test_the_drawing_stream_waits_for_a_mark_and_the_host_does_not(cuda: CudaTransfers) -> None:
    cuda.keep(cuda.mark())
    assert LOG == [("drawing", "waits for", 1)]


def test_nothing_waits_for_a_mark_that_is_over(cuda: CudaTransfers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeEvent, "is_over", True)
    cuda.keep(cuda.mark())
    assert LOG == []


def test_the_host_sleeps_while_it_waits_for_a_mark(cuda: CudaTransfers) -> None:
    mark = cuda.mark()
    mark.wait()
    assert LOG == [("host", "waits for", 1)]
    assert mark.event.blocking  # type: ignore[attr-defined]


def test_marks_of_other_transfers_are_a_mistake(cuda: CudaTransfers) -> None:
    for use in (cuda.set, cuda.keep):
        with pytest.raises(AssertionError, match="other transfers"):
            use(PlainTransfers().mark())


def test_on_the_cpu_a_copy_is_there_when_it_was_asked_for() -> None:
    plain = transfers_for(CPU)
    assert isinstance(plain, PlainTransfers)
    out, mark = plain.host(3), plain.mark()
    with plain.beside():
        plain.copy(torch.tensor([1, 2, 3], dtype=torch.uint8), out)
    for use in (plain.set, plain.keep):
        use(mark)
    mark.wait()
    assert out.tolist() == [1, 2, 3]


def test_a_gpu_gets_its_own_stream(cuda: CudaTransfers) -> None:
    assert isinstance(transfers_for(torch.device("cuda", 0)), CudaTransfers)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_on_a_real_gpu_what_was_drawn_arrives() -> None:
    real = transfers_for(torch.device("cuda", 0))
    out, mark = real.host(1 << 20), real.mark()
    assert out.is_pinned()
    drawn = torch.zeros(1 << 20, dtype=torch.uint8, device=real.device)
    for level in range(1, 9):
        drawn.fill_(level)
        with real.beside():
            real.copy(drawn, out)
            real.set(mark)
        real.keep(mark)
    mark.wait()
    assert (out == 8).all()
