import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.ditto.fades import share


def shares(frames: int, into: int, out: int) -> list[float | None]:
    return [share(frame, frames, into=into, out=out) for frame in range(frames)]


def test_a_clip_fades_in_from_nothing_and_out_to_nothing() -> None:
    assert shares(9, 2, 4) == [0.0, 0.5, None, None, 1.0, 0.75, 0.5, 0.25, 0.0]


def test_the_end_wins_where_both_fade() -> None:
    assert shares(3, 3, 4) == [0.5, 0.25, 0.0]


@pytest.mark.parametrize("frames", [0, 1, 50])
def test_without_fades_nothing_does(frames: int) -> None:
    assert shares(frames, 0, 0) == [None] * frames
    assert share(-1, frames, into=3) is None
    assert share(frames, frames, out=3) is None


@given(frames=st.integers(1, 300), into=st.integers(0, 40), out=st.integers(0, 40))
def test_a_fading_frame_has_a_share(frames: int, into: int, out: int) -> None:
    found = shares(frames, into, out)
    assert all(0 <= one <= 1 for one in found if one is not None)
    assert sum(one is not None for one in found) <= into + out + (out > 0)
    assert not out or found[-1] == 0
