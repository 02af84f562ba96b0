import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ticks import tick
from visavis.stream.gate import Gate
from visavis.stream.media import Span

moves = st.lists(
    st.tuples(
        st.sampled_from(["hear", "hear", "draw", "draw", "release", "skip", "drop"]), st.integers(-2, 5)
    ),
    max_size=60,
)


def heard(first: int, count: int) -> Gate[str]:
    gate: Gate[str] = Gate(first)
    for index in range(first, first + count):
        gate.put_audio(tick(index, marker=index))
    return gate


def test_sound_and_picture_of_a_tick_leave_together() -> None:
    gate = heard(7, 2)
    gate.put_picture(8, "eight")
    gate.put_picture(7, "seven")
    assert [(one.audio.index, one.picture) for one in (gate.release(), gate.release())] == [
        (7, "seven"),
        (8, "eight"),
    ]
    assert (gate.next, gate.heard, gate.waiting) == (9, 9, 0)


def test_sound_without_a_picture_leaves_on_time_and_asks_for_a_repeat() -> None:
    gate = heard(0, 1)
    assert not gate.has_picture()
    assert gate.release().picture is None


def test_a_picture_that_comes_after_its_tick_is_refused() -> None:
    gate = heard(0, 2)
    gate.release()
    assert gate.put_picture(0, "late") is False
    assert gate.waiting == 0
    assert gate.put_picture(1, "just in time") is True
    assert gate.has_picture()


def test_sound_must_come_tick_after_tick() -> None:
    gate = heard(3, 1)
    for index in (3, 5):
        with pytest.raises(ValueError, match=f"tick {index} does not follow 3"):
            gate.put_audio(tick(index))
    assert gate.heard == 4


def test_a_tick_cannot_leave_before_its_sound_is_here() -> None:
    gate: Gate[str] = Gate(0)
    gate.put_picture(0, "early")
    with pytest.raises(IndexError):
        gate.release()
    assert (gate.next, gate.waiting) == (0, 1)


def test_dropping_gives_every_picture_back_and_forgets_the_sound() -> None:
    gate = heard(0, 5)
    gate.put_picture(2, "two")
    gate.put_picture(0, "zero")
    assert sorted(gate.drop()) == ["two", "zero"]
    assert (gate.next, gate.heard, gate.waiting) == (0, 0, 0)
    assert gate.drop() == []


def test_dropping_pictures_keeps_the_sound() -> None:
    gate = heard(0, 5)
    gate.put_picture(3, "three")
    assert gate.drop_pictures() == ["three"]
    assert (gate.heard, gate.waiting) == (5, 0)


def test_skipping_ahead_keeps_all_sound_and_only_moves_its_index() -> None:
    gate: Gate[str] = Gate(10)
    spans = (Span("a", 5, 9, last=True),)
    for index in (10, 11):
        gate.put_audio(tick(index, marker=index, spans=spans))
    gate.put_picture(11, "old")
    assert gate.skip_to(70) == ["old"]
    assert (gate.next, gate.heard) == (70, 72)
    assert [(gate.audio_at(index).sent[0], gate.audio_at(index).spans) for index in (70, 71)] == [
        (10, spans),
        (11, spans),
    ]
    assert gate.put_picture(69, "late") is False
    gate.put_audio(tick(72))


@given(st.integers(-5, 10**6), moves)
def test_no_sound_and_no_picture_is_ever_lost_or_out_of_place(
    first: int, todo: list[tuple[str, int]]
) -> None:
    gate: Gate[int] = Gate(first)
    following, sounds, pictures = first, list[int](), dict[int, int]()
    for number, (move, amount) in enumerate(todo):
        index = following + amount
        if move == "hear":
            gate.put_audio(tick(gate.heard, marker=number))
            sounds.append(number)
        elif move == "draw" and index not in pictures:
            kept = gate.put_picture(index, number)
            assert kept is (amount >= 0)
            pictures |= {index: number} if kept else {}
        elif move == "release" and sounds:
            assert gate.has_picture() is (following in pictures)
            left = gate.release()
            assert (left.audio.index, left.audio.sent[0]) == (following, sounds.pop(0))
            assert left.picture == pictures.pop(following, None)
            following += 1
        elif move == "skip" and amount > 0:
            assert sorted(gate.skip_to(index)) == sorted(pictures.values())
            following, pictures = index, {}
        elif move == "drop":
            assert sorted(gate.drop()) == sorted(pictures.values())
            sounds, pictures = [], {}
        assert (gate.next, gate.heard, gate.waiting) == (following, following + len(sounds), len(pictures))
        held = [gate.audio_at(at) for at in range(gate.next, gate.heard)]
        assert [one.index for one in held] == list(range(gate.next, gate.heard))
        assert [one.sent[0] for one in held] == sounds
