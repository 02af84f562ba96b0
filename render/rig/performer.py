"""One session's face in motion: what it heard, what it does, and the last second of it."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.blink import BlinkRate
from ...stream.controls import Controls
from ...stream.easing import edge
from ...stream.life import Life, LifeProcess
from ...stream.media import TickAudio
from . import hair, torso
from .expression import Aim, Fade, limited, mixed, settled
from .lips import Mouth
from .motion import Motion
from .speech import AHEAD_TICKS, Speech
from .units import BLINK_LEFT, BLINK_RIGHT, UNITS, unit_vector
from .viseme import VisemeStage

F32 = NDArray[np.float32]

DELAY_TICKS: Final = AHEAD_TICKS
EASE_FRAMES: Final = 5
"""Frames from the last one sent to a mouth at rest, after an interrupt."""
BEGIN_FRAMES: Final = 50
"""From facing the viewer, as a still does, to a head with a life of its own."""
_KEPT_FRAMES = 32
_MEMORY_FRAMES: Final = max(hair.MEMORY_FRAMES, torso.MEMORY_FRAMES)
GAZE_RANGE_DEG: Final = np.array([25.0, 18.0], np.float32)
"""How far the eyes turn at a gaze of 1, across and up or down."""
_ASIDE_DEG: Final = 15.0
"""How far an eye turns aside at most: beyond that its iris would leave the opening of the lids."""
_BROW = unit_vector({"browInnerUp": 0.64, "browOuterUp": 0.54})
_BROW_CALM, _BROW_KEEN = 0.6, 0.9
"""Raised brows go so far, and so much farther the more they are raised: a stress shows, a drift hardly
does."""
_LOOK_DOWN = unit_vector({"eyeLookDown": 0.95})
_LOOK_UP = unit_vector({"eyeLookUp": 0.95, "eyeSquint": 0.6})
_EASE = unit_vector({"eyeLookDown": 0.06})
_WIDE = UNITS.index("eyeWideLeft")
_SHUT = unit_vector({"browDown": 0.07, "cheekSquint": 0.10, "eyeLookDown": 0.28})
"""What a blink does around the lids. The eyes turn down in it, which also keeps the lashes before the lid."""
_WARM = unit_vector({"mouthSmile": 0.14, "cheekSquint": 0.12, "mouthDimple": 0.03})
"""What a face does that likes whom it sees; speech and other moods take it back."""
_CORNERS = [UNITS.index("mouthSmileLeft"), UNITS.index("mouthSmileRight")]
_CORNER: Final = 0.12
"""How much of a smile the corners of a mouth at rest come and go by."""
_PRESSED = unit_vector({"mouthPress": 0.34, "mouthDimple": 0.03})
"""What lips at rest do now and then."""
_FROWN = UNITS.index("mouthFrownLeft")
_SKEW_BROW, _SKEW_REST = 0.04, 0.05


def _skew() -> F32:
    """(52,) positive for the left half of the face."""
    moved = ("brow", "cheek", "mouth")
    side = [unit.endswith("Left") * 1.0 - unit.endswith("Right") * 1.0 for unit in UNITS]
    share = [
        (_SKEW_BROW if unit.startswith("brow") else _SKEW_REST) * unit.startswith(moved) for unit in UNITS
    ]
    turned = [unit in ("mouthLeft", "mouthRight") for unit in UNITS]
    return (np.array(side) * np.array(share) * ~np.array(turned)).astype(np.float32)


_SKEW: Final = _skew()
"""By how much more and less the halves of a face do at full skew."""
_BODY_LEAST = np.array([0, -1], np.float32)
_LIDS = [BLINK_LEFT, BLINK_RIGHT]


@dataclass(frozen=True, slots=True)
class Joint:
    """From frame `after` on, `offset` is added and fades away: the face goes on from where it was cut."""

    after: int
    offset: Motion


class Performer:
    """Turns the ticks of one session into motions. Every number depends only on the seed, ticks and
    controls."""

    def __init__(self, stage: VisemeStage, *, seed: int, index: int) -> None:
        self._speech = Speech(stage)
        self._life = LifeProcess(seed)
        self._fade: Fade = settled(Controls())
        self._blinks = BlinkRate(0, 0.0, Controls().blink_per_minute)
        self._joint: Joint | None = None
        self._past: dict[int, Motion] = {}
        self._first = self._next_tick = index

    @property
    def next_tick(self) -> int:
        return self._next_tick

    def hear(self, audio: TickAudio) -> Motion:
        """Take the next tick and return the motion of frame `audio.index - DELAY_TICKS`."""
        tick = audio.index
        self._speech.hear(audio)
        self._next_tick = tick + 1
        frame = tick - DELAY_TICKS
        if self._joint is not None and frame <= self._joint.after:
            past = self._past.get(frame)
            return self._at(frame) if past is None else past
        motion = self._at(frame)
        self._past[frame] = motion
        self._past.pop(frame - _KEPT_FRAMES, None)
        return motion

    def control(self, controls: Controls) -> None:
        """Follow new `controls` from the next frame on."""
        frame = self._next_tick - DELAY_TICKS
        self._fade = self._fade.turned(controls, frame)
        self._blinks = self._blinks.changed(frame, controls.blink_per_minute)

    def interrupt(self, sent: int) -> None:
        """Forget all sound, and go on from the motion of frame `sent` into rest."""
        left = self._past.get(sent)
        self._speech.reset()
        self._joint = None
        if left is not None:
            self._joint = Joint(sent, left.plus(self._free(sent), -1.0))
        self._past = {frame: motion for frame, motion in self._past.items() if frame <= sent}
        self._next_tick = sent + 1

    def _at(self, frame: int) -> Motion:
        """The motion of `frame` from what has been heard so far."""
        motion = self._free(frame)
        if self._joint is not None:
            left = 1.0 - edge(frame, start=self._joint.after, frames=EASE_FRAMES)
            motion = _bounded(motion.plus(self._joint.offset, left)) if left > 0 else motion
        heads = [_swung(motion)]
        while len(heads) <= _MEMORY_FRAMES and (past := self._past.get(frame - len(heads))) is not None:
            heads.append(_swung(past))
        return replace(motion, hair=hair.trail(heads), torso=torso.follow(heads))

    def _free(self, frame: int) -> Motion:
        """The motion of `frame`, but for hair and torso, as if nothing had been cut."""
        want = self._fade.at(frame)
        mouth = self._speech.mouth(frame, want.intensity)
        life = self._life.at(frame, talk=self._speech.talk(frame), rate=self._blinks)
        begun = edge(frame, start=self._first, frames=BEGIN_FRAMES)
        begin = replace(life, head=life.head * begun, warmth=life.warmth * begun, lips=life.lips * begun)
        return _posed(mouth, begin, want)


def _bounded(motion: Motion) -> Motion:
    """`motion` with every number back in its range."""
    np.clip(motion.units, 0, 1, out=motion.units)
    np.clip(motion.gaze, -1, 1, out=motion.gaze)
    np.clip(motion.body, _BODY_LEAST, 1, out=motion.body)
    np.clip(motion.tongue, 0, 1, out=motion.tongue)
    return motion


def _swung(motion: Motion) -> tuple[float, float]:
    """What swings the hair and turns the shoulders: yaw and roll."""
    return float(motion.head[0]), float(motion.head[2])


def _rest(life: Life, want: Aim) -> F32:
    """Units (52,) of a face that says nothing, beside what is wanted of it."""
    free = max(0.0, 1.0 - 4.0 * float(want.units[_FROWN]))
    units = _WARM * np.float32(life.warmth * free)
    units[_CORNERS] = np.maximum(units[_CORNERS] + np.float32(_CORNER * free) * life.lips[:2], 0)
    return (units + _PRESSED * np.float32(life.lips[2] * free)).astype(np.float32)


def _posed(mouth: Mouth, life: Life, want: Aim) -> Motion:
    head = limited((life.head * want.stir).astype(np.float32) + want.head)
    held = np.array([-head[0], head[1]], np.float32)
    aimed = ((life.eyes * want.stir).astype(np.float32) + held) / GAZE_RANGE_DEG + want.gaze
    aside = float(aimed[0]) * float(GAZE_RANGE_DEG[0]) / _ASIDE_DEG
    aimed[0] /= (1 + aside**4) ** 0.25
    gaze = np.clip(aimed, -1, 1).astype(np.float32)
    units = mixed(mouth, (want.units + _rest(life, want)).astype(np.float32))
    skew = np.float32(1) + _SKEW * np.float32(life.skew)
    raised = life.brow * (_BROW_CALM + _BROW_KEEN * life.brow)
    units = ((units + _BROW * np.float32(raised)) * skew).astype(np.float32)
    units += _SHUT * np.float32(life.blink)
    up = float(gaze[1])
    units += (_LOOK_UP if up > 0 else _LOOK_DOWN) * np.float32(abs(up))
    calm = max(0.0, 1.0 - 1.5 * float(units[_WIDE]))
    hang = life.ease * max(0.0, 1.0 - (2.0 * up if up > 0 else -up)) * calm
    units += _EASE * np.float32(hang)
    units[_LIDS] = np.maximum(units[_LIDS], life.lids.astype(np.float32))
    bounded = np.clip(units, 0, 1).astype(np.float32)
    still = np.zeros(2, np.float32)
    return Motion(bounded, head, gaze, life.body.astype(np.float32), still, still, mouth.tongue)
