import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from visavis.render.ditto.hop_replay import Noise
from visavis.render.ditto.hops import HopStage, Turn
from visavis.render.ditto.noise import FrameNoise, ReferenceNoise, draw, draw_reference
from visavis.render.ditto.seams import LENGTH
from visavis.render.ditto.windows import WindowShape

seeds = st.integers(min_value=0, max_value=2**64 - 1)


def of(noise: Noise, stage: HopStage, turn: Turn) -> Tensor:
    noise.prepare(turn)
    return noise.at(stage.where(turn, 3))


@given(seeds, st.integers(-79, 10**9), st.integers(1, 12), st.data())
def test_a_frame_has_the_same_noise_however_frames_are_drawn(
    seed: int, first: int, frames: int, data: st.DataObject
) -> None:
    whole = draw(seed, first, frames, 3)
    split = data.draw(st.integers(0, frames))
    parts = [draw(seed, first, split, 3)] if split else []
    parts += [draw(seed, first + split, frames - split, 3)] if split < frames else []
    assert torch.equal(torch.cat(parts, dim=1), whole)


def test_fewer_steps_see_the_same_noise() -> None:
    assert torch.equal(draw(5, 0, 4, 10)[:4], draw(5, 0, 4, 4))


def test_nothing_is_drawn_twice() -> None:
    one = draw(1, -70, 160, 4)
    assert one.unique().numel() > 0.999 * one.numel() - 10_000
    flat = torch.cat((one.flatten(0, 1), draw(2, -70, 160, 4).flatten(0, 1)))
    likeness = torch.corrcoef(flat).fill_diagonal_(0)
    assert float(likeness.abs().max()) < 0.45


def test_noise_is_normal() -> None:
    drawn = draw(3, 0, 200, 10)
    assert drawn.shape == (10, 200, 265)
    assert drawn.dtype == torch.float32
    assert float(drawn.mean()) == pytest.approx(0, abs=5e-3)
    assert float(drawn.std()) == pytest.approx(1, abs=5e-3)
    assert float((drawn**4).mean()) == pytest.approx(3, abs=5e-2)


@given(
    st.sampled_from([1, 2, 5, 10, 40, 80]),
    st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 60)), max_size=8),
)
@settings(max_examples=40)
def test_a_window_sees_the_noise_of_its_frames_wherever_it_goes(
    hop: int, moves: list[tuple[int, int]]
) -> None:
    """On, back, or somewhere else, whatever the others do."""
    stage = HopStage(WindowShape(hop, 0), 1, history=3)
    noise = FrameNoise(stage, slots=3, draws=2)
    windows = [0, 0, 0]
    for slot in range(3):
        noise.begin(slot, 11 + slot)
    for slot, move in moves:
        windows[slot] = max(0, windows[slot] + (move if move < 4 else 1))
        due = [each for each in range(3) if each == slot or move % 2]
        seen = of(noise, stage, Turn.of([(each, windows[each], 5) for each in due]))
        for row, each in enumerate(due):
            expected = draw(11 + each, 5 + windows[each] * hop - (LENGTH - hop), LENGTH, 2)
            assert torch.equal(seen[:, row], expected)


def test_a_slot_that_begins_again_has_the_noise_of_its_new_seed() -> None:
    stage, turn = HopStage(WindowShape(2, 2), 1), Turn.alone(0)
    noise = FrameNoise(stage, slots=1, draws=2)
    for seed in (4, 5):
        noise.begin(0, seed)
        assert torch.equal(of(noise, stage, turn)[:, 0], draw(seed, -78, LENGTH, 2))


def test_noise_of_the_reference_is_of_the_window() -> None:
    stage = HopStage(WindowShape(2, 2), 1)
    noise = ReferenceNoise(stage, slots=2, draws=3)
    noise.begin(0, 4)
    noise.begin(1, 5)
    seen = of(noise, stage, Turn.of([(1, 7, 0), (0, 2, 9)]))
    assert torch.equal(seen[:, 0], draw_reference(5, 7, 3))
    assert torch.equal(seen[:, 1], draw_reference(4, 2, 3))


def test_the_reference_starts_afresh_and_keeps_the_noise_of_steps() -> None:
    first, second = draw_reference(4, 0, 5), draw_reference(4, 1, 5)
    assert first.shape == (5, LENGTH, 265)
    assert torch.equal(first[1:], second[1:])
    assert not torch.isclose(first[0], second[0]).all(dim=1).any()
    assert torch.equal(draw_reference(4, 1, 5), second)
    assert draw_reference(4, 0, 1).shape == (1, LENGTH, 265)
