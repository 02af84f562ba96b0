"""Lips that belong to a sentence: from text through voice, playout, performer and picture to the landmarks
of a face.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from support.landmarks import landmarks, lip_gap
from support.mouths import reference
from support.rig import face, meshed, moved
from support.sentence import PAUSE_TICKS, performed, silenced
from support.walls import grown, mouthless, parted
from visavis.render.rig.interior import Interior
from visavis.render.rig.motion import Motion
from visavis.render.rig.shapes import SHAPES
from visavis.render.rig.tensors import TONGUE

Gaps = NDArray[np.float64]
Bools = NDArray[np.bool_]

PRESENTERS = ("ruby", "marcus")
ROW_MS = 10
SPOKEN = slice(PAUSE_TICKS, PAUSE_TICKS + 125)
"""Five seconds of speech."""
REST_EVERY = 3
"""Frames from one measurement of the lips at rest to the next: heads turn slowly."""
EDGE_ROWS = 20
"""Left out at either end, where shifted curves have no partner."""
LIPS = (61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291, 409, 270, 269, 267, 0, 37, 39, 40, 185)
"""The outer contour of the lips in the mesh of landmarks."""
BROW, CHIN = 10, 152
SHOWN = 64
"""Of 255: a pixel shows the mouth's interior when a quarter of it does."""
NEAR_LIPS = 0.08
"""How far beside the lips' measured contour a pixel of the mouth may lie, in heights of the face. The
landmarks miss the corners of a mouth by up to 0.055."""


@cache
def apertures(name: str, *, told: bool, deaf_to: str = "") -> Gaps:
    """How much further the inner lips stand apart in each frame than they would at rest in the same pose, by
    landmarks, as a share of the face's height."""
    one = face(name)
    canvas = one.canvas()

    def gap(motion: Motion) -> float:
        return lip_gap(landmarks(one.draw(motion, canvas))[1])

    motions = performed(told=told, deaf_to=deaf_to).motions
    frames = np.arange(len(motions))
    rest = [gap(silenced(motion)) for motion in motions[::REST_EVERY]]
    return np.array([gap(motion) for motion in motions]) - np.interp(frames, frames[::REST_EVERY], rest)


def share_closed(name: str, *, told: bool, deaf_to: str = "") -> float:
    """The share of the sentence's p, b and m in one of whose frames the lips come down to a tenth of their
    open gap above rest. Open is what they reach in one frame of twenty."""
    gaps = apertures(name, told=told, deaf_to=deaf_to)
    limit = 0.1 * np.percentile(apertures(name, told=told), 95)
    closures = performed(told=told).closures("pp")
    assert len(closures) >= 15
    return float(np.mean([gaps[touched].min() <= limit for touched in closures]))


def best_lag(gaps: Gaps, curve: Gaps) -> tuple[int, float, float]:
    """By how many ms the lips follow `curve`, one value a row, and the correlation there and at no lag."""
    middles = np.arange(len(gaps)) * 4 + 1.5
    opening = np.interp(np.arange(len(curve)), middles, gaps)
    inner = slice(EDGE_ROWS, -EDGE_ROWS)
    match = {
        rows * ROW_MS: float(np.corrcoef(np.roll(opening, -rows)[inner], curve[inner])[0, 1])
        for rows in range(-12, 13)
    }
    lag = max(match, key=match.__getitem__)
    return lag, match[lag], match[0]


@pytest.mark.parametrize("told", [True, False], ids=["shapes from the voice", "shapes from the net"])
@pytest.mark.parametrize("name", PRESENTERS)
def test_lips_are_seen_to_close_on_p_b_and_m(name: str, told: bool) -> None:
    assert share_closed(name, told=told) >= 0.9


def test_lips_that_take_p_b_and_m_for_vowels_are_found_out() -> None:
    assert share_closed("ruby", told=True, deaf_to="pp") < 0.5


@pytest.mark.parametrize("name", PRESENTERS)
def test_lips_are_seen_to_open(name: str) -> None:
    """In one frame of twenty further than a fiftieth of the face; in the pauses less than a tenth of that."""
    gaps = apertures(name, told=True)
    wide = float(np.percentile(gaps, 95))
    assert wide > 0.02
    assert float(np.abs(gaps[: PAUSE_TICKS - 3]).max()) < 0.1 * wide


@pytest.mark.parametrize("told", [True, False], ids=["shapes from the voice", "shapes from the net"])
@pytest.mark.parametrize("name", PRESENTERS)
def test_the_opening_that_is_seen_follows_the_phonemes(name: str, told: bool) -> None:
    """The reference knows labels and nothing of the rig: an opening for each sound, smoothed over 110 ms."""
    said = performed(told=told)
    span = slice(4 * SPOKEN.start, 4 * SPOKEN.stop)
    lag_ms, best, match = best_lag(apertures(name, told=told)[SPOKEN], reference(said.names)[span])
    assert match >= 0.75
    assert best >= match
    assert -20 <= lag_ms <= 40


