"""From viseme rows to face units: dominance blending of lips, jaw and tongue, and closures that are always
reached.

Every row pulls at the face with a weight that rises before its sound and fades after it (after Cohen and
Massaro, 1993); the jaw is slower than the lips, the tongue quicker. Closures do not take part in a vote: each
one owns at least one frame, however its time falls between frames.
"""

from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...stream.easing import hermite
from ...stream.visemes import ROWS_PER_TICK, SILENCE, VISEMES
from .shapes import OPENING, SHAPES, TARGETS, TEMPO, TONGUE_TARGETS
from .units import UNIT_COUNT, UNITS

F32 = NDArray[np.float32]

PAST_ROWS, NEXT_ROWS = 14, 14
"""Rows before and after the middle of a frame that shape it."""
SPAN_ROWS = PAST_ROWS + NEXT_ROWS
EDGE_TICKS = 3
"""Ticks over which the mouth wakes before speech and settles after it."""

_PP, _FF, _OU = (VISEMES.index(name) for name in ("pp", "ff", "ou"))
_GLIDE_ROWS, _GLIDE = 13.0, 5.0
"""A rounded sound shorter than this is a glide, and so much stronger at most."""
_STOP_ROWS = 3
"""A pause this near to a closing sound may be the part of it that makes no sound."""
_UNSURE, _SURE = 0.22, 0.45
"""Evidence for a closing sound from which the lips start to obey it, and obey it alone."""
_OWN = (PAST_ROWS - ROWS_PER_TICK // 2, PAST_ROWS + ROWS_PER_TICK // 2)
"""The frame's own rows: every row belongs to exactly one frame."""
_EASE_ROWS, _PART_ROWS = 4.0, 7.0
"""Rows over which lips come together before a closure, and part after it."""
_BURST_ROWS = 3.5
"""Rows before the end of a closure at which the lips begin to part."""
_SWING_ROWS = 7.8
"""Rows from the middle of a closure, however short, to lips that are quite free: two frames."""
_CROWDED_ROWS = (4.0, 22.0)
"""Between two closures: up to the first, lips stay as near each other as `_CROWDED`; from the last on, they
open as ever."""
_CROWDED = 0.7
"""How far lips stay together there."""
_BITE_ROWS = 3.0
"""Nearness in time of the sounds that say whether a closure is a bite."""
_NARROWED = 0.92
"""How far a bite decides how wide and round lips are."""
_SEALED, _FUNNEL_SEALED = 1.05, 0.2
"""Of the jaw's opening and the lips' funnel: lips that reach toward each other so far meet."""
SEALING = 1.5
"""Lips on their way reach by this power of how far they are held: so the gap between them grows evenly."""
_OBEYS: Final = {(1, "pp"): 0.45, (1, "ff"): 0.45, (2, "th"): 4.0, (2, "dd"): 2.2, (2, "nn"): 2.2}
"""Of a sound's strength, what the jaw (1) feels of one that the lips close for, and how much more the tongue
(2) of one that its tip makes."""
_ROOM: Final = 0.41
"""How far a tongue that is wholly out keeps the jaw open, however soft its sound."""
_REACH = 1.2
"""Blending weakens every target; this gives the strength back."""
_ROUNDEST = 0.84
"""The most that lips are pursed: beyond it they would kiss."""
_TONGUE, _JAW, _SEAL = UNITS.index("tongueOut"), UNITS.index("jawOpen"), UNITS.index("mouthClose")
_FUNNEL, _PUCKER = UNITS.index("mouthFunnel"), UNITS.index("mouthPucker")
_MOLD: Final = np.array(
    [
        unit.startswith(("mouthPucker", "mouthFunnel", "mouthStretch", "mouthSmile", "mouthFrown"))
        for unit in UNITS
    ],
    np.bool_,
)
"""How wide and how round the lips are: closures leave that to their neighbours."""
_CONTACT: Final = np.array([unit.startswith("mouth") for unit in UNITS], np.bool_) & ~_MOLD
_FIRMNESS = 0.45
"""Share of a change of scale that rounding and spreading follow; opening follows it all."""

_RANGE_DB = 17.0
"""Below the voice's usual peak, over which the mouth shrinks to its softest."""
_SOFTEST, _LOUDEST = 0.46, 1.1
_GONE_DB, _FADING_DB = -46.0, -30.0
"""Against the usual peak: here a voice has ended, whatever shapes are left, and here it begins to end."""
_LOUD_ROWS = slice(PAST_ROWS - 5, PAST_ROWS + 9)
_LOUD_TAPER: Final = np.hanning(16)[1:-1].astype(np.float32)

_USUAL_PACE = 14.0
"""Changes of shape a second in calm speech."""
_HURRY = 0.5
_PACE_RANGE = (0.78, 1.06)
_LEAST_SPOKEN_ROWS = 30
_EACH: Final = np.ones(len(VISEMES), np.float32)
_OPEN_SOUNDS: Final = np.array([viseme not in (_PP, _FF) for viseme in range(len(VISEMES))], np.float32)
_PARTING: Final = np.array([name not in ("pp", "ff", "sil") for name in VISEMES], np.float32)
_SPOKEN: Final = np.where(np.arange(len(VISEMES)) == SILENCE, np.float32(0), np.float32(1))


def _dominance() -> F32:
    """Weight (3, SPAN_ROWS, 15) of each row's viseme on the frame, one table a tempo of `TEMPO`."""
    offset = np.arange(SPAN_ROWS) - PAST_ROWS + 0.5
    table = np.zeros((len(TEMPO), SPAN_ROWS, len(VISEMES)), np.float32)
    for group, (slowness, lag) in enumerate(TEMPO):
        late = offset + lag
        for viseme, name in enumerate(VISEMES):
            shape = SHAPES[name]
            width = np.where(late > 0, shape.rise, shape.fade) * slowness
            strength = shape.strength * _OBEYS.get((group, name), 1.0)
            table[group, :, viseme] = strength * np.exp(-np.square(late / width))
    return table


_DOMINANCE: Final = _dominance()
_BITE_TAPER: Final = np.exp(-np.square((np.arange(SPAN_ROWS) - PAST_ROWS + 0.5) / _BITE_ROWS)).astype(
    np.float32
)
_PARTS: Final = TARGETS.reshape(-1, UNIT_COUNT)
_WHOLE: Final = TARGETS.sum(0)


@dataclass(frozen=True, slots=True)
class Mouth:
    """`units` (52,) face units, how firmly a closing sound `holds` them, 0..1, the `tongue` (3,): tip up,
    back up and low, and how far the lip below `seals` a jaw that is open, 0..1."""

    units: F32
    holds: float
    tongue: F32 = field(default_factory=lambda: np.zeros(3, np.float32))
    seals: float = 0.0


def asleep() -> Mouth:
    """A mouth that says nothing."""
    return Mouth(np.zeros(UNIT_COUNT, np.float32), 0.0)


def mouth(rows: F32, scale: float, awake: float) -> Mouth:
    """The mouth of one frame.

    `rows` (SPAN_ROWS, 15) are viseme weights around the frame's middle, rows not yet known all zero; `scale`
    is how far the mouth opens (see `loudness` and `hurry`), `awake` 0..1 brings it from rest into speech.
    """
    if awake <= 0:
        return asleep()
    pull = (glided(rows) * _DOMINANCE).sum(1)
    share = pull / np.maximum(pull.sum(1, keepdims=True), np.float32(1e-6))
    units = _molded(share.reshape(-1) @ _PARTS, pull[0])
    firm = 1.0 + (scale - 1.0) * _FIRMNESS
    size = np.where(OPENING, np.float32(_REACH * scale), np.float32(_REACH * max(firm, 0.0)))
    size[_TONGUE] = min(max(firm, 0.0), 1.0)
    units = units * size
    units[_PUCKER] = min(units[_PUCKER], _ROUNDEST)
    units[_JAW] = max(units[_JAW], _ROOM * units[_TONGUE])
    hold, bite = grip(rows)
    seals = hold**SEALING * (1.0 - bite**3)
    if hold > 0:
        units = sealed(_held(units, hold, bite), seals)
    moved = np.clip(units * np.float32(awake), 0, 1).astype(np.float32)
    tongue = (share[2] @ TONGUE_TARGETS * np.float32(awake)).astype(np.float32)
    return Mouth(moved, hold * awake, tongue, seals)


def glided(rows: F32) -> F32:
    """`rows` with short rounded sounds made strong: lips are pursed for a w, however soon they part for the
    vowel after it."""
    rounded = rows[:, _OU] > 0.5
    if not rounded.any() or rounded.all():
        return rows
    found = rows.copy()
    for start, stop in stretches(rounded):
        if start > 0 and stop < len(rows) and rows[stop].any():
            found[start:stop, _OU] *= np.float32(min(max(_GLIDE_ROWS / (stop - start), 1.0), _GLIDE))
    return found


def stretches(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """(start, end) of each run of `flags` (N,) that are set."""
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def sealed(units: F32, seals: float) -> F32:
    """`units` whose lips reach toward each other so far, 0..1, as an open jaw and a funnel ask of them."""
    reached = units.copy()
    reached[_SEAL] = seals * (_SEALED * units[_JAW] + _FUNNEL_SEALED * units[_FUNNEL])
    return reached


def _molded(units: F32, pull: F32) -> F32:
    """`units` with the width and rounding that the sounds around a closure give the lips, by the `pull` (15,)
    of each."""
    others = pull * _OPEN_SOUNDS
    share = others / np.maximum(others.sum(), np.float32(1e-6))
    return np.where(_MOLD, share @ TARGETS[0], units)


def _held(units: F32, hold: float, bite: float) -> F32:
    """`units` with lips that touch as far as a closure holds them, however far the jaw is open."""
    closed = _WHOLE[_PP] * np.float32(1 - bite) + _WHOLE[_FF] * np.float32(bite)
    held = np.where(_CONTACT, units + np.float32(hold) * (closed - units), units)
    held[_MOLD] += _NARROWED * hold * bite * (closed[_MOLD] - held[_MOLD])
    held[_JAW] += np.float32(hold * bite) * (closed[_JAW] - held[_JAW])
    return held


def grip(rows: F32) -> tuple[float, float]:
    """How far the frame obeys a closing sound, 0..1, and which share of it is a bite on the lower lip.

    A pause counts as a closure as far as a closing sound beside it speaks for that.
    """
    closing = (rows[:, _PP] + rows[:, _FF]).tolist()
    if max(closing) < _UNSURE:
        return 0.0, 0.0
    runs = _runs(_evidence(closing, rows[:, SILENCE].tolist()))
    hold = 0.0
    for start, stop, peak in runs:
        middles = _middles(closing, start, stop)
        owned = any(_OWN[0] <= middle < _OWN[1] for middle in middles)
        early = (start - PAST_ROWS) / _EASE_ROWS
        late = min((PAST_ROWS + _BURST_ROWS - stop) / _PART_ROWS, (PAST_ROWS - middles[-1]) / _SWING_ROWS)
        loose = 0.0 if owned else min(max(early, late, 0.0), 1.0)
        hold = max(hold, _firmness(peak) * (1.0 - loose))
    return max(hold, _crowded(runs)), _bite(rows) if hold > 0 else 0.0


def parts(rows: F32) -> float:
    """Which share of the frame's own rows is a sound for which lips must not touch, 0..1."""
    return float((rows[_OWN[0] : _OWN[1]] @ _PARTING).mean())


def _firmness(peak: float) -> float:
    """How far lips obey a closure of such evidence."""
    return hermite((peak - _UNSURE) / (_SURE - _UNSURE))


def _crowded(runs: list[tuple[int, int, float]]) -> float:
    """How far the lips stay together in the middle of the frame, between two closures that are near each
    other."""
    least, most = _CROWDED_ROWS
    for before, after in pairwise(runs):
        if before[1] <= PAST_ROWS <= after[0]:
            firm = _firmness(min(before[2], after[2]))
            return firm * _CROWDED * (1.0 - hermite((after[0] - before[1] - least) / (most - least)))
    return 0.0


def _bite(rows: F32) -> float:
    """Which share of the closing sounds near the frame's middle is a bite."""
    bite, press = _BITE_TAPER @ rows[:, _FF], _BITE_TAPER @ rows[:, _PP]
    return float(bite / max(bite + press, 1e-6))


def _evidence(closing: list[float], pause: list[float]) -> list[float]:
    """How much speaks for held lips in each row, a little smoothed."""
    likely = [max(closing[max(at - _STOP_ROWS, 0) : at + _STOP_ROWS + 1]) for at in range(len(closing))]
    raw = [
        min(sure + min(still, near), 1.0) for sure, still, near in zip(closing, pause, likely, strict=True)
    ]
    padded = [raw[0], *raw, raw[-1]]
    return [0.25 * padded[at] + 0.5 * padded[at + 1] + 0.25 * padded[at + 2] for at in range(len(raw))]


def _middles(closing: list[float], start: int, stop: int) -> list[float]:
    """Where the closing sounds of a stretch of rows have their middles."""
    clear = 0.5 * max(closing[start:stop])
    found: list[float] = []
    for heard, group in groupby(range(start, stop), lambda at: closing[at] > clear):
        rows = list(group)
        if heard:
            total = sum(closing[at] for at in rows)
            found.append(sum((at + 0.5) * closing[at] for at in rows) / total)
    return found or [(start + stop) / 2]


def _runs(seen: list[float]) -> list[tuple[int, int, float]]:
    """(start, end, peak) of each stretch of evidence, cut where it falls under half its peak."""
    runs: list[tuple[int, int, float]] = []
    at = 0
    while at < len(seen):
        if seen[at] < _UNSURE:
            at += 1
            continue
        start = at
        while at < len(seen) and seen[at] >= _UNSURE:
            at += 1
        peak = max(seen[start:at])
        solid = [place for place in range(start, at) if seen[place] >= 0.5 * peak]
        runs.append((solid[0], solid[-1] + 1, peak))
    return runs


def row_rms(heard: F32) -> F32:
    """RMS (4,) of the rows in a tick's sound (640,)."""
    rows = heard.reshape(ROWS_PER_TICK, -1)
    return np.sqrt(np.einsum("rs,rs->r", rows, rows) / rows.shape[1])


def loudness(loud: F32, reference: float) -> float:
    """Mouth scale from the RMS `loud` (SPAN_ROWS,) of the rows against the voice's usual peak `reference`."""
    level = float(np.sqrt(np.square(loud[_LOUD_ROWS]) @ _LOUD_TAPER / _LOUD_TAPER.sum()))
    below_db = 20 * np.log10(max(level, 1e-6) / max(reference, 1e-6))
    scale = float(np.clip(1.0 + (1.0 - _SOFTEST) * (below_db + 3.0) / _RANGE_DB, _SOFTEST, _LOUDEST))
    return scale * hermite((below_db - _GONE_DB) / (_FADING_DB - _GONE_DB))


def pace(rows: F32) -> float:
    """Changes of mouth shape a second in `rows` (N, 15) of recent speech, pauses left out; the usual pace
    where too little is spoken to tell."""
    spoken = rows @ _SPOKEN
    count = float(spoken.sum())
    if count < _LEAST_SPOKEN_ROWS:
        return _USUAL_PACE
    change = np.abs(rows[3:] - rows[:-3]) @ _EACH
    return 0.5 / 3 * float(change @ spoken[1:-2]) / count * 100


def hurry(pace: float) -> float:
    """Mouth scale at a `pace` of speech: who hurries opens less."""
    low, high = _PACE_RANGE
    return float(np.clip((_USUAL_PACE / max(pace, 1e-6)) ** _HURRY, low, high))


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
