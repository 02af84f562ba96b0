import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.chance import BLOCK, Chance, seed_for

seeds = st.integers(0, 2**63)


@given(seeds, st.integers(-(10**9), 10**9), st.sampled_from([7.0, 83.0]))
def test_noise_is_the_same_whenever_it_is_asked_for(seed: int, index: int, period: float) -> None:
    first = Chance(seed)
    first.noise("a", index + 1000, period)
    assert first.noise("a", index, period) == Chance(seed).noise("a", index, period)


def test_channels_and_seeds_have_noises_of_their_own() -> None:
    rows = [
        [chance.noise(channel, index, 5.0) for index in range(400)]
        for chance in (Chance(1), Chance(2))
        for channel in ("a", "b")
    ]
    assert np.abs(np.corrcoef(rows) - np.eye(4)).max() < 0.35


def test_noise_is_smooth_across_every_block_of_points() -> None:
    values = np.array([Chance(4).noise("a", index, 9.0) for index in range(-200, 9 * BLOCK * 3)])
    assert np.abs(values).max() <= 2
    assert 0.4 < values.std() < 1
    assert np.abs(np.diff(values, 2)).max() < 0.1


@given(seeds, st.floats(0.5, 8), st.floats(0, 0.9))
def test_gaps_of_a_block_last_the_block(seed: int, shape: float, shortest: float) -> None:
    gaps = Chance(seed).gaps(np.random.default_rng(seed), shape=shape, shortest=shortest)
    assert len(gaps) == BLOCK
    assert sum(gaps) == pytest.approx(BLOCK)
    assert min(gaps) >= shortest - 1e-9


@given(seeds)
def test_names_turn_one_seed_into_different_ones(seed: int) -> None:
    assert seed_for(seed, "ruby") == seed_for(seed, "ruby")
    assert seed_for(seed, "ruby") != seed_for(seed, "marcus")
    assert 0 <= seed_for(seed, "x" * 200) < 2**64
    assert seed_for(seed, "ruby") != seed_for(seed + 1, "ruby")
