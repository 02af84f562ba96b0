import numpy as np
import pytest
from support.rig import HOP, speech, spoken, stage
from visavis.render.rig.lips import Mouth, asleep
from visavis.render.rig.opening import opening
from visavis.render.rig.settle import settled
from visavis.render.rig.shapes import SHAPES
from visavis.render.rig.speech import Speech
from visavis.render.rig.units import UNIT_COUNT, UNITS, unit_vector

PUCKER, ROLL = UNITS.index("mouthPucker"), UNITS.index("mouthRollLower")
NOTHING = np.zeros(UNIT_COUNT, np.float32)


def rested(name: str, frames: int) -> list[Mouth]:
    """The mouths of a voice that is over after the shape `name`."""
    mouth = Mouth(unit_vector(SHAPES[name].units), 0.0)
    found = [mouth]
    for _ in range(frames):
        mouth = settled(asleep(), mouth.units, opening(mouth.units), 0.0)
        found.append(mouth)
    return found


def test_lips_come_to_rest_over_four_tenths_of_a_second() -> None:
    pucker = np.array([float(mouth.units[PUCKER]) for mouth in rested("ou", 30)])
    assert (np.diff(pucker[:10]) < 0).all()
    assert pucker[4] > 0.3 * pucker[0]
    assert pucker[10] < 0.1 * pucker[0]
    assert pucker[-1] == 0


@pytest.mark.parametrize("name", ["aa", "eh", "ih", "oh"])
def test_lips_that_stood_open_shut_gently_and_stay_shut(name: str) -> None:
    gaps = np.array([opening(mouth.units) for mouth in rested(name, 12)])
    assert np.diff(gaps).min() > -0.03
    assert (np.diff(gaps) <= 1e-6).all()
    assert gaps[-1] == pytest.approx(0, abs=1e-6)


def test_what_touches_is_over_with_its_sound() -> None:
    assert rested("ff", 1)[1].units[ROLL] == 0


def test_a_mouth_that_speaks_or_that_was_at_rest_is_left_as_it_is() -> None:
    one = Mouth(unit_vector(SHAPES["ih"].units), 0.0)
    assert settled(one, unit_vector(SHAPES["ou"].units), 0.05, 1.0) is one
    assert settled(one, NOTHING, 0.0, 0.2) is one


def test_a_closure_after_a_voice_closes() -> None:
    shut = Mouth(unit_vector(SHAPES["pp"].units), 1.0)
    found = settled(shut, unit_vector(SHAPES["aa"].units), 0.16, 0.3)
    assert opening(found.units) <= opening(shut.units) + 1e-6


def test_the_end_of_real_speech_is_no_drop() -> None:
    """Cut anywhere, speech that ends in silence shuts and loses its shape over several frames."""
    for last in (40, 55, 70):
        session = Speech(stage())
        sound = speech()[: last * HOP]
        ticks = spoken(0, np.concatenate([sound, np.zeros(40 * HOP, np.float32)]))
        mouths: list[Mouth] = []
        for tick in ticks:
            session.hear(tick)
            if tick.index >= 3:
                mouths.append(session.mouth(tick.index - 3, 1.0))
        tail = mouths[last - 2 :]
        shaped = np.array([mouth.units[[PUCKER]] for mouth in tail])
        gaps = np.array([opening(mouth.units) for mouth in tail])
        assert np.abs(np.diff(gaps)).max() < 0.065
        assert np.abs(np.diff(shaped, axis=0)).max() < 0.3
        assert not mouths[-1].units.any()
