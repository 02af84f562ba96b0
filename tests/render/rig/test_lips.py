from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import face
from visavis.render.rig import lips
from visavis.render.rig.motion import still
from visavis.render.rig.units import UNITS
from visavis.stream.visemes import VISEMES

F32 = NDArray[np.float32]
JAW = UNITS.index("jawOpen")


def rows(text: str) -> F32:
    """SPAN_ROWS rows, named by "aa*9 pp*3 ..."; the frame's middle is after row PAST_ROWS."""
    names: list[str] = []
    for word in text.split():
        name, _, count = word.partition("*")
        names += [name] * int(count or 1)
    assert len(names) == lips.SPAN_ROWS
    table = np.zeros((lips.SPAN_ROWS, len(VISEMES)), np.float32)
    table[np.arange(lips.SPAN_ROWS), [VISEMES.index(name) for name in names]] = 1
    return table


def gap(units: F32) -> float:
    return face().lip_gap(replace(still(), units=units), face().canvas())


def test_an_open_vowel_opens_the_mouth() -> None:
    assert gap(lips.mouth(rows("aa*19"), 1.0, 1.0)) > 0.1


@pytest.mark.parametrize("closure", ["pp", "ff"])
@pytest.mark.parametrize("length", [3, 4, 6])
def test_lips_close_on_their_sounds_between_open_vowels(closure: str, length: int) -> None:
    before = lips.PAST_ROWS + 2 - length // 2
    table = rows(f"aa*{before} {closure}*{length} aa*{lips.SPAN_ROWS - before - length}")
    assert gap(lips.mouth(table, 1.0, 1.0)) == 0.0


def test_a_closure_that_is_still_to_come_leaves_the_vowel_open() -> None:
    assert gap(lips.mouth(rows("aa*15 pp*4"), 1.0, 1.0)) > 0.08


def test_an_uncertain_closure_closes_part_of_the_way() -> None:
    table = rows("aa*19")
    middle = slice(lips.PAST_ROWS - 2, lips.PAST_ROWS + 3)
    table[middle, VISEMES.index("pp")] = 0.4
    table[middle, VISEMES.index("aa")] = 0.6
    assert 0.0 < gap(lips.mouth(table, 1.0, 1.0)) < 0.7 * gap(lips.mouth(rows("aa*19"), 1.0, 1.0))


def test_rounding_starts_before_its_vowel() -> None:
    pucker = UNITS.index("mouthPucker")
    ahead = lips.mouth(rows("dd*14 ou*5"), 1.0, 1.0)[pucker]
    behind = lips.mouth(rows("ou*5 dd*14"), 1.0, 1.0)[pucker]
    assert ahead > 0.15
    assert ahead > 2 * behind


def test_tongue_sounds_leave_the_lips_to_their_neighbours() -> None:
    round_, spread = (lips.mouth(rows(f"{vowel}*9 kk*4 {vowel}*6"), 1.0, 1.0) for vowel in ("ou", "ih"))
    assert round_[UNITS.index("mouthPucker")] > 0.3
    assert spread[UNITS.index("mouthStretchLeft")] > 0.15


def test_silence_is_the_rest_pose() -> None:
    assert not lips.mouth(rows("sil*19"), 1.0, 1.0).any()


def test_a_sleeping_mouth_does_nothing() -> None:
    assert not lips.mouth(rows("aa*19"), 1.0, 0.0).any()


def test_a_soft_voice_opens_the_mouth_less() -> None:
    soft, usual = (lips.loudness(np.full(lips.SPAN_ROWS, level, np.float32), 0.1) for level in (0.01, 0.1))
    assert 0.35 < soft < 0.6 < 1.0 <= usual <= 1.1
    jaw = [lips.mouth(rows("aa*19"), scale, 1.0)[JAW] for scale in (soft, usual)]
    assert jaw[0] < jaw[1]


def test_loudness_never_leaves_its_range() -> None:
    for level in (0.0, 1e-9, 1.0, 100.0):
        assert 0.4 <= lips.loudness(np.full(lips.SPAN_ROWS, level, np.float32), 0.1) <= 1.1


def test_the_mouth_wakes_and_settles_over_three_ticks() -> None:
    def awake(*active: int) -> float:
        flags = np.zeros(2 * lips.EDGE_TICKS + 1, np.bool_)
        flags[[lips.EDGE_TICKS + place for place in active]] = True
        return lips.awake(flags)

    assert awake() == 0.0
    assert awake(0) == 1.0
    assert [awake(place) for place in (3, 2, 1)] == pytest.approx([0.0, 7 / 27, 20 / 27])
    assert awake(-2, 1) == awake(1) == awake(-1)


def test_the_span_of_rows_surrounds_the_middle_of_its_frame() -> None:
    assert lips.first_row(0) == 2 - lips.PAST_ROWS
    assert lips.first_row(10) - lips.first_row(9) == 4


def test_every_target_is_a_weight() -> None:
    assert lips.TARGETS.shape == (15, 52)
    assert lips.TARGETS.min() >= 0
    assert lips.TARGETS.max() <= 1
