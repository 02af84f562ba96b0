"""When a worker's engine is parked: once no session has been open for a while."""

import logging

from .engine import Engine

_LOG = logging.getLogger(__name__)


class Idle:
    """Once parked, an engine stays so until it opens a slot. One that cannot park is asked once. The owner's
    lock guards every call but `park`."""

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

    def wake(self) -> None:
        """Somebody comes."""
        self._since_ns = None
        self._is_over = self._hurries = False

    def park(self, engine: Engine) -> None:
        """Have `engine` give back what it draws on."""
        self._is_over = True
        if engine.park():
            _LOG.info("nobody is here: the card's memory is free until a session begins")
        else:
            self._after_ns = None
