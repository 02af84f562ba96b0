import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.easing import edge, edge_frames, hermite


@given(st.floats(-3, 4))
def test_a_step_stays_between_its_ends(t: float) -> None:
    assert 0.0 <= hermite(t) <= 1.0


@given(st.floats(0, 1))
def test_a_step_is_symmetric(t: float) -> None:
    assert hermite(t) + hermite(1 - t) == pytest.approx(1)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_step_never_turns_back(a: float, b: float) -> None:
    assert hermite(min(a, b)) <= hermite(max(a, b))


def test_a_step_starts_and_ends_without_speed() -> None:
    assert hermite(1e-4) == pytest.approx(0, abs=1e-7)
    assert 1 - hermite(1 - 1e-4) == pytest.approx(0, abs=1e-7)


def test_an_edge_lasts_as_many_frames_as_it_is_told() -> None:
    values = [edge(index, start=10, frames=3) for index in range(8, 16)]
    assert values == pytest.approx([0, 0, 0, 7 / 27, 20 / 27, 1, 1, 1])


def test_an_edge_of_no_frames_is_a_switch() -> None:
    assert [edge(index, start=2, frames=0) for index in (1, 2)] == [0.0, 1.0]


@given(st.floats(-60, 60), st.floats(0.05, 5))
def test_an_edge_never_accelerates_more_than_its_limit(change: float, limit: float) -> None:
    frames = edge_frames(change, limit, least=3)
    place = [change * edge(index, start=0, frames=frames) for index in range(-2, frames + 3)]
    bends = [a - 2 * b + c for a, b, c in zip(place, place[1:], place[2:], strict=False)]
    assert max(abs(bend) for bend in bends) <= limit * 1.0001


def test_a_small_edge_still_lasts_the_least_number_of_frames() -> None:
    assert edge_frames(0.001, 1.0, least=10) == 10


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        edge_frames(1.0, 0.0, least=1)
