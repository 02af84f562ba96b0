"""The HTTP interface: avatars and sessions."""

from typing import TypeVar

import msgspec
from aiohttp import web

from ..stream.controls import Controls, merged
from ..stream.errors import ControlError, ProtocolError, StartingError
from . import wire
from .answers import Refusal, answer, not_found
from .auth import utc_now
from .front import Front
from .gallery import Card, size_text
from .program import Program
from .sessions import Wish
from .socket import serve_socket
from .traffic import Counts

BodyT = TypeVar("BodyT")


class NewSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    avatar: str | None = None
    size: str | None = None
    seed: int | None = None
    controls: dict[str, object] = msgspec.field(default_factory=dict[str, object])


class Readiness(msgspec.Struct, frozen=True):
    """`workers_up` of `workers` take sessions."""

    engine: str
    workers: int
    workers_up: int
    status: str = "ready"


class AvatarEntry(msgspec.Struct, frozen=True):
    name: str
    title: str
    kind: str
    sizes: tuple[str, ...]
    preview: str


class Urls(msgspec.Struct, frozen=True):
    session: str
    ws: str
    whep: str
    whip: str


class Created(msgspec.Struct, frozen=True):
    id: str
    token: str
    expires_at: str
    ice_servers: list[dict[str, str]]
    avatar: str
    engine: str
    size: str
    latency_ms: int
    urls: Urls


class Lateness(msgspec.Struct, frozen=True):
    p50: float
    p95: float
    p99: float


class Counters(msgspec.Struct, frozen=True):
    generated: int
    repeated: int
    late: int
    underruns: int


class Status(msgspec.Struct, frozen=True):
    id: str
    state: str
    avatar: str
    engine: str
    size: str
    latency_ms: int
    viewers: int
    queued_ms: int
    bitrate_bps: int
    counters: Counters
    lateness_ms: Lateness


class Spoken(msgspec.Struct, frozen=True):
    id: str


class Stopped(msgspec.Struct, frozen=True):
    id: str | None
    position_ms: int


