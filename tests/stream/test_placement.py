from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.placement import place

ROOMS = st.lists(st.integers(0, 6), max_size=6)
LOADS = st.integers(1, 6).flatmap(
    lambda workers: st.tuples(
        st.integers(1, 5), st.lists(st.tuples(st.booleans(), st.integers(0, workers - 1)), max_size=60)
    ).map(lambda drawn: (workers, *drawn))
)


@given(ROOMS)
def test_the_one_with_the_most_room_takes_it_and_the_first_of_equals(free: list[int]) -> None:
    index = place(free)
    if index is None:
        assert not any(free)
        return
    assert free[index] == max(free) > 0
    assert free.index(max(free)) == index


@given(ROOMS)
def test_all_places_are_given_out_and_none_twice(slots: list[int]) -> None:
    free = list(slots)
    for _ in range(sum(slots)):
        index = place(free)
        assert index is not None
        free[index] -= 1
        assert free[index] >= 0
    assert place(free) is None


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 36))
def test_equal_workers_stay_within_one_session_of_each_other(workers: int, slots: int, sessions: int) -> None:
    free = [slots] * workers
    for _ in range(min(sessions, workers * slots)):
        index = place(free)
        assert index is not None
        free[index] -= 1
        assert max(free) - min(free) <= 1


@given(LOADS)
def test_while_sessions_come_and_go_nobody_is_over_its_slots(
    load: tuple[int, int, list[tuple[bool, int]]],
) -> None:
    workers, slots, events = load
    taken = [0] * workers
    for opens, ends in events:
        free = [slots - count for count in taken]
        if not opens:
            taken[ends] = max(0, taken[ends] - 1)
        elif (index := place(free)) is not None:
            taken[index] += 1
        else:
            assert sum(taken) == workers * slots
        assert all(0 <= count <= slots for count in taken)


def test_a_worker_that_is_away_or_over_its_room_takes_none() -> None:
    assert place([]) is None
    assert place([0, -2]) is None
    assert place([0, 1, -1]) == 1
