"""A front with a fake worker and a fake voice, and the clients that tests speak to it with."""

import asyncio
import contextlib
import sys
import wave
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from aiohttp import ClientWebSocketResponse
from aiohttp.test_utils import TestClient, TestServer
from numpy.typing import NDArray
from visavis.stream.link import Ready, Tick, TickSpan, ToWorker
from visavis.web.app import application
from visavis.web.config import Config
from visavis.web.front import Front, running_front
from visavis.web.gallery import Card, Gallery
from visavis.web.program import Description, Program
from visavis.web.wire import Event

HERE = Path(__file__).parent
FAKE_WORKER = (sys.executable, str(HERE / "fake_worker.py"))
FAKE_VOICE = (sys.executable, str(HERE / "fake_voice.py"))
SIZES = ((64, 64), (128, 128))
PATIENCE_S = 20.0
WAV_HZ = 22_050
LOOK_S = 0.005

GALLERY = Gallery(
    Card(name, name.title(), "fake", SIZES, HERE / "fake_worker.py")
    for name in ("ruby", "marcus", "broken", "never", "crash", "lost")
)


@dataclass
class Studio:
    """A running front and an HTTP client of it."""

    front: Front
    client: TestClient[Any, Any]

    async def open(self, **wishes: object) -> dict[str, Any]:
        """A new session's answer."""
        async with self.client.post("/v1/sessions", json=wishes) as answer:
            body = await answer.json()
            assert answer.status == 201, body
            return body

    async def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON body of one request."""
        data = None if body is None else msgspec.json.encode(body)
        async with self.client.request(method, path, data=data) as answer:
            text = await answer.read()
            return answer.status, msgspec.json.decode(text) if text else None

    async def socket(self, session: str) -> ClientWebSocketResponse:
        return await self.client.ws_connect(f"/v1/sessions/{session}/ws")

    def program(self, session: str) -> Program:
        program = self.front.sessions.find(session)
        assert program is not None
        return program


@contextlib.asynccontextmanager
async def studio(
    config: Config | None = None, *, worker: tuple[str, ...] = FAKE_WORKER
) -> AsyncIterator[Studio]:
    config = config or Config()
    async with (
        running_front(config, worker=worker, voice=FAKE_VOICE, gallery=GALLERY) as front,
        TestClient(TestServer(application(front))) as client,
    ):
        await until(lambda: front.sessions.ready)
        yield Studio(front, client)
        front.sessions.close_all()


async def until(true: Callable[[], bool]) -> None:
    """Look often, for a condition that another process brings about."""
    for _ in range(round(PATIENCE_S / LOOK_S)):
        if true():
            return
        await asyncio.sleep(LOOK_S)
    raise AssertionError("this did not come about in time")


async def event(socket: ClientWebSocketResponse, kind: str, **fields: object) -> dict[str, Any]:
    """The next event of this type with these fields; others are passed over."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            message = await socket.receive_json()
            if message["type"] == kind and fields.items() <= message.items():
                return message


@dataclass(eq=False)
class Port:
    """A worker that only remembers what it was told."""

    said: list[ToWorker] = field(default_factory=list[ToWorker])
    ready: Ready | None = None
    restarts: int = 0

    def send(self, message: ToWorker) -> None:
        self.said.append(message)

    async def drain(self) -> None:
        return

    def of(self, kind: type) -> list[Any]:
        return [message for message in self.said if isinstance(message, kind)]


@dataclass
class Ear:
    """A listener that remembers."""

    heard: list[Event] = field(default_factory=list[Event])

    def tell(self, event: Event) -> None:
        self.heard.append(event)


def write_wav(path: Path, seconds: float) -> NDArray[np.int16]:
    """A tone as a 16-bit mono WAV at `WAV_HZ`; its samples."""
    at = np.arange(round(seconds * WAV_HZ)) / WAV_HZ
    samples = (8_000 * np.sin(2 * np.pi * 300 * at)).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(WAV_HZ)
        file.writeframes(samples.tobytes())
    return samples


def program(port: Port | None = None, *, live: bool = True) -> Program:
    """A session whose clock starts at 0, opened and live."""
    made = Program(Description("s", "ruby", 64, 64, 1), start_ns=0, worker=port or Port())
    made.open(0)
    if live:
        made.opened()
    return made


def tick(
    index: int, *spans: tuple[str, int, int, bool], keyframe: bool = False, epoch: int = 0, size: int = 10
) -> Tick:
    """A tick with `spans` (segment, start, end, last) and a picture of `size` bytes."""
    return Tick(
        session="s",
        epoch=epoch,
        index=index,
        video=bytes(size),
        keyframe=keyframe,
        repeated=False,
        audio=(b"a", b"b"),
        spans=tuple(TickSpan(*span) for span in spans),
    )
