"""What one session has heard and what that asks of the face: mouth shapes, loudness, stress and phrases."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.gesture import BEAT_MEMORY, Beat
from ...stream.life import MEMORY_FRAMES, Talk
from ...stream.media import TickAudio
from ...stream.visemes import ROWS_PER_TICK, SILENCE
from . import lips, opening, prosody, settle, tails
from .blur import AROUND, blurred
from .units import UNIT_COUNT
from .viseme import LATE_ROWS, SOON_ROWS, HearingState, VisemeStage

F32 = NDArray[np.float32]

AHEAD_TICKS: Final = 3
"""Ticks that are heard beyond the frame they shape."""
_KEPT_TICKS = 288
"""Longer than life remembers."""
_KEPT_ROWS = 128
_PACE_ROWS = 100
_REFERENCE_RMS = 0.10
_REFERENCE_RISE, _REFERENCE_FALL = 0.25, 0.004
_SPEAKING_PAST = 20
_PAUSE_TICKS = 8
"""A pause of this length ends a phrase."""
_SPOKEN = 0.35
"""A tick in which the net is surer than this of a sound is speech, not noise."""
_JUDGED_TICKS = -(-LATE_ROWS // ROWS_PER_TICK)
"""Ticks until the net has judged a whole one."""
_OVER_FRAMES = 25
_VOICED = 2.5
"""A voice that opens the mouth so many times less than a usual one leaves all of it to speech still."""


@dataclass(frozen=True, slots=True)
class SpeechState:
    """Rings by absolute index, written in place.

    `rows` (128, 15) viseme weights, zero where not yet known; `known` (128,) rows given beforehand; `loud`
    (128,) RMS; `audible` (288,) ticks with sound; `spoken` (288,) ticks with speech; `reference` (1,) the
    voice's usual peak RMS; `apart` (288,) how far the lips stood apart in a frame, and `posed` (288, 52) what
    they did there. `phrases` holds (end of the phrase before, start) in ticks, `beats` the stresses.
    """

    rows: F32
    known: NDArray[np.bool_]
    loud: F32
    audible: NDArray[np.bool_]
    spoken: NDArray[np.bool_]
    reference: F32
    apart: F32
    posed: F32
    phrases: list[tuple[int | None, int]]
    beats: list[Beat]

    def reset(self) -> None:
        """As after endless silence; the voice's usual level stays."""
        self.rows[...] = 0
        self.rows[:, SILENCE] = 1
        self.known[...] = False
        self.loud[...] = 0
        self.audible[...] = False
        self.spoken[...] = False
        self.apart[...] = 0
        self.posed[...] = 0
        self.phrases.clear()
        self.beats.clear()


