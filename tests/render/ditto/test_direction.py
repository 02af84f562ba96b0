"""Wishes are followed smoothly, a silent face lives and rests its lips, and blinks come without end."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.ticks import tick
from visavis.render.ditto import moods
from visavis.render.ditto.controls import FrameControls
from visavis.render.ditto.direction import MOOD_FRAMES, Direction, Manner
from visavis.render.ditto.lids import Blink
from visavis.stream.controls import Controls

DELAY = 5
PICTURE = Manner(Blink.plain())
LOUD = np.random.default_rng(1).normal(0, 0.1, 640).astype(np.float32)


class Run:
    """A session's ticks, and what each frame of them brings."""

    def __init__(self, manner: Manner = PICTURE, *, seed: int = 1, first: int = 0) -> None:
        self.direction = Direction(manner, delay=DELAY, seed=seed, index=first)
        self.tick = first
        self.told: list[NDArray[np.float64] | None] = []

    def frames(self, count: int, *, loud: bool = False) -> list[FrameControls]:
        """What the next `count` ticks bring."""
        found: list[FrameControls] = []
        for _ in range(count):
            audio = replace(tick(self.tick), heard=LOUD if loud else np.zeros(640, np.float32))
            self.told.append(self.direction.hear(audio))
            found.append(self.direction.at(self.tick - DELAY))
            self.tick += 1
        return found


def heads(found: list[FrameControls]) -> NDArray[np.float64]:
    """(T, 3) degrees that are added to pitch, yaw and roll."""
    return np.array([one.delta for one in found], np.float64)


def looks(found: list[FrameControls]) -> NDArray[np.float32]:
    return np.stack([one.delta_expression for one in found if one.delta_expression is not None])


def blinks(found: list[FrameControls]) -> int:
    """How often lids begin to move."""
    moving = [one.blink is not None and bool(one.blink.any()) for one in found]
    return sum(now and not before for before, now in zip([False, *moving], moving, strict=False))


FILMED = Manner(Blink.plain(), filmed=True)


def test_a_head_turns_to_where_it_is_wished_without_a_jump() -> None:
    run = Run(FILMED)
    run.frames(10)
    run.direction.control(Controls(head_yaw=20, head_pitch=-10, head_roll=5))
    path = heads(run.frames(60))
    assert not path[0].any()
    assert path[-1] == pytest.approx([-10, -20, 5]), "the model's yaw grows to the viewer's left"
    assert np.abs(np.diff(path, 2, axis=0)).max() <= 0.31


def test_wishes_from_before_the_first_tick_hold_from_the_first_frame_on() -> None:
    run = Run(FILMED)
    run.direction.control(Controls(head_roll=7, emotion="sad"))
    assert (heads(run.frames(20)) == [0, 0, 7]).all()
    assert run.told[0] == pytest.approx(moods.emotion({"sad": 1}))
    assert run.told[1:] == [None] * 19


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-20, 20), st.floats(-1, 1), st.floats(0, 2)), max_size=40))
def test_wishes_that_change_each_frame_are_followed_without_a_jump(
    wishes: list[tuple[float, float, float]],
) -> None:
    run = Run(FILMED)
    found = run.frames(1)
    for yaw, gaze, intensity in wishes:
        run.direction.control(Controls(head_yaw=yaw, gaze_x=gaze, intensity=intensity))
        found += run.frames(1)
    last = wishes[-1][0] if wishes else 0.0
    found += run.frames(60)
    assert np.abs(np.diff(heads(found), axis=0)).max() <= 5
    assert np.abs(np.diff(looks(found), axis=0)).max() <= 0.015
    assert heads(found)[-1, 1] == pytest.approx(-last, abs=1e-6)


def test_an_emotion_is_told_over_half_a_second_and_then_no_more() -> None:
    run = Run()
    run.frames(3)
    assert [told is not None for told in run.told] == [True, False, False]
    assert run.told[0] == pytest.approx(moods.emotion({}))
    run.direction.control(Controls(emotion={"happy": 0.6, "sad": 0.2}))
    run.frames(2 * MOOD_FRAMES)
    path = np.stack([told for told in run.told if told is not None])
    assert 10 <= len(path) - 1 <= MOOD_FRAMES
    assert path[-1] == pytest.approx(moods.emotion({"happy": 0.6, "sad": 0.2}))
    assert path.sum(axis=1) == pytest.approx(1)
    assert np.abs(np.diff(path, axis=0)).max() < 0.15


def test_lips_rest_in_silence_and_speak_as_strongly_as_they_are_wished() -> None:
    run = Run()
    assert {one.lip_alpha for one in run.frames(20)} == {0}
    assert run.frames(30, loud=True)[-1].lip_alpha == 1
    run.direction.control(Controls(intensity=1.5))
    assert run.frames(20, loud=True)[-1].lip_alpha == pytest.approx(1.5)
    run.direction.control(Controls(intensity=0))
    assert run.frames(20, loud=True)[-1].lip_alpha == 0


