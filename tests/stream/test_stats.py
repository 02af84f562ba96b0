import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.stats import DEFAULT_BOUNDS_MS, Histogram

values = st.lists(st.floats(-100, 10_000), max_size=60)
percents = st.one_of(st.sampled_from([0.0, 50.0, 95.0, 99.0, 100.0]), st.floats(0, 100))


def filled(*numbers: float) -> Histogram:
    histogram = Histogram()
    for number in numbers:
        histogram.add(number)
    return histogram


def test_a_value_at_a_bound_belongs_to_that_bound() -> None:
    histogram = Histogram([0, 10])
    for value in (-1, 0, 0.1, 10, 10.1, 1e9):
        histogram.add(value)
    assert histogram.counts == [2, 2, 2]


def test_an_empty_histogram_answers_zero() -> None:
    assert Histogram().percentile(99) == 0.0


def test_percentiles_are_bounds_of_buckets_but_never_above_the_maximum() -> None:
    histogram = filled(*[4.0] * 98, 60.0, 61.0)
    assert (histogram.percentile(50), histogram.percentile(98)) == (5.0, 5.0)
    assert (histogram.percentile(99), histogram.percentile(100)) == (61.0, 61.0)


def test_one_slow_value_in_a_hundred_shows_in_the_tail() -> None:
    assert filled(*[1.0] * 98, *[400.0] * 2).percentile(99) == 400.0
    assert filled(9000.0).percentile(50) == 9000.0


def test_a_percentile_counts_exactly_among_many_values() -> None:
    histogram = filled(*[1.0] * 990, *[400.0] * 10)
    assert (histogram.percentile(99), histogram.percentile(99.1)) == (1.0, 400.0)


def test_early_values_below_zero_keep_an_honest_maximum() -> None:
    histogram = filled(-3.0, -7.0)
    assert histogram.max == -3.0
    assert histogram.percentile(100) == -3.0


@pytest.mark.parametrize("percent", [-0.1, 100.1, float("nan")])
def test_a_percentile_lies_between_0_and_100(percent: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        Histogram().percentile(percent)


@pytest.mark.parametrize("bounds", [[2, 1], [1, 1], [0, 5, 5, 9]])
def test_bounds_must_rise(bounds: list[int]) -> None:
    with pytest.raises(ValueError, match="must rise"):
        Histogram(bounds)


@given(values)
def test_count_sum_and_maximum_are_those_of_the_values(numbers: list[float]) -> None:
    histogram = filled(*numbers)
    assert sum(histogram.counts) == histogram.total == len(numbers)
    assert histogram.sum == pytest.approx(sum(numbers))
    assert histogram.max == max(numbers, default=0.0)
    assert len(histogram.counts) == len(DEFAULT_BOUNDS_MS) + 1


@given(values.filter(bool), percents)
def test_at_least_the_asked_share_lies_at_or_below_a_percentile(numbers: list[float], percent: float) -> None:
    answer = filled(*numbers).percentile(percent)
    assert sum(number <= answer for number in numbers) >= percent / 100 * len(numbers) * (1 - 1e-12)


@given(values.filter(bool), percents)
def test_a_percentile_is_at_most_one_bucket_too_high(numbers: list[float], percent: float) -> None:
    ranked = sorted(numbers)
    exact = ranked[max(0, -int(-percent * len(ranked) // 100) - 1)]
    bound = next((bound for bound in DEFAULT_BOUNDS_MS if exact <= bound), max(numbers))
    assert exact <= filled(*numbers).percentile(percent) <= max(bound, exact)


@given(values, st.lists(percents, min_size=2, max_size=2).map(sorted))
def test_percentiles_rise_with_the_share(numbers: list[float], ends: list[float]) -> None:
    histogram = filled(*numbers)
    assert histogram.percentile(ends[0]) <= histogram.percentile(ends[1])
