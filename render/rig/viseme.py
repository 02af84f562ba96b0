"""Sound to mouth shapes: log-mel rows and a causal net that is handed its own past.

Row t belongs to samples [160 t, 160 t + 160) at 16 kHz. A tick brings four rows; what the net says of a row
waits for `NET_LOOKAHEAD_ROWS` more, so tick m completes rows up to `rows_ready(m)`. The net remembers about
a second and nothing before, so what it says depends on the sound alone, never on when a session began.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.clock import FEATURE_HOP, FEATURE_HZ
from ...stream.visemes import ROWS_PER_TICK, SILENCE, VISEMES
from ...stream.window import Windower
from ..onnx import ort

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
LOOKAHEADS: Final = (4, 6)
"""Rows beyond the one it names that each of the net's answers waits for."""
NET_LOOKAHEAD_ROWS = 6
"""The one of `LOOKAHEADS` that is listened to."""
NET_ROWS = 80
"""Rows that what the net says can depend on: those it remembers, and the tick's own."""
_TICK_SAMPLES = WINDOW_SAMPLES + (ROWS_PER_TICK - 1) * HOP_SAMPLES
"""Samples under the four rows that a tick completes; the first row began one hop before the tick."""
SOON_ROWS: Final = NET_LOOKAHEAD_ROWS - LOOKAHEADS[0]
"""Rows beyond those that the net names which its quicker answer guesses at, until they are named."""
LATE_ROWS = 1 + NET_LOOKAHEAD_ROWS
"""Rows by which the newest viseme trails the newest sound: one waits for its window, the rest for the net."""
_FLOOR_RMS = 10 ** (-66 / 20)
"""A tick all of whose rows are softer counts as digital silence."""
_NOTHING_RMS = 10 ** (-90 / 20)
"""A row that is softer holds no sound: it is silence, whatever comes after it."""
_LOUD_RMS = 10 ** (-56 / 20)
_REST_TICKS: Final = -(-NET_ROWS // ROWS_PER_TICK) + 1
"""Ticks of digital silence after which nothing of the sound before is remembered."""
_ANSWERS: Final = ["logits", "next_past", "next_state"]


@dataclass(frozen=True, slots=True)
class HearingState:
    """A slot's hearing, written in place.

    `windows` cuts the sound to what four rows need; `past` (1, 40, K) and `memory` (1, C, P) are what the
    net's layers saw last; `still` (1,) counts ticks of digital silence; `loud` (LATE_ROWS + 4,) RMS of the
    newest rows.
    """

    windows: Windower
    past: F32
    memory: F32
    still: NDArray[np.int64]
    loud: F32


@dataclass(frozen=True, slots=True)
class Heard:
    """`visemes` (4, 15) weights and `loud` (4,) RMS of the four rows that one tick completed, and a first
    guess `soon` (SOON_ROWS, 15) at the weights of the rows that follow."""

    visemes: F32
    loud: F32
    soon: F32


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
        shapes: dict[str, list[int]] = {port.name: port.shape for port in self._net.get_inputs()}
        silence = np.full((1, MELS, ROWS_PER_TICK), np.log(np.float32(_FLOOR)), np.float32)
        past, memory = (np.zeros(shapes[name], np.float32) for name in ("past", "state"))
        for _ in range(_REST_TICKS):
            _, past, memory = self._run(silence, past, memory)
        self._rest = past, memory

    def init(self) -> HearingState:
        past, memory = self._rest
        state = HearingState(
            Windower(window=_TICK_SAMPLES, hop=FEATURE_HOP, pad=HOP_SAMPLES + _BEFORE),
            past.copy(),
            memory.copy(),
            np.zeros(1, np.int64),
            np.zeros(LATE_ROWS + ROWS_PER_TICK, np.float32),
        )
        self.reset(state)
        return state

    def reset(self, state: HearingState) -> None:
        """As after endless silence."""
        state.windows.reset()
        state.past[...], state.memory[...] = self._rest
        state.still[...] = _REST_TICKS
        state.loud[...] = 0

    def warm(self) -> None:
        """Run the net once, so that the first tick finds it ready."""
        self.step(self.init(), np.full(FEATURE_HOP, 2 * _LOUD_RMS, np.float32))

    def audible(self, heard: F32) -> bool:
        """Whether any row of a tick's sound (640,) is loud enough to be meant for someone."""
        return self.is_loud(float(row_rms(heard).max()))

    def is_loud(self, rms: float) -> bool:
        return rms > _LOUD_RMS

    def step(self, state: HearingState, heard: F32, *, wanted: bool = True) -> Heard:
        """Hear (640,) float32 samples of one tick. When the visemes are not `wanted` they read as silence."""
        rms = row_rms(heard)
        still = bool(rms.max() <= _FLOOR_RMS)
        (window,) = state.windows.feed(np.zeros_like(heard) if still else heard)
        state.still[0] = state.still[0] + 1 if still else 0
        state.loud[:-ROWS_PER_TICK] = state.loud[ROWS_PER_TICK:].copy()
        state.loud[-ROWS_PER_TICK:] = rms
        loud = state.loud[: ROWS_PER_TICK + SOON_ROWS].copy()
        rows = np.zeros((len(loud), len(VISEMES)), np.float32)
        rows[:, SILENCE] = 1
        if state.still[0] <= _REST_TICKS:
            named = self._visemes(state, window)
            sounds = (loud > _NOTHING_RMS) & wanted
            rows[sounds] = named[sounds]
        return Heard(rows[:ROWS_PER_TICK], loud[:ROWS_PER_TICK], rows[ROWS_PER_TICK:])

    def features(self, samples: F32) -> F32:
        """Log-mel rows (T, 40) of `samples`, one for each full window."""
        windows = np.lib.stride_tricks.sliding_window_view(samples, WINDOW_SAMPLES)[::HOP_SAMPLES]
        spectrum = np.fft.rfft(windows * self._taper, _FFT)
        power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
        return np.log(power @ self._bank + np.float32(_FLOOR))

    def _visemes(self, state: HearingState, window: F32) -> F32:
        """Weights (4 + SOON_ROWS, 15) of the rows that a tick completes, and of those that follow."""
        logits, past, memory = self._run(self.features(window).T[None], state.past, state.memory)
        state.past[...], state.memory[...] = past, memory
        quick, sure = logits[0].reshape(len(LOOKAHEADS), len(VISEMES), ROWS_PER_TICK)
        seen = np.concatenate([sure.T, quick.T[-SOON_ROWS:]])
        odds = np.exp(seen - seen.max(1, keepdims=True))
        return odds / odds.sum(1, keepdims=True)

    def _run(self, mel: F32, past: F32, memory: F32) -> tuple[F32, F32, F32]:
        logits, *after = self._net.run(_ANSWERS, {"mel": mel, "past": past, "state": memory})
        return np.asarray(logits), np.asarray(after[0]), np.asarray(after[1])


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
