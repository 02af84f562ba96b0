"""Pauses that are heard: rows without a shape belong to the sound before them while it dies away, and to the
one after them when it has begun.

A voice tells its sounds to the row, but breath, hiss and hum go on; lips that shut at the word would say m.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.visemes import SILENCE, VISEMES

F32 = NDArray[np.float32]

_HEARD_DB: Final = -27.0
"""Below a voice's usual peak: what is louder is no pause."""
_AFTER_ROWS, _BEFORE_ROWS = 9, 3
"""So far a sound goes on at most, and so much earlier than it was told it may begin."""
_CLOSED: Final = [VISEMES.index(name) for name in ("pp", "ff")]


def filled(rows: F32, loud: F32, reference: float) -> F32:
    """`rows` (N, 15) of viseme weights, zero where not known, with the sounds that go on in pauses by how
    `loud` (N,) they are; `reference` is the voice's usual peak."""
    quiet = rows[:, SILENCE] > 0.5
    sounds = quiet & (loud > reference * 10 ** (_HEARD_DB / 20))
    if not sounds.any():
        return rows
    found = rows.copy()
    last = first = None
    for at in range(len(rows)):
        if not quiet[at]:
            last = at
        elif last is not None and sounds[at] and at - last <= _AFTER_ROWS and sounds[last + 1 : at].all():
            found[at] = rows[last]
    for at in reversed(range(len(rows))):
        if not quiet[at]:
            first = at
        elif (
            first is not None
            and sounds[at]
            and found[at, SILENCE] > 0.5
            and first - at <= _BEFORE_ROWS
            and rows[first].any()
            and rows[first, _CLOSED].max() < 0.5
        ):
            found[at] = rows[first]
    return found
