"""Threads that look for work: one watches the clock, the others sleep until they are called."""

import threading
import time
from typing import Final

from ..stream.clock import NS_PER_SECOND

IDLE_NS: Final = NS_PER_SECOND // 4
"""How long somebody who waits may not look, at most."""


class Crew:
    """Threads that share a lock and take on the same work. All calls need the lock."""

    def __init__(self, lock: threading.Lock) -> None:
        self._condition = threading.Condition(lock)
        self._watched_ns: int | None = None
        """When the thread that watches the clock looks next; None where none does."""

    def call(self) -> None:
        """Have one look whether there is something to do. It calls the next when there was."""
        self._condition.notify()

    def dismiss(self) -> None:
        """Have all look, for the last time."""
        self._condition.notify_all()

    def rest(self, until_ns: int | None) -> None:
        """Sleep until called; and until `until_ns`, None for a while, where nobody watches for that."""
        due_ns = time.monotonic_ns() + IDLE_NS
        due_ns = due_ns if until_ns is None else min(until_ns, due_ns)
        if self._watched_ns is not None and self._watched_ns <= due_ns:
            self._condition.wait()
            return
        self._watched_ns = due_ns
        try:
            wait_until(self._condition, due_ns)
        finally:
            if self._watched_ns == due_ns:
                self._watched_ns = None


def wait_until(condition: threading.Condition, until_ns: int | None) -> None:
    """Wait until notified, or `until_ns`, or for a while."""
    left_ns = IDLE_NS if until_ns is None else min(until_ns - time.monotonic_ns(), IDLE_NS)
    condition.wait(max(left_ns, 0) / NS_PER_SECOND)
