"""An audio encoder whose windows all have one length: a network on a device, on a GPU one replay a batch."""

from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor

from .core.lane import FIRST
from .core.mirror import sent
from .core.replay import BUCKETS, Replay
from .features import WIDTH, rows_of

MOST: Final = max(BUCKETS)
"""Windows of a run; more are heard in several."""


class CapturedEncoder:
    """An `AudioEncoder`. Windows lie with the host or on the device; rows stay there, and nothing waits."""

    def __init__(
        self,
        network: Callable[[Tensor], Tensor],
        device: torch.device,
        *,
        samples: int,
        most: int = MOST,
        rows: tuple[int, int] | None = None,
        eager: bool = False,
    ) -> None:
        """`network` takes up to `most` windows (B, `samples`) float32 on `device`, and gives `rows` of each:
        as many as HuBERT and as wide, unless told otherwise. `eager` as `Replay` takes it."""
        self._network = network
        self._samples = torch.zeros(most, samples, device=device)
        self._rows = torch.zeros(most, *(rows or (rows_of(samples), WIDTH)), device=device)
        buckets = [one for one in BUCKETS if one < most]
        self._replay = Replay(self._encode, device, buckets=[*buckets, most], priority=FIRST, eager=eager)
        self._replay.capture()

    def __call__(self, samples: Tensor) -> Tensor:
        """Raises ValueError for windows of another length."""
        most, length = self._samples.shape
        if samples.ndim != 2 or samples.shape[1] != length:
            raise ValueError(f"windows are (B, {length}) samples here, not {tuple(samples.shape)}")
        heard = sent(samples, self._samples.device)
        parts = [self._some(heard[first : first + most]) for first in range(0, len(heard), most)]
        return parts[0] if len(parts) == 1 else torch.cat([self._rows[:0], *parts])

    def _some(self, heard: Tensor) -> Tensor:
        count = len(heard)
        self._samples[:count] = heard
        self._replay(count)
        return self._rows[:count].clone()

    @torch.no_grad()
    def _encode(self, count: int) -> None:
        self._rows[:count] = self._network(self._samples[:count])
