import os

import pytest
from visavis.render import capacity


def test_only_cores_that_may_be_used_count_and_each_holds_two_sessions() -> None:
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert (capacity.cores(), capacity.slots()) == (1, 2)
    finally:
        os.sched_setaffinity(0, allowed)
    assert capacity.cores() == len(allowed)


@pytest.mark.parametrize(
    ("workers", "slots", "threads"), [(1, 16, 8), (2, 8, 4), (3, 5, 2), (8, 2, 2), (16, 1, 2), (99, 1, 2)]
)
def test_workers_share_the_machine(
    monkeypatch: pytest.MonkeyPatch, workers: int, slots: int, threads: int
) -> None:
    monkeypatch.setattr(capacity, "cores", lambda: 8)
    assert (capacity.slots(workers), capacity.threads(workers)) == (slots, threads)
