"""Hops that travel as one call are those of the stage, step by step, and padding is nobody's."""

import pytest
import torch
from support.motion import normal, stand_in
from torch import Tensor
from visavis.render.ditto.conditions import AUDIO_WIDTH
from visavis.render.ditto.core.motion_sampler import MOST
from visavis.render.ditto.hop_replay import BESIDE, HopReplay
from visavis.render.ditto.hops import HopStage, Turn
from visavis.render.ditto.noise import FrameNoise
from visavis.render.ditto.seams import Hold
from visavis.render.ditto.windows import WindowShape

SHAPE = WindowShape(5, 3)


def sampler(lead: Tensor, conditions: Tensor, start: Tensor, noise: Tensor, *, hold: Hold | None) -> Tensor:
    """Windows that show all that they are sampled from."""
    assert hold is not None
    return hold(stand_in(lead, conditions) + 0.1 * start + 0.1 * noise.sum(0))


def hops(slots: int, device: torch.device | None = None) -> HopReplay:
    stage = HopStage(SHAPE, AUDIO_WIDTH + BESIDE, history=2, leads_on=True, device=device or "cpu")
    made = HopReplay(stage, sampler, FrameNoise(stage, slots=slots + 1, draws=3), slots=slots)
    made.options.anchor.copy_(normal(1, slots + 1, 265))
    for slot in range(slots):
        made.noise.begin(slot, 7 + slot)
    made.warm()
    return made


def begin(one: HopReplay, slots: list[int]) -> None:
    turn = Turn.of([(slot, 0, 0) for slot in slots])
    before = normal(2, len(slots), SHAPE.overlap, AUDIO_WIDTH + BESIDE)
    one.stage.begin(one.state, turn, one.options, before.to(one.stage.device))


def told(window: int, slots: list[int]) -> tuple[Tensor, Tensor]:
    heard = normal(10 + window, MOST + 4, SHAPE.hop, AUDIO_WIDTH)
    return heard[slots], normal(50 + window, MOST + 4, SHAPE.hop, BESIDE)[slots]


def test_hops_are_those_of_the_stage() -> None:
    slots, one, other = [0, 1, 2], hops(3), hops(3)
    for made in (one, other):
        begin(made, slots)
    for window in range(4):
        turn = Turn.of([(slot, window, 0) for slot in slots])
        heard, beside = told(window, slots)
        one(turn, heard, beside)
        other.noise.prepare(turn)
        drawn = other.noise.at(other.stage.where(turn, 4))

        def sample(lead: Tensor, rows: Tensor, hold: Hold, drawn: Tensor = drawn) -> Tensor:
            return sampler(lead, rows, drawn[0], drawn[1:], hold=hold)

        rows = torch.cat((heard, beside), -1)
        after = other.stage.step(other.state, turn, rows, other.options, sample=sample)
        finished = other.stage.windows.finished(after)
        frames = other.stage.leaving(turn)[0] % other.stage.frames
        assert torch.equal(one.motion[:, frames], finished)
        assert torch.equal(one.stage.latest(one.state, turn.next).lead, after.lead)


def test_a_slot_moves_alone_as_it_does_among_more_than_run_at_a_time() -> None:
    slots = list(range(MOST + 2))
    together, alone = hops(len(slots)), hops(len(slots))
    for made in (together, alone):
        begin(made, slots)
    for window in range(2):
        together(Turn.of([(slot, window, 0) for slot in slots]), *told(window, slots))
        for slot in (MOST + 1, 3):
            alone(Turn.of([(slot, window, 0)]), *told(window, [slot]))
    for slot in (MOST + 1, 3):
        assert torch.equal(alone.motion[slot], together.motion[slot])
        assert together.motion[slot].any()


def test_rows_beyond_those_asked_for_are_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a card, where a batch is the next larger one that was captured; fewer are due each time, and what
    was told of the others before does not stay."""
    slots, plain, padded = list(range(4)), hops(4), hops(4)
    run = padded._hop  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(padded._replay, "_function", lambda _: run(MOST))  # pyright: ignore[reportPrivateUsage]
    for made in (plain, padded):
        begin(made, slots)
        for window, count in enumerate((4, 3, 1, 1, 1, 1)):
            some = slots[:count]
            made(Turn.of([(slot, window, 0) for slot in some]), *told(window, some))
    assert torch.equal(padded.motion, plain.motion)
    for name in ("rows", "lead", "windows"):
        latest = [made.stage.latest(made.state, Turn.alone(1, 4)) for made in (plain, padded)]
        assert torch.equal(*(getattr(one, name) for one in latest))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
def test_on_a_card_captured_hops_are_those_that_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than run at a time, then fewer and fewer, and back to an earlier window."""
    slots = list(range(MOST + 2))
    device = torch.device("cuda")
    captured, called = hops(len(slots), device), hops(len(slots), device)
    monkeypatch.setattr(called, "_replay", called._hop)  # pyright: ignore[reportPrivateUsage]
    for made in (captured, called):
        begin(made, slots)
        for window, count in ((0, MOST + 2), (1, 5), (2, 3), (1, 2), (2, 1)):
            some = slots[:count]
            heard, beside = told(window, some)
            made(Turn.of([(slot, window, 0) for slot in some]), heard.to(device), beside)
    assert torch.equal(captured.motion, called.motion)
