"""Sample-rate conversion that gives the same samples however the sound was cut."""

import numpy as np
import soxr
from numpy.typing import NDArray

from .clock import FEATURE_HZ, PROGRAM_HZ
from .errors import AudioError

MIN_RATE_HZ = 8_000
MAX_RATE_HZ = 48_000
_STEP = PROGRAM_HZ // FEATURE_HZ
_TAPS = 97
"""Length of the decimator; its delay is 48 samples, exactly 1 ms."""


def check_rate(rate: int) -> int:
    """`rate` if the project takes it. Raises AudioError with the range."""
    if not MIN_RATE_HZ <= rate <= MAX_RATE_HZ:
        raise AudioError(f"sample_rate must be between {MIN_RATE_HZ} and {MAX_RATE_HZ} Hz, not {rate}")
    return rate


class Resampler:
    """One utterance from `rate` to 48 kHz, in high quality; `flush` gives the rest.

    In all, N samples become `ceil(N * 48000 / rate)` to within one sample.
    """

    def __init__(self, rate: int) -> None:
        self.rate = check_rate(rate)
        self._stream = (
            None if rate == PROGRAM_HZ else soxr.ResampleStream(rate, PROGRAM_HZ, 1, dtype="float32")
        )

    def step(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """What (N,) `samples` complete, (M,) float32 at 48 kHz."""
        if self._stream is None:
            return samples
        return self._stream.resample_chunk(samples)

    def flush(self) -> NDArray[np.float32]:
        """The samples still inside. The resampler is done afterwards."""
        if self._stream is None:
            return np.zeros(0, np.float32)
        return self._stream.resample_chunk(np.zeros(0, np.float32), last=True)


def _lowpass() -> NDArray[np.float32]:
    """Windowed sinc: flat within 0.3 dB to 6.8 kHz, 20 dB down at 8 kHz, 60 dB from 8.5 kHz."""
    at = np.arange(_TAPS) - (_TAPS - 1) / 2
    cutoff = 7_500 / PROGRAM_HZ
    taps = 2 * cutoff * np.sinc(2 * cutoff * at) * np.kaiser(_TAPS, 6.0)
    return (taps / taps.sum()).astype(np.float32)


class Decimator:
    """48 kHz to 16 kHz, a tick at a time, for engines: (3 N,) in, (N,) out, 1 ms late."""

    def __init__(self) -> None:
        self._taps = _lowpass()
        self._past = np.zeros(_TAPS - 1, np.float32)

    def step(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        joined = np.concatenate([self._past, samples])
        self._past = joined[-(_TAPS - 1) :]
        windows = np.lib.stride_tricks.sliding_window_view(joined, _TAPS)[::_STEP]
        return windows @ self._taps

    def reset(self) -> None:
        """Forget the past, as after an interrupt."""
        self._past = np.zeros(_TAPS - 1, np.float32)
