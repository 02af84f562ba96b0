"""Mouth shapes over time, and what a rigged mouth does with them, for tests of lips."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.rig import face
from visavis.render.rig import lips
from visavis.render.rig.motion import still
from visavis.stream.visemes import VISEMES

F32 = NDArray[np.float32]

VOWELS = ("aa", "eh", "ih", "oh", "ou")
CLOSURES = ("pp", "ff")
OTHERS = tuple(name for name in VISEMES if name not in (*VOWELS, *CLOSURES, "sil"))
HEARD_ROWS = 7
"""Rows beyond a frame's middle that the net has named when it is drawn."""
_OPEN = {"aa": 1, "eh": 0.7, "ih": 0.35, "oh": 0.7, "ou": 0.25, "th": 0.35, "ch": 0.4, "kk": 0.35}
_REST = {"pp": 0.0, "ff": 0.12, "sil": 0.0}

PRESSED, BITTEN = 0.1, 0.22
"""Of an open vowel's gap: lips that touch, and teeth on the lower lip, which show."""

Sound = tuple[str, int]
"""A mouth shape and the rows it lasts."""

sounds = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(VOWELS), st.integers(5, 18)),
        st.tuples(st.sampled_from(OTHERS), st.integers(3, 11)),
        st.tuples(st.sampled_from(CLOSURES), st.integers(3, 11)),
    ),
    min_size=3,
    max_size=14,
)


def timeline(said: Sequence[Sound], *, lead: int = 20) -> list[str]:
    """The name of every row of `said`, after `lead` rows of silence and before a second of it."""
    names = ["sil"] * lead
    for name, rows in said:
        names += [name] * rows
    return names + ["sil"] * 100


def certain(names: Sequence[str]) -> F32:
    """Rows (N, 15) that are sure of `names`."""
    rows = np.zeros((len(names), len(VISEMES)), np.float32)
    rows[np.arange(len(names)), [VISEMES.index(name) for name in names]] = 1
    return rows


def doubtful(names: Sequence[str], *, seed: int, noise: float = 0.8) -> F32:
    """Rows (N, 15) as a net gives them: blurred in time, and noisy."""
    taper = np.exp(-np.square(np.arange(-6, 7) / 2.0))
    blurred = np.stack([np.convolve(column, taper / taper.sum(), "same") for column in certain(names).T], 1)
    odds = (blurred + 0.02) * np.exp(noise * np.random.default_rng(seed).standard_normal(blurred.shape))
    return (odds / odds.sum(1, keepdims=True)).astype(np.float32)


def frames(rows: F32, *, ahead: int = lips.NEXT_ROWS, scale: float = 1.0) -> dict[int, lips.Mouth]:
    """The mouth of each frame that `rows` shape, when `ahead` rows beyond its middle are known."""
    found: dict[int, lips.Mouth] = {}
    for frame in range(4, (len(rows) - lips.NEXT_ROWS) // 4):
        first = lips.first_row(frame)
        span = rows[first : first + lips.SPAN_ROWS].copy()
        span[lips.PAST_ROWS + ahead :] = 0
        found[frame] = lips.mouth(span, scale, 1.0)
    return found


def gap(units: F32, presenter: str = "ruby") -> float:
    """How far `units` part the lips, in model units."""
    return face(presenter).lip_gap(replace(still(), units=units), face(presenter).canvas())


def closures(said: Sequence[Sound], *, lead: int = 20) -> list[tuple[range, float]]:
    """The frames that each closing sound of `said` touches, and the gap that closes it, of an open vowel's;
    neighbours are held as one."""
    found: list[tuple[range, float]] = []
    at = lead
    for closes, run in groupby(said, lambda sound: sound[0] in CLOSURES):
        held = list(run)
        end = at + sum(rows for _, rows in held)
        if closes:
            limit = BITTEN if any(name == "ff" for name, _ in held) else PRESSED
            found.append((range(at // 4, -(-end // 4)), limit))
        at = end
    return found


def reference(names: Sequence[str]) -> NDArray[np.float64]:
    """How open a mouth should be in each row of `names`, smooth, 0..1."""
    openings = np.array([_REST.get(name, _OPEN.get(name, 0.25)) for name in names])
    taper = np.hanning(13)[1:-1]
    return np.convolve(openings, taper / taper.sum(), "same")
