"""A card's memory that can leave it for the host's and come back to where it lay, so that graphs stay good.

torch takes it through pools of its own. Addresses are reserved once; what lies behind them is given back to
the driver, and taken anew. What is kept waits in pinned memory of the host; scratch memory, which graphs
write before they read it, comes back as it happens to be.
"""

import atexit
import ctypes
import logging
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final, Protocol

import torch
from torch import Tensor

from ....stream.errors import DeviceError
from .driver import CudaDriver, Driver

_LOG = logging.getLogger(__name__)


class Memory(Protocol):
    """Where weights and the insides of graphs lie."""

    def kept(self) -> AbstractContextManager[None]:
        """What this thread allocates within can leave, and comes back as it was. Capture nothing within."""
        ...

    def scratch(self) -> torch.cuda.MemPool | None:
        """A pool for the insides of graphs, which can leave; None for memory that stays."""
        ...

    def leave(self) -> bool:
        """Give all of it back, until `come_back`. False where that cannot be."""
        ...

    def come_back(self) -> None:
        """Nothing where nothing has left. Raises DeviceError."""
        ...


class StayingMemory:
    """Where there is no card, or none that can."""

    def kept(self) -> AbstractContextManager[None]:
        return nullcontext()

    def scratch(self) -> None:
        return None

    def leave(self) -> bool:
        return False

    def come_back(self) -> None:
        pass


STAYS: Final = StayingMemory()


@dataclass(slots=True)
class _Segment:
    """`size` bytes at `address`; `handle` is what lies there, None while it is away, and `saved` where in the
    host's memory it waits."""

    address: int
    size: int
    keeps: bool
    handle: int | None = None
    saved: int = 0


class Segments:
    """All that torch was given, by address."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._all: dict[int, _Segment] = {}
        self._host: Tensor | None = None
        self._is_over = False
        # Afterwards nothing works any more, and the driver takes it all back.
        atexit.register(self._end)

    @property
    def nbytes(self) -> int:
        """Of the card, now."""
        return sum(one.size for one in self._all.values() if one.handle is not None)

    def take(self, size: int, *, keeps: bool) -> int:
        """The address of `size` bytes, or some more. Raises DeviceError."""
        size = -(-size // self._driver.grain) * self._driver.grain
        address = self._driver.reserve(size)
        try:
            handle = self._driver.back(address, size)
        except DeviceError:
            self._driver.release(address, size)
            raise
        self._all[address] = _Segment(address, size, keeps, handle)
        return address

    def give(self, address: int) -> None:
        """It is not needed any more."""
        if self._is_over:
            return
        one = self._all.pop(address)
        if one.handle is not None:
            self._driver.strip(address, one.size, one.handle)
        self._driver.release(address, one.size)

    def leave(self) -> None:
        """To the host, whose memory for it stays for the next time. Raises DeviceError when it has none."""
        needed = sum(one.size for one in self._all.values() if one.keeps)
        if self._host is None or self._host.numel() < needed:
            self._host = _pinned(needed)
        place = self._host.data_ptr()
        for one in self._all.values():
            if one.keeps:
                one.saved = place
                self._driver.save(one.saved, one.address, one.size)
                place += one.size
        self._driver.join()
        for one in self._all.values():
            if one.handle is not None:
                self._driver.strip(one.address, one.size, one.handle)
                one.handle = None

    def come_back(self) -> None:
        """Raises DeviceError when the card has no room for it: then all of it is lost."""
        away = [one for one in self._all.values() if one.handle is None]
        for one in away:
            one.handle = self._driver.back(one.address, one.size)
            if one.keeps:
                self._driver.restore(one.address, one.saved, one.size)
        self._driver.join()

    def _end(self) -> None:
        self._is_over = True


class CardMemory:
    """Of one card."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments
        self._kept = _pool(segments, keeps=True)
        self._is_away = False

    def kept(self) -> AbstractContextManager[None]:
        return torch.cuda.use_mem_pool(self._kept)

    def scratch(self) -> torch.cuda.MemPool:
        return _pool(self._segments, keeps=False)

    def leave(self) -> bool:
        if not self._is_away:
            torch.cuda.synchronize()
            try:
                self._segments.leave()
            except DeviceError as error:
                _LOG.warning("%s", error)
                return False
            self._is_away = True
        return True

    def come_back(self) -> None:
        if self._is_away:
            self._segments.come_back()
            self._is_away = False


def _pool(segments: Segments, *, keeps: bool) -> torch.cuda.MemPool:
    def take(size: int, _device: int, _stream: int | None) -> int | None:
        try:
            return segments.take(size, keeps=keeps)
        except DeviceError:
            # torch frees what it can, asks once more, and says that memory is out.
            return None

    def give(address: int, _size: int, _device: int, _stream: int | None) -> None:
        segments.give(address)

    called = _TAKE(take), _GIVE(give)
    places = (ctypes.cast(one, ctypes.c_void_p).value for one in called)
    allocator = torch._C._cuda_customAllocator(*places)  # pyright: ignore
    for one in (*called, allocator):
        # torch knows only where they lie, and may call them when all of Python is being cleared away.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))
    return torch.cuda.MemPool(allocator)


_TAKE: Final = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
_GIVE: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)


def memory_for(device: torch.device) -> Memory:
    """That can leave, where there is a card whose driver can do it."""
    if device.type != "cuda":
        return STAYS
    torch.cuda.init()
    torch.zeros(1, device=device)
    try:
        return CardMemory(Segments(CudaDriver(torch.cuda.current_device())))
    except (OSError, AttributeError, DeviceError) as error:
        _LOG.info("memory of this GPU cannot leave it: %s", error)
        return STAYS


def _pinned(count: int) -> Tensor:
    try:
        return torch.empty(count, dtype=torch.uint8, pin_memory=True)
    except RuntimeError as error:
        raise DeviceError(f"this machine has no memory for {count >> 20} MB of a GPU's") from error
