"""Which syllables are stressed: peaks of loudness and pitch against what the voice usually does."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.clock import FEATURE_HOP, FEATURE_HZ
from ...stream.gesture import Beat

F32 = NDArray[np.float32]

LATE_TICKS: Final = 1
"""A stress shows one tick after it was heard."""
_DECIMATE = 4
_SAMPLES = 2 * FEATURE_HOP // _DECIMATE
"""Samples of the pitch window: two ticks at 4 kHz."""
_LONGEST, _SHORTEST = FEATURE_HZ // _DECIMATE // 75, FEATURE_HZ // _DECIMATE // 380
"""Periods of a voice, in samples: 75 to 380 Hz."""
_VOICED = 0.45
"""Self-likeness of a voiced window at its period."""
_FFT = 512
_RISE, _FALL = 0.06, 0.02
"""How fast the usual loudness and pitch follow the voice: they settle where stresses stand out."""
_LOUD_DB, _HIGH_TONES = 7.0, 5.0
"""Above the usual, worth one full stress: decibels and semitones."""
_FAINT_DB = -4.0
"""Against the usual: no syllable softer than this is stressed, whatever its pitch."""
_LEAST = 0.55
_APART_TICKS = 12
"""Beats come no faster than this, however fast the speech."""
_USUAL_DB, _USUAL_TONE = -24.0, 12 * float(np.log2(150.0))


@dataclass(frozen=True, slots=True)
class ProsodyState:
    """Written in place: `tail` (640,) the last tick's sound, `usual` (2,) decibels and semitones of the
    voice, `prominence` (3,) of the last ticks, `last` (1,) the tick of the last beat."""

    tail: F32
    usual: F32
    prominence: F32
    last: NDArray[np.int64]

    def reset(self) -> None:
        """As after endless silence; what is usual for the voice stays."""
        self.tail[...] = 0
        self.prominence[...] = 0
        self.last[...] = -_APART_TICKS


def silent_prosody() -> ProsodyState:
    state = ProsodyState(
        np.zeros(FEATURE_HOP, np.float32),
        np.array([_USUAL_DB, _USUAL_TONE], np.float32),
        np.zeros(3, np.float32),
        np.zeros(1, np.int64),
    )
    state.reset()
    return state


def listen(state: ProsodyState, tick: int, heard: F32, *, audible: bool) -> Beat | None:
    """Hear (640,) samples of `tick`; the beat that lies LATE_TICKS before it, if there is one."""
    state.prominence[:-1] = state.prominence[1:].copy()
    state.prominence[-1] = _prominence(state, heard) if audible else 0.0
    state.tail[...] = heard
    before, now, after = state.prominence.tolist()
    beat = tick - LATE_TICKS
    if now < _LEAST or now <= before or now < after or beat - int(state.last[0]) < _APART_TICKS:
        return None
    state.last[0] = beat
    return Beat(beat, min(1.0, 0.1 + 0.6 * now))


def _prominence(state: ProsodyState, heard: F32) -> float:
    level = 10 * float(np.log10(np.dot(heard, heard) / FEATURE_HOP + 1e-12))
    loud = level - float(state.usual[0])
    stress = min(max(loud / _LOUD_DB, -1.0), 1.5)
    state.usual[0] += np.float32(_settle(loud, 12.0))
    hz = pitch(np.concatenate([state.tail, heard])) if loud > _FAINT_DB else None
    if hz is not None:
        high = 12 * float(np.log2(hz)) - float(state.usual[1])
        state.usual[1] += np.float32(_settle(high, 7.0))
        stress += 0.8 * min(max(high / _HIGH_TONES, -0.7), 1.2)
    return max(0.0, stress)


def _settle(excess: float, most: float) -> float:
    """How far what is usual moves toward something `excess` above it."""
    return (_RISE if excess > 0 else _FALL) * min(max(excess, -most), most)


def pitch(samples: F32) -> float | None:
    """Fundamental frequency in Hz of (1280,) samples at 16 kHz, None when they are not voiced."""
    slow = samples.reshape(_SAMPLES, _DECIMATE).mean(1)
    slow = slow - slow.mean()
    spectrum = np.fft.rfft(slow, _FFT)
    likeness = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, _FFT)[: _LONGEST + 2]
    energy = float(likeness[0])
    if energy < 1e-6:
        return None
    likeness = likeness / energy * (_SAMPLES / (_SAMPLES - np.arange(_LONGEST + 2)))
    peaks = likeness[_SHORTEST : _LONGEST + 1]
    best = float(peaks.max())
    if best < _VOICED:
        return None
    first = int(np.flatnonzero(peaks >= 0.9 * best)[0])
    while first + 1 < len(peaks) and peaks[first + 1] > peaks[first]:
        first += 1
    return FEATURE_HZ / _DECIMATE / (_SHORTEST + first)
