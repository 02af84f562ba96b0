from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.rig import HOP, heard, named, speech, spoken, stage
from visavis.render.rig.opening import MEETING, PARTING, opening
from visavis.render.rig.speech import AHEAD_TICKS, Speech
from visavis.render.rig.viseme import Heard, HearingState, VisemeStage
from visavis.stream.media import TickAudio

VOICE = ["aa"] * 4
QUIET = ["sil"] * 4


def told(ticks: list[TickAudio]) -> Speech:
    session = Speech(stage())
    for tick in ticks:
        session.hear(tick)
    return session


def scripted(*runs: tuple[list[str], int]) -> list[TickAudio]:
    names = [names for names, count in runs for _ in range(count)]
    return [named(index, each) for index, each in enumerate(names)]


def test_a_phrase_begins_after_a_pause_and_not_within_one() -> None:
    session = told(scripted((QUIET, 20), (VOICE, 30), (QUIET, 5), (VOICE, 30), (QUIET, 12), (VOICE, 10)))
    assert session.talk(100).phrases == (20, 97)


def test_the_end_of_speech_is_known_until_more_has_gone_on_for_a_second() -> None:
    ticks = scripted((QUIET, 20), (VOICE, 30), (QUIET, 30), (VOICE, 60))
    session = Speech(stage())
    ended = []
    for tick in ticks:
        session.hear(tick)
        ended.append(session.talk(tick.index - AHEAD_TICKS).ended)
    assert ended[60] == 49
    assert ended[80] == 49
    assert ended[80 + 25 + AHEAD_TICKS - 1] == 49
    assert ended[120] is not None
    assert ended[120] > 100


def test_speaking_swells_and_fades_over_half_a_second() -> None:
    session = Speech(stage())
    level = []
    for tick in scripted((QUIET, 30), (VOICE, 60), (QUIET, 60)):
        session.hear(tick)
        frame = tick.index - AHEAD_TICKS
        level.append(session.talk(frame).speaking(frame))
    assert max(level[:30]) == 0
    assert max(level) > 0.999
    assert level[-1] == 0
    assert np.abs(np.diff(level)).max() < 0.1


class Unmoved(VisemeStage):
    """A net that takes everything for noise."""

    def step(self, state: HearingState, heard: NDArray[np.float32], *, wanted: bool = True) -> Heard:
        return super().step(state, heard, wanted=False)


def test_what_the_net_takes_for_noise_is_no_speech() -> None:
    session = Speech(Unmoved())
    for tick in spoken(0, speech()[: 60 * HOP]):
        session.hear(tick)
    assert session.talk(56).phrases == ()
    assert session.talk(56).speaking(56) < 0.05
    assert not session.mouth(50, 1.0).units.any()


def test_real_speech_has_beats_near_the_frame_only() -> None:
    session = Speech(stage())
    seen: set[int] = set()
    for tick in spoken(0, speech()):
        session.hear(tick)
        beats = session.talk(tick.index - AHEAD_TICKS).beats
        seen |= {beat.frame for beat in beats}
        assert all(tick.index - 40 < beat.frame < tick.index for beat in beats)
    assert len(seen) >= 5


@settings(max_examples=10)
@given(st.integers(1, 120))
def test_a_reset_leaves_nothing_of_what_was_heard(count: int) -> None:
    session = told(spoken(0, speech()[: count * HOP]))
    session.reset()
    for index in range(count, count + 4):
        session.hear(heard(index))
        talk = session.talk(index - AHEAD_TICKS)
        assert talk.speaking(index - AHEAD_TICKS) == 0
        assert (talk.phrases, talk.beats, talk.ended) == ((), (), None)
        assert not session.mouth(index - AHEAD_TICKS, 1.0).units.any()


def test_shapes_known_beforehand_reach_further_ahead_than_the_net_hears() -> None:
    rounded = told(scripted((VOICE, 22), (["ou"] * 4, 2)))
    plain = told(scripted((VOICE, 24)))
    frame = 23 - AHEAD_TICKS
    assert rounded.mouth(frame, 1.0).units.sum() != plain.mouth(frame, 1.0).units.sum()


def apart(ticks: list[TickAudio], intensity: float = 1.0) -> list[float]:
    """How far the lips part the face in each frame of `ticks`."""
    session = Speech(stage())
    gaps: list[float] = []
    for tick in ticks:
        session.hear(tick)
        gaps.append(opening(session.mouth(tick.index - AHEAD_TICKS, intensity).units))
    return gaps


def test_intensity_opens_the_mouth_further() -> None:
    calm, lively = (apart(scripted((VOICE, 20)), level)[-1] for level in (0.5, 1.5))
    assert lively > 1.5 * calm


def test_lips_part_and_meet_over_frames_and_still_meet() -> None:
    word: list[tuple[list[str], int]] = [(VOICE, 6), (["pp"] * 4, 1), (VOICE, 6), (["ss"] * 4, 3)]
    gaps = apart(scripted((QUIET, 8), *word, *word, (QUIET, 12)))
    steps = np.diff(gaps)
    assert steps.max() <= PARTING + 0.002
    assert steps.min() >= -1.2 * MEETING
    for closure in (14, 30):
        assert gaps[closure + AHEAD_TICKS] < 1e-6
        assert max(gaps[closure + AHEAD_TICKS + 3 :][:3]) > 0.12


def test_the_mouth_of_a_frame_stays_when_asked_again() -> None:
    session = told(scripted((QUIET, 8), (VOICE, 6), (["pp"] * 4, 1), (VOICE, 6)))
    frames = [session.mouth(frame, 1.0).units for frame in range(18)]
    assert np.array_equal(session.mouth(17, 1.0).units, frames[17])


def with_sound(tick: TickAudio, level: float) -> TickAudio:
    return replace(tick, heard=np.full(HOP, level, np.float32))


def test_lips_stand_apart_through_a_hiss_and_as_long_as_it_is_heard() -> None:
    hiss = scripted((QUIET, 8), (["ss"] * 4, 8), (["sil"] * 4, 12))
    heard_on = [with_sound(tick, 0.02 if tick.index < 18 else 0.0) for tick in hiss]
    gaps = apart(heard_on)
    assert min(gaps[AHEAD_TICKS + 10 : AHEAD_TICKS + 18]) >= 0.03
    cut = [with_sound(tick, 0.02 if tick.index < 16 else 0.0) for tick in hiss]
    assert apart(cut)[AHEAD_TICKS + 17] < 0.02
    assert max(gaps[AHEAD_TICKS + 24 :]) < 1e-3


def test_at_no_intensity_a_mouth_stays_shut_whatever_it_says() -> None:
    gaps = {
        level: np.mean(apart(scripted((VOICE, 6), (["ss"] * 4, 3), (VOICE, 6)), level))
        for level in (0.0, 0.3, 1.0)
    }
    assert gaps[0.0] < 0.004
    assert gaps[0.0] < 0.5 * gaps[0.3] < 0.3 * gaps[1.0]
