import os

from visavis.render import capacity


def test_only_cores_that_may_be_used_count_and_each_holds_two_sessions() -> None:
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert (capacity.cores(), capacity.slots()) == (1, 2)
    finally:
        os.sched_setaffinity(0, allowed)
    assert capacity.cores() == len(allowed)
