from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from visavis.stream.easing import Glide, edge, edge_frames, hermite


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


def numbers(*values: float) -> NDArray[np.float64]:
    return np.array(values)


def test_a_glide_rests_at_both_ends() -> None:
    glide = Glide.resting(numbers(1.0, -2.0)).turned(numbers(3.0, 0.0), 10, 5)
    assert [glide.at(index).tolist() for index in (0, 10, 15, 99)] == [[1, -2], [1, -2], [3, 0], [3, 0]]
    assert not glide.speed_at(10).any()
    assert not glide.speed_at(15).any()


def test_a_glide_to_where_it_goes_already_is_the_same() -> None:
    glide = Glide.resting(numbers(0.0)).turned(numbers(1.0), 0, 10)
    assert glide.turned(numbers(1.0), 4, 10) is glide


@given(st.lists(st.tuples(st.integers(0, 12), st.floats(-5, 5)), max_size=8))
def test_a_glide_that_is_turned_again_and_again_never_jumps(turns: list[tuple[int, float]]) -> None:
    glide, frame, bends = Glide.resting(numbers(0.0)), 0, [0.0]
    for wait, aim in turns:
        speeds = [float(glide.speed_at(index)[0]) for index in range(frame, frame + wait + 1)]
        bends.extend(abs(after - before) for before, after in pairwise(speeds))
        frame += wait
        turned = glide.turned(numbers(aim), frame, 10)
        assert turned.at(frame) == pytest.approx(glide.at(frame), abs=1e-9)
        assert turned.speed_at(frame) == pytest.approx(glide.speed_at(frame), abs=1e-9)
        glide = turned
    reach = max([1.0, *(abs(aim) for _, aim in turns)])
    assert max(bends) <= 1.5 * reach
    assert glide.at(frame + 10) == pytest.approx(glide.after)


def test_a_glide_that_is_turned_each_frame_follows() -> None:
    """A slider that is dragged."""
    glide = Glide.resting(numbers(0.0))
    for frame in range(50):
        glide = glide.turned(numbers(0.1 * frame), frame, 10)
    assert 4.9 - glide.at(50)[0] < 1.0


def test_a_glide_may_have_to_begin_sooner() -> None:
    glide = Glide.resting(numbers(0.0)).turned(numbers(1.0), 20, 10)
    assert glide.begun_by(30) is glide
    assert glide.begun_by(12).at(17) == pytest.approx(0.5)
