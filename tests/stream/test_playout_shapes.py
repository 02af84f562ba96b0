from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sound import noise
from support.talk import chunk, counted, drained, filled, sound_of, take
from visavis.stream.playout import Playout
from visavis.stream.visemes import ROWS_PER_TICK, SILENCE, VISEMES, Cue

RATES = [16_000, 22_050, 24_000, 48_000]


def shape_at(cues: list[Cue], second: Fraction, rate: int) -> int:
    """The viseme of the cue that holds `second`, in exact time."""
    return next(
        (one.viseme for one in cues if Fraction(one.start, rate) <= second < Fraction(one.end, rate)), SILENCE
    )


def sound_before(cues: list[Cue], at: int) -> range:
    """The samples before cue number `at`."""
    return range(cues[at].start if at < len(cues) else 0)


@given(
    rate=st.sampled_from(RATES),
    offset=st.integers(0, 4000),
    timed=st.lists(
        st.tuples(st.integers(0, 14), st.integers(0, 700), st.booleans()), min_size=1, max_size=30
    ),
    at=st.integers(0, 30),
)
@settings(max_examples=80)
def test_mouth_shapes_land_on_the_rows_where_their_sound_is(
    rate: int, offset: int, timed: list[tuple[int, int, bool]], at: int
) -> None:
    ends = np.cumsum([duration for _, duration, _ in timed]).tolist()
    cues = [
        Cue(viseme, end - duration, end)
        for (viseme, duration, given), end in zip(timed, ends, strict=True)
        if given
    ]
    playout = Playout()
    playout.push(chunk("before", counted(offset)), 0)
    sound, early = noise(ends[-1], level_db=-12), len(sound_before(cues, at))
    playout.push(chunk("a", sound[:early], rate=rate, cues=tuple(cues[:at])), 0)
    playout.push(chunk("a", sound[early:], rate=rate, cues=tuple(cues[at:])), 0)
    playout.end("a")
    ticks = drained(playout)
    length = len(sound_of(ticks, "a"))
    rows = np.concatenate([tick.rows for tick in ticks])
    known = np.concatenate([tick.known for tick in ticks])
    for row, (weights, is_known) in enumerate(zip(rows, known, strict=True)):
        centre = row * 480 + 240 - offset
        spoken = centre < 0 or (centre < length and not cues)
        assert is_known == (not spoken)
        viseme = shape_at(cues, Fraction(centre, 48_000), rate) if 0 <= centre < length else SILENCE
        assert np.array_equal(weights, np.eye(len(VISEMES))[viseme] * is_known)


@pytest.mark.parametrize("rate", RATES)
def test_shapes_of_10_ms_change_from_row_to_row(rate: int) -> None:
    edges = [rate * number // 100 for number in range(9)]
    cues = tuple(Cue(number, *edges[number : number + 2]) for number in range(8))
    playout = Playout()
    playout.push(chunk("a", noise(edges[-1], level_db=-12), rate=rate, cues=cues), 0)
    playout.end("a")
    rows = np.concatenate([tick.rows for tick in drained(playout)])
    assert np.argmax(rows, axis=1).tolist() == list(range(8))


@pytest.mark.parametrize(
    ("start", "end", "inside"), [(0, 240, False), (0, 241, True), (240, 480, True), (241, 480, False)]
)
def test_a_row_has_the_shape_at_its_centre(start: int, end: int, inside: bool) -> None:
    playout = Playout()
    playout.push(chunk("a", counted(480), cues=(Cue(3, start, end),)), 0)
    playout.end("a")
    assert take(playout, 0).rows[0].argmax() == (3 if inside else SILENCE)


@pytest.mark.parametrize(("before", "row"), [(239, 3), (240, 3), (241, SILENCE)])
def test_a_row_belongs_to_the_segment_at_its_centre(before: int, row: int) -> None:
    playout = filled(("before", before))
    playout.push(chunk("a", counted(480), cues=(Cue(3, 0, 480),)), 0)
    playout.end("a")
    cut = take(playout, 0)
    assert cut.known.tolist() == [row == 3, True, True, True]
    assert cut.rows[0, 3] == (row == 3)


@pytest.mark.parametrize(("count", "known"), [(240, True), (241, False)])
def test_a_row_whose_centre_comes_after_the_sound_is_silent(count: int, known: bool) -> None:
    playout = filled(("a", count))
    playout.end("a")
    assert take(playout, 0).known[0] == known


def test_a_segment_without_shapes_leaves_its_rows_unknown_and_empty() -> None:
    playout = filled(("a", 960))
    playout.end("a")
    cut = take(playout, 0)
    assert cut.known.tolist() == [False, False, True, True]
    assert cut.rows[:, SILENCE].tolist() == [0, 0, 1, 1]
    assert cut.rows.sum() == 2
    assert cut.rows.shape == (ROWS_PER_TICK, len(VISEMES))
