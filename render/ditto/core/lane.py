"""How work runs beside what is drawn: on a stream of its own, or on the CPU as it is called for."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final, Protocol

import torch
from torch import Tensor

FIRST: Final = -1
"""Of the priorities of streams: small kernels find their place between large ones."""


class Lane(Protocol):
    """Where work goes that need not wait for what is drawn, nor hold it up."""

    def __call__(self, *, after: bool = True) -> AbstractContextManager[None]:
        """What is called for within comes after all that was called for before in the lane, and `after` all
        that was called for outside too."""
        ...

    def join(self) -> None:
        """What is called for from here on comes after all that was called for in the lane."""
        ...

    def lend(self, tensor: Tensor) -> Tensor:
        """`tensor`, made in the lane, for use outside: its memory is not used again before that is over."""
        ...


class PlainLane:
    """On the CPU."""

    def __call__(self, *, after: bool = True) -> AbstractContextManager[None]:
        return nullcontext()

    def join(self) -> None:
        pass

    def lend(self, tensor: Tensor) -> Tensor:
        return tensor


class CudaLane:
    """On a GPU, whose current stream is where everything else is."""

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device, priority=FIRST)
        self._index = self._stream.device.index
        """By number torch finds the current stream in a third of the time."""
        self._end = torch.cuda.Event()

    @contextmanager
    def __call__(self, *, after: bool = True) -> Generator[None]:
        outside = torch.cuda.current_stream(self._index)
        if after:
            self._stream.wait_stream(outside)
        torch.cuda.set_stream(self._stream)
        try:
            yield
        finally:
            torch.cuda.set_stream(outside)

    def join(self) -> None:
        self._end.record(self._stream)
        torch.cuda.current_stream(self._index).wait_event(self._end)

    def lend(self, tensor: Tensor) -> Tensor:
        tensor.record_stream(torch.cuda.current_stream(self._index))
        return tensor


def lane_for(device: torch.device) -> Lane:
    return CudaLane(device) if device.type == "cuda" else PlainLane()
