import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.errors import LinkError
from visavis.stream.link import MAX_MESSAGE_BYTES, to_frame
from visavis.web.voice_link import (
    Cancel,
    Done,
    More,
    Piece,
    Speak,
    ToVoice,
    Voices,
    front_inbox,
    voice_inbox,
)

TO_VOICE: list[ToVoice] = [Speak(1, "Hello", "heart", 2), More(1), Cancel(1)]


@given(st.lists(st.sampled_from(TO_VOICE), max_size=6), st.integers(1, 9))
def test_messages_survive_any_cut(messages: list[ToVoice], size: int) -> None:
    stream = b"".join(map(to_frame, messages))
    inbox = voice_inbox()
    cuts = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert [message for cut in cuts for message in inbox.feed(cut)] == messages


def test_answers_come_back_as_they_were() -> None:
    answers = [Voices(("heart",)), Piece(1, 24_000, b"\0\1", ((3, 0, 5),)), Done(1), Done(2, "no")]
    inbox = front_inbox()
    assert list(inbox.feed(b"".join(map(to_frame, answers)))) == answers


@given(st.binary(max_size=60))
def test_foreign_bytes_are_a_link_error_and_nothing_else(data: bytes) -> None:
    try:
        list(front_inbox().feed(data))
    except LinkError:
        return


def test_a_message_of_the_other_direction_is_refused() -> None:
    with pytest.raises(LinkError, match="no message"):
        list(front_inbox().feed(to_frame(More(1))))


def test_an_endless_message_is_refused_at_its_length() -> None:
    with pytest.raises(LinkError, match="announced a message"):
        list(voice_inbox().feed(b"\xff\xff\xff\xff"))


def test_a_piece_over_the_links_limit_is_refused_where_it_is_made() -> None:
    with pytest.raises(LinkError, match="over the link's limit"):
        to_frame(Piece(1, 24_000, bytes(MAX_MESSAGE_BYTES), ()))


def test_endless_nesting_is_a_link_error_too() -> None:
    body = b"\x93\xa4More\x01" + b"\x91" * 50_000 + b"\xc0"
    with pytest.raises(LinkError, match="no message"):
        list(voice_inbox().feed(len(body).to_bytes(4, "big") + body))
