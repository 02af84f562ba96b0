"""What a card can draw is drawn in time, by sessions whose work comes in batches: on a modelled card."""

import numpy as np
import pytest
from support import modelled
from support.modelled import ModelWorker
from visavis.render import sessions

READS_MS, SPEAKS_MS = 1000.0, 0.0
KINDS = (None, SPEAKS_MS, READS_MS)


@pytest.fixture(autouse=True)
def no_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "parts_for", modelled.parts)


def worker_of(count: int) -> ModelWorker:
    """Silent ones, ones with a microphone and ones that read, in turn; warm."""
    worker = ModelWorker()
    for number in range(count):
        worker.open(f"{number}", ahead_ms=KINDS[number % len(KINDS)])
        worker.run(113)
    worker.run(2000)
    worker.engine.batches.clear()
    worker.engine.turns.clear()
    for name in worker.late_ms:
        worker.late_ms[name].clear()
        worker.repeated[name].clear()
    return worker


def test_fifteen_sessions_of_all_kinds_are_in_time_with_their_turns_in_batches() -> None:
    worker = worker_of(15)
    worker.run(3000)
    assert not any(any(some) for some in worker.repeated.values())
    assert np.percentile(np.concatenate(list(worker.late_ms.values())), 99) < 8
    assert set(worker.engine.turns) == {7, 8}
    assert np.mean(worker.engine.batches) >= 4.9


def test_after_a_hitch_all_are_in_time_again() -> None:
    worker = worker_of(14)
    worker.hang(300)
    worker.run(1500)
    assert any(any(some) for some in worker.repeated.values())
    for some in worker.repeated.values():
        some.clear()
    worker.run(1500)
    assert not any(any(some) for some in worker.repeated.values())


def test_one_who_stays_is_in_time_while_eleven_others_come_and_go() -> None:
    worker = worker_of(1)
    there: list[str] = []
    for number in range(14):
        worker.open(name := f"guest-{number}", ahead_ms=READS_MS)
        there.append(name)
        if len(there) > 11:
            worker.close(there.pop(0))
        worker.run(290)
    assert len(worker.repeated["0"]) > 90
    assert not any(worker.repeated["0"])