@pytest.mark.parametrize("told", [True, False], ids=["shapes from the voice", "shapes from the net"])
@pytest.mark.parametrize("name", PRESENTERS)
def test_the_opening_that_is_seen_lags_behind_the_sound_by_minus_20_to_40_ms(name: str, told: bool) -> None:
    said = performed(told=told)
    level = np.convolve(said.loud, np.hanning(9)[1:-1] / 4, "same")
    lag_ms, best, _ = best_lag(apertures(name, told=told), level)
    assert best > 0.38
    assert -20 <= lag_ms <= 40


def mouth_pixels(name: str, motion: Motion, monkeypatch: pytest.MonkeyPatch) -> Bools:
    """The pixels (H, W) that show teeth, gums, tongue or lining: those that change with their colour."""
    one = face(name)
    pictures: list[NDArray[np.int64]] = []
    for color in (0.0, 255.0):

        def paint(_: Interior, *poses: NDArray[np.float32], color: float = color) -> None:
            poses[-1][...] = color

        with monkeypatch.context() as patch:
            patch.setattr(Interior, "light", paint)
            pictures.append(one.draw(motion, one.canvas()).astype(np.int64))
    return np.abs(pictures[1] - pictures[0]).max(-1) > SHOWN


def around_lips(picture: NDArray[np.uint8]) -> Bools:
    """The pixels inside the measured contour of the lips and NEAR_LIPS around it."""
    points = landmarks(picture)[1]
    outside = np.ones(picture.shape[:2], np.uint8)
    cv2.fillPoly(outside, [np.rint(points[list(LIPS)] * 16).astype(np.int32)], 0, shift=4)
    reach = NEAR_LIPS * float(np.linalg.norm(points[BROW] - points[CHIN]))
    return cv2.distanceTransform(outside, cv2.DIST_L2, 5) <= reach


@pytest.mark.parametrize("name", PRESENTERS)
def test_f_shows_teeth_on_the_lip_and_p_shows_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bite, press = (
        int(mouth_pixels(name, moved(SHAPES[sound].units), monkeypatch).sum()) for sound in ("ff", "pp")
    )
    assert bite > 120
    assert press < 20


HEADS = [(0, 0), (15, 0), (-15, 0), (0, 10), (0, -10), (15, 10), (-15, -10)]


@pytest.mark.parametrize("head", HEADS, ids=lambda head: f"yaw {head[0]} pitch {head[1]}")
@pytest.mark.parametrize("name", PRESENTERS)
def test_no_frame_of_speech_shows_teeth_or_tongue_outside_of_the_lips(
    name: str, head: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the interior is seen there is a gap in the skin, to a pixel; in each column there is one such
    gap; and it lies at the lips."""
    one = face(name)
    most = 0
    for motion in performed(told=True).motions[SPOKEN][::7]:
        turned = replace(motion, head=motion.head + np.array([*head, 0], np.float32))
        seen = mouth_pixels(name, turned, monkeypatch)
        gap = parted(mouthless(name), turned) < 1
        assert not (seen & ~grown(gap, 1)).any()
        assert (np.diff(np.pad(seen, ((1, 1), (0, 0))).astype(int), axis=0) == 1).sum(0).max() <= 1
        assert not (seen & ~around_lips(one.draw(turned, one.canvas()))).any()
        most = max(most, int(seen.sum()))
    assert most > 300


def test_teeth_that_come_through_the_lips_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    motion = performed(told=True).motions[SPOKEN][26]
    gap = parted(mouthless("ruby"), motion) < 1
    assert not (mouth_pixels("ruby", motion, monkeypatch) & ~grown(gap, 1)).any()
    monkeypatch.setattr("visavis.render.rig.drawing._INNER_BIAS", -0.2)
    assert (mouth_pixels("ruby", motion, monkeypatch) & ~grown(gap, 1)).sum() > 50


def tongue_pixels(name: str, motion: Motion, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many pixels change with the tongue's colour."""
    one, tongue = face(name), meshed(name).part == TONGUE
    light = Interior.light
    pictures: list[NDArray[np.int64]] = []
    for color in (0.0, 255.0):

        def paint(self: Interior, *poses: Any, color: float = color) -> None:
            light(self, *poses)
            poses[-1][tongue] = color

        with monkeypatch.context() as patch:
            patch.setattr(Interior, "light", paint)
            pictures.append(one.draw(motion, one.canvas()).astype(np.int64))
    return int((np.abs(pictures[1] - pictures[0]).max(-1) > SHOWN).sum())


@pytest.mark.parametrize("name", PRESENTERS)
def test_th_shows_the_tip_of_the_tongue_and_p_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {
        sound: tongue_pixels(name, moved(SHAPES[sound].units, tongue=SHAPES[sound].tongue), monkeypatch)
        for sound in ("th", "aa", "pp")
    }
    assert shown["th"] > 60
    assert shown["aa"] > 150
    assert shown["pp"] == 0


@pytest.mark.parametrize("name", PRESENTERS)
def test_a_tongue_is_seen_in_speech(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [tongue_pixels(name, motion, monkeypatch) for motion in performed(told=True).motions[SPOKEN][::3]]
    assert np.mean([each > 40 for each in shown]) > 0.2
