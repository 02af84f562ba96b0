from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rig import HOP, face, heard, named, speech, spoken, stage
from support.sentence import PAUSE_TICKS, performed
from visavis.render.rig.lips import row_rms
from visavis.render.rig.motion import Motion
from visavis.render.rig.performer import DELAY_TICKS, GAZE_RANGE_DEG, Performer
from visavis.render.rig.units import BLINK_LEFT, UNITS
from visavis.stream.controls import Controls
from visavis.stream.media import TickAudio

LIDS = [UNITS.index(name) for name in UNITS if name.startswith("eye")]
SMILE = [UNITS.index(name) for name in UNITS if name.startswith(("mouthSmile", "mouthDimple"))]
MOUTH = [UNITS.index(name) for name in UNITS if name.startswith(("mouth", "jaw", "tongue"))]
RESTS = SMILE + [UNITS.index(name) for name in UNITS if name.startswith("mouthPress")]
MOUTH = [unit for unit in MOUTH if unit not in RESTS]
BLINK = BLINK_LEFT


def perform(ticks: list[TickAudio], *, seed: int = 3, controls: Controls | None = None) -> list[Motion]:
    """The motions of `ticks`, the first of which is the first ever heard."""
    performer = Performer(stage(), seed=seed, index=ticks[0].index)
    if controls is not None:
        performer.control(controls)
    return [performer.hear(tick) for tick in ticks]


def gaps(motions: list[Motion]) -> list[float]:
    canvas = face().canvas()
    return [face().lip_gap(motion, canvas) for motion in motions]


def apart(one: Motion, other: Motion) -> float:
    """Largest difference, a degree of head counted as a tenth; blinks, which are fast, do not count."""
    return max(
        float(np.abs(np.delete(one.units - other.units, LIDS)).max()),
        float(np.abs(one.head - other.head).max()) / 10,
        float(np.abs(one.gaze - other.gaze).max()),
        float(np.abs(one.body - other.body).max()),
        float(np.abs(one.hair - other.hair).max()) / 10,
        float(np.abs(one.torso - other.torso).max()),
    )


def same(one: list[Motion], other: list[Motion]) -> bool:
    return all(apart(a, b) == 0 for a, b in zip(one, other, strict=True))


def test_the_same_seed_and_sound_give_the_same_motions() -> None:
    ticks = spoken(0, speech()[: 60 * HOP])
    assert same(perform(ticks), perform(ticks))


def test_another_seed_lives_another_life() -> None:
    ticks = [heard(index) for index in range(60)]
    assert not same(perform(ticks, seed=1), perform(ticks, seed=2))


def test_silence_rests_while_the_head_and_the_eyes_live() -> None:
    motions = perform([heard(index) for index in range(500)])
    assert max(gaps(motions)) == 0.0
    assert not any(motion.units[MOUTH].any() for motion in motions)
    assert np.std([motion.head[0] for motion in motions]) > 0.3
    assert max(motion.units[BLINK] for motion in motions) > 0.9


@pytest.mark.parametrize("name", ["ruby", "marcus"])
def test_lips_at_rest_live_a_little_and_stay_shut(name: str) -> None:
    motions = perform([heard(index) for index in range(800)])[DELAY_TICKS:]
    canvas = face(name).canvas()
    assert max(face(name).lip_gap(motion, canvas) for motion in motions[::5]) == 0
    rests = np.array([motion.units[RESTS] for motion in motions])
    assert rests[100:].std(0).max() > 0.05
    assert rests.max() < 0.5
    assert np.abs(np.diff(rests, axis=0)).max() < 0.03


def test_a_face_at_rest_begins_as_a_still_and_warms_to_a_faint_smile_that_other_moods_take_back() -> None:
    ticks = [heard(index) for index in range(300)]
    smiles = [float(motion.units[SMILE].max()) for motion in perform(ticks)]
    assert max(smiles[: DELAY_TICKS + 2]) < 0.002
    assert 0.01 < np.mean(smiles[60:]) < 0.12
    assert np.abs(np.diff(smiles)).max() < 0.01
    sad = perform(ticks, controls=Controls(emotion="sad"))
    assert max(float(motion.units[SMILE].max()) for motion in sad[20:]) == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_halves_of_a_face_do_nearly_but_not_quite_the_same(seed: int) -> None:
    motions = perform([heard(index) for index in range(600)], seed=seed)
    brow = [UNITS.index(f"browOuterUp{side}") for side in ("Left", "Right")]
    left, right = np.array([motion.units[brow] for motion in motions if motion.units[brow].min() > 0.02]).T
    assert 0.01 < np.abs(left / right - 1).mean() < 0.1
    lids = np.array([motion.units[[BLINK, BLINK + 1]] for motion in motions])
    assert 0.03 < np.abs(np.diff(lids, axis=1)).max() < 0.35