class Api:
    """Handlers over one `Front`."""

    def __init__(self, front: Front) -> None:
        self._front = front

    def routes(self) -> list[web.RouteDef]:
        session = "/v1/sessions/{session}"
        return [
            web.get("/healthz", self.health),
            web.get("/readyz", self.ready),
            web.get("/metrics", self.metrics),
            web.get("/v1/avatars", self.avatars),
            web.get("/v1/avatars/{avatar}/preview", self.preview),
            web.post("/v1/sessions", self.create),
            web.get(session, self.show),
            web.patch(session, self.control),
            web.delete(session, self.end),
            web.post(session + "/say", self.say),
            web.post(session + "/interrupt", self.interrupt),
            web.get(session + "/ws", self.socket),
        ]

    async def health(self, _request: web.Request) -> web.Response:
        return answer({"status": "alive"})

    async def ready(self, _request: web.Request) -> web.Response:
        sessions = self._front.sessions
        if not sessions.ready:
            raise StartingError("the worker is warming up; try again in a few seconds")
        return answer(Readiness(sessions.engine, len(self._front.workers), sessions.workers_up))

    async def metrics(self, _request: web.Request) -> web.Response:
        return web.Response(body=self._front.metrics.text(), content_type="text/plain")

    async def avatars(self, _request: web.Request) -> web.Response:
        default = self._front.config.sessions.avatar
        cards = sorted(self._front.gallery, key=lambda card: card.name != default)
        return answer({"avatars": [_entry(card) for card in cards]})

    async def preview(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(self._card(request.match_info["avatar"]).preview)

    async def create(self, request: web.Request) -> web.Response:
        new = await body_of(request, NewSession, NewSession())
        card = self._card(new.avatar or self._front.config.sessions.avatar)
        wish = Wish(card.name, card.size_of(new.size), _seed(new.seed), merged(Controls(), new.controls))
        program = await self._front.sessions.create(wish, self._front.now_ns())
        name = program.what.name
        token, until = self._front.auth.grant(name, utc_now())
        path = f"/v1/sessions/{name}"
        urls = Urls(path, f"{path}/ws", f"/whep/{name}", f"/whip/{name}")
        created = Created(
            id=name,
            token=token,
            expires_at=until.isoformat(timespec="seconds"),
            ice_servers=self._front.peers.options.described(),
            avatar=card.name,
            engine=self._front.sessions.engine,
            size=size_text(wish.size),
            latency_ms=self._front.sessions.latency_ms,
            urls=urls,
        )
        return answer(created, status=201, headers={"Location": path})

    async def show(self, request: web.Request) -> web.Response:
        return answer(self._status(self._program(request)))

    async def control(self, request: web.Request) -> web.Response:
        program = self._program(request)
        program.control(merged(program.controls, await body_of(request, object, None)))
        return answer(program.controls)

    async def end(self, request: web.Request) -> web.Response:
        self._front.sessions.close(self._program(request).what.name)
        return web.Response(status=204)

    async def say(self, request: web.Request) -> web.Response:
        program = self._program(request)
        say = await body_of(request, wire.Say, None)
        wire.check_text(say.text)
        wire.check_id(say.id)
        label = self._front.speaker.say(program, say.text, voice=say.voice, label=say.id)
        return answer(Spoken(label), status=202)

    async def interrupt(self, request: web.Request) -> web.Response:
        program = self._program(request)
        wish = await body_of(request, wire.Interrupt, wire.Interrupt())
        wire.check_id(wish.id)
        label, position_ms = await program.intake.interrupt(wish.id)
        return answer(Stopped(label, position_ms))

    async def socket(self, request: web.Request) -> web.WebSocketResponse:
        return await serve_socket(self._front, self._program(request), request)

    def _program(self, request: web.Request) -> Program:
        return program_of(self._front, request)

    def _card(self, name: str) -> Card:
        card = self._front.gallery.find(name)
        if card is None:
            raise not_found(f"avatar {name[:40]!r} here", self._front.gallery.why_not(name))
        return card

    def _status(self, program: Program) -> Status:
        lateness = program.traffic.lateness_ms
        return Status(
            id=program.what.name,
            state=program.shown_state,
            avatar=program.what.avatar,
            engine=self._front.sessions.engine,
            size=size_text((program.what.width, program.what.height)),
            latency_ms=self._front.sessions.latency_ms,
            viewers=len(program.viewers),
            queued_ms=program.intake.queued_ms,
            bitrate_bps=program.traffic.bitrate_bps,
            counters=_counters(program.counts),
            lateness_ms=Lateness(*(lateness.percentile(percent) for percent in (50, 95, 99))),
        )


def program_of(front: Front, request: web.Request) -> Program:
    """The session that the path names, which counts as used now."""
    name = request.match_info["session"]
    program = front.sessions.find(name)
    if program is None:
        raise not_found(
            f"session {name[:40]!r}", "it has ended, or never was; open one with POST /v1/sessions"
        )
    program.used_ns = front.now_ns()
    return program


async def body_of(request: web.Request, form: type[BodyT], empty: BodyT | None) -> BodyT:
    """The JSON body as `form`; `empty` stands in for none. Raises ProtocolError."""
    raw = await request.read()
    if not raw.strip() and empty is not None:
        return empty
    try:
        return msgspec.json.decode(raw, type=form)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        if isinstance(error.__cause__, ControlError):
            raise error.__cause__ from error
        raise ProtocolError(f"the body does not fit: {error}; send JSON as the README shows") from error


def _seed(seed: int | None) -> int | None:
    if seed is not None and not 0 <= seed < 1 << 63:
        raise Refusal(400, ProtocolError.code, "seed must lie between 0 and 2**63 - 1")
    return seed


def _entry(card: Card) -> AvatarEntry:
    sizes = tuple(map(size_text, card.sizes))
    return AvatarEntry(card.name, card.title, card.kind, sizes, f"/v1/avatars/{card.name}/preview")


def _counters(counts: Counts) -> Counters:
    return Counters(counts.generated, counts.repeated, counts.late, counts.underruns)
