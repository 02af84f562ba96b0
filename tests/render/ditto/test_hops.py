"""Slots that are due are moved as one, each can go back, and what a hop made can be had again."""

import pytest
import torch
from support.motion import normal, options, stand_in
from torch import Tensor
from visavis.render.ditto.hops import HopStage, HopState, Turn
from visavis.render.ditto.seams import LENGTH, Hold
from visavis.render.ditto.windows import WindowShape, WindowState

SLOTS, WIDTH = 4, 300
SHAPES = [WindowShape(2, 2), WindowShape(5, 3), WindowShape(10, 10), WindowShape(40, 10), WindowShape(80, 0)]
EACH_SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.hop}-{shape.fuse}")
OPTIONS = options(SLOTS)


def begun(shape: WindowShape, *, history: int = 0, origins: tuple[int, ...] = (0,) * SLOTS):
    stage = HopStage(shape, WIDTH, history=history)
    state = stage.init(SLOTS)
    turn = Turn.of([(slot, 0, origin) for slot, origin in enumerate(origins)])
    stage.begin(state, turn, OPTIONS, normal(40, SLOTS, shape.overlap, WIDTH))
    return stage, state


def stepped(stage: HopStage, state: HopState, turn: Turn, *, seed: int = 0) -> WindowState:
    rows = normal(100 + seed + int(turn.windows[0]), SLOTS, stage.shape.hop, WIDTH)[turn.slots]
    return stage.step(state, turn, rows, OPTIONS, sample=stand_in)


@EACH_SHAPE
def test_a_window_hears_the_rows_of_its_frames_in_order(shape: WindowShape) -> None:
    stage, state = begun(shape, history=2, origins=(0, 7, -3, 1000))
    told = [normal(40, SLOTS, shape.overlap, WIDTH)]
    seen: list[Tensor] = []

    def sample(lead: Tensor, heard: Tensor, hold: Hold) -> Tensor:
        seen.append(heard)
        return stand_in(lead, heard, hold)

    for window in range(5):
        told.append(normal(window, SLOTS, shape.hop, WIDTH))
        turn = Turn.of([(slot, window, origin) for slot, origin in enumerate((0, 7, -3, 1000))])
        stage.step(state, turn, told[-1], OPTIONS, sample=sample)
        assert torch.equal(seen[-1], torch.cat(told, dim=1)[:, -LENGTH:])
        assert (stage.first_frames(turn) + LENGTH - 1 == stage.new_frames(turn)[:, -1]).all()
        assert (stage.leaving(turn) + shape.fuse == stage.new_frames(turn)).all()


@EACH_SHAPE
def test_slots_move_alone_as_they_do_together(shape: WindowShape) -> None:
    stage, state = begun(shape, history=1)
    other_stage, other = begun(shape)
    for window in range(3):
        together = stepped(stage, state, Turn.alone(window, SLOTS))
        for slot in (2, 0, 3, 1):
            alone = stepped(other_stage, other, Turn.of([(slot, window, 0)]))
            assert torch.equal(alone.rows[0], together.rows[slot])
            assert torch.equal(alone.lead[0], together.lead[slot])


@EACH_SHAPE
def test_a_slot_goes_back_as_far_as_is_kept(shape: WindowShape) -> None:
    history = 3
    stage, state = begun(shape, history=history)
    rows = [stepped(stage, state, Turn.alone(window, SLOTS)).rows[1] for window in range(6)]
    stage.latest(state, Turn.alone(6, SLOTS))
    turns = [Turn.of([(1, window, 0)]) for window in range(7)]
    assert torch.equal(stage.latest(state, turns[6 - history]).rows[0], rows[5 - history])
    stepped(stage, state, turns[6 - history], seed=50)
    for window in range(6 - history, 6):
        assert torch.equal(stepped(stage, state, turns[window]).rows[0], rows[window])


@EACH_SHAPE
def test_what_a_hop_made_can_be_had_again(shape: WindowShape) -> None:
    stage, state = begun(shape)
    other_stage, other = begun(shape)
    for window in range(5):
        turn = Turn.alone(window, SLOTS)
        after = stepped(stage, state, turn)
        made = stage.made(state, turn, after)
        if window in (1, 4):
            again = stepped(other_stage, other, turn)
        else:
            again = other_stage.repeat(other, turn, made)
        assert made[0].rows.shape[0] == (shape.kept if not window else shape.hop + shape.fuse)
        assert made[0].nbytes == 4 * (shape.hop * WIDTH + made[0].rows.numel() + 265)
        for name in ("rows", "lead", "first", "windows"):
            assert torch.equal(getattr(again, name), getattr(after, name))


def test_a_turn_is_cut_to_some_of_its_slots() -> None:
    turn = Turn.of([(3, 1, 10), (0, 5, 20), (2, 7, 30)]).at([0, 2])
    assert turn.slots.tolist() == [3, 2]
    assert turn.windows.tolist() == [1, 7]
    assert turn.origins.tolist() == [10, 30]
