"""One session's face in motion: what it heard, what it does, and the last second of it."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.controls import Controls
from ...stream.easing import edge
from ...stream.life import BlinkRate, LifeProcess
from ...stream.media import TickAudio
from ...stream.visemes import ROWS_PER_TICK, SILENCE
from . import lips
from .expression import Fade, limited, settled
from .motion import Motion, still
from .units import BLINK_LEFT, BLINK_RIGHT, unit_vector
from .viseme import LATE_ROWS, HearingState, VisemeStage

F32 = NDArray[np.float32]

DELAY_TICKS: Final = 3
EASE_FRAMES: Final = 5
"""Frames from the last one sent to a mouth at rest, after an interrupt."""
_KEPT_FRAMES = 32
_KEPT_TICKS = 32
_KEPT_ROWS = _KEPT_TICKS * ROWS_PER_TICK
_REFERENCE_RMS = 0.10
_REFERENCE_RISE, _REFERENCE_FALL = 0.25, 0.004
_EYES_HOLD = 0.055
"""Gaze that makes up for one degree of head turn, so that the eyes stay with the viewer."""
_BROW = unit_vector({"browInnerUp": 0.55, "browOuterUp": 0.45})
_LOOK_DOWN = unit_vector({"eyeLookDown": 0.5})
_LOOK_UP = unit_vector({"eyeLookUp": 0.5})
_LIDS = [BLINK_LEFT, BLINK_RIGHT]


@dataclass(frozen=True, slots=True)
class SpeechState:
    """Rings by absolute index, written in place.

    `rows` (128, 15) viseme weights, `known` (128,) rows given beforehand, `loud` (128,) RMS, `active` (32,)
    ticks with sound, `reference` (1,) the voice's usual peak RMS.
    """

    rows: F32
    known: NDArray[np.bool_]
    loud: F32
    active: NDArray[np.bool_]
    reference: F32

    def reset(self) -> None:
        """As after endless silence; the voice's usual level stays."""
        self.rows[...] = 0
        self.rows[:, SILENCE] = 1
        self.known[...] = False
        self.loud[...] = 0
        self.active[...] = False


@dataclass(frozen=True, slots=True)
class Joint:
    """From frame `after` on, `offset` is added and fades away: the face goes on from where it was cut."""

    after: int
    offset: Motion


class Performer:
    """Turns the ticks of one session into motions. Every number depends only on the seed, ticks and
    controls."""

    def __init__(self, stage: VisemeStage, *, seed: int, index: int) -> None:
        self._stage = stage
        self._hearing: HearingState = stage.init()
        self._speech = SpeechState(
            lips.silent_rows(_KEPT_ROWS),
            np.zeros(_KEPT_ROWS, np.bool_),
            np.zeros(_KEPT_ROWS, np.float32),
            np.zeros(_KEPT_TICKS, np.bool_),
            np.full(1, _REFERENCE_RMS, np.float32),
        )
        self._life = LifeProcess(seed)
        self._fade: Fade = settled(Controls())
        self._blinks = BlinkRate(0, 0.0, Controls().blink_per_minute)
        self._joint: Joint | None = None
        self._past: dict[int, Motion] = {}
        self._next_tick = index

    @property
    def next_tick(self) -> int:
        return self._next_tick

    def hear(self, audio: TickAudio) -> Motion:
        """Take the next tick and return the motion of frame `audio.index - DELAY_TICKS`."""
        tick = audio.index
        self._note_known(audio)
        self._note_heard(audio)
        self._next_tick = tick + 1
        frame = tick - DELAY_TICKS
        if self._joint is not None and frame <= self._joint.after:
            return self._past.get(frame, self._at(frame))
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
        self._stage.reset(self._hearing)
        self._joint = None
        if left is not None:
            self._joint = Joint(sent, left.plus(self._at(sent), -1.0))
        self._past = {frame: motion for frame, motion in self._past.items() if frame <= sent}
        self._next_tick = sent + 1

    def _note_known(self, audio: TickAudio) -> None:
        speech = self._speech
        place = np.arange(audio.index * ROWS_PER_TICK, (audio.index + 1) * ROWS_PER_TICK) % _KEPT_ROWS
        speech.known[place] = audio.known
        speech.rows[place] = np.where(audio.known[:, None], audio.rows, lips.silent_rows(ROWS_PER_TICK))
        named = bool((audio.known & (audio.rows[:, SILENCE] < 0.5)).any())
        speech.active[audio.index % _KEPT_TICKS] = named or self._stage.audible(audio.heard)

    def _note_heard(self, audio: TickAudio) -> None:
        speech = self._speech
        first = (audio.index + 1) * ROWS_PER_TICK - LATE_ROWS - ROWS_PER_TICK
        place = np.arange(first, first + ROWS_PER_TICK) % _KEPT_ROWS
        known = speech.known[place]
        heard = self._stage.step(self._hearing, audio.heard, wanted=not bool(known.all()))
        speech.rows[place] = np.where(known[:, None], speech.rows[place], heard.visemes)
        speech.loud[place] = heard.loud
        peak = float(heard.loud.max())
        if self._stage.is_loud(peak):
            pace = _REFERENCE_RISE if peak > speech.reference[0] else _REFERENCE_FALL
            speech.reference[0] += np.float32(pace) * (np.float32(peak) - speech.reference[0])

    def _at(self, frame: int) -> Motion:
        """The motion of `frame` from what has been heard so far."""
        speech = self._speech
        ticks = np.arange(frame - lips.EDGE_TICKS, frame + lips.EDGE_TICKS + 1) % _KEPT_TICKS
        place = np.arange(lips.first_row(frame), lips.first_row(frame) + lips.SPAN_ROWS) % _KEPT_ROWS
        want = self._fade.at(frame)
        scale = lips.loudness(speech.loud[place], float(speech.reference[0])) * want.intensity
        mouth = lips.mouth(speech.rows[place], scale, lips.awake(speech.active[ticks]))
        motion = self._posed(frame, mouth, want.units, want.head, want.gaze)
        if self._joint is None:
            return motion
        left = 1.0 - edge(frame, start=self._joint.after, frames=EASE_FRAMES)
        return motion.plus(self._joint.offset, left) if left > 0 else motion

    def _posed(self, frame: int, mouth: F32, mood: F32, turn: F32, look: F32) -> Motion:
        life = self._life.at(frame, speaking=self._speaking(frame), rate=self._blinks)
        head = limited(life.head.astype(np.float32) + turn)
        held = np.array([-head[0], head[1]], np.float32) * np.float32(_EYES_HOLD)
        gaze = np.clip(life.gaze.astype(np.float32) + look + held, -1, 1).astype(np.float32)
        units = mouth + mood + _BROW * np.float32(life.brow)
        lid = _LOOK_UP if gaze[1] > 0 else _LOOK_DOWN
        units = units + lid * np.abs(gaze[1])
        units[_LIDS] = np.maximum(units[_LIDS], np.float32(life.blink))
        return replace(still(), units=np.clip(units, 0, 1, out=units), head=head, gaze=gaze)

    def _speaking(self, frame: int) -> float:
        """Share of recent and coming ticks with sound, 0..1, smooth over about half a second."""
        ticks = np.arange(frame - _SPEAKING_PAST, frame + DELAY_TICKS + 1) % _KEPT_TICKS
        return float(_SPEAKING @ self._speech.active[ticks])


_SPEAKING_PAST = 20
_SPEAKING: Final = (
    np.hanning(_SPEAKING_PAST + DELAY_TICKS + 3)[1:-1] / np.hanning(_SPEAKING_PAST + DELAY_TICKS + 3).sum()
)
