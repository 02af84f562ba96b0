"""When a worker's engine is parked: once no session has been open for a while."""

import logging

from ..stream.errors import SetupError

_LOG = logging.getLogger(__name__)


class Idle:
    """Once parked, an engine stays so until it opens a slot. The owner's lock guards every call."""

    def __init__(self, after_ns: int | None = None) -> None:
        """None: never."""
        self._after_ns = after_ns
        self._since_ns: int | None = None
        self._is_over = False
        self._hurries = False

    def park_ns(self, now_ns: int) -> int | None:
        """When to park, while nobody is there; None for not at all."""
        if self._is_over:
            return None
        if self._hurries:
            return now_ns
        if self._after_ns is None:
            return None
        if self._since_ns is None:
            self._since_ns = now_ns
        return self._since_ns + self._after_ns

    def hasten(self) -> None:
        """Park now, unless somebody comes first."""
        self._hurries = True

    def begin(self) -> None:
        """The engine is being parked: once is enough."""
        self._is_over = True

    def done(self, parked: bool) -> None:
        """Whether it was. If not it is tried again after the same time; a worker that was told to park and
        cannot has no use: SetupError."""
        if parked:
            _LOG.info("nobody is here: the card's memory is free until a session begins")
        elif self._hurries:
            raise SetupError("the card's memory cannot be given back, so this worker cannot stand by")
        else:
            _LOG.warning("the card's memory could not be given back; it is tried again")
            self.wake()

    def wake(self) -> None:
        """Somebody comes."""
        self._since_ns = None
        self._is_over = self._hurries = False
