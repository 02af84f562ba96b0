"""Pauses that are heard: rows without a shape belong to the sound before them while it dies away, and to the
one after them when it has begun.

A voice tells its sounds to the row, but breath, hiss and hum go on; lips that shut at the word would say m.
"""

from itertools import takewhile
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.visemes import SILENCE, VISEMES
from .lips import stretches

F32 = NDArray[np.float32]

_HEARD_DB, _HUMMED_DB = -27.0, -14.0
"""Below a voice's usual peak: what is louder is no pause, and what is a hum through lips that are shut."""
_AFTER_ROWS, _BEFORE_ROWS = 9, 3
"""So far a sound goes on at most, and so much earlier than it was told it may begin."""
_CLOSED: Final = [VISEMES.index(name) for name in ("pp", "ff")]
_PRESSED: Final = VISEMES.index("pp")


def filled(rows: F32, loud: F32, reference: float) -> F32:
    """`rows` (N, 15) of viseme weights, zero where not known, with the sounds that go on in pauses by how
    `loud` (N,) they are; `reference` is the voice's usual peak."""
    quiet = rows[:, SILENCE] > 0.5
    if not (quiet & (loud > reference * _ratio(_HEARD_DB))).any():
        return rows
    found = rows.copy()
    level = (loud / max(reference, 1e-6)).tolist()
    for start, stop in stretches(quiet):
        after = 0
        if start > 0 and rows[start - 1].any():
            least = _ratio(_HUMMED_DB if rows[start - 1, _PRESSED] > 0.5 else _HEARD_DB)
            after = _run(level[start : min(start + _AFTER_ROWS, stop)], least)
            found[start : start + after] = rows[start - 1]
        if stop < len(rows) and rows[stop].any() and rows[stop, _CLOSED].max() < 0.5:
            first = max(start + after, stop - _BEFORE_ROWS)
            before = _run(level[first:stop][::-1], _ratio(_HEARD_DB))
            found[stop - before : stop] = rows[stop]
    return found


def _run(level: list[float], least: float) -> int:
    """How many from the first on are louder than `least`."""
    return sum(1 for _ in takewhile(lambda one: one > least, level))


def _ratio(level_db: float) -> float:
    return 10 ** (level_db / 20)
