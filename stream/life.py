"""What a face does on its own: blinks, gaze, head, brows, breath and posture, from one seed a session.

Every value is a pure function of the seed, the absolute frame index and what was heard in the seconds around
it, so any frame can be asked for again and no state has to be kept or restored. Nothing ever repeats.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .blink import BlinkRate, Blinks
from .breath import PHRASE_MEMORY, Breath
from .chance import Chance
from .easing import hermite
from .gaze import LONGEST_FRAMES, Gaze
from .gesture import ATTEND_MEMORY, Beat, Gestures
from .posture import Posture

F64 = NDArray[np.float64]

MEMORY_FRAMES: Final = int(max(2 * LONGEST_FRAMES, PHRASE_MEMORY, ATTEND_MEMORY)) + 1
"""No frame is shaped by sound longer ago than this."""
_RESUME_FRAMES: Final = 20
"""Less than an end is told for after more began."""

_CORNERS_FRAMES, _CORNER_FRAMES, _PRESS_FRAMES = 43.0, 71.0, 37.0
"""Frames in which the corners of a resting mouth go elsewhere, each corner by itself, and lips may press."""
_PRESS_FROM: Final = 0.1
"""Lips press for less than half of the time."""
_LATE_LID: Final = 0.3
"""Frames by which one lid of a blink comes after the other."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What was heard around a frame.

    `speaking(frame)` tells 0..1 how much there is speech around that frame, for frames up to MEMORY_FRAMES
    back; `phrases` are frames at which speech began after a pause; `beats` are stressed syllables; `ended`
    is the last frame of the speech that is over, still so for a second after more began.
    """

    speaking: Callable[[float], float]
    phrases: tuple[int, ...] = ()
    beats: tuple[Beat, ...] = ()
    ended: int | None = None


def _nothing(frame: float) -> float:
    return 0.0 * frame


SILENCE: Final = Talk(_nothing)


@dataclass(frozen=True, slots=True)
class Life:
    """`blink` 0 open to 1 shut, `lids` (2,) the same for the model's left eye and its right one, one of which
    comes a trifle later; `head` (3,) yaw, pitch, roll in degrees; `eyes` (2,) where the eyes point, in
    degrees from the viewer, right and up; `ease` how far the upper lids hang, 0 not at all to 1; `brow` 0
    at rest to 1 raised; `body` (2,) breath 0..1 and lean -1..1; `skew` -1..1 how much more one half of the
    face does than the other; `warmth` 0..1 of a face that likes whom it sees; `lips` (3,) of a mouth that
    says nothing: how much the model's left corner and its right one lift or fall, -1..1, and how firmly the
    lips press, 0..1."""

    blink: float
    lids: F64
    ease: float
    head: F64
    eyes: F64
    brow: float
    body: F64
    skew: float
    warmth: float
    lips: F64


def _resumed(index: int, talk: Talk) -> float:
    """How far who spoke again after the end that is told has turned back to speaking, 0..1, whatever pauses
    came since."""
    if talk.ended is None or not talk.phrases or talk.phrases[-1] <= talk.ended:
        return 0.0
    return hermite((index - talk.phrases[-1]) / _RESUME_FRAMES)


@dataclass(frozen=True, slots=True)
class Pose:
    """Of `Life` what a face takes that brings the rest itself: `blink`, `head` and `eyes`."""

    blink: float
    head: tuple[float, float, float]
    eyes: tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Stance:
    """`speaking`, `head`, `eyes` and `body` as in `Life`, and how far a `gesture` raises the brows."""

    speaking: float
    head: tuple[float, float, float]
    eyes: tuple[float, float]
    body: tuple[float, float]
    gesture: float


class LifeProcess:
    """The free-running life of one session."""

    def __init__(self, seed: int) -> None:
        self._chance = Chance(seed)
        self._gaze = Gaze(self._chance)
        self._blinks = Blinks(self._chance, self._gaze.jumps)
        self._breath = Breath(self._chance)
        self._posture = Posture(self._chance)
        self._gestures = Gestures(self._chance)
        self._side = float(self._chance.generator("side", 0).choice((-0.5, 0.5)))
        """Which half of the face usually does more."""

    def at(self, index: int, *, talk: Talk = SILENCE, rate: BlinkRate) -> Life:
        """Life at frame `index`."""
        stance = self._stance(index, talk)
        speaking = stance.speaking
        brow = 0.07 + 0.13 * self._chance.noise("brow", index, 61.0) + 0.012 * max(stance.eyes[1], 0.0)
        ease = 0.6 + 0.25 * self._chance.noise("ease", index, 173.0) - 0.1 * speaking - 0.4 * stance.gesture
        skew = self._side + 0.5 * self._chance.noise("skew", index, 230.0)
        warmth = 0.5 + 0.48 * self._chance.noise("warmth", index, 190.0) - 0.2 * speaking
        lids = [self._blinks.at(index - late, rate, speaking) for late in (0.0, _LATE_LID)]
        return Life(
            lids[0],
            np.array(lids if self._side > 0 else lids[::-1]),
            min(max(ease, 0.0), 1.0),
            np.array(stance.head),
            np.array(stance.eyes),
            min(max(brow + stance.gesture, 0.0), 1.0),
            np.array(stance.body),
            min(max(skew, -1.0), 1.0),
            min(max(warmth, 0.0), 1.0),
            self._lips(index) * (1.0 - speaking),
        )

    def pose(self, index: int, *, talk: Talk = SILENCE, rate: BlinkRate, turns: bool = True) -> Pose:
        """Those parts of `at` alone, in half the time, and in half of that of a head that never `turns`."""
        if turns:
            stance = self._stance(index, talk)
            return Pose(self._blinks.at(index, rate, stance.speaking), stance.head, stance.eyes)
        look = self._gaze.at(index, talk.speaking, talk.phrases)
        return Pose(self._blinks.at(index, rate, talk.speaking(index)), (0.0, 0.0, 0.0), look.eyes)

    def _stance(self, index: int, talk: Talk) -> _Stance:
        speaking = talk.speaking(index)
        look = self._gaze.at(index, talk.speaking, talk.phrases)
        breath = self._breath.at(index, speaking, talk.phrases)
        lean = self._posture.lean(index, speaking)
        gesture = self._gestures.at(index, max(speaking, _resumed(index, talk)), talk.beats, talk.ended)
        yaw, pitch, roll = self._posture.head(index, speaking, breath, lean)
        across, up = look.head
        head = yaw + across + gesture.yaw, pitch - up + gesture.pitch, roll + gesture.roll
        return _Stance(speaking, head, look.eyes, (breath, lean), gesture.brow)

    def _lips(self, index: int) -> F64:
        """What lips at rest do: both corners nearly as one, up more often than down, and a press at
        times."""
        both = 0.35 + 0.8 * self._chance.noise("corners", index, _CORNERS_FRAMES)
        left, right = (self._chance.noise(f"corner{side}", index, _CORNER_FRAMES) for side in (0, 1))
        press = self._chance.noise("press", index, _PRESS_FRAMES) - _PRESS_FROM
        return np.clip((both + 0.4 * left, both + 0.4 * right, press), (-1, -1, 0), 1)
