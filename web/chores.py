"""Background work of one owner, and the waiting that goes with it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

ErrorT = TypeVar("ErrorT", bound=BaseException)

_LOG = logging.getLogger(__name__)

# What a coroutine yields and takes is asyncio's business: it has no narrower type.
Work = Coroutine[Any, Any, None]


class Chores:
    """Tasks that end with their owner. One that fails is logged and harms no other."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = False

    async def __aenter__(self) -> "Chores":
        await self._group.__aenter__()
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        for task in self._tasks:
            task.cancel()
        await self._group.__aexit__(kind, error, trace)

    def spawn(self, work: Work, name: str) -> asyncio.Task[None] | None:
        """Start `work`; None, and nothing is started, once the owner is leaving."""
        if not self._open:
            work.close()
            return None
        task = self._group.create_task(_guarded(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # A task that is cancelled before its first step leaves its work unstarted, which Python warns of.
        task.add_done_callback(lambda _: work.close())
        return task


async def _guarded(work: Work, name: str) -> None:
    try:
        await work
    except Exception:
        # The boundary between one chore and the rest of the server: the trace is all that is left to give.
        _LOG.exception("%s failed", name)


def first_of(group: BaseExceptionGroup[ErrorT]) -> ErrorT:
    """The first error in a group of groups."""
    error = group.exceptions[0]
    return first_of(error) if isinstance(error, BaseExceptionGroup) else error


class Bell:
    """Wakes whoever waits for a condition; they look again themselves."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Future[None], None] = {}

    def ring(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def until(self, true: Callable[[], bool]) -> None:
        """Return once `true()` holds, looking at each ring."""
        while not true():
            future = asyncio.get_running_loop().create_future()
            self._waiting[future] = None
            try:
                await future
            finally:
                self._waiting.pop(future, None)
