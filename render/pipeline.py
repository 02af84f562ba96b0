"""One session's chain from sound to finished pictures, without pacing or encoding.

Live sessions and offline clips run this same chain: take a tick of sound, let the engine hear it, draw the
frame that is now known, composite it into the plate, and let sound and picture of a tick leave together.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..stream.controls import Controls
from ..stream.gate import Gate, Released
from ..stream.media import TickAudio
from ..stream.session import Session
from .easel import Easel
from .engine import Due, Engine
from .surface import Surface

MOST_UNHEARD: Final = 25
"""Ticks that an engine which fell behind still hears. After more it begins again where it is."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Work for an engine: hear `ticks` in order, then draw frame `index` into `surface` of `easel`.

    `resume`, when given, is the frame after which everything must be forgotten first; `turn` tells whether
    the pipeline still wants the result.
    """

    slot: int
    index: int
    ticks: tuple[TickAudio, ...]
    surface: Surface
    easel: Easel
    resume: int | None
    controls: Controls | None
    turn: int


def run(engine: Engine, work: Sequence[Draw]) -> None:
    """Do `work` of different slots, as one batch."""
    for draw in work:
        if draw.controls is not None:
            engine.control(draw.slot, draw.controls)
        if draw.resume is not None:
            engine.interrupt(draw.slot, draw.resume)
    due = [Due(draw.slot, draw.ticks[-1], True, draw.surface, draw.ticks[:-1]) for draw in work]
    for draw, crop in zip(work, engine.step(due), strict=True):
        if crop is not None:
            draw.easel.show(crop, draw.surface)


class Pipeline:
    """The state of one session's chain. Not thread-safe: the owner's lock guards every call but `run`."""

    def __init__(self, session: Session, *, slot: int, delay: int, first: int, easel: Easel) -> None:
        self.session = session
        self.slot = slot
        self.gate: Gate[Surface] = Gate(first)
        self.frame = first
        """The next frame to draw."""
        self.last: Surface | None = None
        """What stands in for a missing picture: the one that left last, or a newer one that came too late."""
        self._delay = delay
        self._canvas = easel
        self._retired: list[Surface] = []
        """Pictures out of use that the encoder may still be reading, until the next release."""
        self._free = list(easel.surfaces)
        self._unheard: deque[TickAudio] = deque(maxlen=MOST_UNHEARD + 1)
        """What has left before the engine heard it."""
        self._hears = first
        self._resume: int | None = None
        self._controls: Controls | None = None
        self._turn = 0

    @property
    def can_draw(self) -> bool:
        """True when a surface is free for the next frame."""
        return bool(self._free)

    def control(self, controls: Controls) -> None:
        """Use `controls` from the next frame on."""
        self._controls = controls

    def next_draw(self, now_ns: int, earliest: int = 0) -> Draw:
        """The work for the next frame, `earliest` or a later one; needs `can_draw`. Takes as much sound as
        the look-ahead wants."""
        if len(self._unheard) > MOST_UNHEARD:
            self._forget()
        self.frame = max(self.frame, self.gate.next, earliest)
        last = self.frame + self._delay
        self.hear(last, now_ns)
        coming = range(max(self._hears, self.gate.next), last + 1)
        ticks = (*self._unheard, *(self.gate.audio_at(index) for index in coming))
        self._unheard.clear()
        draw = Draw(
            slot=self.slot,
            index=self.frame,
            ticks=ticks,
            surface=self._free.pop(),
            easel=self._canvas,
            resume=self._resume,
            controls=self._controls,
            turn=self._turn,
        )
        self._resume = None
        self._controls = None
        self._hears = last + 1
        self.frame += 1
        return draw

    def finish(self, draw: Draw) -> bool:
        """Take the picture that `draw` made; False when it came too late, or an interrupt overtook it."""
        if draw.turn != self._turn:
            self._free.append(draw.surface)
            return False
        if self.gate.put_picture(draw.index, draw.surface):
            return True
        self._replace_last(draw.surface)
        return False

    def hear(self, index: int, now_ns: int) -> None:
        """Have the sound of every tick up to `index`."""
        while self.gate.heard <= index:
            self.gate.put_audio(self.session.take(self.gate.heard, now_ns))

    def release(self) -> Released[Surface]:
        """Let the next tick leave; `last` is its picture. The encoder must be done with the one before."""
        released = self.gate.release()
        if released.audio.index >= self._hears:
            self._unheard.append(released.audio)
        if released.picture is not None:
            self._replace_last(released.picture)
        self._free += self._retired
        self._retired.clear()
        return released

    def interrupt(self, epoch: int) -> int | None:
        """Drop all that has not left; the last tick that did, or None when `epoch` is not newer."""
        first_lost = self.gate.audio_at(self.gate.next) if self.gate.heard > self.gate.next else None
        if not self.session.interrupt(epoch, first_lost):
            return None
        self._free += self.gate.drop()
        self._forget()
        return self.gate.next - 1

    def skip_to(self, index: int) -> None:
        """After a stall: go on at tick `index` with the sound that has not left."""
        self._free += self.gate.skip_to(index)
        self._forget()

    def _replace_last(self, surface: Surface) -> None:
        if self.last is not None:
            self._retired.append(self.last)
        self.last = surface

    def _forget(self) -> None:
        self._turn += 1
        self._unheard.clear()
        self.frame = self.gate.next
        self._hears = self.gate.next
        self._resume = self.gate.next - 1
