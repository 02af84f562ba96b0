import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import HOP, speech
from visavis.render.rig.prosody import LATE_TICKS, ProsodyState, listen, pitch, silent_prosody
from visavis.stream.gesture import Beat

F32 = NDArray[np.float32]


def voice(hz: float, count: int, level: float = 0.1) -> F32:
    """(count,) samples of a buzz at `hz`."""
    at = np.arange(count) / 16_000
    buzz = sum(np.sin(2 * np.pi * hz * k * at) / k for k in range(1, 9))
    return (level * np.asarray(buzz)).astype(np.float32)


def beats(sound: F32, state: ProsodyState | None = None) -> list[Beat]:
    state = state or silent_prosody()
    heard = [sound[at : at + HOP] for at in range(0, len(sound) - HOP + 1, HOP)]
    found = [listen(state, tick, each, audible=bool(each.any())) for tick, each in enumerate(heard)]
    return [beat for beat in found if beat is not None]


@pytest.mark.parametrize("hz", [85, 120, 180, 240, 330])
def test_the_pitch_of_a_voice_is_found(hz: float) -> None:
    assert pitch(voice(hz, 2 * HOP)) == pytest.approx(hz, rel=0.06)


def test_noise_and_silence_have_no_pitch() -> None:
    assert pitch(np.zeros(2 * HOP, np.float32)) is None
    noise = np.random.default_rng(1).normal(0, 0.1, 2 * HOP).astype(np.float32)
    assert pitch(noise) is None


def test_a_louder_and_higher_syllable_is_a_beat_at_its_place() -> None:
    syllables = [voice(120, 4 * HOP, 0.05)] * 20
    syllables[12] = voice(160, 4 * HOP, 0.2)
    sound = np.concatenate(syllables)
    state = silent_prosody()
    beats(np.concatenate([voice(120, 4 * HOP, 0.05)] * 60), state)
    state.reset()
    (beat,) = beats(sound, state)
    assert 48 <= beat.frame <= 52
    assert 0.3 < beat.strength <= 1


def test_real_speech_has_about_one_beat_a_second_and_never_two_at_once() -> None:
    found = beats(speech())
    seconds = len(speech()) / 16_000
    assert 0.4 < len(found) / seconds < 1.3
    assert np.diff([beat.frame for beat in found]).min() >= 12
    assert all(0 < beat.strength <= 1 for beat in found)


def test_stress_does_not_depend_on_how_loud_a_voice_is_set() -> None:
    sound = np.concatenate([speech(), speech()])
    plain, quiet = ({beat.frame for beat in beats(level * sound)} for level in (1.0, 0.3))
    later = len(speech()) // HOP
    assert {frame for frame in plain if frame > later} == {frame for frame in quiet if frame > later}


def test_silence_has_no_beats() -> None:
    assert beats(np.zeros(100 * HOP, np.float32)) == []


def test_a_reset_forgets_the_last_beat_but_not_the_voice() -> None:
    state = silent_prosody()
    beats(speech(), state)
    usual = state.usual.copy()
    state.reset()
    assert np.array_equal(state.usual, usual)
    assert not state.tail.any()
    assert LATE_TICKS == 1
