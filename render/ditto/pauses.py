"""When lips speak and when they rest, decided on the sound that is ahead of each frame.

Silence goes through the networks like all other sound; what they make of it on the lips is kept from view.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.clock import FEATURE_HOP, FEATURE_HZ
from ...stream.easing import hermite
from ...stream.level import GateOptions, VoiceGate

F32 = NDArray[np.float32]

EDGE_FRAMES: Final = 3
"""Frames from rest to speech and back. Speech that is this near is seen coming."""
_GATE: Final = GateOptions(open_db=12.0, close_db=10.0, preroll_ms=0, hang_ms=200)
_HANG_TICKS: Final = _GATE.hang_ms * FEATURE_HZ // (1000 * FEATURE_HOP)
_CALM_FRAMES: Final = 25
"""Frames over which a silent face begins to move on its own, and stops again."""
_KEPT_BEHIND: Final = 32
"""Frames before the newest one to which an interrupt may go back."""


@dataclass(frozen=True, slots=True)
class Speaking:
    """Of one frame: the `lips`' share of speech and the face's `calm`, each 0..1."""

    lips: float
    calm: float


class Pauses:
    """The pauses of one session, whose frame n is drawn when tick n + `delay` has been heard."""

    def __init__(self, delay: int, index: int) -> None:
        """The first tick is `index`."""
        self._delay = delay
        self._gate = VoiceGate(FEATURE_HZ, _GATE)
        self._kept = delay + _KEPT_BEHIND
        self._voiced = [False] * self._kept
        """By tick modulo its length; what has not been heard is silent."""
        self._steps = [(0, _CALM_FRAMES)] * self._kept
        """By frame modulo its length: how many of EDGE_FRAMES the lips are into speech, and of _CALM_FRAMES
        the face into calm."""
        self._next = index - delay

    def hear(self, tick: int, heard: F32) -> None:
        """Take the next tick (640,); what is no number is silence."""
        self._voiced[tick % self._kept] = False
        sane = heard if np.isfinite(heard).all() else np.nan_to_num(heard)
        for kind, _ in self._gate.feed(sane):
            self._voiced[tick % self._kept] = kind == "speech"
            if kind == "end":
                for quiet in range(tick - _HANG_TICKS + 1, tick + 1):
                    self._voiced[quiet % self._kept] = False
        frame = tick - self._delay
        if frame >= self._next:
            self._move(frame)
            self._next = frame + 1

    def at(self, frame: int) -> Speaking:
        """What is known of `frame`, the newest one or one not long before."""
        lips, calm = self._steps[frame % self._kept]
        return Speaking(hermite(lips / EDGE_FRAMES), hermite(calm / _CALM_FRAMES))

    def rewind(self, sent: int) -> None:
        """All sound after tick `sent` is void; the next frame is `sent + 1`."""
        self._gate = VoiceGate(FEATURE_HZ, _GATE)
        self._voiced = [False] * self._kept
        if sent >= self._next:
            self._steps[sent % self._kept] = self._steps[(self._next - 1) % self._kept]
        self._next = sent + 1

    def _move(self, frame: int) -> None:
        ahead = range(frame, frame + min(EDGE_FRAMES, self._delay) + 1)
        speaks = any(self._voiced[tick % self._kept] for tick in ahead)
        lips, calm = self._steps[(frame - 1) % self._kept]
        moved = (lips + 1, calm - 1) if speaks else (lips - 1, calm + 1)
        self._steps[frame % self._kept] = (
            min(max(moved[0], 0), EDGE_FRAMES),
            min(max(moved[1], 0), _CALM_FRAMES),
        )
