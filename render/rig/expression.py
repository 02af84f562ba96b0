"""Live controls as offsets in motion space, and their soft limits."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.controls import Controls
from ...stream.easing import edge, edge_frames
from .lips import Mouth
from .shapes import OPENING
from .units import UNITS, unit_vector

F32 = NDArray[np.float32]

EMOTIONS: Final[dict[str, F32]] = {
    name: unit_vector(units)
    for name, units in {
        "neutral": {},
        "happy": {
            "mouthSmile": 0.44,
            "mouthStretch": 0.16,
            "mouthDimple": 0.10,
            "mouthRollUpper": 0.10,
            "cheekSquint": 0.55,
            "eyeSquint": 0.40,
            "browOuterUp": 0.12,
        },
        "serious": {
            "browDown": 0.95,
            "eyeSquint": 0.32,
            "mouthPress": 0.70,
            "mouthRollLower": 0.22,
            "mouthRollUpper": 0.12,
            "mouthFrown": 0.52,
        },
        "surprised": {"browInnerUp": 0.95, "browOuterUp": 0.75, "eyeWide": 0.55, "jawOpen": 0.15},
        "sad": {
            "browInnerUp": 1.00,
            "mouthFrown": 1.00,
            "mouthShrugLower": 0.42,
            "eyeLookDown": 0.12,
            "eyeBlink": 0.24,
        },
        "concerned": {
            "browInnerUp": 1.00,
            "browDown": 0.90,
            "eyeSquint": 0.50,
            "mouthFrown": 0.12,
            "mouthStretch": 0.22,
            "mouthUpperUp": 0.06,
        },
    }.items()
}
_BEARING_DEG: Final = {
    "neutral": (0.0, 0.0, 0.0),
    "happy": (0.0, -1.0, 0.8),
    "serious": (0.0, 1.0, 0.0),
    "surprised": (0.0, -2.5, 0.0),
    "sad": (0.0, 5.5, 1.5),
    "concerned": (0.0, 1.5, 4.5),
}
"""Yaw, pitch and roll that go with an emotion."""
_STIR: Final = {"serious": 0.45, "sad": 0.55, "concerned": 0.8, "surprised": 1.1, "happy": 1.15}
"""How much head and eyes move in an emotion, of what they do in a calm face."""
HEAD_LIMIT_DEG: Final = np.array([20.0, 12.0, 14.0], np.float32)
"""Yaw, pitch and roll that the drawing shows cleanly."""
_YIELDING: Final = np.array([unit.startswith(("mouth", "jaw")) for unit in UNITS], np.bool_)
_PUCKER, _JAW = UNITS.index("mouthPucker"), UNITS.index("jawOpen")
_CLOSURE_YIELD, _ROUND_YIELD, _OPEN_YIELD = 0.3, 0.5, 0.8
"""How much of its mouth an emotion gives up to a closing sound, a fully rounded and a fully open one."""
FADE_FRAMES = 10
_FOLLOW_DEG = 3.0
"""How far the head goes along with eyes that look aside as far as they can."""
_HEAD_ACCELERATION = 0.30
"""Degrees a frame², the fastest a control may swing the head."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What the controls ask for: `units` (52,), `head` (3,) degrees, `gaze` (2,), `intensity` of the mouth,
    and how much head and eyes `stir`."""

    units: F32
    head: F32
    gaze: F32
    intensity: float
    stir: float


@dataclass(frozen=True, slots=True)
class Fade:
    """`before` turning into `after` over `frames` frames from frame `start`."""

    before: Aim
    after: Aim
    start: int
    frames: int

    def at(self, frame: int) -> Aim:
        share = edge(frame, start=self.start, frames=self.frames)
        if share >= 1:
            return self.after
        old, new = self.before, self.after
        return Aim(
            _between(old.units, new.units, share),
            _between(old.head, new.head, share),
            _between(old.gaze, new.gaze, share),
            old.intensity + share * (new.intensity - old.intensity),
            old.stir + share * (new.stir - old.stir),
        )

    def turned(self, controls: Controls, frame: int) -> "Fade":
        """From `frame` on, go from wherever this fade is to what `controls` ask for."""
        before, after = self.at(frame), aim(controls)
        change = float(np.abs(after.head - before.head).max())
        return Fade(before, after, frame, edge_frames(change, _HEAD_ACCELERATION, least=FADE_FRAMES))


def aim(controls: Controls) -> Aim:
    yaw = controls.head_yaw + _FOLLOW_DEG * controls.gaze_x
    head = np.array([yaw, controls.head_pitch, controls.head_roll], np.float32)
    units = np.zeros(len(UNITS), np.float32)
    stir = 1.0
    for name, weight in controls.moods.items():
        units += EMOTIONS[name] * np.float32(weight)
        head += np.array(_BEARING_DEG[name], np.float32) * np.float32(weight)
        stir += (_STIR.get(name, 1.0) - 1.0) * weight
    return Aim(
        units,
        head,
        np.array([controls.gaze_x, controls.gaze_y], np.float32),
        controls.intensity,
        stir,
    )


def mixed(mouth: Mouth, mood: F32) -> F32:
    """Face units (52,) of a `mouth` in a `mood` (52,): speech wins where both want the lips, and a closure is
    never opened."""
    give = _CLOSURE_YIELD * mouth.holds
    give += _ROUND_YIELD * float(mouth.units[_PUCKER]) + _OPEN_YIELD * float(mouth.units[_JAW])
    kept = np.where(_YIELDING, np.float32(max(0.0, 1.0 - give)), np.float32(1))
    kept[OPENING] = 1.0 - mouth.holds
    return (mouth.units + mood * kept).astype(np.float32)


def _between(old: F32, new: F32, share: float) -> F32:
    return (old + np.float32(share) * (new - old)).astype(np.float32)


def settled(controls: Controls) -> Fade:
    """`controls` as they have always been."""
    now = aim(controls)
    return Fade(now, now, 0, 1)


def limited(head: F32) -> F32:
    """`head` (3,) bent softly into HEAD_LIMIT_DEG; small angles pass almost unchanged."""
    ratio = head / HEAD_LIMIT_DEG
    return (head / np.power(1 + np.power(np.abs(ratio), 4), 0.25)).astype(np.float32)
