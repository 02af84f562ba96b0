import numpy as np
import pytest
from support.pattern import Later
from visavis.render.surface import Layout, Surface, surface_over

BUFFER = np.arange(9 * 8, dtype=np.uint8).reshape(9, 8)


@pytest.mark.parametrize("layout", ["i420", "nv12"])
def test_planes_are_views_of_one_buffer(layout: Layout) -> None:
    surface = surface_over(BUFFER.copy(), layout)
    assert (surface.width, surface.height, surface.layout) == (8, 6, layout)
    assert (surface.y.shape, surface.u.shape, surface.v.shape) == ((6, 8), (3, 4), (3, 4))
    for plane in (surface.y, surface.u, surface.v):
        assert np.shares_memory(plane, surface.buffer)
        plane[:] = 0
    assert not surface.buffer.any()


def chroma(layout: Layout) -> tuple[list[int], list[int]]:
    surface = surface_over(BUFFER, layout)
    assert (surface.y == BUFFER[:6]).all()
    return surface.u.ravel().tolist(), surface.v.ravel().tolist()


def test_chroma_follows_as_two_planes_in_i420() -> None:
    assert chroma("i420") == (list(range(48, 60)), list(range(60, 72)))


def test_chroma_follows_as_pairs_in_nv12() -> None:
    assert chroma("nv12") == (list(range(48, 72, 2)), list(range(49, 72, 2)))


def test_a_picture_under_way_is_waited_for_and_any_other_is_there() -> None:
    later = Later()
    surface_over(BUFFER, ready=later).wait()
    assert later.waits == 1
    surface_over(BUFFER).wait()


def test_at_first_nothing_differs_from_the_plate() -> None:
    surface: Surface = surface_over(BUFFER)
    assert surface.box.tolist() == [0, 0, 0, 0]
