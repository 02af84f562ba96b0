"""Chunks of any size in, equal windows out."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


class Windower:
    """Yields (window,) float32 windows that start `hop` samples apart, the first one `pad` samples before
    the start.

    What comes before the start is zeros. The windows depend on the samples alone, never on how they were cut.
    """

    def __init__(self, *, window: int, hop: int, pad: int = 0) -> None:
        if not 1 <= hop <= window or pad < 0:
            raise ValueError(f"windows need 1 <= hop <= window and pad >= 0, not {window}, {hop}, {pad}")
        self._window = window
        self._hop = hop
        self._pad = pad
        self._held = np.zeros(pad, np.float32)

    def feed(self, samples: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
        """The windows that (N,) `samples` complete."""
        self._held = np.concatenate([self._held, samples])
        while len(self._held) >= self._window:
            yield self._held[: self._window].copy()
            self._held = self._held[self._hop :]

    def reset(self) -> None:
        """Back to the start."""
        self._held = np.zeros(self._pad, np.float32)
