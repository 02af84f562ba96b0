"""What a worker's engine gives back, and when, while no session is open: first what comes back at once, then
all."""

import logging
from dataclasses import dataclass
from typing import Final, Literal

from ..stream.errors import SetupError

_LOG = logging.getLogger(__name__)


Giving = Literal["offload", "park"]
"""As `Engine` has them."""
SOONER: Final = 10
"""What comes back at once leaves after such a part of the time."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What is next to be given, at `due_ns`."""

    giving: Giving
    due_ns: int


class Idle:
    """Once parked, an engine stays so until it opens a slot. The owner's lock guards every call."""

    def __init__(self, after_ns: int | None = None) -> None:
        """None: never."""
        self._after_ns = after_ns
        self._since_ns: int | None = None
        self._is_offloaded = self._is_over = False
        self._hurries = False

    def next(self, now_ns: int) -> Rest | None:
        """What comes next, while nobody is there; None for nothing."""
        if self._is_over:
            return None
        if self._hurries:
            return Rest("park", now_ns)
        if self._after_ns is None:
            return None
        if self._since_ns is None:
            self._since_ns = now_ns
        if self._is_offloaded:
            return Rest("park", self._since_ns + self._after_ns)
        return Rest("offload", self._since_ns + self._after_ns // SOONER)

    def hasten(self) -> None:
        """Park now, unless somebody comes first."""
        self._hurries = True

    def begin(self, giving: Giving) -> None:
        """It is under way: once is enough."""
        self._is_offloaded = True
        self._is_over = giving == "park"

    def parked(self, is_parked: bool) -> None:
        """Whether it was. If not it is tried again after the same time; a worker that was told to park and
        cannot has no use: SetupError."""
        if is_parked:
            _LOG.info("nobody is here: the card's memory is free until a session begins")
        elif self._hurries:
            raise SetupError("the card's memory cannot be given back, so this worker cannot stand by")
        else:
            _LOG.warning("the card's memory could not be given back; it is tried again")
            self.wake()

    def wake(self) -> None:
        """Somebody comes."""
        self._since_ns = None
        self._is_offloaded = self._is_over = self._hurries = False
