"""From viseme rows to face units: targets, co-articulation, closures that are always reached, loudness."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.easing import hermite
from ...stream.visemes import ROWS_PER_TICK, SILENCE, VISEMES
from .units import UNIT_COUNT, unit_vector

F32 = NDArray[np.float32]

PAST_ROWS, NEXT_ROWS = 12, 7
"""Rows before and after the middle of a frame that shape it."""
SPAN_ROWS = PAST_ROWS + NEXT_ROWS
_LEAD_ROWS = 1.0
"""The lips run this far ahead of the sound, as a speaker's do."""
EDGE_TICKS = 3
"""Ticks over which the mouth wakes before speech and settles after it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Target of one viseme: `units` by name, `strength` against its neighbours, and the rows over which it
    rises before its sound and fades after it."""

    units: dict[str, float]
    strength: float
    rise: float
    fade: float


SHAPES: Final[dict[str, Shape]] = {
    "aa": Shape(
        {"jawOpen": 0.40, "mouthLowerDown": 0.20, "mouthUpperUp": 0.16, "mouthStretch": 0.05}, 1.0, 4.5, 4.5
    ),
    "eh": Shape(
        {"jawOpen": 0.25, "mouthLowerDown": 0.24, "mouthUpperUp": 0.15, "mouthStretch": 0.16}, 0.9, 4.2, 4.2
    ),
    "ih": Shape(
        {"jawOpen": 0.11, "mouthLowerDown": 0.26, "mouthUpperUp": 0.14, "mouthStretch": 0.30}, 0.9, 4.2, 4.2
    ),
    "oh": Shape(
        {"jawOpen": 0.26, "mouthFunnel": 0.40, "mouthPucker": 0.26, "mouthLowerDown": 0.06}, 1.2, 5.5, 4.5
    ),
    "ou": Shape({"jawOpen": 0.09, "mouthPucker": 0.74, "mouthFunnel": 0.22}, 1.3, 6.0, 4.5),
    "pp": Shape({"mouthPress": 0.34, "mouthRollLower": 0.24, "mouthRollUpper": 0.18}, 2.4, 3.0, 2.4),
    "ss": Shape(
        {"jawOpen": 0.02, "mouthLowerDown": 0.32, "mouthUpperUp": 0.14, "mouthStretch": 0.24}, 1.1, 3.2, 3.0
    ),
    "th": Shape(
        {"jawOpen": 0.13, "mouthLowerDown": 0.22, "mouthUpperUp": 0.08, "tongueOut": 0.35}, 1.1, 3.2, 3.0
    ),
    "dd": Shape(
        {"jawOpen": 0.10, "mouthLowerDown": 0.20, "mouthUpperUp": 0.07, "mouthStretch": 0.06}, 0.7, 3.0, 3.0
    ),
    "ff": Shape(
        {"jawOpen": 0.03, "mouthRollLower": 0.50, "mouthUpperUp": 0.16, "mouthShrugLower": 0.12},
        2.2,
        3.0,
        2.4,
    ),
    "kk": Shape({"jawOpen": 0.16, "mouthLowerDown": 0.14, "mouthUpperUp": 0.06}, 0.5, 3.0, 3.0),
    "nn": Shape(
        {"jawOpen": 0.11, "mouthLowerDown": 0.16, "mouthUpperUp": 0.06, "mouthStretch": 0.08}, 0.6, 3.0, 3.0
    ),
    "rr": Shape(
        {"jawOpen": 0.11, "mouthPucker": 0.34, "mouthFunnel": 0.22, "mouthLowerDown": 0.06}, 0.9, 4.8, 4.0
    ),
    "ch": Shape(
        {"jawOpen": 0.05, "mouthFunnel": 0.46, "mouthPucker": 0.20, "mouthLowerDown": 0.14}, 1.2, 4.0, 3.2
    ),
    "sil": Shape({}, 0.7, 4.5, 5.0),
}
TARGETS: Final[F32] = np.stack([unit_vector(SHAPES[name].units) for name in VISEMES])
"""(15, 52) float32."""

_CLOSURES = tuple(VISEMES.index(name) for name in ("pp", "ff"))
_CLOSED_FROM, _CLOSED_AT = 0.30, 0.70
"""Weight of a closing sound at which the lips start, and have finished, to obey it alone."""
_CLOSURE_ROWS = slice(PAST_ROWS - 1, PAST_ROWS + 3)
"""The frame's own four rows, with the lips' lead."""
_REACH = 1.12
"""Blending weakens every target; this gives the strength back."""
_RANGE_DB = 18.0
"""Below the voice's usual peak, over which the mouth shrinks to its softest."""
_SOFTEST, _LOUDEST = 0.4, 1.1


def _dominance() -> F32:
    """Weight (SPAN_ROWS, 15) of each row's viseme on the frame."""
    offset = np.arange(SPAN_ROWS) - PAST_ROWS + 0.5 - _LEAD_ROWS
    columns: list[NDArray[np.float64]] = []
    for name in VISEMES:
        shape = SHAPES[name]
        width = np.where(offset > 0, shape.rise, shape.fade)
        columns.append(shape.strength * np.exp(-np.square(offset / width)))
    return np.stack(columns, 1).astype(np.float32)


_DOMINANCE: Final = _dominance()


def mouth(rows: F32, loudness: float, awake: float) -> F32:
    """Face units (52,) of one frame.

    `rows` (SPAN_ROWS, 15) are viseme weights around the frame's middle, `loudness` scales the vowels (see
    `loudness`), `awake` 0..1 brings the mouth from rest into speech.
    """
    if awake <= 0:
        return np.zeros(UNIT_COUNT, np.float32)
    pull = (rows * _DOMINANCE).sum(0)
    units = (pull / max(float(pull.sum()), 1e-6)) @ TARGETS * np.float32(_REACH * loudness)
    near = rows[_CLOSURE_ROWS]
    paired = 0.5 * (near[1:] + near[:-1])
    for viseme in _CLOSURES:
        share = (float(paired[:, viseme].max()) - _CLOSED_FROM) / (_CLOSED_AT - _CLOSED_FROM)
        if share > 0:
            grip = np.float32(hermite(share))
            units = units + grip * (TARGETS[viseme] - units)
    return (units * np.float32(awake)).astype(np.float32)


def loudness(loud: F32, reference: float) -> float:
    """Mouth scale from the RMS `loud` (SPAN_ROWS,) of the rows against the voice's usual peak `reference`."""
    near = loud[PAST_ROWS - 3 : PAST_ROWS + 5]
    level = float(np.sqrt(np.mean(np.square(near))))
    below_db = 20 * np.log10(max(level, 1e-6) / max(reference, 1e-6))
    return float(np.clip(1.0 + (1.0 - _SOFTEST) * (below_db + 3.0) / _RANGE_DB, _SOFTEST, _LOUDEST))


def awake(active: NDArray[np.bool_]) -> float:
    """How far the mouth takes part in speech: `active` (2 * EDGE_TICKS + 1,) tells of the ticks around the
    frame."""
    distance = min((abs(k - EDGE_TICKS) for k in np.flatnonzero(active)), default=EDGE_TICKS)
    return hermite(1.0 - distance / EDGE_TICKS)


def first_row(frame: int) -> int:
    """The first of the SPAN_ROWS rows that shape `frame`."""
    return frame * ROWS_PER_TICK + ROWS_PER_TICK // 2 - PAST_ROWS


def silent_rows(count: int) -> F32:
    rows = np.zeros((count, len(VISEMES)), np.float32)
    rows[:, SILENCE] = 1
    return rows
