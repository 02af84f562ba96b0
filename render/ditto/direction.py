"""What a session's face is asked to do, frame by frame: live controls, life of its own, pauses of speech.

All of it is decided on the host, from ticks, frames and one seed; a frame can be asked for again.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.blink import BlinkRate
from ...stream.controls import Controls
from ...stream.easing import Glide, edge_frames
from ...stream.life import LifeProcess
from ...stream.media import TickAudio
from . import lids, moods
from .controls import FrameControls
from .lids import Blink
from .pauses import Pauses

F64 = NDArray[np.float64]

MOOD_FRAMES: Final = 12
"""From one emotion to another: half a second."""
_WISH_FRAMES: Final = 10
_HEAD_ACCELERATION: Final = 0.30
"""Degrees a frame², the fastest a control may swing the head."""
_EYES_DEG: Final = (25.0, 18.0)
"""How far eyes turn at the end of their range, across and up."""
_HEAD_SHARE, _EYES_SHARE = 0.4, 0.5
"""Of the life that a face without a motion model has. The head's comes with pauses, in which the model's own
motion may stand still; the eyes' is all they have, since they follow blinks and not the model."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How an avatar is moved: how it `blink`s, and the `bearing` of its head, (3,) degrees of pitch, yaw and
    roll to add. One that was `filmed` brings blinks, looks and drift of its own."""

    blink: Blink
    bearing: tuple[float, float, float] = (0.0, 0.0, 0.0)
    filmed: bool = False


class Direction:
    """The wishes and the life of one session, whose frame n is drawn when tick n + `delay` has been heard."""

    def __init__(self, manner: Manner, *, delay: int, seed: int, index: int) -> None:
        """The first tick is `index`."""
        self._manner = manner
        self._delay = delay
        self._first = index
        self._next_tick = index
        self._pauses = Pauses(delay, index)
        self._life = LifeProcess(seed)
        self._blinks = BlinkRate(0, 0.0, Controls().blink_per_minute)
        self._wish = Glide.resting(_wish(Controls()))
        self._mood = Glide.resting(_mood(Controls()))
        self._told: F64 | None = None

    def control(self, controls: Controls) -> None:
        """Follow new `controls`: from the next frame on, emotions from the next tick on; where nothing was
        heard yet, at once."""
        frame = self._next_tick - self._delay
        wish = _wish(controls)
        if self._told is None:
            self._wish, self._mood = Glide.resting(wish), Glide.resting(_mood(controls))
        turn = float(np.abs(wish[:3] - self._wish.at(frame)[:3]).max())
        self._wish = self._wish.turned(wish, frame, edge_frames(turn, _HEAD_ACCELERATION, least=_WISH_FRAMES))
        self._mood = self._mood.turned(_mood(controls), self._next_tick, MOOD_FRAMES)
        if controls.blink_per_minute != self._blinks.per_minute:
            self._blinks = self._blinks.changed(frame - self._first, controls.blink_per_minute)

    def hear(self, audio: TickAudio) -> F64 | None:
        """Take the next tick. The emotion (8,) that it is spoken with, where that is news."""
        self._pauses.hear(audio.index, audio.heard)
        self._next_tick = audio.index + 1
        mood = self._mood.at(audio.index)[:-1]
        if self._told is not None and np.array_equal(mood, self._told):
            return None
        self._told = mood
        return _whole(mood)

    def at(self, frame: int) -> FrameControls:
        """What `frame`, the newest or one not long before, brings."""
        speaking = self._pauses.at(frame)
        pitch, yaw, roll, across, up, intensity = self._wish.at(frame).tolist()
        # At rest lips are the picture's own; a face in a mood keeps its mouth in it.
        mood = min(max(float(self._mood.at(frame)[-1]), 0.0), 1.0)
        lips = speaking.lips + (1.0 - speaking.lips) * mood
        blink = None
        if not self._manner.filmed:
            turns = speaking.calm > 0
            life = self._life.pose(frame - self._first, rate=self._blinks, turns=turns)
            blink = self._manner.blink.at(min(life.blink, 1.0))
            share, drift = _HEAD_SHARE * speaking.calm, _model_angles(life.head)
            pitch, yaw, roll = pitch + share * drift[0], yaw + share * drift[1], roll + share * drift[2]
            across += _EYES_SHARE * life.eyes[0] / _EYES_DEG[0]
            up += _EYES_SHARE * life.eyes[1] / _EYES_DEG[1]
        look = lids.look(min(max(across, -1.0), 1.0), min(max(up, -1.0), 1.0))
        bearing = self._manner.bearing
        return FrameControls(
            delta=(pitch + bearing[0], yaw + bearing[1], roll + bearing[2]),
            lip_alpha=max(intensity, 0.0) * lips,
            delta_expression=look,
            blink=blink,
        )

    def interrupt(self, sent: int) -> None:
        """All sound after tick `sent` is void; the next frame is `sent + 1`, and wishes begin with it."""
        self._pauses.rewind(sent)
        self._next_tick = sent + 1
        self._wish = self._wish.begun_by(sent + 1)
        self._mood = self._mood.begun_by(sent + 1)


def _wish(controls: Controls) -> F64:
    """(6,): pitch, yaw and roll in degrees as the model has them, gaze across and up, intensity.

    The model's yaw grows to the viewer's left: the same turn that takes the nose down at positive pitch takes
    it there, and the gaze that the reference holds against a turn says the same.
    """
    head = controls.head_pitch, -controls.head_yaw, controls.head_roll
    return np.array([*head, controls.gaze_x, controls.gaze_y, controls.intensity])


def _mood(controls: Controls) -> F64:
    """(9,): the emotion of the model, and how far it is from neutral."""
    named = controls.moods
    return np.array([*moods.emotion(named), moods.strength(named)])


def _whole(mood: F64) -> F64:
    """`mood` (8,) with no share below 0, together 1."""
    shares = np.clip(mood, 0.0, None)
    return shares / shares.sum()


def _model_angles(head: tuple[float, float, float]) -> tuple[float, float, float]:
    """Pitch, yaw and roll as the model has them."""
    yaw, pitch, roll = head
    return pitch, -yaw, roll
