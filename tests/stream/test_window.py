import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sound import cuts, pieces
from visavis.stream.window import Windower

LENGTH = 200
SOUND = np.arange(1, LENGTH + 1, dtype=np.float32)

shapes = st.integers(1, 60).flatmap(lambda window: st.tuples(st.just(window), st.integers(1, window)))


@given(shapes, st.integers(0, 80), cuts(LENGTH))
def test_windows_depend_on_the_samples_and_never_on_the_cuts(
    shape: tuple[int, int], pad: int, at: list[int]
) -> None:
    window, hop = shape
    windower = Windower(window=window, hop=hop, pad=pad)
    found = [one for piece in pieces(SOUND, at) for one in windower.feed(piece)]
    whole = np.concatenate([np.zeros(pad, np.float32), SOUND])
    expected = [whole[start : start + window] for start in range(0, len(whole) - window + 1, hop)]
    assert len(found) == len(expected)
    assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))
    assert all(one.dtype == np.float32 for one in found)


def test_a_window_comes_as_soon_as_its_last_sample_is_there() -> None:
    windower = Windower(window=3, hop=2, pad=1)
    assert list(windower.feed(SOUND[:1])) == []
    assert [list(one) for one in windower.feed(SOUND[1:2])] == [[0, 1, 2]]
    assert [list(one) for one in windower.feed(SOUND[2:4])] == [[2, 3, 4]]


def test_without_padding_the_first_window_begins_with_the_first_sample() -> None:
    assert [list(one) for one in Windower(window=2, hop=1).feed(SOUND[:3])] == [[1, 2], [2, 3]]


def test_padding_alone_may_fill_a_window() -> None:
    assert [list(one) for one in Windower(window=2, hop=2, pad=2).feed(SOUND[:0])] == [[0, 0]]


def test_a_window_may_be_written_to_without_harm() -> None:
    windower = Windower(window=4, hop=1)
    for window in windower.feed(SOUND[:6]):
        window[:] = -1
    assert [list(one) for one in windower.feed(SOUND[6:7])] == [[4, 5, 6, 7]]


def test_reset_begins_again_with_the_padding() -> None:
    windower = Windower(window=3, hop=3, pad=2)
    list(windower.feed(SOUND[:5]))
    windower.reset()
    assert [list(one) for one in windower.feed(SOUND[:1])] == [[0, 0, 1]]


@pytest.mark.parametrize(("window", "hop", "pad"), [(3, 0, 0), (3, 4, 0), (3, 3, -1), (0, 0, 0)])
def test_impossible_windows_are_refused(window: int, hop: int, pad: int) -> None:
    with pytest.raises(ValueError, match="1 <= hop <= window and pad >= 0"):
        Windower(window=window, hop=hop, pad=pad)
