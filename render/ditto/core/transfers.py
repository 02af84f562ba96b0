"""How copies run beside what is drawn: on a stream of their own, or on the CPU as they are called for."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import Tensor

from .surfaces import Mark, Transfers


class _Done:
    def wait(self) -> None:
        """On the CPU everything is over when it was called for."""


class PlainTransfers:
    """On the CPU."""

    device = torch.device("cpu")

    def host(self, count: int) -> Tensor:
        return torch.zeros(count, dtype=torch.uint8)

    def mark(self) -> Mark:
        return _Done()

    def beside(self) -> AbstractContextManager[None]:
        return nullcontext()

    def copy(self, source: Tensor, out: Tensor) -> None:
        out.copy_(source)

    def set(self, mark: Mark) -> None:
        pass

    def keep(self, mark: Mark) -> None:
        pass


@dataclass(frozen=True, slots=True)
class _Event:
    """An event on a stream. Whoever waits sleeps."""

    event: torch.cuda.Event = field(default_factory=lambda: torch.cuda.Event(blocking=True))

    def wait(self) -> None:
        self.event.synchronize()


class CudaTransfers:
    """On a GPU: what is drawn is on the current stream."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._copies = torch.cuda.Stream(device)
        self._index = self._copies.device.index
        self._drawn = torch.cuda.Event()

    def host(self, count: int) -> Tensor:
        return torch.empty(count, dtype=torch.uint8, pin_memory=True)

    def mark(self) -> Mark:
        return _Event()

    @contextmanager
    def beside(self) -> Generator[None]:
        drawing = torch.cuda.current_stream(self._index)
        self._drawn.record(drawing)
        self._copies.wait_event(self._drawn)
        torch.cuda.set_stream(self._copies)
        try:
            yield
        finally:
            torch.cuda.set_stream(drawing)

    def copy(self, source: Tensor, out: Tensor) -> None:
        out.copy_(source, non_blocking=True)

    def set(self, mark: Mark) -> None:
        assert isinstance(mark, _Event), "marks of other transfers mean nothing here"
        mark.event.record(self._copies)

    def keep(self, mark: Mark) -> None:
        assert isinstance(mark, _Event), "marks of other transfers mean nothing here"
        # It was set two pictures ago: mostly it is over, and to ask is less than to wait.
        if not mark.event.query():
            torch.cuda.current_stream(self._index).wait_event(mark.event)


def transfers_for(device: torch.device) -> Transfers:
    return CudaTransfers(device) if device.type == "cuda" else PlainTransfers()
