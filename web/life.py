"""One worker process, from its start to its death."""

import asyncio
from typing import Final

from ..stream.errors import LinkError
from ..stream.link import FrontInbox, Ready, ToFront
from .child import Child

WARM_UP_S: Final = 300.0


class Life:
    """`ready` is what it said when it was warm."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.ready: Ready | None = None
        self._inbox = FrontInbox()
        self._after: list[ToFront] = []
        """What came with the word that it is ready."""

    async def warm_up(self, patience_s: float = WARM_UP_S) -> None:
        """Wait until it is ready. Raises LinkError when it dies instead, TimeoutError after `patience_s`."""
        async with asyncio.timeout(patience_s):
            while self.ready is None:
                if not (messages := await self.receive()):
                    continue
                if not isinstance(messages[0], Ready):
                    raise LinkError("the worker spoke before it was ready")
                self.ready, self._after = messages[0], messages[1:]

    async def receive(self) -> list[ToFront]:
        """Some messages. Raises LinkError once the worker is gone."""
        if after := self._after:
            self._after = []
            return after
        data = await self.child.read()
        if not data:
            raise LinkError("it ended")
        return list(self._inbox.feed(data))