def test_a_head_begins_where_a_still_has_it_and_turns_slowly_from_there() -> None:
    """Over many seeds: no head is thrown as a session begins."""
    for seed in range(8):
        motions = perform([heard(index) for index in range(60)], seed=seed)[DELAY_TICKS:]
        turns = np.array([motion.head for motion in motions])
        assert np.abs(turns[0]).max() == 0
        assert np.abs(np.diff(turns[:15], axis=0)).max() < 0.5


def test_speech_moves_the_lips_far_more_than_silence() -> None:
    ticks = spoken(0, speech())
    lips = np.array(gaps(perform(ticks)))[DELAY_TICKS:]
    loud = np.array([float(np.abs(tick.heard).max()) for tick in ticks])
    near = np.convolve(loud > 0.003, np.ones(9), "same")[: len(lips)] > 0
    assert (~near).sum() > 10
    assert lips[near].var() > 20 * lips[~near].var()


def test_lips_lag_behind_the_sound_by_minus_20_to_40_milliseconds() -> None:
    ticks = spoken(0, speech())
    lips = np.array(gaps(perform(ticks)))[DELAY_TICKS:]
    rows = np.concatenate([row_rms(tick.heard) for tick in ticks])[: 4 * len(lips)]
    level = np.convolve(rows, np.hanning(9)[1:-1] / 4, "same")
    opening = np.interp(np.arange(len(rows)), np.arange(len(lips)) * 4 + 1.5, lips)
    lags_ms = range(-120, 130, 10)
    match = [float(np.corrcoef(np.roll(opening, -lag // 10)[20:-20], level[20:-20])[0, 1]) for lag in lags_ms]
    assert max(match) > 0.5
    assert -20 <= lags_ms[int(np.argmax(match))] <= 40


@pytest.mark.parametrize(("closure", "shut"), [("pp", 0.012), ("ff", 0.035)])
def test_lips_close_on_known_closures_and_open_on_vowels(closure: str, shut: float) -> None:
    word = [["aa"] * 4, ["aa"] * 4, [closure] * 4, ["aa"] * 4, ["aa"] * 4]
    quiet = [named(index, ["sil"] * 4) for index in range(10)]
    ticks = quiet + [named(10 + k, names) for k, names in enumerate(word * 3)]
    ticks += [named(25 + k, ["sil"] * 4) for k in range(12)]
    lips = gaps(perform(ticks))[DELAY_TICKS:]
    for start in (10, 15, 20):
        assert lips[start + 2] < shut
        assert min(lips[start + 1], lips[start + 3]) > 1.6 * shut
    assert max(lips[:8]) == 0.0
    assert max(lips[30:]) == 0.0


def test_known_rows_replace_what_the_net_hears() -> None:
    sound = speech()[20 * HOP : 60 * HOP]
    ticks = [heard(k, sound[k * HOP : (k + 1) * HOP]) for k in range(40)]
    rows = named(0, ["pp"] * 4)
    told = [TickAudio(tick.index, tick.sent, tick.heard, rows.rows, rows.known, (), True) for tick in ticks]
    assert max(gaps(perform(ticks))) > 0.05
    assert max(gaps(perform(told))) == 0.0


def test_a_start_at_any_index_is_at_rest_until_its_sound_is_due() -> None:
    motions = perform(spoken(1000, speech()[: 40 * HOP]))
    assert not any(motion.units[MOUTH].any() for motion in motions[:DELAY_TICKS])


@settings(max_examples=25)
@given(st.integers(20, 90), st.integers(0, 8))
def test_an_interrupt_joins_without_a_jump_and_rests_within_six_frames(drawn: int, ahead: int) -> None:
    performer = Performer(stage(), seed=5, index=0)
    ticks = spoken(0, speech()[: (drawn + 1) * HOP])
    before = {tick.index - DELAY_TICKS: performer.hear(tick) for tick in ticks}
    sent = drawn - DELAY_TICKS - ahead
    performer.interrupt(sent)
    assert performer.next_tick == sent + 1
    after = [performer.hear(heard(sent + 1 + k)) for k in range(DELAY_TICKS + 12)]
    drawn_after = after[DELAY_TICKS:]
    assert not any(motion.units[MOUTH].any() for motion in drawn_after[5:])
    usual = max(apart(a, b) for a, b in pairwise(before.values()))
    assert apart(before[sent], drawn_after[0]) <= max(0.15, 0.8 * usual)
    assert max(apart(a, b) for a, b in pairwise(drawn_after)) <= max(0.35, usual)


def test_life_goes_on_after_an_interrupt_as_if_nothing_had_been_said() -> None:
    performer = Performer(stage(), seed=5, index=0)
    for tick in spoken(0, speech()[: 60 * HOP]):
        performer.hear(tick)
    performer.interrupt(50)
    resumed = [performer.hear(heard(51 + k)) for k in range(60)]
    silent = perform([heard(index) for index in range(111)], seed=5)
    assert same(resumed[30:], silent[81:])


def test_speech_after_an_interrupt_moves_the_lips_again() -> None:
    performer = Performer(stage(), seed=5, index=0)
    for tick in spoken(0, speech()[: 60 * HOP]):
        performer.hear(tick)
    performer.interrupt(55)
    again = [performer.hear(tick) for tick in spoken(56, speech()[10 * HOP : 60 * HOP])]
    assert max(gaps(again[DELAY_TICKS + 6 :])) > 0.05


def test_a_second_interrupt_before_rest_is_smooth_too() -> None:
    performer = Performer(stage(), seed=5, index=0)
    for tick in spoken(0, speech()[: 60 * HOP]):
        performer.hear(tick)
    performer.interrupt(50)
    first = [performer.hear(heard(51 + k)) for k in range(5)]
    performer.interrupt(52)
    second = [performer.hear(heard(53 + k)) for k in range(8)]
    assert apart(first[4], second[DELAY_TICKS]) < 0.3


def test_an_interrupt_before_anything_was_drawn_is_at_rest() -> None:
    performer = Performer(stage(), seed=5, index=10)
    performer.interrupt(9)
    assert not performer.hear(heard(10)).units[MOUTH].any()


def test_intensity_scales_the_mouth() -> None:
    ticks = spoken(0, speech()[: 60 * HOP])
    calm, lively = (perform(ticks, controls=Controls(intensity=level)) for level in (0.3, 1.5))
    assert max(gaps(lively)) > 1.5 * max(gaps(calm))


def test_controls_turn_the_head_and_the_eyes() -> None:
    ticks = [heard(index) for index in range(60)]
    motions = perform(ticks, controls=Controls(head_yaw=8.0, gaze_x=-0.8))
    plain = perform(ticks)
    assert motions[-1].head[0] - plain[-1].head[0] > 5
    assert motions[-1].gaze[0] < plain[-1].gaze[0] - 0.5
    steps = [apart(a, b) for a, b in pairwise(motions)]
    assert max(steps[:40]) < 0.3


def test_blinks_can_be_switched_off() -> None:
    ticks = [heard(index) for index in range(500)]
    motions = perform(ticks, controls=Controls(blink_per_minute=0.0))
    assert max(motion.units[BLINK] for motion in motions[10:]) < 0.1


def test_every_number_stays_in_its_range() -> None:
    mood = Controls(emotion="surprised", intensity=2.0, head_yaw=20.0, head_pitch=-15.0, gaze_y=1.0)
    for motion in perform(spoken(0, speech()[: 80 * HOP]), controls=mood):
        assert motion.units.min() >= 0
        assert motion.units.max() <= 1
        assert (np.abs(motion.head) <= (20, 12, 14)).all()
        assert np.abs(motion.gaze).max() <= 1
        assert 0 <= motion.body[0] <= 1
        assert -1 <= motion.body[1] <= 1


@pytest.mark.parametrize("emotion", ["happy", "serious", "surprised", "sad", "concerned"])
@pytest.mark.parametrize(("closure", "shut"), [("pp", 0.014), ("ff", 0.035)])
def test_no_emotion_opens_a_closure(emotion: str, closure: str, shut: float) -> None:
    ticks = [named(index, ["sil"] * 4) for index in range(10)]
    ticks += [named(10 + k, [name] * 4) for k, name in enumerate(["aa", "aa", closure, "aa", "aa"] * 3)]
    ticks += [named(25 + k, ["sil"] * 4) for k in range(4)]
    lips = gaps(perform(ticks, controls=Controls(emotion=emotion)))[DELAY_TICKS:]
    assert max(lips[12], lips[17], lips[22]) < shut
    assert min(lips[10], lips[15], lips[20]) > 0.04


def test_the_eyes_stay_with_the_viewer_while_the_head_turns() -> None:
    ticks = [heard(index) for index in range(400)]
    motions = perform(ticks, controls=Controls(head_yaw=10.0))
    seen = np.array([motion.gaze[0] * 25 + motion.head[0] for motion in motions[60:]])
    assert np.mean(np.abs(seen) < 5) > 0.75


def test_hair_trails_a_turn_of_the_head_and_comes_to_rest() -> None:
    performer = Performer(stage(), seed=3, index=0)
    before = [performer.hear(heard(index)) for index in range(60)]
    performer.control(Controls(head_yaw=18.0))
    turning = [performer.hear(heard(index)) for index in range(60, 140)]
    trail = np.array([motion.hair[0] for motion in turning])
    assert trail.max() > 2 * max(abs(float(motion.hair[0])) for motion in before)
    assert trail.max() > 1.0
    assert np.abs(trail[60:]).max() < 1.0


def test_shoulders_follow_a_turn_of_the_head_later_and_less() -> None:
    performer = Performer(stage(), seed=3, index=0)
    for index in range(60):
        performer.hear(heard(index))
    performer.control(Controls(head_yaw=14.0))
    turning = [performer.hear(heard(index)) for index in range(60, 160)]
    head, shoulders = (np.array([getattr(each, part)[0] for each in turning]) for part in ("head", "torso"))
    half = [
        int((np.abs(each - each[0]) > 0.5 * np.abs(each[90:].mean() - each[0])).argmax())
        for each in (head, shoulders)
    ]
    assert 3 <= half[1] - half[0] <= 12
    assert 0.1 < np.median(shoulders[60:] / head[60:]) < 0.35


def test_speech_is_marked_by_nods_and_brows() -> None:
    ticks = spoken(0, speech())
    silent = perform([heard(index) for index in range(len(ticks))])
    talking = perform(ticks)
    brow = UNITS.index("browInnerUp")
    lift = [a.units[brow] - b.units[brow] for a, b in zip(talking, silent, strict=True)]
    pitch = [a.head[1] - b.head[1] for a, b in zip(talking, silent, strict=True)]
    assert max(lift) > 0.1
    assert max(pitch) > 0.8


def test_a_breath_is_taken_as_speech_begins() -> None:
    ticks = [named(index, ["sil"] * 4) for index in range(60)]
    ticks += [named(60 + k, ["aa"] * 4) for k in range(20)]
    swells: list[list[float]] = []
    for seed in range(6):
        silent = perform([heard(index) for index in range(80)], seed=seed)
        talking = perform(ticks, seed=seed)
        swells.append([float(a.body[0] - b.body[0]) for a, b in zip(talking, silent, strict=True)])
    swell = np.mean(swells, 0)[DELAY_TICKS:]
    assert max(swell[:57]) == 0.0
    assert max(swell[60:68]) > 0.15


def test_a_cut_between_two_firm_shapes_leaves_no_number_out_of_its_range() -> None:
    performer = Performer(stage(), seed=2, index=0)
    for index in range(20):
        performer.hear(named(index, ["ff"] * 4))
    performer.interrupt(14)
    after = [performer.hear(named(15 + k, ["ff"] * 4)) for k in range(12)]
    for motion in after:
        values = ((motion.units, 0), (motion.gaze, -1), (motion.body[:1], 0), (motion.body[1:], -1))
        assert all(least <= each.min() <= each.max() <= 1 for each, least in values)
    assert max(motion.units[UNITS.index("mouthRollLower")] for motion in after) > 0.9


def test_lids_follow_the_eyes_and_hang_less_when_surprised() -> None:
    ticks = [heard(index) for index in range(120)]
    down, up = UNITS.index("eyeLookDownLeft"), UNITS.index("eyeLookUpLeft")

    def lids(controls: Controls) -> tuple[float, float]:
        units = [motion.units for motion in perform(ticks, controls=controls)[60:]]
        return float(np.mean([each[down] for each in units])), float(np.mean([each[up] for each in units]))

    assert lids(Controls(gaze_y=-0.8))[0] > 0.7
    assert lids(Controls(gaze_y=0.8))[1] > 0.6
    assert lids(Controls(emotion="surprised", head_pitch=2.5))[0] < 0.5 * lids(Controls())[0]


@pytest.mark.parametrize("told", [True, False], ids=["shapes from the voice", "shapes from the net"])
@pytest.mark.parametrize("name", ["ruby", "marcus"])
def test_no_part_of_the_mouth_pops(name: str, told: bool) -> None:
    """Lips that stood wide open take three frames to touch; lips do not bite, purse or curl within one."""
    motions = performed(told=told).motions
    canvas = face(name).canvas()
    apart = np.abs(np.diff([face(name).lip_gap(motion, canvas) for motion in motions]))
    assert np.percentile(apart, 99) < 0.085
    assert apart.max() < 0.105
    steps = np.abs(np.diff([motion.units[MOUTH] for motion in motions], axis=0))
    assert np.percentile(steps.max(1), 99) < 0.5
    assert steps.max() < 0.65
    tongue = np.abs(np.diff([motion.tongue for motion in motions], axis=0))
    assert tongue.max() < 0.6


@pytest.mark.parametrize("told", [True, False], ids=["shapes from the voice", "shapes from the net"])
def test_a_speaker_looks_into_the_lens_nearly_all_the_time(told: bool) -> None:
    """The eyes make up for where the head has turned."""
    motions = performed(told=told).motions
    off = [
        np.hypot(*(motion.gaze * GAZE_RANGE_DEG + (motion.head[0], -motion.head[1]))) for motion in motions
    ]
    spoken = np.array(off[PAUSE_TICKS:-PAUSE_TICKS])
    assert (spoken < 2).mean() > 0.85
