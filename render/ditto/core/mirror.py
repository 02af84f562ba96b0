"""What the host tells the device each tick: many small tensors that travel as one.

The host writes its own copy whenever it likes. `send` brings all of it to the device in the order of the
stream's work, and waits for nothing but an earlier send.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Final, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

ALIGNED: Final = 16
RING: Final = 8
TensorsT = TypeVar("TensorsT")


class Mirror:
    """`host` and `device`, tensors by name. Without a GPU they are the same."""

    def __init__(self, layout: Mapping[str, Tensor], device: torch.device, *, ahead: int = RING) -> None:
        """Tensors of the shapes and dtypes of `layout`, and its values. The host is at most `ahead` sends
        ahead of the device."""
        size = sum(_room(one) for one in layout.values())
        self._flat = torch.zeros(size, dtype=torch.uint8)
        self.host = _views(self._flat, layout)
        for name, value in layout.items():
            self.host[name].copy_(value)
        if device.type == "cpu":
            self._there, self.device = self._flat, self.host
            return
        self._there = torch.zeros(size, dtype=torch.uint8, device=device)
        self.device = _views(self._there, layout)
        self._pinned = [torch.zeros(size, dtype=torch.uint8, pin_memory=True) for _ in range(ahead)]
        self._sent = [torch.cuda.Event(blocking=True) for _ in range(ahead)]
        self._index = self._there.device.index
        self._turn = 0
        self.send()

    @property
    def nbytes(self) -> int:
        """Of memory on the device."""
        return self._there.numel()

    def send(self) -> None:
        """What the host has now is what the device's next work reads."""
        if self._there is self._flat:
            return
        turn = self._turn
        self._sent[turn].synchronize()
        self._pinned[turn].copy_(self._flat)
        self._there.copy_(self._pinned[turn], non_blocking=True)
        self._sent[turn].record(torch.cuda.current_stream(self._index))
        self._turn = (turn + 1) % len(self._sent)


def sent(values: Tensor | NDArray[np.generic], device: torch.device) -> Tensor:
    """`values` of the host on `device`, in the order of the stream's work and without waiting for it."""
    host = values if isinstance(values, Tensor) else torch.from_numpy(values)
    if device.type != "cuda" or host.device.type != "cpu":
        return host.to(device)
    return host.pin_memory().to(device, non_blocking=True)


def named(tensors: object, prefix: str) -> dict[str, Tensor]:
    """The fields of a dataclass of tensors, each with `prefix` before its name."""
    return {prefix + one.name: getattr(tensors, one.name) for one in fields(cast("type", tensors))}


def gathered(kind: type[TensorsT], tensors: Mapping[str, Tensor], prefix: str) -> TensorsT:
    """The dataclass `kind` of those tensors."""
    return kind(**{one.name: tensors[prefix + one.name] for one in fields(cast("type", kind))})


def _room(tensor: Tensor) -> int:
    return -(-tensor.nbytes // ALIGNED) * ALIGNED


def _views(flat: Tensor, layout: Mapping[str, Tensor]) -> dict[str, Tensor]:
    found, start = dict[str, Tensor](), 0
    for name, one in layout.items():
        found[name] = flat[start : start + one.nbytes].view(one.dtype).view(one.shape)
        start += _room(one)
    return found
