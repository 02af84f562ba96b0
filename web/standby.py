"""A second process of a worker: warm and parked, it takes over in a second where a start takes many."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from ..stream.errors import LinkError
from ..stream.link import Park, to_frame
from .life import Life

_LOG = logging.getLogger(__name__)

CALM_S: Final = 10.0
"""After a worker took its work up: sessions come back first."""
PATIENCE_S: Final = 60.0
"""How long it waits for a moment without sessions: while it warms up, they have less of the machine."""
LOOK_S: Final = 0.5


class Standby:
    """There is one at most. `start` begins a process."""

    def __init__(self, start: Callable[[], Awaitable[Life]], patience_s: float) -> None:
        """`patience_s` as `Life.warm_up` takes it."""
        self._start, self._patience_s = start, patience_s
        self._closed = False
        self._waiting: Life | None = None
        self._busy = False

    async def prepare(self, is_busy: Callable[[], bool]) -> None:
        """Have one, unless there is one already, when the worker `is_busy` no more. One that fails is not
        tried again until the next call."""
        if self._busy or (self._waiting is not None and self._waiting.child.connected):
            return
        self._busy = True
        try:
            await self._dismiss()
            await asyncio.sleep(CALM_S)
            for _ in range(int(PATIENCE_S / LOOK_S)):
                if not is_busy():
                    break
                await asyncio.sleep(LOOK_S)
            await self._warm(await self._start())
        except OSError as error:
            _LOG.warning("there is no standby (%s), and a restart will take longer", error)
        finally:
            self._busy = False

    async def _warm(self, life: Life) -> None:
        try:
            await life.warm_up(self._patience_s)
        except (LinkError, TimeoutError):
            await life.child.stop()
            words = life.child.last_line or "it says nothing"
            _LOG.warning("there is no standby (%s), and a restart will take longer", words)
        except BaseException:
            await life.child.stop()
            raise
        else:
            if self._closed:
                await life.child.stop()
                return
            life.child.write(to_frame(Park()))
            self._waiting = life
            _LOG.info("worker %d stands by", life.child.pid)

    async def taken(self) -> Life | None:
        """The one that waits, which is no longer ours; None where there is none."""
        life, self._waiting = self._waiting, None
        if life is None or life.child.connected:
            return life
        # It will not answer, and somebody waits for another.
        life.child.kill()
        await life.child.stop()
        return None

    async def close(self) -> None:
        """There shall be none any more."""
        self._closed = True
        await self._dismiss()

    async def _dismiss(self) -> None:
        if (life := await self.taken()) is not None:
            await life.child.stop()
