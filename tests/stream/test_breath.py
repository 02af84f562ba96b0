import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.stream.breath import PHRASE_MEMORY, Breath
from visavis.stream.chance import Chance

MINUTE = 1500


def breathed(
    seed: int, frames: range, *, speaking: float = 0.0, phrases: tuple[int, ...] = ()
) -> NDArray[np.float64]:
    breath = Breath(Chance(seed))
    return np.array([breath.at(index, speaking, phrases) for index in frames])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_there_are_about_fourteen_breaths_a_minute_and_no_two_alike(seed: int) -> None:
    values = breathed(seed, range(10 * MINUTE))
    tops = np.flatnonzero((values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:]) & (values[1:-1] > 0.3))
    assert 120 <= len(tops) <= 160
    assert np.diff(tops).std() > 0.08 * np.diff(tops).mean()
    assert values[tops].std() > 0.05


def test_breath_is_smooth_and_stays_in_its_range() -> None:
    for speaking, phrases in ((0.0, ()), (1.0, (100, 180, 260, 420))):
        values = breathed(4, range(MINUTE), speaking=speaking, phrases=phrases)
        assert values.min() >= 0
        assert values.max() <= 1
        assert np.abs(np.diff(values)).max() < 0.2


def test_a_breath_is_drawn_as_a_phrase_begins_and_spent_while_it_lasts() -> None:
    calm = breathed(4, range(MINUTE))
    values = (breathed(4, range(MINUTE), phrases=(700,)) - calm) / (1 - calm)
    assert not values[: 700 - 3].any()
    assert 0 < values[700] < values[705]
    assert values[705] > 0.1
    assert values[740] < values[705]
    assert not values[700 + PHRASE_MEMORY :].any()


def test_speaking_calms_the_breath_of_rest() -> None:
    assert breathed(4, range(MINUTE), speaking=1.0).std() < 0.5 * breathed(4, range(MINUTE)).std()
