from dataclasses import dataclass, field

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.motion import normal, options
from torch import Tensor
from visavis.render.ditto.motion import RIGID, WIDTH
from visavis.render.ditto.seams import LENGTH
from visavis.render.ditto.windows import WindowOptions, Windows, WindowShape

SLOTS = 4
few = settings(deadline=None, max_examples=30)


@st.composite
def shapes(draw: st.DrawFn, last_hop: int = LENGTH) -> WindowShape:
    hop = draw(st.integers(1, last_hop))
    return WindowShape(hop, draw(st.integers(0, LENGTH - hop)), draw(st.integers(0, 7)))


@dataclass
class ByHand:
    """All slots in step as the rules have it, row by row, with all rows (B, L, 265) kept."""

    shape: WindowShape
    options: WindowOptions
    rows: Tensor = field(default_factory=lambda: torch.zeros(SLOTS, 0, WIDTH))
    windows: int = 0

    def take(self, window: Tensor) -> Tensor:
        """The next leads (B, 265)."""
        hop, fuse, overlap = self.shape.hop, self.shape.fuse, self.shape.overlap
        if not self.windows:
            self.rows = window.clone()
            self.smooth(range(LENGTH))
        else:
            for j in range(fuse):
                old = self.rows.shape[1] - fuse + j
                share = j / fuse
                self.rows[:, old] = self.rows[:, old] * (1 - share) + window[:, overlap - fuse + j] * share
            self.rows = torch.cat((self.rows, window[:, overlap:]), dim=1)
            length = self.rows.shape[1]
            self.smooth(range(length - hop - fuse, length - hop + 1))
        self.windows += 1
        leads = self.rows[:, self.rows.shape[1] - overlap - 1].clone()
        for slot, every in enumerate(self.options.fix_every.tolist()):
            if every and self.windows % every == 0:
                anchor = self.options.anchor[slot]
                leads[slot] = torch.where(self.options.follow[slot], leads[slot], anchor)
        return leads

    def smooth(self, which: range) -> None:
        reach, before = max(self.shape.smooth, 1) // 2, self.rows.clone()
        for i in which:
            self.rows[:, i, RIGID] = before[:, max(0, i - reach) : i + reach + 1, RIGID].mean(1)


def windows_of(count: int, slots: int = SLOTS) -> list[Tensor]:
    return list(normal(20, count, slots, LENGTH, WIDTH))


def fresh(shape: WindowShape, given: WindowOptions):
    stage, slots = Windows(shape), len(given.anchor)
    state = stage.init(slots)
    stage.reset(state, given, torch.ones(slots, dtype=torch.bool))
    return stage, state


EVERYONE = torch.ones(SLOTS, dtype=torch.bool)


@given(shapes())
@few
def test_windows_are_joined_by_the_rules(shape: WindowShape) -> None:
    given_options = options(SLOTS)
    stage, state = fresh(shape, given_options)
    hand = ByHand(shape, given_options)
    for window in windows_of(3):
        stage.step(state, window, given_options, EVERYONE)
        lead = hand.take(window)
        kept = min(shape.kept, hand.rows.shape[1])
        torch.testing.assert_close(state.rows[:, -kept:], hand.rows[:, -kept:], atol=1e-6, rtol=0)
        torch.testing.assert_close(state.lead, lead, atol=1e-6, rtol=0)
    assert state.windows.tolist() == [3] * SLOTS
    again = ByHand(shape, given_options)
    again.take(windows_of(3)[0])
    torch.testing.assert_close(state.first, again.rows[:, 0], atol=1e-6, rtol=0)


@given(shapes())
@few
def test_what_is_finished_comes_in_order_and_never_changes(shape: WindowShape) -> None:
    given_options = options(SLOTS)
    stage, state = fresh(shape, given_options)
    hand, out = ByHand(shape, given_options), list[Tensor]()
    for window in windows_of(4):
        stage.step(state, window, given_options, EVERYONE)
        out.append(stage.finished(state).clone())
        hand.take(window)
    # Frame 0 is row `overlap`; rows before the first sound may be from before the first window.
    begin = shape.overlap - shape.fuse
    rows = torch.cat(out, dim=1)
    torch.testing.assert_close(rows, hand.rows[:, begin : begin + rows.shape[1]], atol=1e-6, rtol=0)


