"""A hop of the slots that are due, from features to rows of motion that have settled: on a GPU one replay.

What the host knows of a hop travels as one copy. Rows of a batch beyond those asked for belong to a slot of
their own, which nobody has.
"""

from dataclasses import fields
from typing import Final, Protocol

import torch
from torch import Tensor

from . import conditions
from .conditions import AUDIO_WIDTH
from .core.lane import FIRST
from .core.mirror import Mirror, sent
from .core.motion_sampler import MOST
from .core.replay import Replay
from .hops import HopStage, Turn, Where
from .motion import WIDTH
from .seams import Hold
from .windows import WindowOptions

BESIDE: Final = conditions.Parts().width - AUDIO_WIDTH
"""Columns of a condition row that are not of the sound."""


class Noise(Protocol):
    """What windows begin as, and what the steps of their diffusion add."""

    def begin(self, slot: int, seed: int) -> None:
        """`slot` begins a run."""
        ...

    def prepare(self, turn: Turn) -> None:
        """Draw what the windows of `turn` need."""
        ...

    def at(self, where: Where) -> Tensor:
        """(draws, k, 80, 265) float32 of the windows that were prepared and are read there: `draw`'s rows.
        Nothing of it is on the host."""
        ...


class Sampler(Protocol):
    """`MotionSampler`, or what does the same."""

    def __call__(
        self, lead: Tensor, conditions: Tensor, start: Tensor, noise: Tensor, *, hold: Hold | None = None
    ) -> Tensor: ...


class HopReplay:
    """The windows of all slots, with what they carry. For one thread."""

    def __init__(
        self, stage: HopStage, sampler: Sampler, noise: Noise, *, slots: int, eager: bool = False
    ) -> None:
        """The `noise` of slots is that of one more. `eager` as `Replay` takes it."""
        device = stage.device
        self.stage, self.noise, self._sampler = stage, noise, sampler
        self.state = stage.init(slots + 1)
        self.options = WindowOptions.plain(torch.zeros(slots + 1, WIDTH, device=device))
        self._rows = torch.zeros(slots + 1, stage.frames, WIDTH, device=device)
        self.motion = self._rows[:slots]
        """The rows of each slot that have settled, of frame f at f modulo their number."""
        self._nobody = stage.where(Turn.of([(slots, 0, 0)] * MOST), slots + 1)
        layout = {one.name: getattr(self._nobody, one.name) for one in fields(Where)}
        beside = torch.zeros(MOST, stage.shape.hop, BESIDE)
        self._told = Mirror(layout | {"beside": beside}, device)
        self._where = Where(**{name: self._told.device[name] for name in layout})
        self._heard = torch.zeros(MOST, stage.shape.hop, AUDIO_WIDTH, device=device)
        self._replay = Replay(self._hop, device, priority=FIRST, eager=eager)

    def warm(self) -> None:
        """Compile and capture all that a hop runs."""
        self._replay.capture()

    @torch.no_grad()
    def __call__(self, turn: Turn, heard: Tensor, beside: Tensor) -> None:
        """Move the slots of `turn` on by a window that hears the features `heard` (k, hop, 1024), and is told
        `beside` (k, hop, 79) in the host's memory."""
        for first in range(0, len(turn.slots), MOST):
            some = slice(first, first + MOST)
            self._some(turn.at(range(*some.indices(len(turn.slots)))), heard[some], beside[some])

    def _some(self, turn: Turn, heard: Tensor, beside: Tensor) -> None:
        count, host = len(heard), self._told.host
        where = self.stage.where(turn, len(self._rows))
        for one in fields(Where):
            host[one.name][:count] = getattr(where, one.name)
            host[one.name][count:] = getattr(self._nobody, one.name)[count:]
        host["beside"][:count] = beside
        self.noise.prepare(turn)
        self._heard[:count] = sent(heard, self._heard.device)
        self._told.send()
        self._replay(count)

    def settle(self, slots: Tensor, leaving: Tensor, finished: Tensor) -> None:
        """Rows of motion (k, hop, 265) of `slots` have `finished`, and are kept at `leaving` (k, hop)."""
        self._rows[slots[:, None], leaving] = self.options.at(slots).bounded(finished)

    @torch.no_grad()
    def _hop(self, count: int) -> None:
        where = self._where.at(count)
        rows = torch.cat((self._heard[:count], self._told.device["beside"][:count]), -1)

        def sample(lead: Tensor, told: Tensor, hold: Hold) -> Tensor:
            drawn = self.noise.at(where)
            return self._sampler(lead, told, drawn[0], drawn[1:], hold=hold)

        after = self.stage.move(self.state, where, rows, self.options, sample=sample)
        self.settle(where.slots, where.leaving, self.stage.windows.finished(after))
