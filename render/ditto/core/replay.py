"""A function of tensors that stay where they are: captured once for each size of batch, and replayed.

What it reads and writes is allocated before and never again, so a replay needs nothing of the host but one
launch. Where there is no GPU the function is simply called.
"""

import gc
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import torch

BUCKETS: Final = (1, 2, 3, 4, 8, 16)
"""Batches that are captured; what lies between runs as the next larger one."""


class Replay:
    """`function(count)` for a batch of `count`. Rows of a batch beyond those asked for are computed too."""

    def __init__(
        self,
        function: Callable[[int], None],
        device: torch.device,
        *,
        buckets: Sequence[int] = BUCKETS,
        priority: int = 0,
        pool: torch.cuda.MemPool | None = None,
        eager: bool = False,
    ) -> None:
        """On a GPU kernels run with the `priority` of streams, lower ones first, and what they need comes
        from `pool`, by default one of their own; `eager` is called there too, and never captured."""
        self._function, self._device = function, device
        self._captures = device.type == "cuda" and not eager
        self._buckets = sorted(buckets)
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}
        self._pool = pool
        """Lives as long as the graphs."""
        self._pool_id: tuple[int, int] | None = pool.id if pool else None
        self._beside = torch.cuda.Stream(device, priority=priority) if device.type == "cuda" else None
        """Where it is captured."""

    def capture(self) -> None:
        """Every bucket, the largest first, so that the smaller ones find room in what it took."""
        if self._captures:
            with _uncollected():
                for bucket in reversed(self._buckets):
                    if bucket not in self._graphs:
                        self._graphs[bucket] = self._captured(bucket)
            # What ran outside the graphs has left memory behind.
            torch.cuda.empty_cache()

    def parts(self, count: int) -> Iterator[slice]:
        """`count` rows in as few runs as need no row more: whole buckets, the smallest first, since until one
        has come the device has nothing to do."""
        sizes, left = list[int](), count
        for bucket in reversed(self._buckets):
            sizes += [bucket] * (left // bucket)
            left %= bucket
        first = 0
        for size in reversed(sizes):
            yield slice(first, first + size)
            first += size

    def __call__(self, count: int) -> None:
        """Run for `count` rows at least. Raises ValueError for more than the largest bucket."""
        bucket = self.bucket(count)
        if not self._captures:
            self._function(count)
        elif bucket in self._graphs:
            self._graphs[bucket].replay()
        else:
            # The run before the capture has done what was asked.
            with _uncollected():
                self._graphs[bucket] = self._captured(bucket)

    def bucket(self, count: int) -> int:
        """The batch that `count` rows run in."""
        for bucket in self._buckets:
            if count <= bucket:
                return bucket
        raise ValueError(f"{count} rows are more than the largest batch of {self._buckets[-1]}")

    def _captured(self, bucket: int) -> torch.cuda.CUDAGraph:
        """After one run outside, in which kernels are compiled."""
        beside = self._beside
        assert beside is not None, "there are graphs on a GPU alone"
        beside.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(beside):
            self._function(bucket)
        torch.cuda.current_stream(self._device).wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        # As torch.cuda.graph does, which in some versions collects garbage each time.
        with _own_workspace(self._device), torch.cuda.stream(beside):
            graph.capture_begin(pool=self._pool_id)  # pyright: ignore[reportArgumentType]
            try:
                self._function(bucket)
            finally:
                graph.capture_end()
        self._pool_id = graph.pool()
        return graph


@contextmanager
def _uncollected() -> Generator[None]:
    """Nothing is collected in a capture: what would be destroyed may hold memory of the device."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def _own_workspace(device: torch.device) -> Generator[None]:
    """cuBLAS keeps room to work in for each stream, whose address a graph remembers. What is captured within
    takes its own, in the graph's memory, and leaves it to no other."""
    torch.cuda.synchronize(device)
    torch.cuda.empty_cache()
    _clear_workspaces()
    try:
        yield
    finally:
        _clear_workspaces()


def _clear_workspaces() -> None:
    torch._C._cuda_clearCublasWorkspaces()  # pyright: ignore[reportPrivateUsage]
