"""From moments at which phonemes were heard to the stretches that they fill.

A CTC net names a phoneme at one moment and says nothing of how long it lasts. `frames` spreads each phoneme
around its moment by a rule whose figures were fitted to voices with known labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from visavis.stream.visemes import SILENCE, cues_of

from .speech import F32

HOP = 160
TURN = 0.8
"""A phoneme ends after this share of the way to the next one's moment."""
REACH_ROWS = 25
"""Rows around its moment that a phoneme can fill."""
PAUSE_SHARE, PAUSE_ROWS, PAUSE_EDGE_ROWS = 0.25, 20, 6
"""Of a pause that is safe to teach: how near to the softest, how long, and which edge stays in doubt."""
QUIET_DB, QUIET_SHARE, QUIET_ROWS = 50.0, 0.1, 8
"""What lies so far under the loudest rows, or so near to the softest, for so long is silence."""


@dataclass(frozen=True, slots=True)
class Heard:
    """`symbol` was heard at row `at`."""

    symbol: str
    at: float


def frames(samples: F32, heard: Sequence[Heard]) -> NDArray[np.uint8]:
    """Viseme (T,) of each row of 10 ms."""
    count = len(samples) // HOP
    rows = np.full(count, SILENCE, np.uint8)
    for place, one in enumerate(heard):
        start, end = one.at - REACH_ROWS, one.at + REACH_ROWS
        if place:
            before = heard[place - 1].at
            start = max(start, before + (one.at - before) * TURN)
        if place + 1 < len(heard):
            end = min(end, one.at + (heard[place + 1].at - one.at) * TURN)
        first, last = max(round(start), 0), max(round(end), 0)
        for cue in cues_of([one.symbol], [(last - first) * HOP]):
            rows[first + cue.start // HOP : first + -(-cue.end // HOP)] = cue.viseme
    rows[_quiet(samples, count)] = SILENCE
    return rows


def _quiet(samples: F32, count: int) -> NDArray[np.bool_]:
    level = _levels(samples, count)
    soft, loud = np.percentile(level, (5, 95))
    return _lasting(level < max(loud - QUIET_DB, soft + QUIET_SHARE * (loud - soft)), QUIET_ROWS)


def _levels(samples: F32, count: int) -> NDArray[np.float64]:
    power = np.square(samples[: count * HOP].reshape(count, HOP)).mean(1)
    return 10 * np.log10(power + 1e-12)


def _lasting(flags: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
    """`flags` without runs of fewer than `least` rows."""
    kept = flags.copy()
    edges = [0, *(np.flatnonzero(np.diff(flags)) + 1).tolist(), len(flags)]
    for start, end in pairwise(edges):
        if end - start < least:
            kept[start:end] = False
    return kept


def doubted(samples: F32, rows: NDArray[np.uint8], unknown: int) -> NDArray[np.uint8]:
    """`rows` fit to teach: long pauses are silence, loud rows in which nothing was heard `unknown`."""
    soft = np.convolve(_levels(samples, len(rows)), np.ones(5) / 5, "same")
    low, high = np.percentile(soft, (5, 95))
    taught = np.where((rows == SILENCE) & (soft > low + QUIET_SHARE * (high - low)), unknown, rows)
    pause = _lasting(soft < low + PAUSE_SHARE * (high - low), PAUSE_ROWS)
    inside = np.convolve(~pause, np.ones(2 * PAUSE_EDGE_ROWS + 1), "same") == 0
    return np.where(inside, SILENCE, np.where(pause, unknown, taught)).astype(np.uint8)


def cues_from(rows: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Cues (K, 3) of rows of 10 ms: viseme, first sample, end."""
    edges = np.array([0, *(np.flatnonzero(np.diff(rows)) + 1).tolist(), len(rows)])
    return np.stack([rows[edges[:-1]], edges[:-1] * HOP, edges[1:] * HOP], 1).astype(np.int32)
