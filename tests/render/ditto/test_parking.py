import os
from typing import Any

import pytest
import torch
from visavis.render.ditto import parking
from visavis.render.ditto.core.memory import STAYS, StayingMemory
from visavis.render.ditto.parking import CudaParking, parking_for
from visavis.stream.errors import DeviceError


class Driver:
    """Stands for the driver's calls. `fails` names the one that gives an error."""

    def __init__(self) -> None:
        self.fails = ""
        self.seen: list[str] = []

    def calls(self) -> dict[str, Any]:
        def call(name: str) -> Any:
            def answer(process: int, _arguments: object) -> int:
                assert process == os.getpid()
                self.seen.append(name)
                return 801 if name == self.fails else 0

            return answer

        return {name: call(name) for name in ("Lock", "Checkpoint", "Restore", "Unlock")}


class Leaving(StayingMemory):
    """Tells what is asked of it."""

    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    def leave(self) -> bool:
        self._seen.append("leave")
        return True

    def come_back(self) -> None:
        self._seen.append("come back")


@pytest.fixture(autouse=True)
def no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)


@pytest.fixture
def driver() -> Driver:
    return Driver()


def test_what_is_parked_is_fetched_once_in_the_drivers_order(driver: Driver) -> None:
    parked = CudaParking(driver.calls())
    parked.fetch()
    assert driver.seen == []
    assert parked.is_able
    assert parked.park()
    assert parked.park()
    parked.fetch()
    parked.fetch()
    assert driver.seen == ["Lock", "Checkpoint", "Restore", "Unlock"]


def test_work_that_does_not_end_is_not_parked(driver: Driver) -> None:
    driver.fails = "Lock"
    parked = CudaParking(driver.calls())
    assert not parked.park()
    parked.fetch()
    assert driver.seen == ["Lock"]


def test_what_cannot_be_kept_goes_on_as_it_was(driver: Driver) -> None:
    driver.fails = "Checkpoint"
    parked = CudaParking(driver.calls())
    assert not parked.park()
    assert driver.seen == ["Lock", "Checkpoint", "Unlock"]


def test_a_card_that_does_not_come_back_is_lost(driver: Driver) -> None:
    parked = CudaParking(driver.calls())
    parked.park()
    driver.fails = "Restore"
    with pytest.raises(DeviceError, match="801"):
        parked.fetch()


def test_an_older_driver_lacks_the_calls(driver: Driver) -> None:
    older = CudaParking({name: call for name, call in driver.calls().items() if name != "Restore"})
    assert not older.is_able
    assert not older.park()
    assert driver.seen == []


def test_a_machine_without_a_driver_parks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parking, "_LIBRARY", "libcuda-is-not-here.so.1")
    assert not CudaParking().park()
    nothing = parking_for(torch.device("cpu"), STAYS)
    nothing.offload()
    assert not nothing.park()
    nothing.fetch()


def test_what_can_leave_goes_first_and_comes_back_last(driver: Driver) -> None:
    leaving = Leaving(driver.seen)
    parked = CudaParking(driver.calls(), leaving)
    parked.offload()
    parked.fetch()
    assert driver.seen == ["leave", "come back"]
    driver.seen.clear()
    parked.offload()
    assert parked.park()
    parked.fetch()
    assert driver.seen == ["leave", "leave", "Lock", "Checkpoint", "Restore", "Unlock", "come back"]
