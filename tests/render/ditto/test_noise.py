import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.ditto.noise import draw, draw_reference
from visavis.render.ditto.windows import LENGTH, slide

seeds = st.integers(min_value=0, max_value=2**64 - 1)


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


@pytest.mark.parametrize("hop", [1, 2, 5, 10, 40])
def test_a_window_that_slides_on_holds_the_noise_of_its_frames(hop: int) -> None:
    seeds, overlap = (11, 12), LENGTH - hop
    rows = torch.stack([draw(seed, -overlap, LENGTH, 2) for seed in seeds], dim=1)
    active = torch.tensor([True, False])
    before = rows.clone()
    for window in range(1, 4):
        fresh = torch.stack([draw(seed, window * hop, hop, 2) for seed in seeds], dim=1)
        slide(rows, fresh, active)
    assert torch.equal(rows[:, 0], draw(11, 3 * hop - overlap, LENGTH, 2))
    assert torch.equal(rows[:, 1], before[:, 1])


def test_the_reference_starts_afresh_and_keeps_the_noise_of_steps() -> None:
    first, second = draw_reference(4, 0, 5), draw_reference(4, 1, 5)
    assert first.shape == (5, LENGTH, 265)
    assert torch.equal(first[1:], second[1:])
    assert not torch.isclose(first[0], second[0]).all(dim=1).any()
    assert torch.equal(draw_reference(4, 1, 5), second)
    assert draw_reference(4, 0, 1).shape == (1, LENGTH, 265)
