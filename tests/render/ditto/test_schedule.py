from itertools import pairwise

import numpy as np
import pytest
import torch
from visavis.render.ditto.schedule import Schedule, check_steps, step_times, tables
from visavis.stream.errors import UsageError


def test_step_numbers_are_those_of_a_float32_spacing() -> None:
    for count in range(1, 1001):
        spaced = torch.linspace(-1, 999, count + 1, dtype=torch.float32).int().tolist()
        assert list(step_times(count)) == spaced[::-1], count


@pytest.mark.parametrize(
    ("count", "times"),
    [(1, (999, -1)), (3, (999, 665, 332, -1)), (5, (999, 799, 599, 399, 199, -1))],
)
def test_step_numbers_go_down_from_the_noisiest(count: int, times: tuple[int, ...]) -> None:
    assert step_times(count) == times
    assert Schedule.of(count).times == times[:-1]


@pytest.mark.parametrize("count", [0, 1001, -5])
def test_there_are_no_more_steps_than_were_trained(count: int) -> None:
    with pytest.raises(ValueError, match="1 to 1000"):
        step_times(count)


@pytest.mark.parametrize(("count", "first"), [(5, 1.456e-4), (10, 3.099e-4), (50, 1.5799e-3)])
def test_the_first_coefficient_does_not_cancel(count: int, first: float) -> None:
    assert Schedule.of(count).steps[0].noise == pytest.approx(first, rel=2e-4)


@pytest.mark.parametrize("count", [2, 5, 10, 50, 100, 1000])
def test_the_noise_after_a_step_has_the_power_that_the_next_step_expects(count: int) -> None:
    steps = Schedule.of(count).steps
    for step, following in pairwise(steps):
        kept = float(tables().kept[following.time])
        assert step.clean**2 == pytest.approx(kept)
        assert step.noise**2 + step.fresh**2 == pytest.approx(1 - kept)


def test_the_last_step_ends_with_the_estimate() -> None:
    last = Schedule.of(10).steps[-1]
    assert (last.clean, last.noise, last.fresh) == (1, 0, 0)


def test_tables_are_float32_and_end_with_next_to_nothing_kept() -> None:
    found = tables()
    assert {found.kept.dtype, found.of_noisy.dtype, found.of_clean.dtype} == {np.dtype(np.float32)}
    assert float(found.kept[999]) == pytest.approx(2.4287e-9, rel=1e-4)
    assert (np.diff(found.kept) < 0).all()
    assert np.isfinite(found.of_noisy).all()
    assert np.isfinite(found.of_clean).all()


@pytest.mark.parametrize("count", [4, 10, 50])
def test_users_may_ask_for_4_to_50_steps(count: int) -> None:
    assert check_steps(count) == count


@pytest.mark.parametrize("count", [-1, 0, 3, 51])
def test_other_counts_are_refused_with_what_would_do(count: int) -> None:
    with pytest.raises(UsageError, match=f"4 to 50 steps, not {count}; 10"):
        check_steps(count)
