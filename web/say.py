"""`visavis say`: drive a running server from the terminal, with text, a file or the microphone."""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode, urlsplit, urlunsplit

import aiohttp
import msgspec
import typer
import websockets
from websockets.asyncio.client import ClientConnection, connect

from ..stream.clock import NS_PER_MS, to_ms
from ..stream.errors import AudioError, SetupError, UsageError, VisavisError
from .chores import first_of
from .meter import Meter
from .reach import client_context, server_url, unreachable
from .sources import FileSound, Sound, list_devices, microphone_sound
from .wire import MAX_SAY_CHARACTERS

AHEAD_MS = 1_000
"""How far a file that is sent at its own pace runs ahead of real time."""
_DRAW_S = 0.1
_POLL_S = 0.5
_SEGMENT = "say"
_CLOSED = "the server closed the connection: the session has ended"


@dataclass(frozen=True, slots=True)
class Order:
    """What to say: `text`, or `sound`, which is sent at its own pace if `paced`. `live` sound has no end."""

    text: str | None = None
    voice: str | None = None
    sound: Sound | None = None
    paced: bool = False
    live: bool = False
    wait: bool = False


@dataclass(frozen=True, slots=True)
class Address:
    """A server, and what to speak in there: a `session` that runs, or a new one with `avatar`."""

    server: str
    session: str | None
    avatar: str | None
    token: str | None


@dataclass(frozen=True, slots=True)
class Target:
    """A session and the token that opens it."""

    server: str
    session: str
    token: str | None

    @property
    def page(self) -> str:
        """Where it can be watched."""
        query = {"session": self.session} | ({"token": self.token} if self.token else {})
        return f"{self.server}/?{urlencode(query)}"

    @property
    def socket(self) -> str:
        parts = urlsplit(self.server)
        scheme = "wss" if parts.scheme == "https" else "ws"
        return urlunsplit((scheme, parts.netloc, f"{parts.path}/v1/sessions/{self.session}/ws", "", ""))


class ServerEvent(msgspec.Struct, frozen=True):
    """Any message of the server's; fields that a type lacks keep their defaults."""

    type: str
    id: str = ""
    position_ms: int = 0
    interrupted: bool = False
    queued_ms: int = 0
    code: str = ""
    message: str = ""


class Played(msgspec.Struct, frozen=True):
    """What `--json` prints for each segment."""

    session: str
    id: str
    position_ms: int
    interrupted: bool


def say(
    text: Annotated[str | None, typer.Option(help="What to say.")] = None,
    audio: Annotated[Path | None, typer.Option(help="A file with the voice, of any usual format.")] = None,
    mic: Annotated[bool, typer.Option("--mic", help="Speak into the microphone, until Ctrl-C.")] = False,
    devices: Annotated[bool, typer.Option("--devices", help="List the microphones and leave.")] = False,
    device: Annotated[str | None, typer.Option(help="Number or name of the microphone.")] = None,
    server: Annotated[str, typer.Option(help="The server.")] = "http://127.0.0.1:8080",
    avatar: Annotated[str | None, typer.Option(help="Who speaks, in a session of its own.")] = None,
    session: Annotated[str | None, typer.Option(help="A running session to speak in, instead.")] = None,
    token: Annotated[str | None, typer.Option(envvar="VISAVIS_TOKEN", help="The server's token.")] = None,
    voice: Annotated[str | None, typer.Option(help="Whose voice says --text.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Send --audio as fast as it is taken.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Begin when somebody watches.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print positions as JSON, a line each.")] = False,
) -> None:
    """Have a running server speak text, a file, or what you say."""
    if devices:
        sys.stdout.write(list_devices())
        return
    if sum((text is not None, audio is not None, mic)) != 1:
        raise UsageError("give one of --text, --audio and --mic")
    if session is not None and avatar is not None:
        raise UsageError("--avatar is for a session of its own; leave it out with --session")
    if text is not None and not text.strip():
        raise UsageError("--text has nothing to say; give it some words")
    if text is not None and len(text) > MAX_SAY_CHARACTERS:
        raise UsageError(f"--text takes 1 to {MAX_SAY_CHARACTERS} characters, not {len(text)}")
    sound = microphone_sound(device) if mic else FileSound(audio) if audio is not None else None
    order = Order(text, voice, sound, paced=not fast and not mic, live=mic, wait=wait)
    asyncio.run(converse(order, Address(server_url(server), session, avatar, token), as_json=as_json))


