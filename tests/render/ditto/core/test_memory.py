"""What leaves a card comes back to where it lay, as it was where it is kept."""

import ctypes

import numpy as np
import pytest
import torch
from visavis.render.ditto.core import memory
from visavis.render.ditto.core.memory import STAYS, Segments, memory_for
from visavis.render.ditto.core.replay import Replay
from visavis.stream.errors import DeviceError

GRAIN = 1 << 16


class Driver:
    """A card of `room` bytes, whose memory is the host's; what is put behind an address is never empty."""

    grain = GRAIN

    def __init__(self, room: int = 8 * GRAIN) -> None:
        self.room = room
        self.reserved: dict[int, int] = {}
        self.behind: dict[int, np.ndarray] = {}
        self._next = 1 << 40
        self._filled = 0

    def reserve(self, size: int) -> int:
        assert size % GRAIN == 0
        self._next += size
        self.reserved[self._next] = size
        return self._next

    def release(self, address: int, size: int) -> None:
        assert self.reserved.pop(address) == size
        assert address not in self.behind

    def back(self, address: int, size: int) -> int:
        assert self.reserved[address] == size
        assert address not in self.behind
        if sum(map(len, self.behind.values())) + size > self.room:
            raise DeviceError("no room")
        self._filled += 1
        self.behind[address] = np.full(size, self._filled, np.uint8)
        return address + 1

    def strip(self, address: int, size: int, handle: int) -> None:
        assert handle == address + 1
        assert len(self.behind.pop(address)) == size

    def save(self, host: int, address: int, size: int) -> None:
        ctypes.memmove(host, self.behind[address].ctypes.data, size)

    def restore(self, address: int, host: int, size: int) -> None:
        ctypes.memmove(self.behind[address].ctypes.data, host, size)

    def join(self) -> None:
        pass


@pytest.fixture(autouse=True)
def pageable(monkeypatch: pytest.MonkeyPatch) -> None:
    """No card can be here to pin memory for."""
    monkeypatch.setattr(memory, "_pinned", lambda count: torch.empty(count, dtype=torch.uint8))


def test_what_is_kept_comes_back_as_it_was_to_where_it_was() -> None:
    driver = Driver()
    segments = Segments(driver)
    kept = [segments.take(size, keeps=True) for size in (10, GRAIN + 1)]
    scratch = segments.take(GRAIN, keeps=False)
    held = {address: 100 + number for number, address in enumerate(kept)}
    for round_ in range(3):
        for address, value in held.items():
            driver.behind[address][:] = value + round_
        segments.leave()
        assert segments.nbytes == 0
        assert not driver.behind
        segments.come_back()
        assert segments.nbytes == 4 * GRAIN
        assert scratch in driver.behind
        for address, value in held.items():
            assert (driver.behind[address] == value + round_).all()


def test_what_is_given_is_gone_and_the_rest_keeps_its_own() -> None:
    driver = Driver()
    segments = Segments(driver)
    first, second, third = (segments.take(GRAIN, keeps=True) for _ in range(3))
    driver.behind[third][:] = 77
    segments.give(first)
    segments.leave()
    segments.give(second)
    segments.come_back()
    assert list(driver.reserved) == [third]
    assert (driver.behind[third] == 77).all()


def test_what_is_taken_meanwhile_stays_as_it_is() -> None:
    driver = Driver()
    segments = Segments(driver)
    old = segments.take(GRAIN, keeps=True)
    driver.behind[old][:] = 55
    segments.leave()
    new = segments.take(GRAIN, keeps=True)
    driver.behind[new][:] = 66
    segments.come_back()
    assert [int(driver.behind[one][0]) for one in (old, new)] == [55, 66]


def test_a_card_without_room_gives_nothing_and_loses_nothing() -> None:
    driver = Driver(room=2 * GRAIN)
    segments = Segments(driver)
    held = segments.take(2 * GRAIN, keeps=True)
    with pytest.raises(DeviceError):
        segments.take(1, keeps=False)
    assert list(driver.reserved) == [held]
    segments.leave()
    driver.room = GRAIN
    with pytest.raises(DeviceError):
        segments.come_back()


def test_a_host_without_memory_keeps_it_on_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_count: int) -> torch.Tensor:
        raise DeviceError("no memory")

    monkeypatch.setattr(memory, "_pinned", none)
    driver = Driver()
    segments = Segments(driver)
    held = segments.take(GRAIN, keeps=True)
    with pytest.raises(DeviceError):
        segments.leave()
    assert held in driver.behind


def test_without_a_card_nothing_leaves() -> None:
    assert memory_for(torch.device("cpu")) is STAYS
    assert STAYS.scratch() is None
    assert not STAYS.leave()
    with STAYS.kept():
        STAYS.come_back()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_on_a_card_a_graph_gives_the_same_after_its_memory_was_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    device = torch.device("cuda")
    leaving = memory_for(device)
    with leaving.kept():
        weights = [torch.randn(2048, 2048, device=device, dtype=torch.float16) / 45 for _ in range(8)]
    given = torch.randn(64, 2048, device=device, dtype=torch.float16)
    out = torch.empty_like(given)

    def product(count: int) -> None:
        found = given[:count]
        for one in weights:
            found = (found @ one).tanh()
        out[:count] = found

    replay = Replay(product, device, buckets=(16, 64), pool=leaving.scratch())
    replay.capture()
    replay(64)
    expected = out.clone()
    for _ in range(3):
        free = torch.cuda.mem_get_info()[0]
        assert leaving.leave()
        assert leaving.leave()
        assert torch.cuda.mem_get_info()[0] - free >= 8 * weights[0].nbytes
        leaving.come_back()
        leaving.come_back()
        out.zero_()
        replay(64)
        assert torch.equal(out, expected)
