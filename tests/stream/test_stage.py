from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.clock import Rate
from visavis.stream.stage import StageSpec, pipeline_latency

SAMPLES = Rate(Fraction(16_000))
FRAMES = Rate(Fraction(25))

specs = st.builds(
    lambda rate, hop, context, lookahead: StageSpec(Rate(rate), hop + context, hop, lookahead),
    st.fractions(min_value=1, max_value=48_000, max_denominator=1001),
    st.integers(1, 4000),
    st.integers(0, 4000),
    st.integers(0, 4000),
)


def test_latency_is_one_hop_and_the_lookahead_in_exact_seconds() -> None:
    assert StageSpec(SAMPLES, window=640, hop=640, lookahead=1920).latency == Fraction(4, 25)
    assert StageSpec(FRAMES, window=80, hop=10).latency == Fraction(2, 5)
    assert StageSpec(Rate(Fraction(30_000, 1001)), window=1, hop=1).latency == Fraction(1001, 30_000)


def test_past_context_in_the_window_costs_no_latency() -> None:
    spec = StageSpec(SAMPLES, window=640, hop=640)
    assert replace(spec, window=6480).latency == spec.latency


def test_stages_at_different_rates_add_up_in_seconds() -> None:
    stages = [StageSpec(SAMPLES, window=640, hop=640), StageSpec(FRAMES, window=3, hop=1, lookahead=2)]
    assert pipeline_latency(stages) == Fraction(4, 25)


def test_no_stages_cost_nothing() -> None:
    assert pipeline_latency([]) == Fraction(0)


@given(st.lists(specs, max_size=6))
def test_the_order_of_stages_does_not_change_their_latency(stages: list[StageSpec]) -> None:
    assert pipeline_latency(reversed(stages)) == sum(stage.latency for stage in stages)


@pytest.mark.parametrize(
    ("window", "hop", "lookahead"), [(1, 0, 0), (3, 4, 0), (4, 4, -1), (0, 0, 0), (-1, -1, 0)]
)
def test_impossible_stages_are_refused(window: int, hop: int, lookahead: int) -> None:
    with pytest.raises(ValueError, match="1 <= hop <= window"):
        StageSpec(SAMPLES, window=window, hop=hop, lookahead=lookahead)
