"""A card's memory given back while nobody needs it: most of it at once, or all of it by the driver's own
checkpoint of this process.

What lies on the card is kept in the host's memory, and comes back to where it lay: graphs, pinned memory and
compiled kernels stay good. A process that is parked has nothing on any card, not even a context, and must not
use one.
"""

import ctypes
import os
from collections.abc import Callable
from typing import Any, Final, Protocol

import torch

from ...stream.errors import DeviceError
from .core.memory import STAYS, Memory

_LIBRARY: Final = "libcuda.so.1"
_CALLS: Final = ("Lock", "Checkpoint", "Restore", "Unlock")
_LOCK_MS: Final = 2000
"""How long work under way may take to end, before nothing is parked."""


class Parking(Protocol):
    """A process may be parked, and must be fetched before its device is used again."""

    @property
    def is_able(self) -> bool:
        """Whether there is a device, and a driver that can."""
        ...

    def offload(self) -> None:
        """Give back what comes back at once, where there is such."""
        ...

    def park(self) -> bool:
        """Give all of the device's memory back. False where that cannot be."""
        ...

    def fetch(self) -> None:
        """Have it all back; nothing where nothing is parked. Raises DeviceError."""
        ...


class NoParking:
    """Where there is no card."""

    is_able = False

    def offload(self) -> None:
        pass

    def park(self) -> bool:
        return False

    def fetch(self) -> None:
        pass


class _LockArguments(ctypes.Structure):
    _fields_ = (("timeout_ms", ctypes.c_uint), ("reserved", ctypes.c_byte * 60))


class CudaParking:
    """By the driver's cuCheckpointProcess calls, which it has since 570."""

    def __init__(self, calls: dict[str, Callable[..., int]] | None = None, memory: Memory = STAYS) -> None:
        """`calls` by name take a process and its arguments, and give 0 for success. `memory` leaves first,
        since a checkpoint takes thrice as long for it."""
        self._calls = _driver_calls() if calls is None else calls
        self._memory = memory
        self._is_parked = False

    @property
    def is_able(self) -> bool:
        return set(self._calls) == set(_CALLS)

    def offload(self) -> None:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        self._memory.leave()

    def park(self) -> bool:
        if self._is_parked or not self.is_able:
            return self._is_parked
        self.offload()
        if self._call("Lock", ctypes.byref(_LockArguments(_LOCK_MS))):
            return False
        if self._call("Checkpoint"):
            self._call("Unlock")
            return False
        self._is_parked = True
        return True

    def fetch(self) -> None:
        if self._is_parked:
            if (failed := self._call("Restore")) or (failed := self._call("Unlock")):
                raise DeviceError(f"the GPU cannot be had back (driver error {failed})")
            self._is_parked = False
        self._memory.come_back()

    def _call(self, name: str, arguments: Any = None) -> int:
        return self._calls[name](os.getpid(), arguments)


def parking_for(device: torch.device, memory: Memory) -> Parking:
    return CudaParking(memory=memory) if device.type == "cuda" else NoParking()


def _driver_calls() -> dict[str, Callable[..., int]]:
    """Those that this machine's driver has."""
    try:
        driver = ctypes.CDLL(_LIBRARY)
    except OSError:
        return {}
    return {name: call for name in _CALLS if (call := getattr(driver, f"cuCheckpointProcess{name}", None))}
