"""The driver is called as its header says, in an order that leaves nothing behind."""

import ctypes
from typing import Any

import pytest
from visavis.render.ditto.core import driver
from visavis.render.ditto.core.driver import CudaDriver
from visavis.stream.errors import DeviceError

GRAIN = 1 << 21


class Library:
    """Stands for libcuda: notes its calls with the numbers in them. `fails` names the one that gives an
    error."""

    def __init__(self) -> None:
        self.fails = ""
        self.log: list[tuple[str, ...]] = []
        self.wanted: list[int] = []

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any) -> int:
            if name == "cuMemGetAllocationGranularity":
                given[0]._obj.value = GRAIN
                self.wanted = list(bytes(given[1]._obj))
            if name in {"cuMemAddressReserve", "cuMemCreate"}:
                given[0]._obj.value = 7 * GRAIN if name == "cuMemAddressReserve" else 99
            self.log.append((name, *(str(one.value) for one in given if hasattr(one, "value"))))
            return 2 if name == self.fails else 0

        return call


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Library()
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: made)
    return made


def test_memory_is_asked_for_as_the_header_has_it(library: Library) -> None:
    assert CudaDriver(3).grain == GRAIN
    # CUmemAllocationProp: pinned, no export, on device 3, nothing of Windows, no flags.
    fields = [1, 0, 1, 3, 0, 0, 0, 0]
    assert library.wanted == [byte for one in fields for byte in one.to_bytes(4, "little")]


def test_an_address_gets_memory_loses_it_and_is_released(library: Library) -> None:
    card = CudaDriver(0)
    library.log.clear()
    address = card.reserve(2 * GRAIN)
    assert address == 7 * GRAIN
    handle = card.back(address, 2 * GRAIN)
    assert handle == 99
    card.save(1234, address, GRAIN)
    card.restore(address, 1234, GRAIN)
    card.join()
    card.strip(address, 2 * GRAIN, handle)
    card.release(address, 2 * GRAIN)
    assert [one[0] for one in library.log] == [
        "cuMemAddressReserve",
        "cuMemCreate",
        "cuMemMap",
        "cuMemSetAccess",
        "cuMemcpyDtoHAsync_v2",
        "cuMemcpyHtoDAsync_v2",
        "cuCtxSynchronize",
        "cuMemUnmap",
        "cuMemRelease",
        "cuMemAddressFree",
    ]
    assert library.log[2] == ("cuMemMap", str(address), str(2 * GRAIN), "0", "99", "0")
    assert library.log[4] == ("cuMemcpyDtoHAsync_v2", "1234", str(address), str(GRAIN))
    assert library.log[5] == ("cuMemcpyHtoDAsync_v2", str(address), "1234", str(GRAIN))
    assert library.log[7] == ("cuMemUnmap", str(address), str(2 * GRAIN))


@pytest.mark.parametrize("fails", ["cuMemMap", "cuMemSetAccess"])
def test_memory_that_cannot_be_reached_is_given_back(library: Library, fails: str) -> None:
    card = CudaDriver(0)
    library.fails = fails
    with pytest.raises(DeviceError, match="driver error 2"):
        card.back(7 * GRAIN, GRAIN)
    assert library.log[-1] == ("cuMemRelease", "99")


def test_a_driver_that_fails_says_its_number(library: Library) -> None:
    card = CudaDriver(0)
    library.fails = "cuMemAddressReserve"
    with pytest.raises(DeviceError, match="driver error 2"):
        card.reserve(GRAIN)


def test_without_a_driver_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_LIBRARY", "libcuda-is-not-here.so.1")
    with pytest.raises(OSError, match="libcuda-is-not-here"):
        CudaDriver(0)
