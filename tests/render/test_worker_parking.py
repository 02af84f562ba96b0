import socket
import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from support.pattern import PictureEngine
from support.virtual import request
from visavis.render.idle import Idle
from visavis.render.surface import Surface
from visavis.render.worker import Worker
from visavis.stream import link
from visavis.stream.clock import NS_PER_SECOND

THREADS = 2
CYCLES = 3


class Watched(PictureEngine):
    """Counts its surfaces that are freed, and those of them that are while it is parked."""

    max_batch = 4

    def __init__(self) -> None:
        super().__init__()
        self.freed = self.freed_while_parked = self.parkings = 0
        self._parked = False

    def surfaces(self, slot: int, count: int) -> Sequence[Surface]:
        made = super().surfaces(slot, count)
        for surface in made:
            weakref.finalize(surface.ready, self._gone)
        return made

    def park(self) -> bool:
        self._parked = True
        self.parkings += 1
        return True

    def open(self, slot: int, *given: Any, **named: Any) -> None:
        self._parked = False
        super().open(slot, *given, **named)

    def _gone(self) -> None:
        self.freed += 1
        self.freed_while_parked += self._parked


@pytest.mark.e2e
def test_nothing_of_a_card_is_freed_by_any_thread_while_it_is_parked() -> None:
    """It would wait for a card that only the next session fetches."""
    engine = Watched()
    ours, theirs = socket.socketpair()
    worker = Worker(engine, theirs, slots=4, threads=THREADS, idle=Idle(NS_PER_SECOND // 5))
    serving = threading.Thread(target=worker.serve, daemon=True)
    serving.start()
    with ours, theirs:
        reading = threading.Thread(target=_drain, args=(ours,), daemon=True)
        reading.start()
        for cycle in range(CYCLES):
            opening = msgspec.structs.replace(request(f"s{cycle}"), start_ns=time.monotonic_ns())
            ours.sendall(link.to_frame(opening))
            time.sleep(0.8)
            ours.sendall(link.to_frame(link.Close(f"s{cycle}")))
            _until(lambda cycle=cycle: engine.parkings == cycle + 1)
        assert engine.freed > 0
        assert engine.freed_while_parked == 0
        ours.shutdown(socket.SHUT_RDWR)
    serving.join(5)
    assert not serving.is_alive()


def _drain(connection: socket.socket) -> None:
    while connection.recv(1 << 18):
        pass


def _until(true: Any) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