@given(st.permutations(range(SLOTS)), st.lists(st.lists(st.booleans(), min_size=4, max_size=4), max_size=6))
@few
def test_slots_may_be_in_any_order_and_move_only_when_active(
    order: list[int], turns: list[list[bool]]
) -> None:
    shape, given_options = WindowShape(5, 5), options(SLOTS)
    turned = WindowOptions(
        given_options.anchor[order],
        given_options.fix_every[order],
        given_options.follow[order],
        given_options.low[order],
        given_options.high[order],
    )
    stage, state = fresh(shape, given_options)
    _, other = fresh(shape, turned)
    plain = WindowOptions.plain(given_options.anchor[2:3])
    _, solo = fresh(shape, plain)
    for window, turn in zip(windows_of(6), turns, strict=False):
        active = torch.tensor(turn)
        resting = {slot: state.rows[slot].clone() for slot in range(SLOTS) if not turn[slot]}
        stage.step(state, window, given_options, active)
        stage.step(other, window[order], turned, active[order])
        for slot, rows in resting.items():
            assert torch.equal(state.rows[slot], rows)
        if turn[2]:
            stage.step(solo, window[2:3], plain, EVERYONE[:1])
    assert torch.equal(other.rows, state.rows[order])
    assert torch.equal(other.lead, state.lead[order])
    assert torch.equal(other.windows, state.windows[order])
    # Slot 2 is led back after each second window, which only its lead shows: here windows do not follow it.
    assert torch.equal(solo.rows[0], state.rows[2])


def test_a_slot_that_begins_again_is_as_new_and_others_go_on() -> None:
    shape, given_options = WindowShape(10, 10), options(SLOTS)
    stage, state = fresh(shape, given_options)
    first, second, third = windows_of(3)
    stage.step(state, first, given_options, EVERYONE)
    stage.step(state, second, given_options, EVERYONE)
    kept = state.rows[0].clone()
    stage.reset(state, given_options, torch.tensor([False, True, False, False]))
    assert torch.equal(state.rows[0], kept)
    assert torch.equal(state.lead[1], given_options.anchor[1])
    stage.step(state, third, given_options, EVERYONE)
    stage2, new = fresh(shape, given_options)
    stage2.step(new, third, given_options, EVERYONE)
    assert torch.equal(state.rows[1], new.rows[1])
    assert torch.equal(state.first[1], new.first[1])
    assert state.windows.tolist() == [3, 1, 3, 3]


def test_what_an_idle_slot_is_given_does_no_harm() -> None:
    shape, given_options = WindowShape(2, 2), options(SLOTS)
    stage, state = fresh(shape, given_options)
    window, active = windows_of(1)[0], torch.tensor([True, False, True, True])
    window[1] = torch.nan
    stage.step(state, window, given_options, active)
    stage.step(state, window, given_options, active)
    for tensor in (state.rows, state.lead, state.first):
        assert torch.isfinite(tensor).all()


def test_bounds_hold_for_what_is_unpacked_only() -> None:
    shape, given_options = WindowShape(10, 10, 1), options(SLOTS)
    stage, state = fresh(shape, given_options)
    window = windows_of(1)[0]
    stage.step(state, window, given_options, EVERYONE)
    rows = stage.finished(state)
    assert torch.equal(rows, window[:, 60:70])
    bounded = given_options.bounded(rows)
    assert (bounded <= given_options.high[:, None]).all()
    assert (bounded >= given_options.low[:, None]).all()
    inside = (rows < given_options.high[:, None]) & (rows > given_options.low[:, None])
    assert torch.equal(bounded[inside], rows[inside])
    assert torch.equal(WindowOptions.plain(given_options.anchor).bounded(rows), rows)


def test_a_state_is_written_in_place() -> None:
    stage, state = fresh(WindowShape(10, 10), options(SLOTS))
    places = [getattr(state, name).data_ptr() for name in ("rows", "lead", "first", "windows")]
    for window in windows_of(2):
        stage.step(state, window, options(SLOTS), EVERYONE)
    stage.reset(state, options(SLOTS), EVERYONE)
    assert places == [getattr(state, name).data_ptr() for name in ("rows", "lead", "first", "windows")]


@pytest.mark.parametrize(("hop", "fuse"), [(0, 0), (81, 0), (10, 71), (10, -1), (-3, 1)])
def test_windows_that_cannot_lie_so_are_refused(hop: int, fuse: int) -> None:
    with pytest.raises(ValueError, match="not"):
        WindowShape(hop, fuse)


def test_the_delay_is_a_hop_and_the_seam() -> None:
    assert WindowShape(2, 2).delay == 4
    assert WindowShape(10, 10).delay == 20


def test_slots_are_taken_out_and_put_elsewhere() -> None:
    stage, state = fresh(WindowShape(10, 10), options(SLOTS))
    stage.step(state, windows_of(1)[0], options(SLOTS), EVERYONE)
    other = stage.init(SLOTS)
    other.put(torch.tensor([0, 3]), state.taken(torch.tensor([2, 1])))
    for name in ("rows", "lead", "first", "windows"):
        mine, theirs = getattr(state, name), getattr(other, name)
        assert torch.equal(theirs[[0, 3]], mine[[2, 1]])
        assert not theirs[[1, 2]].any()
    own = options(SLOTS).at(torch.tensor([3, 1]))
    assert torch.equal(own.anchor, options(SLOTS).anchor[[3, 1]])
    assert torch.equal(own.fix_every, options(SLOTS).fix_every[[3, 1]])
