"""One worker process, from its start to its death."""

import asyncio
from typing import Final

from ..stream.errors import LinkError
from ..stream.link import FrontInbox, Ready, ToFront
from .child import Child

_WARM_UP_S: Final = 300.0


class Life:
    """`ready` is what it said when it was warm."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.ready: Ready | None = None
        self._inbox = FrontInbox()

    async def warm_up(self) -> None:
        """Wait until it is ready. Raises LinkError when it dies instead."""
        async with asyncio.timeout(_WARM_UP_S):
            while self.ready is None:
                for message in await self.receive():
                    if not isinstance(message, Ready):
                        raise LinkError("the worker spoke before it was ready")
                    self.ready = message

    async def receive(self) -> list[ToFront]:
        """Some messages. Raises LinkError once the worker is gone."""
        data = await self.child.read()
        if not data:
            raise LinkError("it ended")
        return list(self._inbox.feed(data))
