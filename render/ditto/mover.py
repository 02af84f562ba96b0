"""Sound to rows of motion for many slots: features, windows of diffusion, and the rows that have settled.

A hop of sound makes one window, and with it as many rows settle as the hop has frames. Sound is heard 80
samples early, as the reference takes it from a file, so that whole ticks are all that a window waits for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...stream.clock import FEATURE_HOP
from . import conditions, features, noise
from .conditions import Character, ConditionState
from .drivers import Cadence
from .features import TAIL_SAMPLES, Chunk, FeatureStage
from .motion import WIDTH
from .networks import Networks
from .sampler import MotionSampler
from .schedule import Schedule
from .windows import LENGTH, WindowOptions, Windows, WindowShape

F32 = NDArray[np.float32]
STEPS: Final = 10


@dataclass(slots=True)
class _Run:
    """A slot's run of frames from 0 on: its `seed`, and how many `windows` it has had."""

    seed: int
    windows: int = 0


class Mover:
    """The stage, with the state of its slots. A slot's motion never depends on the others, save for rounding
    in the networks."""

    def __init__(self, networks: Networks, shape: WindowShape, *, slots: int, steps: int = STEPS) -> None:
        device = networks.device
        self.shape = shape
        self.delay = shape.delay + Chunk().lookahead - 1
        """Ticks of sound that must follow a frame's own before it has settled."""
        self._cadence = Cadence(shape)
        self._networks = networks
        self._features = FeatureStage(networks.audio, features.Cadence(shape.hop))
        self._sampler = MotionSampler(networks.lmdm, Schedule.of(steps))
        self._windows = Windows(shape, device)
        self._steps = steps
        self._sound = self._features.init(slots)
        self._told = ConditionState.init(slots, device=device)
        self._state = self._windows.init(slots)
        self._options = WindowOptions.plain(torch.zeros(slots, WIDTH, device=device))
        self._heard = torch.zeros(slots, LENGTH, conditions.Parts().width, device=device)
        self._noise = torch.zeros(steps, slots, LENGTH, WIDTH, device=device)
        self._window = torch.zeros(slots, LENGTH, WIDTH, device=device)
        self._settled = torch.zeros(slots, 2 * (self.delay + shape.hop), WIDTH, device=device)
        """Frame n at n modulo its length."""
        self._runs: dict[int, _Run] = {}
        self._silence: Tensor | None = None

    def warm(self) -> None:
        """Hear the silence that comes before every session."""
        if self._silence is None:
            chunk = Chunk()
            once = features.offline(self._networks.audio, _silence(chunk.payload * FEATURE_HOP), chunk)
            self._silence = once.to(self._networks.device)

    def open(self, slot: int, character: Character, *, seed: int) -> None:
        """Begin a run of `slot` in silence, from the character's own motion."""
        self._told.set_character(slot, character)
        self._told.set_emotion(slot, conditions.NEUTRAL)
        self.restart(slot, self._told.start[slot], seed=seed)

    @torch.no_grad()
    def restart(self, slot: int, lead: Tensor, *, seed: int) -> None:
        """Begin a run that follows the row of motion `lead` (265,)."""
        self.warm()
        assert self._silence is not None
        self._runs[slot] = _Run(seed)
        self._features.reset(self._sound, [slot])
        self._features.push(self._sound, slot, _silence(TAIL_SAMPLES))
        self._options.anchor[slot] = lead
        self._windows.reset(self._state, self._options, self._flags([slot]))
        before = self.shape.overlap
        heard = self._silence.repeat(-(-before // len(self._silence)), 1)[:before]
        self._heard[slot, self.shape.hop :] = self._rows([slot], heard[None], first=-before)[0]
        self._noise[:, slot, self.shape.hop :] = self._drawn(slot, -before, before)

    @torch.no_grad()
    def hear(self, sound: Sequence[tuple[int, F32]]) -> list[int]:
        """Take one tick (640,) of each slot. The slots whose first window has just been made."""
        for slot, samples in sound:
            taken = self._features.push(self._sound, slot, samples)
            assert taken == len(samples), "every tick takes all hops that it makes due"
        begun: list[int] = []
        while due := self._features.due(self._sound):
            begun += [slot for slot in due if not self._runs[slot].windows]
            self._hop(due)
        return begun

    def settled(self, slot: int, frame: int) -> Tensor:
        """The row of motion (265,) of `frame` of this run, `delay` ticks old or a little more."""
        return self._settled[slot, frame % self._settled.shape[1]]

    def rest(self, slot: int) -> Tensor:
        """The row of motion (265,) of the character itself."""
        return self._told.start[slot]

    def first(self, slot: int) -> Tensor:
        """The row of motion (265,) that the first window of this run begins with."""
        return self._options.bounded(self._state.first[slot, None, None])[0, 0]

    def close(self, slot: int) -> None:
        """Forget `slot`."""
        del self._runs[slot]
        self._features.reset(self._sound, [slot])

    def _hop(self, slots: list[int]) -> None:
        """One window of each of `slots`."""
        hop, at = self.shape.hop, torch.tensor(slots, device=self._networks.device)
        heard, _ = self._features.step(self._sound, slots)
        firsts = [self._runs[slot].windows * hop for slot in slots]
        fresh = torch.stack(
            [self._drawn(slot, first, hop) for slot, first in zip(slots, firsts, strict=True)], 1
        )
        rows = torch.cat(
            [
                self._rows([slot], one[None], first=first)
                for slot, one, first in zip(slots, heard.to(at.device), firsts, strict=True)
            ]
        )
        self._heard[at] = torch.cat((self._heard[at, hop:], rows), dim=1)
        self._noise[:, at] = torch.cat((self._noise[:, at, hop:], fresh), dim=2)
        seen = self._noise[:, at]
        self._window[at] = self._sampler(self._state.lead[at], self._heard[at], seen[0], seen[1:])
        self._windows.step(self._state, self._window, self._options, self._flags(slots))
        finished = self._options.bounded(self._windows.finished(self._state))
        for slot in slots:
            run = self._runs[slot]
            for row, frame in enumerate(self._cadence.leaving(run.windows)):
                if frame >= 0:
                    self._settled[slot, frame % self._settled.shape[1]] = finished[slot, row]
            run.windows += 1

    def _rows(self, slots: list[int], heard: Tensor, *, first: int) -> Tensor:
        """Condition rows (k, T, 1103) of features (k, T, 1024), of frames from `first` on."""
        told = ConditionState(*(getattr(self._told, field.name)[slots] for field in fields(self._told)))
        begin = torch.full((len(slots),), first, device=heard.device)
        return conditions.rows(told, heard, conditions.window(begin, heard.shape[1]))

    def _drawn(self, slot: int, first: int, frames: int) -> Tensor:
        """Noise (steps, frames, 265) of `slot`."""
        return noise.draw(self._runs[slot].seed, first, frames, self._steps).to(self._networks.device)

    def _flags(self, slots: list[int]) -> Tensor:
        """(B,) bool, true at `slots`."""
        found = torch.zeros(len(self._state.lead), dtype=torch.bool, device=self._networks.device)
        found[slots] = True
        return found


def _silence(samples: int) -> F32:
    return np.zeros(samples, np.float32)