class Conversation:
    """One connection to a session: sends an order and reports what was played of it."""

    def __init__(self, socket: ClientConnection, meter: Meter, target: Target, *, as_json: bool) -> None:
        self._socket = socket
        self._meter = meter
        self._target = target
        self._as_json = as_json
        self._id = f"{_SEGMENT}-{time.monotonic_ns() % 1_000_000}"
        self._over = asyncio.Event()
        self._live = False

    async def hold(self, order: Order) -> None:
        """Return once all was played, or interrupted. Raises VisavisError for what the server refuses."""
        try:
            async with asyncio.TaskGroup() as group:
                side = [group.create_task(self._listen()), group.create_task(self._draw())]
                await self._give(order)
                await self._over.wait()
                for task in side:
                    task.cancel()
        except ExceptionGroup as errors:
            raise first_of(errors) from errors

    async def _give(self, order: Order) -> None:
        self._live = order.live
        if order.text is not None:
            await self._send("say", text=order.text, voice=order.voice, id=self._id)
        elif order.sound is not None:
            self._meter.expect(order.sound.seconds)
            await self._stream(order.sound, paced=order.paced, live=order.live)

    async def _stream(self, sound: Sound, *, paced: bool, live: bool) -> None:
        await self._send("start", sample_rate=sound.rate, format="s16le")
        began_ns = time.monotonic_ns()
        sent = 0
        async for piece in sound.pieces(self._meter.level):
            if self._over.is_set():
                return
            if piece.pcm:
                await self._socket.send(piece.pcm)
                sent += len(piece.pcm) // 2
            if piece.last:
                await self._send("segment_end", id=None if live else self._id)
            ahead_ms = to_ms(sent, sound.rate) - (time.monotonic_ns() - began_ns) // NS_PER_MS
            if paced and ahead_ms > AHEAD_MS:
                await asyncio.sleep((ahead_ms - AHEAD_MS) / 1000)

    async def _send(self, kind: str, **fields: object) -> None:
        message = {"type": kind} | {name: value for name, value in fields.items() if value is not None}
        await self._socket.send(msgspec.json.encode(message).decode())

    async def _listen(self) -> None:
        async for text in self._socket:
            event = msgspec.json.decode(text, type=ServerEvent)
            match event.type:
                case "playback_started":
                    self._meter.started(event.id, time.monotonic_ns())
                case "playback_finished":
                    self._finished(event)
                case "buffer":
                    self._meter.queued(event.queued_ms)
                case "error":
                    raise _error_of(event)
                case _:
                    pass
        raise SetupError(_CLOSED)

    def _finished(self, event: ServerEvent) -> None:
        self._meter.finished()
        if self._as_json:
            played = Played(self._target.session, event.id, event.position_ms, event.interrupted)
            sys.stdout.write(msgspec.json.encode(played).decode() + "\n")
            sys.stdout.flush()
        else:
            how = "interrupted after" if event.interrupted else "played"
            self._meter.note(f"{event.id}: {how} {event.position_ms / 1000:.2f} s")
        if not self._live and (event.id == self._id or event.interrupted):
            self._over.set()

    async def _draw(self) -> None:
        while True:
            self._meter.draw(time.monotonic_ns())
            await asyncio.sleep(_DRAW_S)


async def converse(order: Order, address: Address, *, as_json: bool) -> None:
    """Have it said, and report what was played. Raises VisavisError."""
    meter = Meter(sys.stderr)
    context = client_context(address.server)
    connector = aiohttp.TCPConnector(ssl=context or True)
    try:
        async with (
            aiohttp.ClientSession(headers=_bearer(address.token), connector=connector) as http,
            _target(http, address) as target,
        ):
            meter.note(f"watch at {target.page}")
            if order.wait:
                await _wait_for_viewer(http, target, meter)
            headers = _bearer(target.token)
            async with connect(target.socket, additional_headers=headers, ssl=context) as socket:
                with meter:
                    await Conversation(socket, meter, target, as_json=as_json).hold(order)
    except aiohttp.ClientError as error:
        raise unreachable(address.server, error) from error
    except OSError as error:
        reason = error.strerror or "it took too long"
        raise SetupError(f"the connection to {address.server} failed ({reason}); try again") from error
    except websockets.InvalidStatus as error:
        status = error.response.status_code
        raise SetupError(f"the server refused the connection ({status}); is the session over?") from error
    except websockets.ConnectionClosed as error:
        raise SetupError(_CLOSED) from error


@asynccontextmanager
async def _target(http: aiohttp.ClientSession, address: Address) -> AsyncGenerator[Target]:
    """The session to speak in; one that was opened for this ends with it."""
    if address.session is not None:
        yield Target(address.server, address.session, address.token)
        return
    wish = {} if address.avatar is None else {"avatar": address.avatar}
    async with http.post(f"{address.server}/v1/sessions", json=wish) as response:
        body = await response.read()
        if response.status != 201:
            raise _refusal_of(body, response.status)
    created = msgspec.json.decode(body, type=_Created)
    target = Target(address.server, created.id, created.token if address.token else None)
    try:
        yield target
    finally:
        async with http.delete(f"{address.server}/v1/sessions/{target.session}"):
            pass


async def _wait_for_viewer(http: aiohttp.ClientSession, target: Target, meter: Meter) -> None:
    meter.note("waiting for somebody to watch")
    while True:
        async with http.get(f"{target.server}/v1/sessions/{target.session}") as response:
            body = await response.read()
            if response.status != 200:
                raise _refusal_of(body, response.status)
        if msgspec.json.decode(body, type=_Status).viewers:
            return
        await asyncio.sleep(_POLL_S)


class _Created(msgspec.Struct, frozen=True):
    id: str
    token: str


class _Status(msgspec.Struct, frozen=True):
    viewers: int


class _Error(msgspec.Struct, frozen=True):
    code: str
    message: str


class _ErrorBody(msgspec.Struct, frozen=True):
    error: _Error


def _bearer(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _refusal_of(body: bytes, status: int) -> VisavisError:
    try:
        error = msgspec.json.decode(body, type=_ErrorBody).error
    except msgspec.MsgspecError:
        return SetupError(f"the server answered {status}; is it a visavis server?")
    return UsageError(error.message) if 400 <= status < 500 else SetupError(error.message)


def _error_of(event: ServerEvent) -> VisavisError:
    return AudioError(event.message) if event.code == AudioError.code else VisavisError(event.message)
