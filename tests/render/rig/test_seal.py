"""Gaps inside a head's outline are closed; room around it and beside its strands stays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from visavis.render.rig.seal import inside, seal

U32 = NDArray[np.uint32]

SIDE = 120
HAIR = np.uint32(0xFF204060)
DM_PX = 160.0
RIM_PX = 4
BOX = (0, 0, SIDE, SIDE)


def head() -> U32:
    """A disc of one colour, radius 50, in a picture (SIDE, SIDE)."""
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    return np.where(np.hypot(x - 60, y - 60) < 50, HAIR, 0).astype(np.uint32)


def sealed(picture: U32, lowest: int = SIDE) -> U32:
    flat = picture.reshape(-1).copy()
    seal(flat, SIDE, BOX, lowest, DM_PX)
    return flat.reshape(picture.shape)


def alpha(picture: U32) -> NDArray[np.int64]:
    return (picture >> 24).astype(np.int64)


def test_a_whole_head_stays_as_it_is() -> None:
    np.testing.assert_array_equal(sealed(head()), head())


def test_a_hole_is_closed_with_the_colours_beside_it() -> None:
    picture = head()
    picture[50:60, 55:70] = 0
    closed = sealed(picture)
    assert alpha(closed)[50:60, 55:70].min() == 255
    channels = closed[50:60, 55:70].copy().view(np.uint8).reshape(-1, 4)[:, :3]
    assert (channels <= [0x60, 0x40, 0x20]).all()
    assert (channels >= [0x40, 0x2A, 0x15]).all()


@given(st.integers(0, 240))
def test_a_pixel_never_hides_less_than_before(cover: int) -> None:
    picture = head()
    picture[30:80, 52:60] = cover << 24
    assert (alpha(sealed(picture)) >= alpha(picture)).all()


def test_what_lies_below_the_lowest_row_stays_open() -> None:
    picture = head()
    picture[70:80, 55:65] = 0
    assert alpha(sealed(picture, lowest=75))[70:75, 55:65].min() == 255
    assert alpha(sealed(picture, lowest=75))[75:80, 55:65].max() == 0


def test_the_rim_keeps_its_strands() -> None:
    picture = head()
    rim = alpha(head()) > 0
    for shift in ((0, RIM_PX), (0, -RIM_PX), (RIM_PX, 0)):
        rim &= np.roll(alpha(head()), shift, (0, 1)) > 0
    rim = (alpha(head()) > 0) & ~rim
    picture[rim] = 100 << 24 | 0x102030
    np.testing.assert_array_equal(sealed(picture)[rim], picture[rim])


def test_room_that_is_open_to_the_top_or_a_side_stays() -> None:
    picture = head()
    picture[:60, 50:70] = 0
    assert alpha(sealed(picture))[:55, 50:70].max() == 0
    picture = head()
    picture[50:70, 60:] = 0
    assert alpha(sealed(picture))[50:70, 65:].max() == 0


def test_room_under_an_arch_of_hair_stays() -> None:
    picture = head()
    picture[45:, 15:105] = 0
    picture[45:, 11:15] = picture[45:, 105:109] = HAIR
    assert alpha(sealed(picture, lowest=100))[50:100, 20:100].max() == 0


@pytest.mark.parametrize("box", [(5, 5, 5, 60), (5, 60, 60, 60), (0, 110, 60, 120)])
def test_nothing_is_done_in_a_box_of_nothing(box: tuple[int, int, int, int]) -> None:
    flat = head().reshape(-1)
    before = flat.copy()
    seal(flat, SIDE, box, 100, DM_PX)
    np.testing.assert_array_equal(flat, before)


def test_an_outline_is_closed_over_gaps_and_moved_inwards() -> None:
    edge = np.full(30, 10, np.int32)
    edge[12:15] = 20
    np.testing.assert_array_equal(inside(edge, 2), 12)
    edge[5:15] = 20
    assert (inside(edge, 2)[5:15] == 22).all()
