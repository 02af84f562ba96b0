import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.errors import CapacityError
from visavis.stream.roster import Roster

NAMES = [f"s{number}" for number in range(6)]


def test_slots_are_given_out_lowest_first_and_again_after_release() -> None:
    roster = Roster(3)
    assert [roster.take(name) for name in "abc"] == [0, 1, 2]
    assert roster.release("b") == 1
    assert roster.release("a") == 0
    assert [roster.take(name) for name in "de"] == [0, 1]


def test_a_full_roster_says_how_many_sessions_it_holds() -> None:
    roster = Roster(2)
    roster.take("a")
    roster.take("b")
    with pytest.raises(CapacityError, match="all 2 slots are taken; end a session or try again later"):
        roster.take("c")
    assert len(roster) == 2


def test_a_session_cannot_sit_twice_even_when_the_roster_is_full() -> None:
    roster = Roster(1)
    roster.take("a")
    with pytest.raises(ValueError, match="session a has a slot already"):
        roster.take("a")


def test_a_session_without_a_slot_cannot_give_one_back() -> None:
    with pytest.raises(KeyError):
        Roster(1).release("a")


@pytest.mark.parametrize("slots", [0, -1])
def test_a_roster_needs_a_slot(slots: int) -> None:
    with pytest.raises(ValueError, match="at least one slot"):
        Roster(slots)


@given(st.integers(1, 4), st.lists(st.tuples(st.booleans(), st.sampled_from(NAMES)), max_size=40))
def test_no_two_sessions_ever_share_a_slot(slots: int, moves: list[tuple[bool, str]]) -> None:
    roster = Roster(slots)
    seated: dict[str, int] = {}
    for arrives, name in moves:
        if arrives and name not in seated and len(seated) < slots:
            slot = roster.take(name)
            assert slot == min(set(range(slots)) - set(seated.values()))
            seated[name] = slot
        elif not arrives and name in seated:
            assert roster.release(name) == seated.pop(name)
        assert len(roster) == len(seated)
