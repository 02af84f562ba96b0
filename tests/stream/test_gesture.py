import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.chance import Chance
from visavis.stream.gesture import (
    ATTEND_MEMORY,
    BEAT_BEFORE,
    BEAT_MEMORY,
    Beat,
    Gesture,
    Gestures,
    brow_curve,
    nod_curve,
    sway_curve,
)


def made(
    frames: range, *beats: Beat, seed: int = 1, ended: int | None = None, speaking: float = 1.0
) -> list[Gesture]:
    gestures = Gestures(Chance(seed))
    return [gestures.at(index, speaking, beats, ended) for index in frames]


def pitches(found: list[Gesture]) -> list[float]:
    return [gesture.pitch for gesture in found]


def test_a_beat_moves_the_head_after_its_stress_and_leaves_it_at_rest() -> None:
    for frame in range(100, 130):
        pitch = np.abs(pitches(made(range(90, 170), Beat(frame, 1.0))))
        assert 2 <= int(pitch.argmax()) - (frame - 90) <= 11
        assert 0.2 < pitch.max() < 3.1
        assert not pitch[: frame - 90 - BEAT_BEFORE + 1].any()
        assert not pitch[frame - 90 + BEAT_MEMORY :].any()


def test_a_nod_takes_its_time() -> None:
    for frame in range(100, 160):
        pitch = np.abs(pitches(made(range(frame - 5, frame + 40), Beat(frame, 1.0))))
        assert np.abs(np.diff(pitch)).max() < 0.3 * pitch.max()
        assert 9 <= (pitch > 0.15 * pitch.max()).sum() <= 25


def test_not_every_beat_is_nodded_to_and_two_seeds_nod_differently() -> None:
    one, other = (
        np.array([max(pitches(made(range(at - 2, at + 34), Beat(at, 1.0), seed=seed))) for at in range(200)])
        for seed in (1, 2)
    )
    assert 0.25 < (one < 0.6).mean() < 0.55
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.2


def test_a_stronger_beat_makes_a_larger_gesture() -> None:
    small, large = (pitches(made(range(95, 120), Beat(100, level))) for level in (0.3, 0.9))
    assert np.allclose(3 * np.array(small), large)


def test_some_beats_raise_the_brows_and_most_nod() -> None:
    found = [made(range(frame - 2, frame + 34), Beat(frame, 1.0)) for frame in range(0, 4000, 40)]
    raised = np.mean([max(gesture.brow for gesture in each) > 0.3 for each in found])
    down = np.mean([max(pitches(each)) > 0.9 for each in found])
    assert 0.25 < raised < 0.6
    assert 0.45 < down < 0.8


def test_gestures_begin_and_end_without_a_jump() -> None:
    for curve in (nod_curve, brow_curve, sway_curve):
        values = [curve(since) for since in np.linspace(-6, 40, 921)]
        assert values[0] == values[-1] == 0
        assert np.abs(np.diff(values)).max() < 0.05


def test_who_has_spoken_attends_with_a_tilted_head_and_few_nods() -> None:
    tilts = [made(range(200, 700), ended=200, seed=seed, speaking=0.0) for seed in range(12)]
    peak = [max((gesture.roll for gesture in each), key=abs) for each in tilts]
    assert all(0.9 < abs(roll) < 2.7 for roll in peak)
    assert {roll > 0 for roll in peak} == {True, False}
    assert all(each[0].roll == 0 and each[8].roll == 0 for each in tilts)
    assert all(each[ATTEND_MEMORY].roll == 0 for each in tilts)
    nods = np.mean([max(pitches(each)) > 0.4 for each in tilts])
    assert 0.2 < nods <= 1.0
    steps = [
        np.abs(np.diff([(gesture.roll, gesture.pitch) for gesture in each], axis=0)).max() for each in tilts
    ]
    assert max(steps) < 1.2


def test_attention_gives_way_to_speech() -> None:
    spoken = made(range(200, 500), ended=200, speaking=1.0)
    assert not any(gesture.roll or gesture.pitch for gesture in spoken)


@given(st.integers(0, 2**63), st.integers(0, 10**9), st.floats(0, 1))
def test_gestures_are_the_same_whenever_they_are_asked_for(seed: int, frame: int, strength: float) -> None:
    beat = Beat(frame, strength)
    once = made(range(frame + 3, frame + 4), beat, seed=seed, ended=frame - 40, speaking=0.4)
    assert once == made(range(frame + 3, frame + 4), beat, seed=seed, ended=frame - 40, speaking=0.4)
