from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from visavis.render.ditto import features as f
from visavis.render.ditto.random_encoder import random_encoder
from visavis.stream.errors import SetupError

HOPS = (1, 2, 3, 5, 7, 10, 40, 70)


class Means:
    """An encoder that tells where its rows lie: column c is the mean of 400 samples times c + 1."""

    def __init__(self) -> None:
        self.windows: list[tuple[int, ...]] = []

    def __call__(self, samples: torch.Tensor) -> torch.Tensor:
        self.windows.append(tuple(samples.shape))
        rows = samples.double().unfold(1, f.ROW_WINDOW, f.ROW_HOP).mean(-1).float()
        return rows[..., None] * torch.arange(1, f.WIDTH + 1)


def sound(samples: int, seed: int = 0) -> np.ndarray:
    return (0.1 * np.random.default_rng(seed).standard_normal(samples)).astype(np.float32)


def streamed(
    stage: f.FeatureStage, clips: list[np.ndarray], cuts: list[int], *, together: bool
) -> list[torch.Tensor]:
    """The features of each clip, pushed by pieces of the lengths `cuts`, in turn for ever."""
    state = stage.init(len(clips))
    found: list[list[torch.Tensor]] = [[] for _ in clips]
    at = [0] * len(clips)
    turn = 0
    while True:
        for slot, clip in enumerate(clips):
            size = cuts[(turn + slot) % len(cuts)]
            if not state.ended[slot]:
                at[slot] += stage.push(state, slot, clip[at[slot] : at[slot] + size])
                if at[slot] == len(clip):
                    stage.finish(state, slot)
        turn += 1
        due = stage.due(state)
        if not due and state.ended.all():
            return [torch.cat(rows) if rows else torch.zeros(0, f.WIDTH) for rows in found]
        for slots in [due] if together and due else [[slot] for slot in due]:
            rows, counts = stage.step(state, slots)
            for slot, row, count in zip(slots, rows, counts, strict=True):
                found[slot].append(row[:count])


def test_the_default_chunk_is_the_official_one() -> None:
    chunk = f.Chunk()
    assert (chunk.window_samples, f.rows_of(chunk.window_samples)) == (6480, 20)
    assert f.Chunk(2, 4, 2).window_samples == 5200


@pytest.mark.parametrize("parts", [(3, 0, 2), (-1, 5, 2), (3, 5, -1)])
def test_a_chunk_that_cannot_be_is_refused(parts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="a chunk needs"):
        f.Chunk(*parts)
    with pytest.raises(ValueError, match="a hop is"):
        f.Cadence(0)


@pytest.mark.parametrize("hop", HOPS)
def test_a_hop_is_heard_by_windows_of_one_length_that_end_at_its_lookahead(hop: int) -> None:
    cadence = f.Cadence(hop)
    assert sum(cadence.pieces) == hop
    assert max(cadence.pieces) <= 5
    assert cadence.ends[-1] == (hop + 2) * 640 + 80
    assert cadence.spec.latency == Fraction((hop + 2) * 640 + 80, 16000)
    encoder = Means()
    f.whole(encoder, sound(640 * hop), cadence)
    assert encoder.windows == [(len(cadence.pieces), 6480)]


def test_the_frames_of_a_low_hop_see_more_of_the_past() -> None:
    cadence = f.Cadence(2)
    assert cadence.pieces == (2,)
    assert cadence.ends[0] - cadence.chunk.window_samples == -6 * 640


@pytest.mark.parametrize("hop", HOPS)
def test_a_frame_is_the_mean_of_its_two_rows_wherever_the_hop_begins(hop: int) -> None:
    heard = sound(640 * 43 + 17)
    found = f.whole(Means(), heard, f.Cadence(hop))[:, 0].numpy()
    padded = np.concatenate([heard, np.zeros(2000, np.float32)])
    wanted = [
        (padded[640 * i : 640 * i + 400].mean() + padded[640 * i + 320 : 640 * i + 720].mean()) / 2
        for i in range(44)
    ]
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_recordings_are_read_80_samples_earlier_than_streams() -> None:
    heard = sound(9000)
    shifted = np.concatenate([np.zeros(80, np.float32), heard])
    recorded = f.offline(Means(), heard, f.Chunk())
    live = f.online(Means(), shifted, f.Chunk())
    torch.testing.assert_close(recorded, live[: len(recorded)])


@pytest.mark.parametrize("samples", [1, 639, 640, 641, 3200, 20923])
def test_lengths_are_whole_frames_and_the_reference_goes_on_past_the_end(samples: int) -> None:
    frames = -(-samples // 640)
    heard, chunk = sound(samples), f.Chunk()
    assert len(f.whole(Means(), heard, f.Cadence(2))) == len(f.offline(Means(), heard, chunk)) == frames
    online = f.online(Means(), heard, chunk)
    assert len(online) == 5 * -(-(samples + 1920) // 3200)
    torch.testing.assert_close(online[:frames], f.whole(Means(), heard, f.Cadence(5)))


def test_no_sound_has_no_features() -> None:
    nothing = np.zeros(0, np.float32)
    assert f.whole(Means(), nothing, f.Cadence(5)).shape == (0, 1024)
    assert f.offline(Means(), nothing, f.Chunk()).shape == (0, 1024)


@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 20000), min_size=1, max_size=3),
    cuts=st.lists(st.integers(1, 9000), min_size=1, max_size=6),
    hop=st.sampled_from(HOPS),
    together=st.booleans(),
)
def test_a_stream_in_any_chunks_gives_what_the_whole_gives(
    lengths: list[int], cuts: list[int], hop: int, together: bool
) -> None:
    encoder, cadence = random_encoder(5), f.Cadence(hop)
    clips = [sound(length, seed) for seed, length in enumerate(lengths)]
    found = streamed(f.FeatureStage(encoder, cadence, spare_samples=2000), clips, cuts, together=together)
    for clip, rows in zip(clips, found, strict=True):
        assert torch.equal(rows, f.whole(encoder, clip, cadence))


