"""The calls of NVIDIA's driver by which memory is put behind addresses and taken away again."""

import ctypes
from typing import Final, Protocol

from ....stream.errors import DeviceError

_LIBRARY: Final = "libcuda.so.1"
_PINNED, _ON_DEVICE, _READ_AND_WRITE = 1, 1, 3


class Driver(Protocol):
    """Addresses and what lies behind them. All sizes are whole multiples of `grain`. Raises DeviceError."""

    @property
    def grain(self) -> int:
        """Bytes that are the least to be had."""
        ...

    def reserve(self, size: int) -> int:
        """An address of `size` bytes that nobody else is given."""
        ...

    def release(self, address: int, size: int) -> None: ...

    def back(self, address: int, size: int) -> int:
        """Put memory behind `address`. What it is known by."""
        ...

    def strip(self, address: int, size: int, handle: int) -> None:
        """Give back what lies there."""
        ...

    def save(self, host: int, address: int, size: int) -> None:
        """Begin to copy to the address `host` of pinned memory; `join` is when it is over."""
        ...

    def restore(self, address: int, host: int, size: int) -> None:
        """Begin to copy back."""
        ...

    def join(self) -> None: ...


class _Location(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int), ("number", ctypes.c_int))


class _Wanted(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("exports", ctypes.c_int),
        ("location", _Location),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location", _Location), ("rights", ctypes.c_int))


class CudaDriver:
    """For one card, whose context exists."""

    def __init__(self, number: int) -> None:
        """Raises OSError where there is no driver, AttributeError where it is older than these calls."""
        cuda = ctypes.CDLL(_LIBRARY)
        self._reserve, self._free = cuda.cuMemAddressReserve, cuda.cuMemAddressFree
        self._create, self._release = cuda.cuMemCreate, cuda.cuMemRelease
        self._map, self._unmap, self._allow = cuda.cuMemMap, cuda.cuMemUnmap, cuda.cuMemSetAccess
        self._save, self._restore = cuda.cuMemcpyDtoHAsync_v2, cuda.cuMemcpyHtoDAsync_v2
        self._join = cuda.cuCtxSynchronize
        place = _Location(_ON_DEVICE, number)
        self._wanted = _Wanted(_PINNED, 0, place)
        self._access = _Access(place, _READ_AND_WRITE)
        grain = ctypes.c_size_t()
        _check(cuda.cuMemGetAllocationGranularity(ctypes.byref(grain), ctypes.byref(self._wanted), 0))
        self._grain = grain.value

    @property
    def grain(self) -> int:
        return self._grain

    def reserve(self, size: int) -> int:
        address = ctypes.c_ulonglong()
        _check(self._reserve(ctypes.byref(address), _size(size), _size(0), _at(0), _at(0)))
        return address.value

    def release(self, address: int, size: int) -> None:
        _check(self._free(_at(address), _size(size)))

    def back(self, address: int, size: int) -> int:
        handle = ctypes.c_ulonglong()
        _check(self._create(ctypes.byref(handle), _size(size), ctypes.byref(self._wanted), _at(0)))
        try:
            _check(self._map(_at(address), _size(size), _size(0), handle, _at(0)))
            _check(self._allow(_at(address), _size(size), ctypes.byref(self._access), _size(1)))
        except DeviceError:
            # What was mapped goes with it, once nobody has the address any more.
            self._unmap(_at(address), _size(size))
            self._release(handle)
            raise
        return handle.value

    def strip(self, address: int, size: int, handle: int) -> None:
        _check(self._unmap(_at(address), _size(size)))
        _check(self._release(_at(handle)))

    def save(self, host: int, address: int, size: int) -> None:
        _check(self._save(ctypes.c_void_p(host), _at(address), _size(size), None))

    def restore(self, address: int, host: int, size: int) -> None:
        _check(self._restore(_at(address), ctypes.c_void_p(host), _size(size), None))

    def join(self) -> None:
        _check(self._join())


_at = ctypes.c_ulonglong
_size = ctypes.c_size_t


def _check(error: int) -> None:
    if error:
        raise DeviceError(f"the GPU's memory cannot be moved (driver error {error})")
