"""A client of the native websocket, against a real server."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import websockets
from visavis.stream.pcm import from_float

from .server import Server

RATE = 24_000


class Talk:
    """A websocket client of one session that remembers its events."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self.events: list[dict[str, Any]] = []

    async def tell(self, **message: Any) -> None:
        await self._socket.send(json.dumps(message))

    async def sound(self, pcm: bytes, segment: str) -> None:
        for at in range(0, len(pcm), 9_600):
            await self._socket.send(pcm[at : at + 9_600])
        await self.tell(type="segment_end", id=segment)

    async def until(self, kind: str, *, seconds: float = 20) -> dict[str, Any]:
        async with asyncio.timeout(seconds):
            while True:
                event = json.loads(await self._socket.recv())
                self.events.append(event)
                if event["type"] == kind:
                    return event


@asynccontextmanager
async def talking(server: Server, session: dict[str, Any]) -> AsyncIterator[Talk]:
    url = server.url.replace("http", "ws", 1) + f"/v1/sessions/{session['id']}/ws"
    async with websockets.connect(url) as socket:
        talk = Talk(socket)
        await talk.tell(type="start", sample_rate=RATE, format="s16le")
        yield talk


def tone(seconds: float) -> bytes:
    at = np.arange(int(RATE * seconds))
    return from_float((0.4 * np.sin(2 * np.pi * 500 * at / RATE)).astype(np.float32))
