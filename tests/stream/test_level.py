from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sound import Sound, cuts, noise, pieces, sine
from visavis.stream.level import FRAME_MS, GateOptions, VoiceGate

RATE = 16_000
FRAME = RATE * FRAME_MS // 1000
RATES = pytest.mark.parametrize("rate", [8_000, 11_025, 16_000, 44_100, 48_000])


def speech(rate: int, ms: int, *, level: float = 0.3) -> Sound:
    """Four syllables a second of a hummed vowel with overtones."""
    count = rate * ms // 1000
    tone = sum(sine(140 * k, rate, count, level=level / k) for k in (1, 2, 3, 5))
    syllables = np.abs(np.sin(2 * np.pi * 2 * np.arange(count) / rate)) + 0.02
    return (tone * syllables).astype(np.float32)


def room(rate: int, ms: int, *, db: float = -60.0, seed: int = 1) -> Sound:
    return noise(rate * ms // 1000, level_db=db, seed=seed)


def said(gate: VoiceGate, parts: Iterable[Sound]) -> list[Sound]:
    """The utterances that the gate passed; the last may not have ended."""
    utterances: list[list[Sound]] = [[]]
    for part in parts:
        for kind, samples in gate.feed(part):
            if kind == "end":
                assert samples is None
                utterances.append([])
            else:
                utterances[-1].append(samples)
    return [np.concatenate(one) for one in utterances if one]


def place(passed: Sound, sound: Sound) -> tuple[int, int]:
    """Where `passed`, which holds noise, lies in `sound`."""
    windows = np.lib.stride_tricks.sliding_window_view(sound, 8)
    (at,) = np.flatnonzero((windows == passed[:8]).all(axis=1)).tolist()
    assert np.array_equal(sound[at : at + len(passed)], passed)
    return at, at + len(passed)


@RATES
def test_a_burst_of_speech_passes_whole_with_the_moment_before_it_and_ends_after_the_hang(rate: int) -> None:
    sound = room(rate, 4000)
    sound[rate : rate + rate * 1500 // 1000] += speech(rate, 1500)
    gate = VoiceGate(rate)
    utterances = said(gate, [sound])
    assert len(utterances) == 1
    assert not gate.is_open
    start, end = (1000 * edge / rate for edge in place(utterances[0], sound))
    assert 1000 - 200 - 2 * FRAME_MS <= start <= 1000 - 200 + 60
    assert 2500 + 400 - 60 <= end <= 2500 + 400 + 60


def test_pauses_between_syllables_and_words_do_not_cut_an_utterance() -> None:
    words = [
        part
        for ms in (100, 350, 200)
        for part in (speech(RATE, 500), np.zeros(RATE * ms // 1000, np.float32))
    ]
    sound = np.concatenate([room(RATE, 500), *words, room(RATE, 1000)])
    assert len(said(VoiceGate(RATE), [sound + room(RATE, 10_000, db=-65)[: len(sound)]])) == 1


def test_two_utterances_do_not_share_a_sample() -> None:
    gap, burst = room(RATE, 650, seed=2), speech(RATE, 600)
    sound = np.concatenate([room(RATE, 500), burst, gap, burst, room(RATE, 800)])
    sound += room(RATE, 10_000, db=-70, seed=3)[: len(sound)]
    first, second = (place(one, sound) for one in said(VoiceGate(RATE), [sound]))
    assert first[1] <= second[0]


@RATES
@pytest.mark.parametrize("db", [-75, -60, -50, -40, -36])
def test_steady_noise_never_opens_the_gate_not_even_at_the_start(rate: int, db: float) -> None:
    assert said(VoiceGate(rate), [room(rate, 5000, db=db, seed=rate)]) == []


def test_hum_never_opens_the_gate() -> None:
    assert said(VoiceGate(RATE), [sine(50, RATE, 5 * RATE, level=0.02)]) == []


def test_the_room_of_a_muted_microphone_does_not_count_as_speech_when_it_comes_back() -> None:
    muted = np.zeros(RATE, np.float32)
    parts = [muted, room(RATE, 2000, db=-42), muted, room(RATE, 2000, db=-42, seed=2)]
    assert said(VoiceGate(RATE), parts) == []


def test_speech_opens_the_gate_in_a_quiet_room_and_in_a_loud_one() -> None:
    for db in (-90, -60, -40):
        sound = np.concatenate([room(RATE, 1000, db=db), speech(RATE, 800)])
        assert len(said(VoiceGate(RATE), [sound])) == 1


def test_speech_from_the_very_first_sample_passes() -> None:
    sound = speech(RATE, 800)
    assert np.array_equal(said(VoiceGate(RATE), [sound])[0][-FRAME:], sound[-FRAME:])


def test_a_noise_that_stays_is_taken_for_noise_after_a_while() -> None:
    gate = VoiceGate(RATE)
    quiet, fan = room(RATE, 1000, db=-60), room(RATE, 12_000, db=-40, seed=2)
    utterances = said(gate, [quiet, fan])
    assert len(utterances) == 1
    assert not gate.is_open
    assert len(utterances[0]) < 8 * RATE


@given(at=cuts(2 * RATE))
@settings(max_examples=40)
def test_decisions_do_not_depend_on_how_the_sound_was_cut(at: list[int]) -> None:
    sound = np.concatenate([room(RATE, 400), speech(RATE, 700), room(RATE, 900)])
    whole, cut = said(VoiceGate(RATE), [sound]), said(VoiceGate(RATE), pieces(sound, at))
    assert len(whole) == len(cut) == 1
    assert np.array_equal(whole[0], cut[0])


@given(runs=st.lists(st.tuples(st.integers(-110, -10), st.integers(1, 60)), min_size=1, max_size=8))
@settings(max_examples=60)
def test_whatever_is_heard_samples_pass_in_order_and_only_what_began_ends(
    runs: list[tuple[int, int]],
) -> None:
    sound = np.concatenate(
        [noise(FRAME * frames, level_db=db, seed=7 * at) for at, (db, frames) in enumerate(runs)]
    )
    gate = VoiceGate(RATE)
    passed: list[float] = []
    kinds: list[str] = []
    for kind, samples in gate.feed(sound):
        kinds.append(kind)
        passed += [] if samples is None else samples.tolist()
    rest = iter(sound.tolist())
    assert all(value in rest for value in passed)
    assert all(before == "speech" for before, kind in pairwise(["end", *kinds]) if kind == "end")
    assert gate.is_open == (bool(kinds) and kinds[-1] != "end")


def steady(db: float, frames: int) -> Sound:
    """Frames of exactly `db` dBFS."""
    return np.full(frames * FRAME, 10 ** (db / 20), np.float32)


def frames_said(*parts: Sound) -> list[int]:
    """Length in frames of each utterance."""
    return [len(one) // FRAME for one in said(VoiceGate(RATE), parts)]


def test_the_gate_opens_12_db_above_the_noise() -> None:
    room = steady(-60, 100)
    assert frames_said(room, steady(-48.1, 1)) == []
    assert frames_said(room, steady(-47.9, 1)) == [21]
    assert frames_said(steady(-75, 100), steady(-50.1, 1)) == []
    assert frames_said(steady(-75, 100), steady(-49.9, 1)) == [21]


def test_before_any_noise_was_heard_the_gate_opens_at_minus_33_db() -> None:
    assert frames_said(steady(-33.05, 1)) == []
    assert frames_said(steady(-32.9, 1)) == [1]


def test_the_gate_ends_after_40_frames_less_than_6_db_above_the_noise() -> None:
    room, speech = steady(-70, 100), steady(-20, 10)
    assert frames_said(room, speech, steady(-57, 39)) == [20 + 10 + 39]
    assert frames_said(room, speech, steady(-57, 41)) == [20 + 10 + 40]
    assert frames_said(room, speech, steady(-54, 41), speech) == [20 + 10 + 41 + 10]


def test_a_loud_frame_begins_the_hang_anew() -> None:
    room, speech, quiet = steady(-70, 100), steady(-20, 1), steady(-70, 39)
    assert frames_said(room, speech, quiet, speech, quiet, speech) == [20 + 3 + 2 * 39]
    assert frames_said(room, speech, quiet, speech, quiet, quiet, speech) == [20 + 2 + 39 + 40, 20 + 1]


def test_a_new_utterance_has_its_whole_hang() -> None:
    room, speech = steady(-70, 100), steady(-20, 1)
    assert frames_said(room, speech, room, speech, room) == [20 + 1 + 40] * 2


def test_the_noise_floor_rises_3_db_a_second() -> None:
    (length,) = frames_said(steady(-70, 100), steady(-40, 800))
    assert length == pytest.approx(20 + 100 * (22 - 6) / 3 + 40, abs=1)


def test_only_sound_below_one_step_of_16_bits_counts_as_muted() -> None:
    assert frames_said(steady(-90.1, 100), steady(-36, 1)) == []
    assert frames_said(steady(-89.9, 100), steady(-36, 1)) == [21]


def test_a_second_utterance_soon_after_begins_where_the_first_ended() -> None:
    sound = noise(RATE, level_db=-70)
    sound[: RATE // 10] *= 300
    sound[RATE // 10 + 50 * FRAME :][: RATE // 10] *= 300
    first, second = (place(one, sound) for one in said(VoiceGate(RATE), [sound]))
    assert first[1] == second[0]


def test_options_set_the_moment_before_and_the_hang() -> None:
    sound = np.concatenate([room(RATE, 1000), speech(RATE, 500), room(RATE, 1000)])
    short = said(VoiceGate(RATE, GateOptions(preroll_ms=0, hang_ms=100)), [sound])
    usual = said(VoiceGate(RATE), [sound])
    assert len(usual[0]) - len(short[0]) == (200 + 300) * RATE // 1000


def test_a_gate_that_closes_above_where_it_opens_is_refused() -> None:
    assert GateOptions(open_db=6.0, close_db=6.0).close_db == 6.0
    with pytest.raises(ValueError, match="at or below the level where it opens"):
        GateOptions(open_db=6.0, close_db=6.1)
