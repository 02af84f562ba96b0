"""The native websocket: carries `wire` messages between one client and its session."""

import asyncio
import logging
import socket as sockets
import time

from aiohttp import WSCloseCode, WSMsgType, web

from ..stream.channel import Channel
from ..stream.controls import merged
from ..stream.errors import CapacityError, UsageError
from .backlog import Backlog
from .chores import Bell
from .front import Front
from .program import Program, ProgramState
from .wire import (
    MAX_MESSAGE_BYTES,
    Buffer,
    ControlChange,
    Event,
    Interrupt,
    KeepAlive,
    Ready,
    Request,
    Say,
    SegmentEnd,
    SegmentStart,
    Sound,
    Start,
    State,
    Wire,
    failure_of,
    to_text,
)

_LOG = logging.getLogger(__name__)

FRAME_LIMIT_BYTES = 16 << 20
"""Larger messages end the connection with code 1009; those over the protocol's own limit are only refused."""
_BACKLOG_EVENTS = 256
_PING_S = 20.0
_UNACKNOWLEDGED_MS = 30_000


async def serve_socket(front: Front, program: Program, request: web.Request) -> web.WebSocketResponse:
    """Speak the protocol with one client until it leaves or the session ends."""
    connection = _Connection(max_msg_size=FRAME_LIMIT_BYTES, compress=False)
    await connection.prepare(request)
    _notice_death(request)
    client = Client(front, program)
    program.join(client)
    program.listeners.append(client)
    front.chores.spawn(client.speak(), "a client's sound")
    if program.state is ProgramState.CLOSED:
        client.tell(State("closed"))
    goodbye = False
    try:
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(client.write(connection))
            goodbye = await client.read(connection)
            writing.cancel()
    except* ConnectionError:
        _LOG.info("session %s: a client is gone", program.what.name)
    finally:
        program.listeners.remove(client)
        client.backlog.close(keep=goodbye)
    return connection


class _Connection(web.WebSocketResponse):
    """Gives a reason when it closes because of a message that is far too large."""

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        if code == WSCloseCode.MESSAGE_TOO_BIG and not message:
            message = f"a message has at most {MAX_MESSAGE_BYTES} bytes".encode()
        return await super().close(code=code, message=message, drain=drain)


class Client:
    """One connection: its half of the protocol, the sound that waits, the events it has yet to get."""

    def __init__(self, front: Front, program: Program) -> None:
        self._front = front
        self._program = program
        self._wire = Wire()
        self._events: Channel[Event] = Channel(_BACKLOG_EVENTS, loser="oldest")
        self._bell = Bell()
        self.backlog = Backlog(program.intake, self.tell)

    def tell(self, event: Event) -> None:
        if isinstance(event, Buffer) and self.backlog.paused:
            return
        self._events.put(event)
        self._bell.ring()

    async def speak(self) -> None:
        """Say what the client sends, and after a goodbye what is left of it."""
        try:
            await self.backlog.speak()
        finally:
            self._program.leave(self, time.monotonic_ns())

    async def write(self, connection: web.WebSocketResponse) -> None:
        """Send events as they come, and a ping now and then, until the session has ended.

        Raises ConnectionError when the client is gone, which nothing else tells while `read` waits for room.
        """
        while True:
            event = self._events.get()
            if event is None:
                await self._wait_for_event(connection)
                continue
            await connection.send_str(to_text(event))
            if event == State("closed"):
                await connection.close(message=b"the session has ended")
                return

    async def _wait_for_event(self, connection: web.WebSocketResponse) -> None:
        try:
            async with asyncio.timeout(_PING_S):
                await self._bell.until(lambda: len(self._events) > 0)
        except TimeoutError:
            await connection.ping()

    async def read(self, connection: web.WebSocketResponse) -> bool:
        """Take in messages; whether the client said goodbye in the end. What it says is acted on at once, but
        its sound waits in the backlog, and the next message does when that is full.
        """
        while True:
            message = await connection.receive()
            try:
                if message.type is WSMsgType.TEXT:
                    await self._obey(self._wire.text(message.data))
                elif message.type is WSMsgType.BINARY:
                    await self._hear(self._wire.binary(message.data))
                else:
                    return message.type is WSMsgType.CLOSE
            except (UsageError, CapacityError) as error:
                self.tell(failure_of(error))
            # Messages that are here already do not wait for anything, and the media of all sessions must.
            await asyncio.sleep(0)

    async def _obey(self, request: Request) -> None:
        match request:
            case Start():
                self.tell(Ready(self._front.sessions.latency_ms, request.sample_rate))
            case SegmentStart() | SegmentEnd():
                await self.backlog.put(request)
            case Interrupt():
                await self._interrupt(request.id)
            case Say():
                self._front.speaker.say(self._program, request.text, voice=request.voice, label=request.id)
            case ControlChange():
                self._program.control(merged(self._program.controls, request.fields))
            case KeepAlive():
                self._program.used_ns = time.monotonic_ns()

    async def _interrupt(self, label: str | None) -> None:
        intake = self._program.intake
        if label is None or intake.holds(label):
            self.backlog.cut()
            self._wire.forget()
            await intake.interrupt()

    async def _hear(self, sound: Sound) -> None:
        if sound.pcm:
            await self.backlog.put(sound)


def _notice_death(request: web.Request) -> None:
    """Have the system give up on a client that no longer acknowledges our pings."""
    transport = request.transport
    plain = transport.get_extra_info("socket") if transport is not None else None
    if plain is not None and hasattr(sockets, "TCP_USER_TIMEOUT"):
        plain.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_USER_TIMEOUT, _UNACKNOWLEDGED_MS)
