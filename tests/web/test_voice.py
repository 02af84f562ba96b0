import socket
import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.link import to_frame
from visavis.stream.pcm import to_float
from visavis.stream.visemes import SILENCE, VISEMES
from visavis.web import voice as voice_module
from visavis.web.voice import Mouth, serve, split
from visavis.web.voice_link import Cancel, Done, FromVoice, More, Piece, Speak, Voices, front_inbox

RATE = 24_000
TEXT = "Hello there. My mom bought a big bamboo pipe for Bob. Yes!"


@pytest.fixture(scope="module")
def mouth() -> Mouth:
    made = Mouth()
    made.warm()
    return made


def spoken(mouth: Mouth, *jobs: Speak) -> list[FromVoice]:
    for job in jobs:
        mouth.receive(job)
    answers: list[FromVoice] = []
    while mouth.has_work:
        answers += mouth.speak_next()
    return answers


def pieces(answers: list[FromVoice]) -> list[Piece]:
    return [answer for answer in answers if isinstance(answer, Piece)]


def test_a_text_becomes_a_piece_for_each_sentence_and_then_it_is_done(mouth: Mouth) -> None:
    answers = spoken(mouth, Speak(1, TEXT, "heart", 99))
    assert [type(answer) for answer in answers] == [Piece, Piece, Piece, Done]
    assert answers[-1] == Done(1)
    seconds = sum(len(piece.pcm) for piece in pieces(answers)) / 2 / RATE
    assert 4 < seconds < 9


def test_cues_follow_each_other_over_the_whole_text_and_know_silence_from_speech(mouth: Mouth) -> None:
    answers = pieces(spoken(mouth, Speak(1, TEXT, "heart", 99)))
    cues = [cue for piece in answers for cue in piece.cues]
    total = sum(len(piece.pcm) for piece in answers) // 2
    assert cues[0][1] == 0
    assert all(before[2] == after[1] for before, after in pairwise(cues))
    assert total - RATE // 10 <= cues[-1][2] <= total
    sound = np.abs(to_float(b"".join(piece.pcm for piece in answers)))
    silent = np.zeros(total, bool)
    for viseme, start, end in cues:
        silent[start:end] = viseme == SILENCE
    assert sound[~silent].mean() > 5 * sound[silent].mean()


def test_lips_close_where_the_sound_of_p_b_and_m_is_weak(mouth: Mouth) -> None:
    """The shift of the labels is right when closures lie on dips of the sound, not beside them."""
    answers = pieces(spoken(mouth, Speak(1, "Bob, the papa, a big bamboo pipe, a baby.", "heart", 99)))
    sound = np.abs(to_float(b"".join(piece.pcm for piece in answers)))
    closures = [
        (start + end) // 2
        for piece in answers
        for viseme, start, end in piece.cues
        if VISEMES[viseme] == "pp" and start > RATE // 5
    ]
    assert len(closures) >= 6

    def level(shift_ms: int) -> float:
        shift = shift_ms * RATE // 1000
        return float(np.mean([sound[max(0, at + shift - 240) : at + shift + 240].mean() for at in closures]))

    levels = {shift: level(shift) for shift in range(-120, 160, 20)}
    quietest = min(levels, key=lambda shift: levels[shift])
    assert -40 <= quietest <= 40, levels


def test_the_first_word_comes_soon(mouth: Mouth) -> None:
    first = pieces(spoken(mouth, Speak(1, TEXT, "heart", 99)))[0]
    loud = np.flatnonzero(np.abs(to_float(first.pcm)) > 0.02)
    assert 0.02 < loud[0] / RATE < 0.15


def test_a_job_stops_when_its_credit_is_used_up_and_goes_on_with_more(mouth: Mouth) -> None:
    assert len(spoken(mouth, Speak(1, TEXT, "heart", 1))) == 1
    mouth.receive(More(1))
    mouth.receive(More(1))
    answers = [answer for answer in spoken(mouth)]
    assert len(answers) == 2
    mouth.receive(More(1))
    assert spoken(mouth) == [Done(1)]


def test_jobs_take_turns_sentence_by_sentence(mouth: Mouth) -> None:
    answers = spoken(mouth, Speak(1, TEXT, "heart", 99), Speak(2, TEXT, "heart", 99))
    assert [piece.job for piece in pieces(answers)] == [1, 2, 1, 2, 1, 2]


def test_a_cancelled_job_says_nothing_more(mouth: Mouth) -> None:
    mouth.receive(Speak(1, TEXT, "heart", 99))
    list(mouth.speak_next())
    mouth.receive(Cancel(1))
    mouth.receive(Cancel(7))
    mouth.receive(More(1))
    assert not mouth.has_work


@pytest.mark.parametrize("text", ["。。。", "😀", "\x00", "你好"])
def test_text_without_anything_to_say_is_told(mouth: Mouth, text: str) -> None:
    [done] = spoken(mouth, Speak(1, text, "heart", 9))
    assert done == Done(1, "nothing in this text can be spoken in English")


@pytest.mark.parametrize(
    "text",
    ["x" * 4_000, "12345678901234567890" * 50, "lorem ipsum " * 300, "привет. Hello.", "a, " * 900],
    ids=["one word", "digits", "no stop", "another script", "commas"],
)
def test_odd_text_is_spoken_or_passed_over_without_failing(mouth: Mouth, text: str) -> None:
    answers = spoken(mouth, Speak(1, text, "heart", 1_000))
    assert answers[-1] == Done(1)
    assert all(len(piece.pcm) < 60 * 2 * RATE for piece in pieces(answers))


def test_a_sentence_that_breaks_the_synthesiser_is_passed_over(
    mouth: Mouth, monkeypatch: pytest.MonkeyPatch
) -> None:
    speak = voice_module.Voice.speak

    def fails(self: voice_module.Voice, sentence: str) -> object:
        if "Yes" in sentence:
            raise IndexError("inside a library")
        return speak(self, sentence)

    monkeypatch.setattr(voice_module.Voice, "speak", fails)
    answers = spoken(mouth, Speak(1, "One. Yes. Two.", "heart", 9))
    assert [type(answer) for answer in answers] == [Piece, Piece, Done]


@given(st.text(max_size=2_000))
def test_long_sentences_are_cut_and_no_word_is_lost(text: str) -> None:
    parts = list(split(text))
    assert all(len(part) <= 250 for part in parts)
    heard = "".join("".join(parts).split())
    assert all(
        word.strip() == "" or character in heard
        for word in text.split()
        for character in word
        if character.isalpha()
    )


def test_only_voices_that_are_here_are_named(mouth: Mouth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIBARI_HOME", "nowhere")
    assert mouth.names == ("heart",)


def test_the_process_says_its_voices_speaks_and_ends_when_we_hang_up() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(20)
    process = threading.Thread(target=serve, args=(theirs,), daemon=True)
    process.start()
    inbox = front_inbox()
    heard: list[FromVoice] = []
    with ours:
        while not heard:
            heard += inbox.feed(ours.recv(1 << 16))
        assert isinstance(heard[0], Voices)
        ours.sendall(to_frame(Speak(1, "Hello.", "heart", 2)))
        while not any(isinstance(message, Done) for message in heard):
            heard += inbox.feed(ours.recv(1 << 16))
    process.join(10)
    theirs.close()
    assert not process.is_alive()
    assert [type(message) for message in heard] == [Voices, Piece, Done]
