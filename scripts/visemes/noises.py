"""Sound without speech, made up: noise as rooms, machines and weather have it, and music."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .speech import RATE

F32 = NDArray[np.float32]
Rng = np.random.Generator


def coloured(rng: Rng, count: int, slope_db: float) -> F32:
    """Noise that falls by `slope_db` an octave, from white (0) over pink (3) to brown (6)."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    hz = np.maximum(np.fft.rfftfreq(count, 1 / RATE), 20.0)
    return _even(np.fft.irfft(spectrum * hz ** (-slope_db / 6.02), count))


def hum(rng: Rng, count: int) -> F32:
    """Mains hum or a motor: a low tone and its harmonics over a little hiss."""
    base = rng.choice([50.0, 60.0, 100.0, rng.uniform(40, 240)])
    t = np.arange(count) / RATE
    tones = sum(
        rng.uniform(0, 1) / k * np.sin(2 * np.pi * (base * k * t + rng.random())) for k in range(1, 16)
    )
    return _even(np.asarray(tones) + 0.05 * rng.standard_normal(count))


def band(rng: Rng, count: int) -> F32:
    """A fan, rain or the wind: a band of noise that swells and ebbs."""
    low = rng.uniform(50, 2000)
    high = low * rng.uniform(1.5, 12)
    hz = np.fft.rfftfreq(count, 1 / RATE)
    shape = 1 / (1 + (low / np.maximum(hz, 1)) ** 4) / (1 + (hz / high) ** 4)
    sound = np.fft.irfft(np.fft.rfft(rng.standard_normal(count)) * shape, count)
    return _even(sound * (1 + rng.uniform(0, 0.9) * _slow(rng, count, rng.uniform(0.2, 6))))


def clatter(rng: Rng, count: int) -> F32:
    """Keys, cutlery, steps: short ringing knocks at odd moments over a little hiss."""
    sound = rng.standard_normal(count) * 10 ** rng.uniform(-3, -1.5)
    for at in rng.integers(0, count - 4000, size=int(count / RATE * rng.uniform(1, 10))):
        t = np.arange(4000) / RATE
        ring = np.sin(2 * np.pi * rng.uniform(150, 5000) * t) + rng.uniform(0, 2) * rng.standard_normal(4000)
        sound[at : at + 4000] += ring * np.exp(-t / rng.uniform(0.002, 0.05)) * rng.uniform(0.2, 1)
    return _even(sound)


def music(rng: Rng, count: int) -> F32:
    """Chords, a tune and sometimes drums, by plucked, blown or bowed tones."""
    sound = np.zeros(count)
    beat = int(RATE * rng.uniform(0.2, 0.7))
    root = rng.uniform(80, 260)
    scale = np.array([0, 2, 4, 5, 7, 9, 11, 12, 14, 16]) - (rng.random() < 0.4) * np.array(
        [0, 0, 1, 0, 0, 1, 1, 0, 0, 1]
    )
    tilt, fade, shake = rng.uniform(0.8, 2.5), rng.uniform(0.1, 3), rng.uniform(0, 0.006)
    drums = rng.random() < 0.5
    for start in range(0, count - 1, beat):
        length = min(int(beat * rng.choice([1, 1, 2, 4])), count - start)
        t = np.arange(length) / RATE
        swell = np.minimum(t / rng.choice([0.004, 0.05]), 1) * np.exp(-t / fade)
        swell *= np.minimum((length - np.arange(length)) / 200, 1)
        for step in rng.choice(scale, size=rng.integers(1, 5)):
            hz = root * 2 ** ((step + 12 * rng.integers(0, 2)) / 12)
            turn = t * hz + shake * hz / 5 * np.sin(2 * np.pi * 5 * t)
            for k in range(1, int(min(14, 7000 / hz)) + 1):
                sound[start : start + length] += swell * k**-tilt * np.sin(2 * np.pi * k * turn + k)
        if drums:
            hit = np.exp(-t / rng.uniform(0.01, 0.08)) * rng.standard_normal(length) * rng.uniform(0.5, 3)
            sound[start : start + length] += hit
    return _even(sound)


KINDS: Final[tuple[Callable[[Rng, int], F32], ...]] = (
    lambda rng, count: coloured(rng, count, 0),
    lambda rng, count: coloured(rng, count, rng.uniform(2, 4)),
    lambda rng, count: coloured(rng, count, rng.uniform(4, 7)),
    hum,
    band,
    band,
    clatter,
    music,
    music,
    music,
    music,
)


def bank(seed: int, seconds_each: int, rounds: int) -> F32:
    """Pieces of every kind of `KINDS`, one after another, each at an RMS of 0.1."""
    rng = np.random.default_rng(seed)
    return np.concatenate([kind(rng, seconds_each * RATE) for _ in range(rounds) for kind in KINDS])


def _slow(rng: Rng, count: int, hz: float) -> NDArray[np.float64]:
    knots = rng.uniform(-1, 1, max(int(count / RATE * hz), 1) + 2)
    return np.interp(np.linspace(0, len(knots) - 1, count), np.arange(len(knots)), knots)


def _even(sound: NDArray[np.float64]) -> F32:
    return (0.1 * sound / max(float(np.sqrt(np.square(sound).mean())), 1e-9)).astype(np.float32)
