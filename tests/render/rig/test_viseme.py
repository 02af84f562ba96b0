import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rig import HOP, Sound, speech, stage
from visavis.render.rig.viseme import (
    LATE_ROWS,
    LOOKAHEADS,
    MODEL,
    NET_LOOKAHEAD_ROWS,
    NET_ROWS,
    SOON_ROWS,
    Heard,
    hann,
    mel_bank,
    row_rms,
    rows_ready,
)
from visavis.stream.visemes import SILENCE, VISEMES


def listened(samples: Sound) -> Heard:
    """What a fresh state makes of whole ticks."""
    state = stage().init()
    steps = [stage().step(state, samples[at : at + HOP]) for at in range(0, len(samples), HOP)]
    return Heard(
        np.concatenate([step.visemes for step in steps]),
        np.concatenate([step.loud for step in steps]),
        np.concatenate([step.soon for step in steps]),
    )


def net() -> ort.InferenceSession:
    return ort.InferenceSession(str(MODEL), providers=["CPUExecutionProvider"])


def whole(samples: Sound) -> Sound:
    """Viseme rows of the whole clip by the net's own two hands, after a second of silence."""
    mels = stage().features(np.pad(samples, (120, 280)))[: len(samples) // 160]
    lead = np.full((100, 40), np.log(np.float32(1e-6)), np.float32)
    session = net()
    shapes = {port.name: port.shape for port in session.get_inputs()}
    past, memory = (np.zeros(shapes[name], np.float32) for name in ("past", "state"))
    said: list[Sound] = []
    for mel in np.concatenate([lead, mels]).reshape(-1, 4, 40):
        logits, past, memory = session.run(None, {"mel": mel.T[None], "past": past, "state": memory})
        said.append(np.asarray(logits)[0].T)
    answer = LOOKAHEADS.index(NET_LOOKAHEAD_ROWS) * 15
    rows = np.concatenate(said)[100:, answer : answer + 15]
    odds = np.exp(rows - rows.max(1, keepdims=True))
    return (odds / odds.sum(1, keepdims=True)).astype(np.float32)


def test_streamed_equals_whole() -> None:
    samples = speech()[: 120 * HOP].copy()
    ticks = samples.reshape(-1, HOP)
    still = np.array([row_rms(tick).max() <= 10 ** (-66 / 20) for tick in ticks])
    ticks[still] = 0
    first = 4 * int(np.argmin(still))
    heard, wanted = listened(samples), whole(samples)[:-1]
    sounds = heard.loud[1:] > 10 ** (-90 / 20)
    sounds[:first] = False
    assert sounds.sum() > 300
    assert np.abs(heard.visemes[1:] - wanted)[sounds].max() < 1e-4


def test_the_net_remembers_no_more_than_it_says() -> None:
    shapes = {port.name: port.shape for port in net().get_inputs()}
    assert shapes["past"][2] + shapes["state"][2] + shapes["mel"][2] == NET_ROWS
    assert MODEL.stat().st_size < 1_000_000


@settings(max_examples=15)
@given(st.integers(0, 60), st.integers(1, 20))
def test_the_same_sound_reads_the_same_at_any_place(silence: int, ticks: int) -> None:
    clip = speech()[20 * HOP : (20 + ticks) * HOP]
    alone = listened(clip)
    later = listened(np.concatenate([np.zeros(silence * HOP, np.float32), clip]))
    assert np.array_equal(later.visemes[-4 * ticks :], alone.visemes)
    assert np.array_equal(later.loud[-4 * ticks :], alone.loud)


def test_two_states_do_not_disturb_each_other() -> None:
    one, other = speech()[: 40 * HOP], speech()[40 * HOP : 80 * HOP]
    states = stage().init(), stage().init()
    mixed: list[list[Sound]] = [[], []]
    for at in range(0, len(one), HOP):
        for k, clip in enumerate((one, other)):
            mixed[k].append(stage().step(states[k], clip[at : at + HOP]).visemes)
    assert np.array_equal(np.concatenate(mixed[0]), listened(one).visemes)
    assert np.array_equal(np.concatenate(mixed[1]), listened(other).visemes)


def test_a_reset_state_is_as_good_as_new() -> None:
    state = stage().init()
    for at in range(0, 30 * HOP, HOP):
        stage().step(state, speech()[at : at + HOP])
    stage().reset(state)
    again = [stage().step(state, speech()[at : at + HOP]).visemes for at in range(0, 30 * HOP, HOP)]
    assert np.array_equal(np.concatenate(again), listened(speech()[: 30 * HOP]).visemes)


@pytest.mark.parametrize("level", [0.0, 3e-4], ids=["digital silence", "a hum below the floor"])
def test_what_is_too_soft_reads_as_silence(level: float) -> None:
    noise = np.random.default_rng(0).normal(0, 1, 20 * HOP).astype(np.float32) * np.float32(level)
    assert (listened(noise).visemes.argmax(1) == SILENCE).all()


def test_speech_is_heard_as_more_than_one_mouth_shape() -> None:
    rows = listened(speech()[: 100 * HOP]).visemes
    assert len(np.unique(rows.argmax(1))) >= 8
    assert np.allclose(rows.sum(1), 1, atol=1e-5)


def test_unwanted_visemes_read_as_silence_and_leave_the_state_the_same() -> None:
    wanted, unwanted = stage().init(), stage().init()
    for at in range(0, 40 * HOP, HOP):
        stage().step(wanted, speech()[at : at + HOP])
        skipped = stage().step(unwanted, speech()[at : at + HOP], wanted=False)
        assert (skipped.visemes[:, SILENCE] == 1).all()
    assert np.array_equal(wanted.past, unwanted.past)
    assert np.array_equal(wanted.memory, unwanted.memory)


def test_no_sound_is_silence_however_near_a_voice_begins() -> None:
    lead = np.zeros(10 * HOP, np.float32)
    rows = listened(np.concatenate([lead, speech()[40 * HOP : 60 * HOP]])).visemes[LATE_ROWS:]
    assert (rows[:40, SILENCE] == 1).all()
    assert rows[42:80, SILENCE].min() < 0.2


def test_rows_trail_the_sound_by_the_window_and_the_net() -> None:
    assert rows_ready(0) == 4 - LATE_ROWS
    assert rows_ready(10) - rows_ready(9) == 4


def test_a_click_is_loudest_in_its_own_row() -> None:
    sound = np.zeros(HOP, np.float32)
    sound[170] = 1
    assert int(row_rms(sound).argmax()) == 1
    assert stage().audible(sound)


def test_the_filters_are_forty_triangles_of_unit_height() -> None:
    bank = mel_bank()
    assert bank.shape == (257, 40)
    assert bank.min() >= 0
    assert 0.5 < bank[:, 10:].max(0).min() <= bank.max() <= 1
    assert not bank[0].any()


def test_the_window_is_periodic() -> None:
    window = hann(400)
    assert window[0] == 0
    assert np.allclose(window[1:], window[1:][::-1])
    assert window[200] == 1


def test_there_is_a_row_for_each_viseme() -> None:
    assert listened(np.zeros(HOP, np.float32)).visemes.shape == (4, len(VISEMES))


def test_what_is_soon_named_is_mostly_guessed_right_before() -> None:
    heard = listened(speech())
    guessed = heard.soon.reshape(-1, SOON_ROWS, 15)[:-1]
    named = heard.visemes.reshape(-1, 4, 15)[1:, :SOON_ROWS]
    assert (guessed.argmax(2) == named.argmax(2)).mean() > 0.85


def test_a_guess_at_silence_is_silence() -> None:
    silent = listened(np.zeros(30 * HOP, np.float32))
    assert (silent.soon[:, SILENCE] == 1).all()