class Speech:
    """The hearing of one session. Every number depends only on the ticks heard since the last reset, but for
    what is usual for the voice."""

    def __init__(self, stage: VisemeStage) -> None:
        self._stage = stage
        self._hearing: HearingState = stage.init()
        self._prosody = prosody.silent_prosody()
        self._state = SpeechState(
            lips.silent_rows(_KEPT_ROWS),
            np.zeros(_KEPT_ROWS, np.bool_),
            np.zeros(_KEPT_ROWS, np.float32),
            np.zeros(_KEPT_TICKS, np.bool_),
            np.zeros(_KEPT_TICKS, np.bool_),
            np.full(1, _REFERENCE_RMS, np.float32),
            np.zeros(_KEPT_TICKS, np.float32),
            np.zeros((_KEPT_TICKS, UNIT_COUNT), np.float32),
            [],
            [],
        )
        self._last: int | None = None
        """The last tick with speech."""
        self._end = 0
        """The row after the last one heard."""

    def reset(self) -> None:
        """Forget all sound."""
        self._state.reset()
        self._stage.reset(self._hearing)
        self._prosody.reset()
        self._last = None

    def hear(self, audio: TickAudio) -> None:
        """Take the next tick."""
        self._end = (audio.index + 1) * ROWS_PER_TICK
        self._note_tick(audio)
        self._note_rows(audio)
        self._note_phrases(audio.index)
        beat = prosody.listen(
            self._prosody,
            audio.index,
            audio.heard,
            audible=bool(self._state.audible[audio.index % _KEPT_TICKS]),
        )
        beats = self._state.beats
        if beat is not None:
            beats.append(beat)
        if beats and beats[0].frame < audio.index - BEAT_MEMORY - AHEAD_TICKS - 1:
            del beats[0]

    def mouth(self, frame: int, intensity: float) -> lips.Mouth:
        """The mouth of `frame` from what has been heard so far; `intensity` scales how far it opens."""
        end = lips.first_row(frame) + lips.SPAN_ROWS
        pace = lips.pace(self._state.rows[np.arange(end - _PACE_ROWS, end) % _KEPT_ROWS])
        scale = intensity * lips.hurry(pace)
        rows = self._rows(frame)
        mouth, state, place = self._shaped(rows, frame, 0, scale, intensity), self._state, frame % _KEPT_TICKS
        before = (frame - 1) % _KEPT_TICKS
        if mouth.units.any():
            mouth = self._among(rows, frame, scale, intensity, mouth)
        mouth = settle.settled(mouth, state.posed[before], float(state.apart[before]), self._voiced(frame))
        state.apart[place] = opening.opening(mouth.units)
        state.posed[place] = mouth.units
        return mouth

    def _among(self, rows: F32, frame: int, scale: float, intensity: float, mouth: lips.Mouth) -> lips.Mouth:
        """The `mouth` of `frame` as those around it leave it time to be; other arguments as `_shaped` takes
        them."""
        near = range(-opening.AROUND, opening.AROUND + 1)
        mouths = {each: self._shaped(rows, frame, each, scale, intensity) if each else mouth for each in near}
        asks = {each: opening.asked(mouth) for each, mouth in mouths.items()}
        apart = opening.bound(asks, float(self._state.apart[(frame - 1) % _KEPT_TICKS]))
        return opening.led(blurred({each: mouths[each] for each in mouths if abs(each) <= AROUND}), apart)

    def _shaped(self, rows: F32, frame: int, away: int, scale: float, intensity: float) -> lips.Mouth:
        """The mouth `away` frames from `frame`, of which `rows` are, as its sounds ask for it, however fast;
        `scale` is how far it opens at a usual loudness. What is not yet heard is taken to be as loud as what
        is."""
        awake = self._awake(frame + away)
        if awake <= 0:
            return lips.asleep()
        first = lips.first_row(frame + away)
        loud = self._loudness(np.arange(first, first + lips.SPAN_ROWS))
        own = rows[(opening.AROUND + away) * ROWS_PER_TICK :][: lips.SPAN_ROWS]
        sounds = min(intensity, 1.0) * awake * loud * lips.parts(own)
        return opening.parted(lips.mouth(own, scale * loud, awake), sounds)

    def _rows(self, frame: int) -> F32:
        """Those that shape `frame` and the frames around it; zero where they are not known."""
        first, last = (lips.first_row(frame + away) for away in (-opening.AROUND, opening.AROUND))
        span, state = np.arange(first, last + lips.SPAN_ROWS), self._state
        rows = state.rows[span % _KEPT_ROWS] * (span < self._end)[:, None]
        return tails.filled(rows, state.loud[span % _KEPT_ROWS], float(state.reference[0]))

    def _awake(self, frame: int) -> float:
        """How far the mouth takes part in speech in `frame`."""
        ticks = np.arange(frame - lips.EDGE_TICKS, frame + lips.EDGE_TICKS + 1)
        return lips.awake(self._state.audible[ticks % _KEPT_TICKS] & (ticks * ROWS_PER_TICK < self._end))

    def _loudness(self, span: NDArray[np.intp]) -> float:
        """How far the voice in the rows of a `span` opens the mouth."""
        heard = span - max(0, int(span[-1]) + 1 - self._end)
        return lips.loudness(self._state.loud[heard % _KEPT_ROWS], float(self._state.reference[0]))

    def _voiced(self, frame: int) -> float:
        """How far there is a voice in `frame` that moves the mouth, 0..1."""
        awake = self._awake(frame)
        first = lips.first_row(frame)
        span = np.arange(first, first + lips.SPAN_ROWS)
        return awake * min(_VOICED * self._loudness(span), 1.0) if awake > 0 else 0.0

    def talk(self, frame: int) -> Talk:
        """What life needs to know around `frame`."""
        phrases = self._state.phrases
        ended = self._last
        if phrases and phrases[-1][1] > frame - _OVER_FRAMES:
            ended = phrases[-1][0]
        starts = tuple(start for _, start in phrases)
        return Talk(self._speaking, starts, tuple(self._state.beats), ended)

    def _speaking(self, frame: float) -> float:
        """Share of recent and coming ticks with speech, 0..1, smooth over about half a second."""
        last = int(frame) + AHEAD_TICKS
        ticks = np.arange(last - len(_WEIGHTS) + 1, last + 1) % _KEPT_TICKS
        return float(_WEIGHTS @ self._state.spoken[ticks])

    def _note_tick(self, audio: TickAudio) -> None:
        state, tick = self._state, audio.index
        place = np.arange(tick * ROWS_PER_TICK, (tick + 1) * ROWS_PER_TICK) % _KEPT_ROWS
        state.known[place] = audio.known
        state.rows[place] = np.where(audio.known[:, None], audio.rows, np.float32(0))
        state.loud[place] = lips.row_rms(audio.heard)
        named = bool((audio.known & (audio.rows[:, SILENCE] < 0.5)).any())
        audible = named or self._stage.audible(audio.heard)
        state.audible[tick % _KEPT_TICKS] = audible
        state.spoken[tick % _KEPT_TICKS] = audible
        peak = float(state.loud[place].max())
        if self._stage.is_loud(peak):
            pace = _REFERENCE_RISE if peak > state.reference[0] else _REFERENCE_FALL
            state.reference[0] += np.float32(pace) * (np.float32(peak) - state.reference[0])

    def _note_rows(self, audio: TickAudio) -> None:
        state = self._state
        first = (audio.index + 1) * ROWS_PER_TICK - LATE_ROWS - ROWS_PER_TICK
        place = np.arange(first, first + ROWS_PER_TICK + SOON_ROWS) % _KEPT_ROWS
        known = state.known[place]
        heard = self._stage.step(self._hearing, audio.heard, wanted=not bool(known.all()))
        named = np.concatenate([heard.visemes, heard.soon])
        state.rows[place] = np.where(known[:, None], state.rows[place], named)
        judged = audio.index - _JUDGED_TICKS
        rows = np.arange(judged * ROWS_PER_TICK, (judged + 1) * ROWS_PER_TICK) % _KEPT_ROWS
        state.spoken[judged % _KEPT_TICKS] &= bool(state.rows[rows, SILENCE].min() < 1 - _SPOKEN)

    def _note_phrases(self, tick: int) -> None:
        """Notice the tick that is now certain: at once where shapes are known beforehand."""
        state = self._state
        known = bool(state.known[tick * ROWS_PER_TICK % _KEPT_ROWS])
        for each in range(tick - _JUDGED_TICKS, tick + 1 if known else tick - _JUDGED_TICKS + 1):
            if not state.spoken[each % _KEPT_TICKS] or (self._last is not None and each <= self._last):
                continue
            if self._last is None or each - self._last > _PAUSE_TICKS:
                state.phrases.append((self._last, each))
            self._last = each
        if state.phrases and state.phrases[0][1] < tick - MEMORY_FRAMES:
            del state.phrases[0]


_TAPS = _SPEAKING_PAST + AHEAD_TICKS + 1
_WEIGHTS: Final = np.hanning(_TAPS + 2)[1:-1] / np.hanning(_TAPS + 2).sum()
