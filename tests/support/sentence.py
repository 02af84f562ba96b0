"""A labelled sentence: text spoken by the project's own voice, as ticks with the mouth shapes it told, and
what a presenter does while saying it.
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby

import numpy as np
import soxr
from numpy.typing import NDArray
from support.rig import HOP, heard, stage
from visavis.render.rig.lips import row_rms
from visavis.render.rig.motion import Motion
from visavis.render.rig.performer import DELAY_TICKS, Performer
from visavis.render.rig.units import UNITS
from visavis.stream.clock import FEATURE_HZ, PROGRAM_HZ
from visavis.stream.media import AudioChunk
from visavis.stream.pcm import to_float
from visavis.stream.playout import Cut, Playout
from visavis.stream.visemes import ROWS_PER_TICK, VISEMES, Cue
from visavis.web.voice import DEFAULT_VOICE, Mouth
from visavis.web.voice_link import Piece, Speak

F32 = NDArray[np.float32]

TEXT = "Maybe Bob will move the big map. My mother put a baby blanket in the box, and Peter bumped the lamp."
"""Seven seconds with most sounds of English and 19 closures of the lips, some of two sounds."""
PAUSE_TICKS = 12
"""Silence before the sentence and after it."""
SEED = 3
_LIPS = [at for at, unit in enumerate(UNITS) if unit.startswith(("mouth", "jaw", "tongue"))]


@dataclass(frozen=True, slots=True)
class Performance:
    """What was said, and the face of each of its N frames.

    `names` (4 N) are the shapes that the voice told, one a row of 10 ms, `loud` (4 N,) the RMS of the sound.
    """

    motions: tuple[Motion, ...]
    names: tuple[str, ...]
    loud: F32

    def closures(self, shape: str) -> list[range]:
        """The frames that each run of `shape` touches."""
        found: list[range] = []
        at = 0
        for name, run in groupby(self.names):
            end = at + len(list(run))
            if name == shape:
                found.append(range(at // ROWS_PER_TICK, -(-end // ROWS_PER_TICK)))
            at = end
        return found


@cache
def cuts() -> tuple[Cut, ...]:
    """TEXT as the playout cuts it, with silence around it."""
    mouth, playout = Mouth(seed=1), Playout()
    mouth.receive(Speak(1, TEXT, DEFAULT_VOICE, credit=9))
    pieces = [piece for _ in range(2) for piece in mouth.speak_next() if isinstance(piece, Piece)]
    quiet = [playout.take(0) for _ in range(PAUSE_TICKS)]
    for piece in pieces:
        cues = tuple(Cue(*cue) for cue in piece.cues)
        playout.push(AudioChunk("said", to_float(piece.pcm), piece.rate, cues), 0)
    playout.end("said")
    spoken: list[Cut] = []
    while not playout.empty:
        spoken.append(playout.take(0))
    return (*quiet, *spoken, *quiet)


@cache
def performed(*, told: bool, deaf_to: str = "") -> Performance:
    """The sentence, performed: with the shapes that the voice `told`, or with those that the net hears. The
    face takes rows of `deaf_to` for an open vowel."""
    ticks = cuts()
    sound = soxr.resample(np.concatenate([cut.sent for cut in ticks]), PROGRAM_HZ, FEATURE_HZ)
    performer = Performer(stage(), seed=SEED, index=0)
    motions: list[Motion] = []
    for index, cut in enumerate(ticks):
        tick = heard(index, sound[index * HOP : (index + 1) * HOP].astype(np.float32))
        if told:
            tick = replace(tick, sent=cut.sent, rows=_without(cut.rows, deaf_to), known=cut.known)
        motions.append(performer.hear(tick))
    frames = len(motions) - DELAY_TICKS
    rows = np.concatenate([cut.rows for cut in ticks])[: frames * ROWS_PER_TICK]
    loud = np.concatenate([row_rms(sound[k * HOP : (k + 1) * HOP]) for k in range(frames)])
    return Performance(
        tuple(motions[DELAY_TICKS:]), tuple(VISEMES[row] for row in rows.argmax(1)), loud.astype(np.float32)
    )


def silenced(motion: Motion) -> Motion:
    """`motion` with its lips, jaw and tongue at rest: same head, eyes and brows."""
    units = motion.units.copy()
    units[_LIPS] = 0
    return replace(motion, units=units)


def _without(rows: F32, name: str) -> F32:
    """`rows` with an open vowel in the place of `name`."""
    if not name:
        return rows
    changed = rows.copy()
    lost = changed[:, VISEMES.index(name)].copy()
    changed[:, VISEMES.index(name)] = 0
    changed[:, VISEMES.index("aa")] += lost
    return changed
