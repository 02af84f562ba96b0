"""From moments to stretches."""

import numpy as np
from visavis.scripts.visemes.spans import REACH_ROWS, Heard, cues_from, doubted, frames
from visavis.stream.visemes import SILENCE, VISEMES

LOUD = np.random.default_rng(0).normal(0, 0.1, 16000).astype(np.float32)


def test_a_phoneme_holds_for_four_fifths_of_the_way_to_the_next() -> None:
    rows = frames(LOUD, [Heard("m", 40.0), Heard("f", 50.0)])
    assert (rows[40:48] == VISEMES.index("pp")).all()
    assert (rows[48:60] == VISEMES.index("ff")).all()


def test_a_phoneme_alone_reaches_a_quarter_of_a_second() -> None:
    rows = frames(LOUD, [Heard("s", 50.0)])
    assert (rows == VISEMES.index("ss")).sum() == 2 * REACH_ROWS
    assert rows[0] == rows[-1] == SILENCE


def test_what_is_quiet_is_silence_whoever_was_heard() -> None:
    sound = LOUD.copy()
    sound[6400:9600] *= 1e-4
    rows = frames(sound, [Heard("s", 30.0), Heard("s", 50.0), Heard("s", 70.0)])
    assert (rows[41:59] == SILENCE).all()
    assert (rows[20:38] == VISEMES.index("ss")).all()


def test_cues_say_what_the_rows_say() -> None:
    rows = np.array([14, 14, 5, 5, 5, 0], np.uint8)
    assert cues_from(rows).tolist() == [[14, 0, 320], [5, 320, 800], [0, 800, 960]]


def test_rows_in_doubt_are_not_taught() -> None:
    sound = np.concatenate([LOUD, LOUD * 1e-3, LOUD])
    rows = frames(sound, [Heard("s", 50.0), Heard("s", 250.0)])
    taught = doubted(sound, rows, 15)
    assert (taught[30:70] == VISEMES.index("ss")).all()
    assert (taught[110:190] == SILENCE).all()
    assert (taught[:20] == 15).all()
    assert set(taught[102:106]) == {15}
