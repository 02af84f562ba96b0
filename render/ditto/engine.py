"""The `ditto` engine: hears 40 ms a tick; the networks draw each frame once its motion has settled."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...stream.chance import seed_for
from ...stream.clock import FEATURE_HOP, FEATURE_HZ, Rate
from ...stream.controls import Controls
from ...stream.easing import hermite
from ...stream.errors import AvatarError, UsageError
from ...stream.stage import StageSpec
from ..avatar import Avatar
from ..engine import Crop, Due
from .checkpoints import parse_source
from .conditions import Character
from .controls import Following
from .motion import Motion, Source
from .mover import STEPS, Mover
from .networks import Networks, best_device, load_networks
from .painter import Appearance, Painter
from .putback import SIDE, feather
from .windows import LENGTH, WindowShape

SLOTS: Final = 16
BATCH: Final = 16
"""Frames a call of the networks: more gain nothing on any card."""
EASE_FRAMES: Final = 6
"""From what was shown at an interrupt to what comes after it."""


@dataclass(slots=True)
class _Slot:
    """A session's place in time: frame 0 of its run is tick `start`, `next_tick` is heard next. Its run began
    with the row of motion `held` (265,), or at rest."""

    seed: int
    matrix: NDArray[np.float32]
    start: int
    next_tick: int
    held: Tensor | None = None


class DittoEngine:
    """Draws avatars of kind `ditto`, slots of different sessions and avatars in one batch."""

    kind = "ditto"
    max_batch = BATCH

    def __init__(
        self,
        weights: str | None = None,
        *,
        networks: Networks | None = None,
        shape: WindowShape | None = None,
        steps: int = STEPS,
        slots: int = SLOTS,
    ) -> None:
        """`weights` as `checkpoints.parse_source` takes them; `networks`, where given, are used instead."""
        loaded = networks or load_networks(parse_source(weights), best_device())
        self._mover = Mover(loaded, shape or WindowShape(), slots=slots, steps=steps)
        self._painter = Painter(loaded, slots)
        self._slots: dict[int, _Slot] = {}
        hop = self._mover.shape.hop
        self.spec = StageSpec(
            Rate(Fraction(FEATURE_HZ)),
            window=(LENGTH + hop) * FEATURE_HOP,
            hop=FEATURE_HOP,
            lookahead=self._mover.delay * FEATURE_HOP,
        )

    def warm(self) -> None:
        """Hear the silence that comes before every session."""
        self._mover.warm()

    def open(self, slot: int, avatar: Avatar, *, size: tuple[int, int], seed: int, index: int) -> None:
        """Bind `slot` to `avatar` at rest. The first tick heard will be `index`. `size` is (width,
        height)."""
        if avatar.kind != self.kind:
            raise AvatarError(
                f"avatar {avatar.name} is of kind {avatar.kind}, which engine ditto cannot draw; "
                "register a picture with visavis avatar add"
            )
        tensors = {name: torch.from_numpy(np.array(value)) for name, value in avatar.tensors.items()}
        source = Source(Motion.from_rows(tensors["motion"].float()), tensors["canonical"].float())
        eyes = tensors["eye_open"].float(), tensors["eye_ball"].float()
        character = Character.from_source(source, *eyes, canonical=source.canonical[0])
        own_seed = seed_for(seed, avatar.name)
        self._painter.open(slot, Appearance(tensors["appearance"], source), Following())
        self._mover.open(slot, character, seed=own_seed)
        matrix = _from_crop(tensors["matrix"][0].numpy(), self._painter.side(slot))
        self._slots[slot] = _Slot(own_seed, matrix, start=index, next_tick=index)

    def mask(self, slot: int) -> NDArray[np.float32]:
        """Feathered weight (H, W) float32 in 0..1 of the slot's crop against the plate."""
        side = self._painter.side(slot)
        return feather(side, side)

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        """Hear one tick a slot; a picture for each `draw`, else None."""
        for one in due:
            self._take(one)
        for slot in self._mover.hear([(one.slot, one.audio.heard) for one in due]):
            if self._slots[slot].held is None:
                self._painter.start_from(slot, self._mover.first(slot))
        wanted = [one for one in due if one.draw]
        crops: dict[int, Crop] = {}
        for first in range(0, len(wanted), BATCH):
            batch = wanted[first : first + BATCH]
            rows = torch.stack([self._row(one) for one in batch])
            pictures = self._painter.paint([one.slot for one in batch], rows)
            for one, picture in zip(batch, pictures, strict=True):
                index = one.audio.index - self._mover.delay
                crops[one.slot] = Crop(index, picture, self._slots[one.slot].matrix)
        return [crops.get(one.slot) if one.draw else None for one in due]

    def control(self, slot: int, controls: Controls) -> None:
        """Take new live controls from the next frame on."""

    def interrupt(self, slot: int, sent: int) -> None:
        """Forget everything after frame `sent`. The next tick heard is `sent + 1`, and the face eases to
        rest."""
        place = self._slots[slot]
        if sent >= place.start:
            place.held = self._mover.settled(slot, sent - place.start).clone()
            self._mover.restart(slot, place.held, seed=place.seed + sent + 1)
        else:
            self._mover.restart(slot, self._mover.rest(slot), seed=place.seed)
        place.start = place.next_tick = sent + 1

    def close(self, slot: int) -> None:
        """Release the slot."""
        del self._slots[slot]
        self._mover.close(slot)
        self._painter.close(slot)

    def _take(self, due: Due) -> None:
        place = self._slots[due.slot]
        if due.audio.index != place.next_tick:
            raise UsageError(
                f"slot {due.slot} expects tick {place.next_tick}, not {due.audio.index}: feed ticks in order"
            )
        place.next_tick += 1

    def _row(self, due: Due) -> Tensor:
        """The row of motion (265,) of the frame that is now known."""
        place = self._slots[due.slot]
        frame = due.audio.index - self._mover.delay - place.start
        row = self._mover.settled(due.slot, frame)
        if place.held is None or frame >= EASE_FRAMES:
            return row
        share = hermite((frame + 1) / (EASE_FRAMES + 1))
        return place.held + (row - place.held) * share


def _from_crop(matrix: NDArray[np.float64], side: int) -> NDArray[np.float32]:
    """`matrix` (3, 3) of a crop of official size, for one of `side` pixels that shows the same: (2, 3)."""
    scale = SIDE / side
    shift = (scale - 1) / 2
    return (matrix @ np.array([[scale, 0, shift], [0, scale, shift], [0, 0, 1]]))[:2].astype(np.float32)
