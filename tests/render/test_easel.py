import numpy as np
import pytest
from support.pattern import CROP, PatternEngine, PictureEngine, matrix, picture, read_luma
from visavis.render.avatar import find_avatar
from visavis.render.color import color_space
from visavis.render.composite import Compositor
from visavis.render.easel import Easel
from visavis.render.engine import Crop

SIZE = (512, 512)


def opened(engine: PatternEngine) -> PatternEngine:
    engine.open(1, find_avatar("ruby"), size=SIZE, seed=1, index=0)
    return engine


@pytest.fixture(scope="module")
def compositor() -> Compositor:
    return Compositor(find_avatar("ruby").plate(SIZE), color_space(*SIZE))


def test_crops_are_put_on_surfaces_that_show_the_plate(compositor: Compositor) -> None:
    easel = Easel.of(opened(PatternEngine()), 1, compositor, surfaces=3)
    assert len(easel.surfaces) == 3
    plate = compositor.surface().buffer
    assert all((surface.buffer == plate).all() for surface in easel.surfaces)
    easel.show(Crop(5, picture(5, flash=True), matrix()), easel.surfaces[1])
    assert read_luma(easel.surfaces[1].y) == (5, True)
    assert (easel.surfaces[0].buffer == plate).all()
    assert easel.backdrop is not None
    assert easel.backdrop.mask.shape == CROP


def test_an_engine_of_pictures_brings_its_own_surfaces_and_needs_no_plate() -> None:
    engine = opened(PictureEngine())
    easel = Easel.of(engine, 1, None, surfaces=4)
    assert isinstance(engine, PictureEngine)
    assert [id(one) for one in easel.surfaces] == [id(one) for one in engine.given[1]]
    assert len(easel.surfaces) == 4
    assert easel.backdrop is None


def test_what_does_not_fit_together_is_a_mistake() -> None:
    with pytest.raises(AssertionError, match="plate"):
        Easel.of(opened(PatternEngine()), 1, None, surfaces=1)
    easel = Easel.of(opened(PictureEngine()), 1, None, surfaces=1)
    with pytest.raises(AssertionError, match="no crops"):
        easel.show(Crop(0, np.zeros((*CROP, 3), np.uint8), matrix()), easel.surfaces[0])
