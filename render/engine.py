"""The engine seam: audio in, pictures of one avatar out, for many sessions at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..stream.controls import Controls
from ..stream.errors import UsageError
from ..stream.link import EngineCounts
from ..stream.media import TickAudio
from ..stream.stage import StageSpec
from .avatar import Avatar
from .surface import Layout, Surface


@dataclass(frozen=True, slots=True)
class Due:
    """One slot's share of an engine step: the next tick's audio, and that of the ticks `before` it, in order,
    that were not heard yet. `draw` false moves the state but needs no picture. An engine that makes whole
    pictures puts this one into `surface`, one of its own.
    """

    slot: int
    audio: TickAudio
    draw: bool
    surface: Surface | None = None
    before: tuple[TickAudio, ...] = ()

    @property
    def ticks(self) -> tuple[TickAudio, ...]:
        """All that is to be heard."""
        return (*self.before, self.audio)

    def check(self, next_tick: int) -> None:
        """Raise UsageError unless the ticks are those from `next_tick` on."""
        for tick, wanted in zip(self.ticks, count(next_tick)):
            if tick.index != wanted:
                raise UsageError(
                    f"slot {self.slot} expects tick {wanted}, not {tick.index}: feed ticks in order"
                )


@dataclass(frozen=True, slots=True)
class Crop:
    """The patch the engine drew for frame `index`.

    `pixels` (H, W, 3) uint8 RGB, valid until the slot's next step; `matrix` (2, 3) float32 maps crop pixel
    centres to plate pixel centres.
    """

    index: int
    pixels: NDArray[np.uint8]
    matrix: NDArray[np.float32]


class DrawsPictures(Protocol):
    """What an engine adds that puts its faces on their plates by itself.

    It returns no crops. A picture is in its due's surface as soon as that is ready, whatever else happens to
    the slot meanwhile, and stays there until the surface is given again.
    """

    @property
    def layout(self) -> Layout:
        """Of its surfaces."""
        ...

    def surfaces(self, slot: int, count: int) -> Sequence[Surface]:
        """The slot's own, `count` of them, which show the bare plate: asked once, after it was opened.
        They are gone when it is closed. Raises CapacityError when there is no memory for them.
        """
        ...


class Engine(Protocol):
    """Draws avatars. Holds weights and constants; each slot's state is reset by `open`.

    The audio of tick m yields the picture of frame `m - delay`, where `delay` is the look-ahead in ticks.
    """

    @property
    def kind(self) -> str: ...

    @property
    def spec(self) -> StageSpec:
        """Window, hop and look-ahead in samples at 16 kHz; hop and look-ahead are whole ticks."""
        ...

    @property
    def cadence(self) -> int:
        """Once in so many ticks a slot has more to be done for than in the others; 1 where all are alike.
        Sessions begin so that many have their turn at once, and batches of them as far apart as can be.
        """
        ...

    @property
    def max_batch(self) -> int:
        """Most slots that one step may take; steps of disjoint slots may run on different threads when it is
        1.
        """
        ...

    @property
    def most_slots(self) -> int | None:
        """Sessions that it has room for, where it knows better than the number of cores."""
        ...

    @property
    def pictures(self) -> DrawsPictures | None:
        """None from an engine of crops, which others put on their plates."""
        ...

    @property
    def parks(self) -> bool:
        """Whether `park` gives anything back here."""
        ...

    def warm(self) -> None:
        """Load and touch everything a step needs, so that none waits for a compiler or a file."""
        ...

    def open(self, slot: int, avatar: Avatar, *, size: tuple[int, int], seed: int, index: int) -> None:
        """Bind `slot` to `avatar` at rest. The first tick heard will be `index`. `size` is (width,
        height).
        """
        ...

    def mask(self, slot: int) -> NDArray[np.float32]:
        """Feathered weight (H, W) float32 in 0..1 of the slot's crop against the plate. Nobody asks an engine
        of pictures.
        """
        ...

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        """Hear the ticks of each slot; a crop for each `draw`, else None. Raises DeviceError when what it
        draws on is lost: the worker then ends, and a new one takes over.
        """
        ...

    def control(self, slot: int, controls: Controls) -> None:
        """Take new live controls from the next frame on."""
        ...

    def interrupt(self, slot: int, sent: int) -> None:
        """Forget everything after frame `sent`. The next tick heard is `sent + 1`, and the face eases to
        rest.
        """
        ...

    def close(self, slot: int) -> None:
        """Release the slot."""
        ...

    def offload(self) -> None:
        """Give back what of its memory comes back at once when a slot is opened, while none is; it may be
        none of it.
        """
        ...

    def park(self) -> bool:
        """Give back all the memory of what it draws on until a slot is opened, while none is. False, with
        nothing done, where that cannot be.
        """
        ...

    def counts(self) -> EngineCounts | None:
        """What has been counted since the engine was made, None from one that counts nothing. It only reads:
        a step may be under way on another thread.
        """
        ...
