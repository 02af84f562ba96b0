"""Sound to mouth shapes: log-mel rows and a causal net, always over the same window so that results never
vary.

Row t belongs to samples [160 t, 160 t + 160) at 16 kHz. A tick brings four rows; the net needs six rows
beyond the one it names, so tick m completes rows up to `rows_ready(m)`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from ...stream.clock import FEATURE_HOP, FEATURE_HZ
from ...stream.visemes import ROWS_PER_TICK, SILENCE, VISEMES
from ...stream.window import Windower

F32 = NDArray[np.float32]

MODEL: Final = Path(__file__).with_name("viseme.onnx")
HOP_SAMPLES = 160
WINDOW_SAMPLES = 400
MELS = 40
_FFT = 512
_BAND_HZ = (60.0, 7600.0)
_FLOOR = 1e-6
_BEFORE = 120
"""Samples of a row's window that lie before the row; 120 more lie after it."""
NET_LOOKAHEAD_ROWS = 6
_NET_PAST_ROWS = 30
NET_ROWS = _NET_PAST_ROWS + ROWS_PER_TICK + NET_LOOKAHEAD_ROWS
"""Mel rows of one net run: with 30 past rows none of its zero padding is seen."""
_TICK_SAMPLES = WINDOW_SAMPLES + (ROWS_PER_TICK - 1) * HOP_SAMPLES
"""Samples under the four rows that a tick completes; the first row began one hop before the tick."""
LATE_ROWS = 1 + NET_LOOKAHEAD_ROWS
"""Rows by which the newest viseme trails the newest sound: one waits for its window, six for the net."""
_QUIET_RMS = 10 ** (-56 / 20)


@dataclass(frozen=True, slots=True)
class HearingState:
    """A slot's hearing, written in place.

    `windows` cuts the sound to what four rows need; `mels` (40 mels, 40 rows); `loud` (LATE_ROWS + 4,) RMS
    of the newest rows.
    """

    windows: Windower
    mels: F32
    loud: F32


@dataclass(frozen=True, slots=True)
class Heard:
    """`visemes` (4, 15) weights and `loud` (4,) RMS of the four rows that one tick completed."""

    visemes: F32
    loud: F32


def rows_ready(tick: int) -> int:
    """How many rows are complete once `tick` was heard."""
    return (tick + 1) * ROWS_PER_TICK - LATE_ROWS


class VisemeStage:
    """The viseme net and its features. Holds weights only; safe to use from several threads at once."""

    def __init__(self) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._net = ort.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"])
        self._bank = mel_bank()
        self._taper = hann(WINDOW_SAMPLES)

    def init(self) -> HearingState:
        state = HearingState(
            Windower(window=_TICK_SAMPLES, hop=FEATURE_HOP, pad=HOP_SAMPLES + _BEFORE),
            np.zeros((MELS, NET_ROWS), np.float32),
            np.zeros(LATE_ROWS + ROWS_PER_TICK, np.float32),
        )
        self.reset(state)
        return state

    def reset(self, state: HearingState) -> None:
        """As after endless silence."""
        state.windows.reset()
        state.mels[...] = np.log(np.float32(_FLOOR))
        state.loud[...] = 0

    def warm(self) -> None:
        """Run the net once, so that the first tick finds it ready."""
        state = self.init()
        self.step(state, np.full(FEATURE_HOP, 2 * _QUIET_RMS, np.float32))
        self._net.run(None, {"mel": state.mels[None]})

    def audible(self, heard: F32) -> bool:
        """Whether any row of a tick's sound (640,) is above the noise floor."""
        return self.is_loud(float(row_rms(heard).max()))

    def is_loud(self, rms: float) -> bool:
        return rms > _QUIET_RMS

    def step(self, state: HearingState, heard: F32, *, wanted: bool = True) -> Heard:
        """Hear (640,) float32 samples of one tick. When the visemes are not `wanted` they read as silence."""
        mels, loud = state.mels, state.loud
        (window,) = state.windows.feed(heard)
        mels[:, :-ROWS_PER_TICK] = mels[:, ROWS_PER_TICK:].copy()
        mels[:, -ROWS_PER_TICK:] = self.features(window).T
        loud[:-ROWS_PER_TICK] = loud[ROWS_PER_TICK:].copy()
        loud[-ROWS_PER_TICK:] = row_rms(heard)
        ready = loud[:ROWS_PER_TICK].copy()
        return Heard(self._visemes(mels, ready, wanted=wanted), ready)

    def features(self, samples: F32) -> F32:
        """Log-mel rows (T, 40) of `samples`, one for each full window."""
        windows = np.lib.stride_tricks.sliding_window_view(samples, WINDOW_SAMPLES)[::HOP_SAMPLES]
        spectrum = np.fft.rfft(windows * self._taper, _FFT)
        power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
        return np.log(power @ self._bank + np.float32(_FLOOR))

    def _visemes(self, mels: F32, loud: F32, *, wanted: bool) -> F32:
        rows = np.zeros((ROWS_PER_TICK, len(VISEMES)), np.float32)
        rows[:, SILENCE] = 1
        audible = loud > _QUIET_RMS
        if wanted and audible.any():
            logits = np.asarray(self._net.run(None, {"mel": mels[None]})[0])[0]
            seen = logits[:, _NET_PAST_ROWS : _NET_PAST_ROWS + ROWS_PER_TICK].T
            odds = np.exp(seen - seen.max(1, keepdims=True))
            rows[audible] = (odds / odds.sum(1, keepdims=True))[audible]
        return rows


def row_rms(heard: F32) -> F32:
    """RMS (4,) of the rows in a tick's sound (640,)."""
    return np.sqrt(np.square(heard.reshape(ROWS_PER_TICK, HOP_SAMPLES)).mean(1))


def hann(length: int) -> F32:
    """Periodic Hann window (length,)."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)).astype(np.float32)


def mel_bank() -> F32:
    """Triangular mel filters (257, 40) of unit height between 60 and 7600 Hz."""
    low, high = (2595 * np.log10(1 + hz / 700) for hz in _BAND_HZ)
    edges = 700 * (10 ** (np.linspace(low, high, MELS + 2) / 2595) - 1) * _FFT / FEATURE_HZ
    bins = np.arange(_FFT // 2 + 1)[:, None]
    rise = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    fall = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.clip(np.minimum(rise, fall), 0, None).astype(np.float32)
