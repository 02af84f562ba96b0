import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.ditto import conditions as c
from visavis.render.ditto.motion import Motion, Source


def character(frames: int, seed: int) -> c.Character:
    random = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=random)  # noqa: E731
    return c.Character(draw(frames, 2), draw(frames, 6), draw(63), draw(265))


def filled(seeds: tuple[int, ...] = (1, 2, 3)) -> c.ConditionState:
    """Slots with avatars and emotions of different lengths."""
    state = c.ConditionState.init(len(seeds), eye_frames=9, emotion_frames=9)
    for slot, seed in enumerate(seeds):
        state.set_character(slot, character(1 + 3 * (seed % 3), seed))
        state.set_emotion(slot, [[seed], [seed, 0], [5]][: 1 + seed % 3])
    return state


def one_of(state: c.ConditionState, slots: list[int]) -> c.ConditionState:
    return c.ConditionState(*(getattr(state, name)[slots] for name in c.ConditionState.__slots__))


@pytest.mark.parametrize(
    ("count", "frames"), [(1, [0, 0, 0, 0]), (2, [0, 1, 1, 0, 0, 1]), (3, [0, 1, 2, 2, 1, 0, 0, 1])]
)
def test_a_mirrored_loop_repeats_its_ends(count: int, frames: list[int]) -> None:
    assert c.mirror(torch.arange(len(frames)), count).tolist() == frames


@given(index=st.integers(0, 10**9), count=st.integers(1, 1000))
def test_a_mirrored_index_is_a_frame_and_moves_by_one_at_most(index: int, count: int) -> None:
    at, after = c.mirror(torch.tensor([index, index + 1]), count).tolist()
    assert 0 <= at < count
    assert abs(after - at) <= 1


def test_a_label_is_nearly_all_of_its_emotion_and_two_share() -> None:
    [neutral] = c.emotion_vectors(c.NEUTRAL)
    assert neutral.argmax() == 4
    assert neutral.max() > 0.99
    [pair] = c.emotion_vectors([3, 4])
    assert pair[3] == pair[4] > 0.49
    assert c.emotion_vectors([[1], [2, 3]]).shape == (2, 8)
    given_as_is = torch.rand(5, 8)
    assert torch.equal(c.emotion_vectors(given_as_is), given_as_is)


@pytest.mark.parametrize(
    "emotion",
    [8, -1, [], [3, 9], [0, 1, 2, 3, 4, 5, 6, 7], [[1], 2], [[]], torch.zeros(8), torch.zeros(0, 8)],
    ids=str,
)
def test_what_is_no_emotion_is_refused(emotion: c.Emotion) -> None:
    with pytest.raises(ValueError, match=r"emotion|label"):
        c.emotion_vectors(emotion)


def test_eyes_play_to_and_fro_and_emotions_start_again() -> None:
    state = c.ConditionState.init(1, eye_frames=3, emotion_frames=2)
    face = character(3, 0)
    state.set_character(0, face)
    state.set_emotion(0, [[0], [6]])
    frames = c.window(torch.tensor([-2]), 9)
    opened, balls = c.eyes_at(state, frames)
    at = [0, 0, 0, 1, 2, 2, 1, 0, 0]
    assert torch.equal(opened[0], face.eye_open[at])
    assert torch.equal(balls[0], face.eye_ball[at])
    assert c.emotion_at(state, frames)[0].argmax(-1).tolist() == [0, 0, 0, 6, 0, 6, 0, 6, 0]


def test_the_first_eyes_can_stay() -> None:
    state = c.ConditionState.init(1, eye_frames=1)
    face = character(3, 0)
    state.set_character(0, face, first_eyes=True)
    opened, _ = c.eyes_at(state, c.window(torch.tensor([40]), 5))
    assert torch.equal(opened[0], face.eye_open[:1].expand(5, 2))


def test_what_there_is_no_room_for_is_refused() -> None:
    state = c.ConditionState.init(1, eye_frames=2, emotion_frames=2)
    with pytest.raises(ValueError, match="room for 2"):
        state.set_character(0, character(3, 0))
    with pytest.raises(ValueError, match="room for 2"):
        state.set_emotion(0, [[1], [2], [3]])


def test_a_shorter_sequence_forgets_the_longer_before_it() -> None:
    state = c.ConditionState.init(1, emotion_frames=3)
    state.set_emotion(0, [[0], [1], [2]])
    state.set_emotion(0, 7)
    assert set(c.emotion_at(state, c.window(torch.tensor([0]), 9))[0].argmax(-1).tolist()) == {7}


def test_columns_stand_in_the_order_the_model_learnt() -> None:
    state = filled()
    audio = torch.randn(3, 4, 1024)
    rows = c.rows(state, audio, c.window(torch.tensor([0, 5, 9]), 4))
    assert rows.shape == (3, 4, 1103)
    assert torch.equal(rows[..., :1024], audio)
    assert torch.equal(rows[..., 1024:1032], c.emotion_at(state, c.window(torch.tensor([0, 5, 9]), 4)))
    assert torch.equal(rows[:, 2, 1040:], state.canonical)


@pytest.mark.parametrize("part", ["emotion", "eye_open", "eye_ball", "canonical"])
def test_a_part_can_be_left_out(part: str) -> None:
    audio, frames = torch.zeros(3, 4, 1024), c.window(torch.zeros(3, dtype=torch.int64), 4)
    parts = c.Parts(**{part: False})
    rows = c.rows(filled(), audio, frames, parts=parts)
    assert rows.shape[-1] == parts.width < c.Parts().width == 1103


def test_slots_are_independent_and_their_order_does_not_matter() -> None:
    state, audio = filled(), torch.randn(3, 6, 1024)
    frames = c.window(torch.tensor([-4, 0, 100]), 6)
    whole = c.rows(state, audio, frames)
    order = [2, 0, 1]
    assert torch.equal(c.rows(one_of(state, order), audio[order], frames[order]), whole[order])
    for slot in range(3):
        assert torch.equal(c.rows(one_of(state, [slot]), audio[[slot]], frames[[slot]]), whole[[slot]])


def test_new_rows_are_those_of_the_whole_window() -> None:
    state, audio = filled(), torch.randn(3, 80, 1024)
    whole = c.rows(state, audio, c.window(torch.tensor([7, 8, 9]), 80))
    new = c.rows(state, audio[:, 70:], c.window(torch.tensor([77, 78, 79]), 10))
    assert torch.equal(new, whole[:, 70:])


def test_a_character_starts_from_the_first_frame_of_its_source() -> None:
    rows = torch.randn(4, 265)
    source = Source(Motion.from_rows(rows), torch.randn(4, 63))
    eyes = character(4, 0)
    found = c.Character.from_source(source, eyes.eye_open, eyes.eye_ball, canonical=source.canonical[0])
    assert torch.allclose(found.start, rows[0], atol=1e-6)
    state = c.ConditionState.init(2, eye_frames=4)
    state.set_character(1, found)
    assert torch.equal(state.start[1], found.start)
    assert not state.start[0].any()
