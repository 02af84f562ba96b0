import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.mouths import (
    BITTEN,
    HEARD_ROWS,
    PRESSED,
    Sound,
    certain,
    closures,
    doubtful,
    frames,
    gap,
    reference,
    sounds,
    timeline,
)
from visavis.render.rig import lips
from visavis.render.rig.units import UNITS
from visavis.stream.visemes import VISEMES

F32 = NDArray[np.float32]
JAW, PUCKER, TONGUE_OUT = (UNITS.index(unit) for unit in ("jawOpen", "mouthPucker", "tongueOut"))
LAMP_POST: list[Sound] = [("rr", 6), ("aa", 10), ("pp", 7), ("pp", 8), ("oh", 12), ("ss", 9), ("dd", 6)]
LEADS = st.integers(20, 23)


def rows(text: str) -> F32:
    """SPAN_ROWS rows, named by "aa*11 pp*3 ..."; the frame's middle is after row PAST_ROWS."""
    names: list[str] = []
    for word in text.split():
        name, _, count = word.partition("*")
        names += [name] * int(count or 1)
    assert len(names) == lips.SPAN_ROWS
    return certain(names)


def units(text: str, scale: float = 1.0) -> F32:
    return lips.mouth(rows(text), scale, 1.0).units


OPEN = gap(units("aa*28"))


def tightest(found: dict[int, lips.Mouth], touched: range) -> float:
    return min(gap(found[frame].units) for frame in touched)


@settings(max_examples=60)
@given(sounds, LEADS)
@example(LAMP_POST, 21)
@example([("pp", 3), ("aa", 12), ("pp", 3)], 22)
@example([("aa", 12), ("ff", 3), ("aa", 12)], 23)
def test_every_closing_sound_closes_a_frame_however_its_time_falls(said: list[Sound], lead: int) -> None:
    found = frames(certain(timeline(said, lead=lead)))
    for touched, limit in closures(said, lead=lead):
        assert tightest(found, touched) <= limit * OPEN


