import pytest
import torch
from support.motion import model_inputs, normal, tiny_model
from torch import Tensor
from visavis.render.ditto.motion import WIDTH
from visavis.render.ditto.sampler import MotionSampler, sample
from visavis.render.ditto.schedule import Schedule
from visavis.render.ditto.seams import LENGTH

SLOTS = 3


def noise(steps: int) -> tuple[Tensor, Tensor]:
    """A start, and noise for each step but the last."""
    drawn = normal(8, steps, SLOTS, LENGTH, WIDTH)
    return drawn[0], drawn[1:]


@pytest.mark.parametrize("steps", [1, 2, 4, 5, 10, 50])
def test_a_denoiser_that_knows_the_answer_gives_it(steps: int) -> None:
    answer, seen = normal(9, SLOTS, LENGTH, WIDTH), list[int]()

    def denoise(noisy: Tensor, index: int) -> Tensor:
        seen.append(index)
        return answer

    assert torch.equal(sample(denoise, Schedule.of(steps), *noise(steps)), answer)
    assert seen == list(range(steps))


@pytest.mark.parametrize("steps", [4, 5, 10, 50])
def test_what_a_step_sees_has_the_power_of_its_noise(steps: int) -> None:
    """5 steps, at which the reference gives no number, are like all others."""
    seen: list[Tensor] = []

    def denoise(noisy: Tensor, index: int) -> Tensor:
        seen.append(noisy)
        return torch.zeros_like(noisy)

    assert torch.equal(sample(denoise, Schedule.of(steps), *noise(steps)), torch.zeros(SLOTS, LENGTH, WIDTH))
    for step, noisy in zip(Schedule.of(steps).steps, seen, strict=True):
        assert float(noisy.std()) == pytest.approx(1 / step.of_noisy, rel=0.02)


def test_noise_may_be_the_same_for_all_slots() -> None:
    start, fresh = noise(4)
    alike = fresh[:, :1]

    def denoise(noisy: Tensor, index: int) -> Tensor:
        return 0.5 * noisy

    expected = sample(denoise, Schedule.of(4), start, alike.expand(-1, SLOTS, -1, -1))
    assert torch.equal(sample(denoise, Schedule.of(4), start, alike), expected)


@pytest.mark.parametrize("steps", [4, 5, 10])
def test_a_sample_is_finite_and_slots_do_not_see_each_other(steps: int) -> None:
    sampler = MotionSampler(tiny_model(), Schedule.of(steps))
    _, lead, conditions, _ = model_inputs(SLOTS)
    start, fresh = noise(steps)
    whole = sampler(lead, conditions, start, fresh)
    assert whole.shape == (SLOTS, LENGTH, WIDTH)
    assert torch.isfinite(whole).all()
    order = [2, 0, 1]
    turned = sampler(lead[order], conditions[order], start[order], fresh[:, order])
    torch.testing.assert_close(turned, whole[order], atol=1e-5, rtol=0)
    alone = sampler(lead[1:2], conditions[1:2], start[1:2], fresh[:, 1:2])
    torch.testing.assert_close(alone, whole[1:2], atol=1e-5, rtol=0)


def test_a_half_model_keeps_what_is_sampled_in_float32() -> None:
    sampler = MotionSampler(tiny_model().half(), Schedule.of(4))
    _, lead, conditions, _ = model_inputs(SLOTS)
    got = sampler(lead, conditions, *noise(4))
    exact = MotionSampler(tiny_model(), Schedule.of(4))(lead, conditions, *noise(4))
    assert got.dtype == torch.float32
    assert float((got - exact).abs().mean() / exact.abs().mean()) < 5e-3
