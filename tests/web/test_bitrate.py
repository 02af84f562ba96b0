import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.web.bitrate import FLOOR_BPS, Estimate, nominal_bps, worth_changing

NOMINAL = 2_500_000


def test_heavy_loss_lowers_the_estimate_and_light_loss_holds_it() -> None:
    estimate = Estimate(NOMINAL)
    estimate.lost(0.3)
    fallen = estimate.bps
    assert fallen == pytest.approx(NOMINAL * 0.85)
    estimate.lost(0.05)
    assert estimate.bps == fallen


def test_it_recovers_slowly_without_loss_and_never_beyond_the_nominal() -> None:
    estimate = Estimate(NOMINAL)
    estimate.lost(0.5)
    seen = [estimate.bps]
    for _ in range(20):
        estimate.lost(0.0)
        seen.append(estimate.bps)
    assert seen[1] < seen[0] * 1.06
    assert seen[-1] == NOMINAL


def test_a_receivers_ceiling_counts_only_when_more_than_it_is_sent() -> None:
    estimate = Estimate(NOMINAL)
    estimate.ceiling(600_000, sent_bps=300_000)
    assert estimate.bps == NOMINAL
    estimate.ceiling(600_000, sent_bps=2_000_000)
    assert estimate.bps == 600_000


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1), st.integers(0, 10**7)), max_size=60))
def test_it_stays_between_floor_and_nominal(reports: list[tuple[bool, float, int]]) -> None:
    estimate = Estimate(NOMINAL)
    for is_loss, fraction, bps in reports:
        if is_loss:
            estimate.lost(fraction)
        else:
            estimate.ceiling(bps, sent_bps=NOMINAL)
        assert FLOOR_BPS <= estimate.bps <= NOMINAL


def test_larger_pictures_get_more_bits() -> None:
    assert nominal_bps(512, 512) < nominal_bps(720, 1280) < nominal_bps(1080, 1920)
    assert 2_300_000 < nominal_bps(720, 1280) < 2_700_000


@pytest.mark.parametrize(("wanted", "worth"), [(950, False), (1_050, False), (850, True), (1_150, True)])
def test_small_changes_are_not_worth_it(wanted: int, worth: bool) -> None:
    assert worth_changing(1_000, wanted) is worth
