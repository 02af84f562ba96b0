import hashlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from support.motion import model_inputs, results, tiny_model
from torch import Tensor
from visavis.render.ditto.lmdm import GUIDANCE, MotionDecoder, time_embedding

LAYOUT = "34c24c0b398f7ddd3e4d56d32149c7003529ad423bed8e0093ceb2a2bef684aa"
"""SHA-256 of the sorted lines `key (shape)` of the official file."""
TINY = Path(__file__).parents[2] / "golden/tiny/motion.npz"
"""Made by `PYTHONPATH=tests python -m support.motion tests/golden/tiny/motion.npz`."""


@cache
def model() -> MotionDecoder:
    return tiny_model()


def test_the_official_file_fits_the_official_size() -> None:
    with torch.device("meta"):
        layout = MotionDecoder().state_dict()
    lines = sorted(f"{key} {tuple(value.shape)}" for key, value in layout.items())
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == LAYOUT


def test_forward_never_asks_for_a_value() -> None:
    """Nothing on the meta device has one, and nothing of another device may meet it."""
    with torch.device("meta"):
        official = MotionDecoder()
    inputs = [value.to("meta") for value in model_inputs(5)]
    assert official(*inputs).shape == (5, 80, 265)


def test_tiny_results_are_those_of_the_code_that_was_right_at_full_size() -> None:
    with np.load(TINY) as expected:
        found = results()
        assert set(expected) == set(found)
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, atol=2e-5, rtol=0, err_msg=name)


def test_a_batch_is_its_rows_and_may_be_in_any_order() -> None:
    inputs = model_inputs(4)
    whole = model()(*inputs)
    order = [2, 0, 3, 1]
    torch.testing.assert_close(model()(*(value[order] for value in inputs)), whole[order], atol=1e-5, rtol=0)
    for row in range(4):
        alone = model()(*(value[row : row + 1] for value in inputs))
        torch.testing.assert_close(alone, whole[row : row + 1], atol=1e-5, rtol=0)


def test_what_is_made_ahead_for_all_steps_is_what_each_step_makes() -> None:
    noisy, lead, conditions, _ = model_inputs(3)
    times = torch.tensor([999, 499, 19])
    ahead, encoded = model().moments(times), model().encode(conditions)
    for index, time in enumerate(times):
        got = model().step(noisy, lead, encoded, ahead.at(index))
        torch.testing.assert_close(got, model()(noisy, lead, conditions, time.expand(3)), atol=1e-5, rtol=0)


def test_guidance_goes_beyond_the_conditional_estimate() -> None:
    noisy, lead, conditions, times = model_inputs(2)
    encoded, moments = model().encode(conditions), model().moments(times)
    unconditional, conditional = model().branches(noisy, lead, encoded, moments)
    guided = model().step(noisy, lead, encoded, moments)
    assert GUIDANCE == 2
    torch.testing.assert_close(guided, 2 * conditional - unconditional)
    assert (conditional - unconditional).abs().max() > 1e-3


def test_the_unconditional_branch_hears_nothing() -> None:
    noisy, lead, conditions, times = model_inputs(2)

    def unconditional(heard: Tensor) -> Tensor:
        return model().branches(noisy, lead, model().encode(heard), model().moments(times))[0]

    assert torch.equal(unconditional(conditions), unconditional(conditions.flip(1)))


@pytest.mark.parametrize(("dtype", "allowed"), [(torch.float16, 3e-3), (torch.bfloat16, 2e-2)])
def test_a_half_model_takes_and_gives_float32(dtype: torch.dtype, allowed: float) -> None:
    inputs = model_inputs(2)
    whole, got = model()(*inputs), tiny_model().to(dtype)(*inputs)
    assert got.dtype == torch.float32
    assert float((got - whole).abs().mean() / whole.abs().mean()) < allowed


def test_time_is_told_in_full_precision() -> None:
    first, last = time_embedding(torch.tensor([1, 999]), 512)
    assert float(first[0]) == pytest.approx(np.sin(1), abs=1e-6)
    assert float(first[256]) == pytest.approx(np.cos(1), abs=1e-6)
    assert float(last[255]) == pytest.approx(np.sin(999e-4), abs=1e-6)
    assert float(last[1]) == pytest.approx(np.sin(999 * 10000 ** (-1 / 255)), abs=1e-4)


def test_it_can_be_exported_with_any_batch() -> None:
    batch = torch.export.Dim("batch", min=1, max=16)
    shapes = {name: {0: batch} for name in ("noisy", "lead", "conditions", "times")}
    program = torch.export.export(model(), model_inputs(3), dynamic_shapes=shapes)
    inputs = model_inputs(5)
    torch.testing.assert_close(program.module()(*inputs), model()(*inputs), atol=1e-5, rtol=0)