@settings(max_examples=60)
@given(sounds, LEADS)
@example(LAMP_POST, 20)
def test_hurried_speech_closes_too(said: list[Sound], lead: int) -> None:
    quick = [(name, max(2, rows * 4 // 5)) for name, rows in said]
    found = frames(certain(timeline(quick, lead=lead)), ahead=HEARD_ROWS)
    for touched, limit in closures(quick, lead=lead):
        assert tightest(found, touched) <= limit * OPEN


def test_nearly_every_closure_is_reached_from_what_a_net_is_unsure_of() -> None:
    missed = count = 0
    random = np.random.default_rng(5)
    for seed in range(40):
        said = [
            (name, int(random.integers(5, 12)))
            for _ in range(8)
            for name in (str(random.choice(["aa", "eh", "oh"])), str(random.choice(["pp", "ff", "dd", "ss"])))
        ]
        found = frames(doubtful(timeline(said), seed=seed), ahead=HEARD_ROWS)
        for touched, limit in closures(said):
            around = range(touched.start - 1, touched.stop + 1)
            missed += tightest(found, around) > limit * OPEN
            count += 1
    assert count > 100
    assert missed <= 0.02 * count


def test_noise_about_closing_sounds_closes_nothing() -> None:
    said: list[Sound] = [("aa", 14), ("dd", 6), ("eh", 14), ("nn", 6)] * 4
    found = frames(doubtful(timeline(said), seed=3), ahead=HEARD_ROWS)
    assert max(mouth.holds for frame, mouth in found.items() if 6 < frame < 40) < 0.2


@pytest.mark.parametrize("presenter", ["ruby", "marcus"])
def test_the_opening_follows_a_reference_curve(presenter: str) -> None:
    random = np.random.default_rng(2)
    vowels, others = ("aa", "eh", "ih", "oh", "ou"), ("dd", "nn", "ss", "kk", "pp", "ff", "rr", "th", "ch")
    for rate in (1.0, 1.25):
        said = [
            (str(random.choice(kind)), int(random.integers(*length) / rate))
            for _ in range(60)
            for kind, length in ((others, (5, 11)), (vowels, (7, 17)))
        ]
        names = timeline(said)
        wanted = reference(names)
        for table in (certain(names), doubtful(names, seed=1)):
            found = frames(table, ahead=HEARD_ROWS)
            drawn = [gap(mouth.units, presenter) for mouth in found.values()]
            middles = [4 * frame + 2 for frame in found]
            match = {
                late: float(
                    np.corrcoef(
                        drawn, np.interp(np.array(middles) - late, np.arange(len(names)) + 0.5, wanted)
                    )[0, 1]
                )
                for late in range(-4, 7)
            }
            assert match[0] >= 0.75
            assert -2 <= max(match, key=match.__getitem__) <= 4


def test_a_net_in_doubt_does_not_make_the_mouth_flicker() -> None:
    said: list[Sound] = [("aa", 14), ("dd", 8), ("oh", 14), ("nn", 8), ("ih", 12), ("ss", 9)] * 6
    names = timeline(said)
    clear, noisy = (
        np.array([gap(mouth.units) for mouth in frames(table, ahead=HEARD_ROWS).values()])
        for table in (certain(names), doubtful(names, seed=4))
    )
    jerk = [float(np.abs(np.diff(each, 3)).mean()) for each in (clear, noisy)]
    assert jerk[1] < 1.15 * jerk[0]
    assert np.abs(np.diff(noisy)).max() < 0.7 * OPEN


@pytest.mark.parametrize(("closure", "limit"), [("pp", PRESSED), ("ff", BITTEN)])
@pytest.mark.parametrize("length", [2, 3, 4, 6])
def test_lips_close_on_their_sounds_between_open_vowels(closure: str, limit: float, length: int) -> None:
    before = lips.PAST_ROWS - length // 2
    table = f"aa*{before} {closure}*{length} aa*{lips.SPAN_ROWS - before - length}"
    assert gap(units(table)) <= limit * OPEN
    assert gap(units(table, scale=1.6)) <= 1.2 * limit * OPEN


@pytest.mark.parametrize("around", ["oh", "ih"])
def test_a_press_keeps_the_width_of_its_neighbours_and_part_of_their_jaw(around: str) -> None:
    free, held = (units(f"{around}*11 {name}*5 {around}*12") for name in (around, "pp"))
    wide = [UNITS.index(name) for name in ("mouthPucker", "mouthFunnel", "mouthStretchLeft")]
    assert np.allclose(held[wide], free[wide], atol=0.02)
    assert 0.3 * free[JAW] < held[JAW] < free[JAW] + 0.05
    assert gap(held) == 0


def test_lips_take_more_than_a_frame_to_shut_and_to_part() -> None:
    found = frames(certain(timeline([("aa", 24), ("pp", 8), ("aa", 24)])))
    opening = [gap(found[frame].units) / OPEN for frame in range(7, 17)]
    assert min(opening) == 0
    assert np.abs(np.diff(opening)).max() < 0.8
    assert sum(0.05 < each < 0.8 for each in opening) >= 2


@pytest.mark.parametrize("length", [3, 4, 5, 8])
@pytest.mark.parametrize("lead", [24, 25, 26, 27])
def test_lips_open_over_more_than_a_frame_however_short_a_closure_was(length: int, lead: int) -> None:
    found = frames(certain(timeline([("eh", 24), ("pp", length), ("eh", 24)], lead=lead)))
    opening = [gap(found[frame].units) for frame in range(lead // 4 + 5, lead // 4 + 13)]
    shut = max(at for at, each in enumerate(opening) if each == 0)
    assert opening[shut + 1] < 0.86 * opening[shut + 3]
    assert opening[shut + 2] < 1.02 * opening[shut + 3]


def test_between_two_near_closures_lips_open_less_than_between_far_ones() -> None:
    near, far = (
        max(gap(mouth.units) for mouth in frames(certain(timeline(said))).values())
        for said in ([("pp", 5), ("aa", length), ("pp", 5)] for length in (7, 24))
    )
    assert 0.05 * OPEN < near < 0.6 * far


def test_a_vowel_of_three_frames_between_closures_opens_less_and_the_closures_stay() -> None:
    widest, lone = (
        max(gap(mouth.units) for mouth in frames(certain(timeline(said, lead=22))).values())
        for said in ([("pp", 5), ("eh", 12), ("pp", 5)], [("eh", 12)])
    )
    assert 0.4 * lone < widest < 0.85 * lone


def test_a_closure_that_is_still_to_come_leaves_the_vowel_open() -> None:
    assert gap(units("aa*18 pp*10")) > 0.5 * OPEN


def test_an_uncertain_closure_closes_part_of_the_way() -> None:
    table = rows("aa*28")
    middle = slice(lips.PAST_ROWS - 2, lips.PAST_ROWS + 3)
    table[middle, VISEMES.index("pp")] = 0.33
    table[middle, VISEMES.index("aa")] = 0.67
    assert 0.0 < gap(lips.mouth(table, 1.0, 1.0).units) < 0.8 * OPEN


def test_a_pause_within_a_word_closes_only_where_a_closing_sound_is_likely() -> None:
    table = rows("aa*28")
    middle = slice(lips.PAST_ROWS - 2, lips.PAST_ROWS + 4)
    table[middle] = 0
    table[middle, VISEMES.index("sil")] = 0.7
    table[middle, VISEMES.index("kk")] = 0.3
    assert lips.grip(table)[0] == 0
    table[middle, VISEMES.index("kk")] = 0
    table[middle, VISEMES.index("pp")] = 0.3
    assert lips.grip(table)[0] > 0.9


def test_a_bite_shows_the_teeth_over_the_lip_and_a_press_does_not() -> None:
    bite, press = (units(f"aa*12 {name}*6 aa*10") for name in ("ff", "pp"))
    assert bite[UNITS.index("mouthRollLower")] > 0.8
    assert bite[UNITS.index("mouthUpperUpLeft")] > 0.3
    assert press[UNITS.index("mouthClose")] > 0.1
    assert press[UNITS.index("mouthRollLower")] < 0.3
    assert press[UNITS.index("mouthUpperUpLeft")] == 0


def test_rounding_starts_before_its_vowel_and_ends_soon_after() -> None:
    ahead = units("dd*19 ou*9")[PUCKER]
    behind = units("ou*9 dd*19")[PUCKER]
    assert ahead > 0.3
    assert ahead > 2 * behind


def test_the_jaw_is_slower_than_the_lips() -> None:
    lower = UNITS.index("mouthLowerDownLeft")
    for frame in (units("sil*11 aa*17"), units("aa*11 sil*17")):
        full = units("aa*28")
        assert abs(frame[JAW] / full[JAW] - 0.5) < abs(frame[lower] / full[lower] - 0.5)


def test_tongue_sounds_leave_the_lips_to_their_neighbours() -> None:
    round_, spread = (units(f"{vowel}*12 kk*4 {vowel}*12") for vowel in ("ou", "ih"))
    assert round_[PUCKER] > 0.6
    assert spread[UNITS.index("mouthStretchLeft")] > 0.2


def test_rows_that_nobody_knows_yet_do_not_count() -> None:
    table = rows("aa*28")
    table[lips.PAST_ROWS + 5 :] = 0
    assert np.allclose(lips.mouth(table, 1.0, 1.0).units, units("aa*28"))
    assert not lips.mouth(np.zeros_like(table), 1.0, 1.0).units.any()


def test_silence_is_the_rest_pose() -> None:
    assert not units("sil*28").any()


def test_a_sleeping_mouth_does_nothing() -> None:
    assert not lips.mouth(rows("aa*28"), 1.0, 0.0).units.any()


def test_a_soft_voice_opens_the_mouth_less_but_rounds_it_almost_as_much() -> None:
    soft, usual = (lips.loudness(np.full(lips.SPAN_ROWS, level, np.float32), 0.1) for level in (0.01, 0.1))
    assert 0.35 < soft < 0.6 < 1.0 <= usual <= 1.1
    assert units("aa*28", soft)[JAW] < 0.6 * units("aa*28", usual)[JAW]
    assert units("ou*28", soft)[PUCKER] > 0.7 * units("ou*28", usual)[PUCKER]


def test_a_tongue_between_the_teeth_has_room_however_soft_its_sound_is() -> None:
    soft, usual = (units("eh*13 th*2 eh*13", scale) for scale in (0.45, 1.0))
    assert soft[TONGUE_OUT] > 0.3
    assert units("eh*11 th*6 eh*11")[TONGUE_OUT] > 0.7
    assert soft[JAW] > 0.4 * soft[TONGUE_OUT]
    assert soft[JAW] < usual[JAW]


def test_loudness_never_leaves_its_range_and_ends_with_the_voice() -> None:
    for level in (0.005, 0.01, 1.0, 100.0):
        assert 0.36 <= lips.loudness(np.full(lips.SPAN_ROWS, level, np.float32), 0.1) <= 1.1
    for level in (0.0, 1e-9, 3e-4):
        assert lips.loudness(np.full(lips.SPAN_ROWS, level, np.float32), 0.1) == 0


def test_the_loudness_of_rows_is_their_rms() -> None:
    sound = np.repeat(np.array([0.1, 0.0, 0.3, 1.0], np.float32), 160)
    assert lips.row_rms(sound) == pytest.approx([0.1, 0.0, 0.3, 1.0])


def test_who_hurries_opens_less() -> None:
    calm, fast = (certain(timeline([("aa", length), ("dd", length)] * 20)[: 20 + 80]) for length in (9, 4))
    assert lips.pace(calm) == pytest.approx(11, abs=2.5)
    assert lips.pace(fast) > 1.8 * lips.pace(calm)
    assert lips.hurry(lips.pace(fast)) < 0.85 < 1.0 < lips.hurry(lips.pace(calm)) <= 1.06


def test_the_pace_of_a_few_sounds_is_not_judged() -> None:
    assert lips.hurry(lips.pace(certain(["sil"] * 80 + ["aa", "dd"] * 10))) == 1.0


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


@pytest.mark.parametrize(("sound", "way"), [("nn", 0), ("dd", 0), ("kk", 1), ("aa", 2)])
def test_a_tongue_goes_where_its_sound_wants_it_and_back_to_rest(sound: str, way: int) -> None:
    found = frames(certain(timeline([("ih", 12), (sound, 12), ("ih", 12)])))
    ways = np.array([mouth.tongue for mouth in found.values()])
    assert ways.min() >= 0
    assert ways[:, way].max() > 0.55
    assert int(ways[:, way].argmax()) in range(4, 9)
    assert not ways[-1].any()
    assert np.abs(np.diff(ways, axis=0)).max() < 0.75


@pytest.mark.parametrize("length", [1, 2, 3])
def test_lips_are_pursed_for_a_w_before_a_wide_vowel(length: int) -> None:
    early = lips.PAST_ROWS - length // 2
    glide = f"sil*{early} ou*{length} ih*{lips.SPAN_ROWS - early - length}"
    assert units(glide)[PUCKER] > 0.5
    long = f"sil*4 ou*16 ih*{lips.SPAN_ROWS - 20}"
    assert units(long)[PUCKER] == pytest.approx(units("ou*28")[PUCKER], abs=0.06)


def test_sounds_that_part_the_lips_are_told_from_those_that_shut_them() -> None:
    for name in VISEMES:
        share = lips.parts(rows(f"{name}*28"))
        assert share == (0.0 if name in ("pp", "ff", "sil") else 1.0)
    assert lips.parts(rows("sil*14 ss*14")) == 0.5