def test_a_hop_leaves_as_soon_as_its_lookahead_is_heard() -> None:
    stage = f.FeatureStage(Means(), f.Cadence(2))
    state = stage.init(2)
    stage.push(state, 1, sound(4 * 640 + 79))
    assert stage.due(state) == []
    stage.push(state, 1, sound(1))
    assert stage.due(state) == [1]
    rows, counts = stage.step(state, [1])
    assert (rows.shape, counts) == ((1, 2, 1024), [2])
    assert stage.due(state) == []


def test_what_does_not_fit_stays_with_the_caller() -> None:
    stage = f.FeatureStage(Means(), f.Cadence(5), spare_samples=1000)
    state = stage.init(1)
    taken = stage.push(state, 0, sound(50000))
    assert taken == 6480 + 1000
    assert stage.push(state, 0, sound(10)) == 0
    stage.step(state, [0])
    assert stage.push(state, 0, sound(50000)) == (5 - 3) * 640
    assert state.ring.shape == (1, 7480)


def test_after_the_end_nothing_is_taken_until_the_slot_is_reset() -> None:
    stage = f.FeatureStage(Means(), f.Cadence(5))
    state = stage.init(2)
    stage.push(state, 0, sound(700))
    stage.finish(state, 0)
    rows, counts = stage.step(state, stage.due(state))
    assert (len(rows), counts, stage.due(state)) == (1, [2], [])
    with pytest.raises(ValueError, match="reset it first"):
        stage.push(state, 0, sound(1))
    stage.reset(state, [0])
    assert stage.push(state, 0, sound(9)) == 9
    assert state.heard.tolist() == [9, 0]


def test_the_state_does_not_grow_in_an_hour() -> None:
    stage = f.FeatureStage(
        lambda samples: torch.zeros(1, 20, 1024).expand(len(samples), -1, -1), f.Cadence(40)
    )
    state = stage.init(1)
    before = state.ring.ctypes.data, state.ring.nbytes
    minute, frames = np.zeros(60 * 16000, np.float32), 0
    for _ in range(60):
        rest = minute
        while len(rest):
            rest = rest[stage.push(state, 0, rest) :]
            for slots in iter(lambda: stage.due(state), []):
                frames += stage.step(state, slots)[1][0]
    assert (state.ring.ctypes.data, state.ring.nbytes) == before
    assert frames == (60 * 60 * 25 - 2) // 40 * 40


def test_an_encoder_of_another_shape_is_refused() -> None:
    with pytest.raises(SetupError, match="not the one that Ditto was trained with"):
        f.whole(lambda samples: torch.zeros(len(samples), 20, 768), sound(3200), f.Cadence(5))


@pytest.mark.parametrize("hop", [1, 2, 10])
def test_the_last_hops_can_be_taken_again_with_other_sound(hop: int) -> None:
    history = 4
    stage = f.FeatureStage(random_encoder(5), f.Cadence(hop), spare_samples=2000, history=history)
    state, first, other = stage.init(1), sound(640 * 90), sound(640 * 90, 1)
    given = taken(stage, state, first)
    back = given - history * hop
    kept = back * 640 + f.Cadence(hop).ends[-1] - 640 * hop
    stage.rewind(state, 0, heard=kept, given=back)
    heard = np.concatenate([first[:kept], other[kept:]])
    rows: list[torch.Tensor] = []
    taken(stage, state, other[kept:], rows)
    assert torch.equal(
        torch.cat(rows)[:, 0], f.whole(random_encoder(5), heard, f.Cadence(hop))[back:given, 0]
    )


@pytest.mark.parametrize("hop", [2, 5])
def test_news_are_all_of_the_sound_once_and_what_is_passed_over_changes_nothing(hop: int) -> None:
    stage = f.FeatureStage(random_encoder(5), f.Cadence(hop))
    state, heard = stage.init(1), sound(640 * 21)
    stage.push(state, 0, heard)
    news: list[np.ndarray] = []
    while stage.due(state):
        news.append(stage.news(state, 0))
        if len(news) % 2:
            stage.skip(state, [0])
            continue
        rows, _ = stage.step(state, [0])
        first = (len(news) - 1) * hop
        assert torch.equal(rows[0], f.whole(random_encoder(5), heard, f.Cadence(hop))[first : first + hop])
    joined = np.concatenate(news)
    assert np.array_equal(joined, heard[: len(joined)])
    assert len(heard) - len(joined) < 640 * hop


def taken(
    stage: f.FeatureStage, state: f.FeatureState, heard: np.ndarray, rows: list[torch.Tensor] | None = None
) -> int:
    """How many frames `slot` 0 has given after `heard`; what it gives is added to `rows`."""
    while len(heard):
        heard = heard[stage.push(state, 0, heard) :]
        while stage.due(state):
            found, _ = stage.step(state, [0])
            if rows is not None:
                rows.append(found[0])
    return int(state.given[0])
