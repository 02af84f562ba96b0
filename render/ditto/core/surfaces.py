"""Pictures on the device and their way to the host: a short ring a slot, copied while the next are drawn.

What is drawn and what is copied are two streams of work. Neither waits on the host: marks in them keep their
order. On the CPU there is one stream, the calls themselves.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

import torch
from torch import Tensor

from ....stream.errors import CapacityError, IllegalTransition
from ...surface import Ready, Surface, surface_over
from .composite import SPARE_BYTES, Picture

DEPTH: Final = 2
"""Pictures of a slot on the device: to copy one takes a fiftieth of the time to draw the next."""
_ALIGNED: Final = 256


class Mark(Ready, Protocol):
    """A place in a stream of work; before it was ever set, there is nothing to wait for."""


class Transfers(Protocol):
    """Work on a device: what is drawn, as it is called for, and copies beside it."""

    @property
    def device(self) -> torch.device: ...

    def host(self, count: int) -> Tensor:
        """`count` bytes of the host's memory that the device can write. Raises RuntimeError when there are
        none."""
        ...

    def mark(self) -> Mark: ...

    def beside(self) -> AbstractContextManager[None]:
        """What is copied within comes after all that has been drawn before."""
        ...

    def copy(self, source: Tensor, out: Tensor) -> None:
        """Copy bytes to the host, after the copies before; within `beside`."""
        ...

    def set(self, mark: Mark) -> None:
        """`mark` is where the copies now end."""
        ...

    def keep(self, mark: Mark) -> None:
        """What is drawn from here on comes after `mark`."""
        ...


class State(Enum):
    """Of a picture on the device."""

    FREE = "free"
    DRAWN = "drawn"
    """Or being drawn; not yet on its way."""
    LEAVING = "leaving"
    """On its way to the host, or there."""


ALLOWED: Final[Mapping[State, frozenset[State]]] = {
    State.FREE: frozenset((State.DRAWN,)),
    State.DRAWN: frozenset((State.LEAVING, State.FREE)),
    State.LEAVING: frozenset((State.DRAWN,)),
}


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of a picture that change, of Y and of chroma: bytes."""

    luma: Tensor
    chroma: Tensor


@dataclass(slots=True)
class _Place:
    """A picture on the device. Before it is drawn again it has `left`, where it ever went; `goal` is where it
    goes next."""

    picture: Picture
    part: _Part
    left: Mark | None = None
    state: State = State.FREE
    goal: Surface | None = None

    def turn(self, state: State) -> None:
        if state not in ALLOWED[self.state]:
            raise IllegalTransition(f"a picture that is {self.state.value} cannot become {state.value}")
        self.state = state


@dataclass(frozen=True, slots=True)
class _Held:
    """A surface in the host's memory, and its mark."""

    surface: Surface
    part: _Part
    arrived: Mark


class SurfaceRing:
    """One slot's pictures of `size` (width, height): on the device from the byte `first` of `memory` on, and
    `count` on the host. Only rows `top` to `bottom` change and are copied."""

    def __init__(
        self,
        memory: Tensor,
        first: int,
        size: tuple[int, int],
        rows: tuple[int, int],
        transfers: Transfers,
        *,
        depth: int = DEPTH,
    ) -> None:
        width, height = size
        self._transfers, self._size, self._rows = transfers, size, rows
        self._nbytes = picture_bytes(size)
        offsets = [first + index * aligned_bytes(size) for index in range(depth)]
        self._wholes = [memory[offset : offset + self._nbytes] for offset in offsets]
        self._places = [
            _Place(Picture(offset, width, height, width, width * height), self._part(whole))
            for offset, whole in zip(offsets, self._wholes, strict=True)
        ]
        self._next = 0
        self._held: dict[int, _Held] = {}
        self._hosts: Tensor | None = None

    @property
    def pictures(self) -> list[Picture]:
        """All on the device."""
        return [place.picture for place in self._places]

    @property
    def host_bytes(self) -> int:
        return 0 if self._hosts is None else self._hosts.numel()

    def fill(self, count: int) -> list[Surface]:
        """`count` surfaces that are going to show what the first picture does, and the others on the device
        too. Raises CapacityError when there is no memory for them."""
        width, height = self._size
        try:
            self._hosts = self._transfers.host(count * self._nbytes)
        except RuntimeError as error:
            raise CapacityError(
                f"there is no memory for {count} pictures of {width}x{height}; end another session"
            ) from error
        for whole in self._wholes[1:]:
            whole.copy_(self._wholes[0])
        with self._transfers.beside():
            for bytes_ in self._hosts.split(self._nbytes):
                arrived = self._transfers.mark()
                surface = surface_over(bytes_.numpy().reshape(-1, width), "nv12", ready=arrived)
                self._held[id(surface)] = _Held(surface, self._part(bytes_), arrived)
                self._transfers.copy(self._wholes[0], bytes_)
                self._transfers.set(arrived)
                self._places[0].left = arrived
        return [held.surface for held in self._held.values()]

    def begin(self, surface: Surface) -> Picture:
        """Where the next picture is to be drawn, which will go to `surface`. What is drawn from here on waits
        until the one that was there has left."""
        place = self._places[self._next]
        if id(surface) not in self._held:
            raise IllegalTransition("that surface belongs to another slot")
        place.turn(State.DRAWN)
        place.goal = surface
        if place.left is not None:
            self._transfers.keep(place.left)
        return place.picture

    def send(self) -> None:
        """Let the picture that was drawn last go its way; within the transfers' `beside`."""
        place = self._places[self._next]
        place.turn(State.LEAVING)
        assert place.goal is not None, "a picture is drawn for a surface"
        held = self._held[id(place.goal)]
        self._transfers.copy(place.part.luma, held.part.luma)
        self._transfers.copy(place.part.chroma, held.part.chroma)
        self._transfers.set(held.arrived)
        place.left = held.arrived
        self._next = (self._next + 1) % len(self._places)

    def abandon(self) -> None:
        """Forget a picture that was begun, if there is one: drawing it failed."""
        place = self._places[self._next]
        if place.state is State.DRAWN:
            place.turn(State.FREE)

    def _part(self, whole: Tensor) -> _Part:
        width, height = self._size
        top, bottom = self._rows
        chroma = whole[width * height :]
        return _Part(whole[top * width : bottom * width], chroma[top // 2 * width : bottom // 2 * width])


def send(rings: Sequence[SurfaceRing], transfers: Transfers) -> None:
    """Let what was drawn last in each of `rings` go its way, after all that has been drawn so far."""
    with transfers.beside():
        for ring in rings:
            ring.send()


def picture_bytes(size: tuple[int, int]) -> int:
    return size[0] * size[1] * 3 // 2


def aligned_bytes(size: tuple[int, int]) -> int:
    """What a picture takes on the device."""
    return -(-picture_bytes(size) // _ALIGNED) * _ALIGNED


def memory_bytes(slots: int, largest: tuple[int, int], *, depth: int = DEPTH) -> int:
    """Of the memory for the pictures of `slots`, each at most `largest` (width, height)."""
    return SPARE_BYTES + slots * depth * aligned_bytes(largest)


def first_byte(slot: int, largest: tuple[int, int], *, depth: int = DEPTH) -> int:
    """Of the pictures of `slot` in that memory."""
    return SPARE_BYTES + slot * depth * aligned_bytes(largest)
