import pytest
import torch
from support.motion import normal
from visavis.render.ditto.motion import WIDTH
from visavis.render.ditto.seams import LENGTH, Blend, LedOn

SLOTS = 3
HOP, FUSE = 5, 4
LEFT = LENGTH - HOP - FUSE
FOLLOWS = torch.tensor([True, False, True])


def test_a_blend_goes_evenly_from_old_to_new() -> None:
    old, new = torch.zeros(1, LENGTH, WIDTH), torch.ones(1, LENGTH, WIDTH)
    share = Blend(HOP, FUSE).join(old, new)[0, :, 0]
    assert share[: LEFT + 1].eq(0).all()
    assert share[LEFT : LEFT + FUSE].tolist() == [0, 0.25, 0.5, 0.75]
    assert share[LEFT + FUSE :].eq(1).all()


def test_a_blend_of_no_rows_is_a_cut_and_holds_nothing() -> None:
    seam, old, new = Blend(HOP, 0), torch.zeros(1, LENGTH, WIDTH), torch.ones(1, LENGTH, WIDTH)
    assert seam.join(old, new)[0, :, 0].tolist() == [0.0] * (LENGTH - HOP) + [1.0] * HOP
    assert seam.hold(old, FOLLOWS)(new) is new


def test_rows_that_have_left_are_what_the_sampler_sees_of_them() -> None:
    old, estimates = normal(1, SLOTS, LENGTH, WIDTH), normal(2, SLOTS, LENGTH, WIDTH)
    held = LedOn(HOP, FUSE).hold(old, FOLLOWS)(estimates)
    assert torch.equal(held[FOLLOWS, :LEFT], old[FOLLOWS, :LEFT])
    assert torch.equal(held[~FOLLOWS], estimates[~FOLLOWS])
    off = (old - estimates)[FOLLOWS, LEFT - 1 : LEFT]
    moved = (held - estimates)[FOLLOWS, LEFT:]
    torch.testing.assert_close(moved[:, 2:3], off / torch.e, atol=1e-5, rtol=0)
    assert (moved[:, 1:].abs() <= moved[:, :-1].abs()).all()


def test_an_estimate_that_agrees_is_left_as_it_is() -> None:
    same = normal(1, SLOTS, LENGTH, WIDTH)
    seam = LedOn(HOP, FUSE)
    assert torch.equal(seam.hold(same, FOLLOWS)(same), same)
    assert torch.equal(seam.join(same, same), same)


def test_a_window_goes_on_in_place_and_in_speed() -> None:
    """Two straight lines, one of which has been left: the way from one to the other has no corner."""
    rows = torch.arange(LENGTH, dtype=torch.float32)[:, None].expand(1, LENGTH, WIDTH)
    joined = LedOn(HOP, FUSE).join(rows, torch.full_like(rows, LEFT - 2))[0, :, 0]
    assert joined[:LEFT].tolist() == list(range(LEFT))
    assert float(joined[LEFT]) == pytest.approx(LEFT, abs=0.35)
    assert float(joined.diff(n=2).abs().max()) < 0.6


@pytest.mark.parametrize(("hop", "fuse"), [(40, 39), (79, 0), (70, 10)])
def test_two_rows_must_have_left(hop: int, fuse: int) -> None:
    with pytest.raises(ValueError, match="fewer than two rows"):
        LedOn(hop, fuse)