def test_a_face_in_a_mood_keeps_its_mouth_in_it() -> None:
    run = Run()
    run.frames(1)
    run.direction.control(Controls(emotion="happy", emotion_level=0.5))
    assert run.frames(40)[-1].lip_alpha == pytest.approx(0.5)


def test_a_silent_face_moves_its_head_and_eyes_in_every_frame_but_little() -> None:
    found = Run().frames(500)
    assert (np.abs(np.diff(heads(found), axis=0)).max(axis=1) > 0).all()
    assert np.abs(heads(found)).max() < 6
    assert np.abs(np.diff(heads(found), axis=0)).max() < 0.6
    assert len(np.unique(looks(found), axis=0)) > 20


def test_speech_has_the_head_to_the_model() -> None:
    run = Run()
    assert np.abs(heads(run.frames(100, loud=True))[-30:]).max() == 0


def test_blinks_come_ten_to_twenty_times_a_minute_in_short_clips_and_long_ones() -> None:
    short = sum(blinks(Run(seed=seed).frames(250)) for seed in range(30))
    assert 10 <= short / 5 <= 20
    run = Run(seed=5)
    assert 10 <= blinks(run.frames(7500)) / 5 <= 20


def test_blinks_can_be_more_or_none_and_lids_rest_between_them() -> None:
    run = Run(seed=2)
    run.direction.control(Controls(blink_per_minute=0))
    assert blinks(run.frames(500)) == 0
    run.direction.control(Controls(blink_per_minute=60))
    found = run.frames(500)
    assert 10 <= blinks(found) <= 28
    assert any(one.blink is not None and not one.blink.any() for one in found)


def test_a_filmed_face_has_blinks_and_drift_of_its_own() -> None:
    found = Run(Manner(Blink.plain(), (2.0, 0.0, -1.0), filmed=True)).frames(200)
    assert blinks(found) == 0
    assert (heads(found) == [2, 0, -1]).all()
    assert not looks(found).any()


def test_eyes_look_where_they_are_wished_and_no_further_than_they_can() -> None:
    run = Run()
    run.direction.control(Controls(gaze_x=1, gaze_y=-1))
    found = looks(run.frames(200)[20:]).reshape(-1, 21, 3)
    assert np.median(found[:, 15, 0]) == pytest.approx(0.03, abs=0.004)
    assert found[:, 15, 0].max() <= 0.0301
    assert found[:, 11, 1].max() <= 0.0201


def same(one: FrameControls, other: FrameControls) -> bool:
    assert one.blink is not None
    assert other.blink is not None
    assert one.delta_expression is not None
    assert other.delta_expression is not None
    return (
        (one.delta, one.lip_alpha) == (other.delta, other.lip_alpha)
        and np.array_equal(one.blink, other.blink)
        and np.array_equal(one.delta_expression, other.delta_expression)
    )


def test_a_seed_makes_a_life_again_wherever_the_session_begins() -> None:
    one, other = Run(seed=3).frames(60), Run(seed=3, first=1000).frames(60)
    assert all(same(a, b) for a, b in zip(one, other, strict=True))
    assert not all(same(a, b) for a, b in zip(one, Run(seed=4).frames(60), strict=True))


def test_a_frame_can_be_asked_for_again() -> None:
    run = Run()
    run.frames(20)
    before = run.frames(1, loud=True)[0]
    run.frames(3, loud=True)
    assert same(run.direction.at(20 - DELAY), before)


def test_after_an_interrupt_life_goes_on_and_a_wish_waits_for_nothing() -> None:
    run = Run(seed=6)
    run.frames(40)
    run.direction.control(Controls(head_yaw=10))
    run.frames(3)
    run.direction.interrupt(30)
    run.tick = 31
    found = run.frames(40)
    undisturbed = Run(seed=6).frames(71)
    assert same(found[0], undisturbed[31])
    assert found[DELAY + 10].delta[1] < undisturbed[31 + DELAY + 10].delta[1] - 2  # type: ignore[operator]
    assert found[-1].delta[1] == pytest.approx(undisturbed[70].delta[1] - 10)  # type: ignore[operator]


def test_an_emotion_is_told_again_from_where_an_interrupt_took_it() -> None:
    run = Run()
    run.frames(20)
    run.direction.control(Controls(emotion="sad"))
    run.frames(8)
    run.direction.interrupt(15)
    run.tick = 16
    run.frames(30)
    told = [one for one in run.told[28:] if one is not None]
    assert told[-1] == pytest.approx(moods.emotion({"sad": 1.0}))
    assert np.abs(np.diff(np.stack(told), axis=0)).max() < 0.15
