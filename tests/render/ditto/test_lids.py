"""Lids rest where the picture has them, and shut the way they are told; eyes look to both sides alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.ditto.keypoints import EYES
from visavis.render.ditto.lids import Blink, look


def filmed() -> np.ndarray:
    """15 frames of a blink: quick to shut, slow to open, of lids that hang a little at rest."""
    share = np.array([0, 0.1, 0.5, 0.9, 1, 0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0], np.float32)
    path = np.zeros((63,), np.float32)
    path[[34, 46]] = 0.04
    return share[:, None] * path + 0.003


@pytest.mark.parametrize("blink", [Blink.plain(), Blink.of_frames(filmed())], ids=["plain", "filmed"])
def test_open_lids_are_the_picture_s_own_and_shut_ones_move_most(blink: Blink) -> None:
    assert not blink.at(0).any()
    sizes = [float(np.linalg.norm(blink.at(shut))) for shut in np.linspace(0, 1, 21)]
    assert (np.diff(sizes) > 0).all()


@pytest.mark.parametrize("blink", [Blink.plain(), Blink.of_frames(filmed())], ids=["plain", "filmed"])
@given(shut=st.floats(0, 1), more=st.floats(0, 1))
def test_lids_never_jump(blink: Blink, shut: float, more: float) -> None:
    assert np.abs(blink.at(shut) - blink.at(more)).max() <= 0.06 * abs(shut - more) + 1e-6


def test_only_lids_move_and_upper_ones_down() -> None:
    moved = Blink.plain().at(1).reshape(21, 3)
    assert set(np.flatnonzero(moved.any(axis=1))) <= set(EYES)
    assert moved[11, 1] > 0 > moved[13, 1]


def test_a_filmed_blink_is_shut_as_it_was_filmed() -> None:
    frames = filmed()
    assert np.allclose(Blink.of_frames(frames).at(1), frames[4] - frames[0])
    assert np.allclose(Blink.of_frames(frames).at(0.5), frames[2] - frames[0], atol=1e-6)


def test_a_film_in_which_nothing_moves_is_no_blink() -> None:
    assert np.array_equal(Blink.of_frames(np.ones((15, 63), np.float32)).at(1), Blink.plain().at(1))


def test_eyes_look_to_both_sides_alike_and_up() -> None:
    right, left = look(1, 0).reshape(21, 3), look(-1, 0).reshape(21, 3)
    assert right[11, 0] == pytest.approx(-left[15, 0]) == pytest.approx(0.021)
    assert right[15, 0] == pytest.approx(-left[11, 0]) == pytest.approx(0.030)
    assert look(0, 1).reshape(21, 3)[[11, 15], 1] == pytest.approx(-0.02)
    assert not look(0, 0).any()
