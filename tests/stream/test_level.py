import itertools
from collections.abc import Iterable

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


@given(frames=st.lists(st.integers(-110, 0), min_size=1, max_size=300))
@settings(max_examples=60)
def test_whatever_is_heard_the_gate_only_passes_samples_in_order_and_ends_what_it_began(
    frames: list[int],
) -> None:
    ramp = np.arange(1, FRAME + 1, dtype=np.float32) / FRAME
    sound = np.concatenate([ramp * 10 ** (db / 20) + number for number, db in enumerate(frames)]) / len(
        frames
    )
    sound = sound.astype(np.float32)
    gate = VoiceGate(RATE)
    passed: list[float] = []
    kinds: list[str] = []
    for kind, samples in gate.feed(sound):
        kinds.append(kind)
        passed += [] if samples is None else samples.tolist()
    rest = iter(sound.tolist())
    assert all(value in rest for value in passed)
    assert all(before == "speech" for before, kind in itertools.pairwise(kinds) if kind == "end")
    assert gate.is_open == (bool(kinds) and kinds[-1] != "end")


def test_options_set_the_moment_before_and_the_hang() -> None:
    sound = np.concatenate([room(RATE, 1000), speech(RATE, 500), room(RATE, 1000)])
    short = said(VoiceGate(RATE, GateOptions(preroll_ms=0, hang_ms=100)), [sound])
    usual = said(VoiceGate(RATE), [sound])
    assert len(usual[0]) - len(short[0]) == (200 + 300) * RATE // 1000


def test_a_gate_that_closes_above_where_it_opens_is_refused() -> None:
    assert GateOptions(open_db=6.0, close_db=6.0).close_db == 6.0
    with pytest.raises(ValueError, match="at or below the level where it opens"):
        GateOptions(open_db=6.0, close_db=6.1)
