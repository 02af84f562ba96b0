"""Lips begin and end with the sound of their frame, over three frames, and never jump."""

import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.ditto.pauses import EDGE_FRAMES, Pauses, Speaking

ASSETS = Path(__file__).parents[2] / "assets"
LOUD = np.random.default_rng(1).normal(0, 0.1, 640).astype(np.float32)
QUIET = np.zeros(640, np.float32)


def hiss(level: float, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, level, 640).astype(np.float32)


def played(loud: list[bool], delay: int, *, pauses: Pauses | None = None, first: int = 0) -> list[Speaking]:
    """What is known of each frame when it is drawn, of ticks from `first` on."""
    pauses = pauses or Pauses(delay, first)
    found: list[Speaking] = []
    for tick, speaks in enumerate(loud, first):
        pauses.hear(tick, LOUD if speaks else QUIET)
        if tick - delay >= first:
            found.append(pauses.at(tick - delay))
    return found


def lips(found: list[Speaking]) -> list[float]:
    return [one.lips for one in found]


SPEECH = [False] * 20 + [True] * 20 + [False] * 40


@pytest.mark.parametrize("delay", [3, 5, 11, 21, 81])
def test_lips_speak_from_the_first_sound_to_the_last(delay: int) -> None:
    found = lips(played(SPEECH + [False] * delay, delay))
    assert found[16] == 0
    assert found[17:20] == pytest.approx([7 / 27, 20 / 27, 1])
    assert found[20:38] == [1] * 18
    last = found.index(0, 20)
    assert last <= 45, "a few frames after the last sound at most, however late that is certain"
    assert found[last - 3 : last + 1] == pytest.approx([1, 20 / 27, 7 / 27, 0])
    assert found[last:] == [0] * (len(found) - last)


def test_speech_from_the_first_tick_on_has_its_lips() -> None:
    assert lips(played([True] * 30, 5)) == [1] * 25


def test_a_stop_within_a_word_is_no_pause() -> None:
    assert lips(played([True] * 10 + [False] * 3 + [True] * 20, 5))[:25] == [1] * 25


def test_a_noisy_room_is_no_speech() -> None:
    pauses = Pauses(5, 0)
    for tick in range(100):
        pauses.hear(tick, hiss(0.002, tick))
        assert pauses.at(tick - 5).lips == 0


def test_a_speaker_in_a_noisy_hall_rests_his_lips_between_phrases() -> None:
    with wave.open(str(ASSETS / "jfk.wav")) as file:
        sound = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768
    ticks = sound[: len(sound) // 640 * 640].reshape(-1, 640)
    pauses = Pauses(5, 0)
    found = np.zeros(len(ticks))
    for tick, heard in enumerate(ticks):
        pauses.hear(tick, heard)
        found[max(tick - 5, 0)] = pauses.at(tick - 5).lips
    loud = np.sqrt(np.square(ticks).mean(axis=1)) > 0.08
    assert (found[10:-6][loud[10:-6]] == 1).all()
    rests = int((np.diff((found == 0).astype(int)) == 1).sum())
    assert 3 <= rests <= 8
    assert 0.08 < (found[10:-6] == 0).mean() < 0.4


@given(st.lists(st.booleans(), min_size=10, max_size=80), st.sampled_from([2, 3, 5, 11]))
def test_lips_and_calm_never_jump(loud: list[bool], delay: int) -> None:
    found = played(loud, delay)
    steps = np.abs(np.diff(lips(found)))
    assert steps.max(initial=0) <= 13 / 27 + 1e-9
    assert np.abs(np.diff([one.calm for one in found])).max(initial=0) <= 0.07


def test_a_silent_face_becomes_calm_within_a_second_and_is_so_at_first() -> None:
    calm = [one.calm for one in played(SPEECH, 5)]
    assert calm[0] == 1
    assert calm[38] < 0.2
    assert calm[-1] == 1


@pytest.mark.parametrize("sent", [22, 30, 36])
def test_after_an_interrupt_lips_go_to_rest_from_where_they_were(sent: int) -> None:
    pauses = Pauses(5, 0)
    before = played(SPEECH[:40], 5, pauses=pauses)
    pauses.rewind(sent)
    for tick in range(sent + 1, sent + 6):
        pauses.hear(tick, QUIET)
    found = [before[sent].lips if sent < len(before) else 1.0]
    for frame in range(sent + 1, sent + 8):
        pauses.hear(frame + 5, QUIET)
        found.append(pauses.at(frame).lips)
    assert found[:4] == pytest.approx([1, 20 / 27, 7 / 27, 0])
    assert not any(found[EDGE_FRAMES:])


def test_an_interrupt_leaves_nothing_of_the_sound_that_was_dropped() -> None:
    pauses = Pauses(5, 0)
    played(SPEECH[:30], 5, pauses=pauses)
    pauses.rewind(10)
    found = played([False] * 30, 5, pauses=pauses, first=11)
    assert lips(found) == [0] * len(found)
    pauses.rewind(100)
    assert pauses.at(100).lips == 0


def test_a_whole_run_can_be_heard_again_after_an_interrupt() -> None:
    pauses = Pauses(5, 0)
    played([True] * 20, 5, pauses=pauses)
    pauses.rewind(12)
    found = lips(played([False] * 10 + [True] * 20, 5, pauses=pauses, first=13))
    assert found[2:7] == [0] * 5
    assert found[9:] == [1] * len(found[9:])
