from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from visavis.stream.chance import Chance
from visavis.stream.gaze import Gaze, Look, jump_frames

MINUTE = 1500


def looks(seed: int, frames: range, *, speaking: float = 0.0) -> list[Look]:
    gaze = Gaze(Chance(seed))
    return [gaze.at(index, lambda _: speaking) for index in frames]


def away(found: list[Look]) -> float:
    return float(np.mean([max(abs(look.eyes[0]), abs(look.eyes[1])) > 5 for look in found]))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_eyes_rest_on_the_viewer_most_of_the_time(seed: int) -> None:
    assert 0.04 < away(looks(seed, range(10 * MINUTE))) < 0.15


def spoken(seed: int, frames: range, phrases: Sequence[int]) -> NDArray[np.float64]:
    """How far the eyes of who speaks, with a short pause before each of the `phrases`, are from the lens."""
    gaze = Gaze(Chance(seed))
    found = [
        gaze.at(index, lambda _: 0.9, [each for each in phrases if index - 240 < each <= index])
        for index in frames
    ]
    return np.hypot(*np.array([look.eyes for look in found]).T)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_who_speaks_looks_into_the_lens_but_for_a_moment_as_a_phrase_begins(seed: int) -> None:
    phrases = range(0, 4 * MINUTE, 63)
    off = spoken(seed, range(4 * MINUTE), phrases)
    assert (off < 2).mean() > 0.85
    edges = np.flatnonzero(np.diff((off > 3).astype(int), prepend=0, append=0)).reshape(-1, 2)
    assert len(edges) > 20
    assert np.diff(edges, axis=1).max() <= 15
    assert (edges[:, 0] % 63).max() <= 3


def test_looks_of_who_speaks_go_to_both_sides() -> None:
    gaze = Gaze(Chance(2))
    across = [gaze.at(each + 5, lambda _: 0.9, (each,)).eyes[0] for each in range(0, 9000, 60)]
    assert sum(each > 3 for each in across) > 15
    assert sum(each < -3 for each in across) > 15


def test_who_begins_to_speak_comes_back_to_the_viewer_wherever_they_looked() -> None:
    gaze = Gaze(Chance(4))
    idle = [gaze.at(index, lambda _: 0.0) for index in range(4 * MINUTE)]
    begins = [index for index, look in enumerate(idle[:-20]) if np.hypot(*look.eyes) > 7][::9]
    assert len(begins) > 20
    for begin in begins:
        back = gaze.at(begin + 15, lambda frame, begin=begin: float(frame >= begin), (begin,))
        assert np.hypot(*back.eyes) < 3


def test_a_look_at_the_viewer_strays_less_in_speech() -> None:
    calm, busy = (
        np.std(
            [look.eyes[0] for look in looks(6, range(4 * MINUTE), speaking=level) if abs(look.eyes[0]) < 4]
        )
        for level in (0.0, 1.0)
    )
    assert busy < 0.7 * calm


def test_eyes_rest_and_then_jump() -> None:
    eyes = np.array([look.eyes for look in looks(6, range(4 * MINUTE))])
    speed = np.abs(np.diff(eyes, axis=0)).max(1)
    assert (speed > 2).mean() < 0.06
    assert np.median(speed) < 0.05
    assert speed.max() > 5


def test_looks_away_are_brief_and_all_fixations_end() -> None:
    eyes = np.array([look.eyes for look in looks(8, range(10 * MINUTE))])
    far = np.abs(eyes).max(1) > 5
    edges = np.flatnonzero(np.diff(far.astype(int)))
    lengths = np.diff(edges)[(0 if far[edges[0] + 1] else 1) :: 2]
    assert 8 < np.median(lengths) < 40
    assert lengths.max() <= 130


def test_small_eye_movements_never_stop() -> None:
    eyes = np.array([look.eyes for look in looks(2, range(10 * MINUTE))])
    still = np.flatnonzero(np.abs(np.diff(eyes, axis=0)).max(1) > 0.02)
    assert np.diff(still).max() < 110


def test_larger_jumps_take_longer() -> None:
    assert 0.4 < jump_frames(0) < jump_frames(5) < jump_frames(20) < 2


def test_the_head_follows_far_looks_later_and_less() -> None:
    found = looks(5, range(10 * MINUTE))
    eyes, head = (np.array([getattr(look, part) for look in found]) for part in ("eyes", "head"))
    far = np.abs(eyes[:, 0]) > 10
    settled = far & np.roll(far, 12)
    share = head[settled, 0] / eyes[settled, 0]
    assert 0.25 < np.median(share) < 0.45
    assert np.abs(np.diff(head, 2, axis=0)).max() < 0.4
    late = [np.corrcoef(np.roll(eyes[:, 0], k), head[:, 0])[0, 1] for k in range(12)]
    assert 3 <= int(np.argmax(late)) <= 8


def test_the_head_comes_back_more_slowly_than_it_turned() -> None:
    gaze = Gaze(Chance(5))
    head = np.array([gaze.at(index, lambda _: 0.0).head for index in range(10 * MINUTE)])
    speed = np.diff(np.hypot(*head.T))
    assert np.percentile(speed, 99.5) > 1.15 * -np.percentile(speed, 0.5)


def test_the_far_jumps_that_are_told_are_the_ones_that_happen() -> None:
    gaze = Gaze(Chance(9))
    told = gaze.jumps(0, 10 * MINUTE)
    eyes = np.array([gaze.at(index, lambda _: 0.0).eyes for index in range(10 * MINUTE)])
    leaps = np.flatnonzero(np.abs(np.diff(eyes, axis=0)).max(1) > 6)
    assert 60 < len(told) < 220
    assert np.mean([np.abs(np.array(told) - leap).min() < 3 for leap in leaps]) > 0.95


@settings(max_examples=30)
@given(st.integers(0, 2**63), st.integers(-(10**6), 10**9))
def test_no_frame_is_without_a_look(seed: int, index: int) -> None:
    gaze = Gaze(Chance(seed))
    look = gaze.at(index, lambda _: 0.5)
    assert max(map(abs, look.eyes)) < 24
    assert look == Gaze(Chance(seed)).at(index, lambda _: 0.5)


def test_only_speech_at_the_start_of_a_look_decides_where_it_goes() -> None:
    gaze = Gaze(Chance(3))
    asked: list[float] = []

    def speaking(frame: float) -> float:
        asked.append(frame)
        return 0.0

    for index in range(0, 3000, 7):
        asked.clear()
        gaze.at(index, speaking)
        assert all(index - 240 < frame <= index for frame in asked)
