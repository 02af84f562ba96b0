"""Live controls as offsets in motion space, and their soft limits."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.controls import Controls
from ...stream.easing import edge, edge_frames
from .units import unit_vector

F32 = NDArray[np.float32]

EMOTIONS: Final[dict[str, F32]] = {
    name: unit_vector(units)
    for name, units in {
        "neutral": {},
        "happy": {"mouthSmile": 0.36, "cheekSquint": 0.28, "eyeSquint": 0.14, "browOuterUp": 0.10},
        "serious": {"browDown": 0.34, "eyeSquint": 0.10, "mouthPress": 0.12, "mouthFrown": 0.08},
        "surprised": {"browInnerUp": 0.55, "browOuterUp": 0.50, "eyeWide": 0.45, "jawOpen": 0.05},
        "sad": {"browInnerUp": 0.55, "mouthFrown": 0.34, "eyeLookDown": 0.12, "mouthShrugLower": 0.12},
        "concerned": {"browInnerUp": 0.42, "browDown": 0.18, "eyeSquint": 0.12, "mouthFrown": 0.16},
    }.items()
}
HEAD_LIMIT_DEG: Final = np.array([12.0, 10.0, 12.0], np.float32)
"""Yaw, pitch and roll that one picture on the mesh can show cleanly."""
FADE_FRAMES = 10
_HEAD_ACCELERATION = 0.30
"""Degrees a frame², the fastest a control may swing the head."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What the controls ask for: `units` (52,), `head` (3,) degrees, `gaze` (2,), `intensity` of the
    mouth."""

    units: F32
    head: F32
    gaze: F32
    intensity: float


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
        )

    def turned(self, controls: Controls, frame: int) -> "Fade":
        """From `frame` on, go from wherever this fade is to what `controls` ask for."""
        before, after = self.at(frame), aim(controls)
        change = float(np.abs(after.head - before.head).max())
        return Fade(before, after, frame, edge_frames(change, _HEAD_ACCELERATION, least=FADE_FRAMES))


def aim(controls: Controls) -> Aim:
    return Aim(
        EMOTIONS[controls.emotion] * np.float32(controls.emotion_level),
        np.array([controls.head_yaw, controls.head_pitch, controls.head_roll], np.float32),
        np.array([controls.gaze_x, controls.gaze_y], np.float32),
        controls.intensity,
    )


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
