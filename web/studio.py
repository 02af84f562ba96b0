"""WHEP and WHIP over HTTP: offers in, answers out, and the life of the connection behind each."""

from aiohttp import web
from aiortc import RTCIceCandidate
from aiortc.sdp import candidate_from_sdp

from ..stream.errors import ProtocolError
from .answers import Refusal, not_found
from .front import Front
from .peer import Peer
from .routes import program_of
from .whep import view
from .whip import ingest

SDP = "application/sdp"
TRICKLE = "application/trickle-ice-sdpfrag"
_CANDIDATE = "a=candidate:"


class Studio:
    """Handlers of both protocols, which differ only in the direction of the media."""

    def __init__(self, front: Front) -> None:
        self._front = front

    def routes(self) -> list[web.RouteDef]:
        routes: list[web.RouteDef] = []
        for kind, offer in (("whep", self.watch), ("whip", self.speak)):
            path = f"/{kind}/{{session}}"
            peer = f"/{{kind:{kind}}}/{{session}}/{{peer}}"
            routes += [
                web.post(path, offer),
                web.options(path, self.options),
                web.patch(peer, self.trickle),
                web.delete(peer, self.end),
                web.options(peer, self.options),
            ]
        return routes

    async def watch(self, request: web.Request) -> web.Response:
        offer = await self._offer(request)
        program = program_of(self._front, request)
        return self._created(await view(self._front.peers, program, offer))

    async def speak(self, request: web.Request) -> web.Response:
        offer = await self._offer(request)
        program = program_of(self._front, request)
        return self._created(await ingest(self._front.peers, self._front.chores, program, offer))

    async def options(self, _request: web.Request) -> web.Response:
        headers = {"Accept-Post": SDP, "Access-Control-Allow-Methods": "OPTIONS, POST, PATCH, DELETE"}
        return self._with_servers(web.Response(status=204, headers=headers))

    async def trickle(self, request: web.Request) -> web.Response:
        """More addresses of the client's."""
        if request.content_type != TRICKLE:
            raise Refusal(415, "media_type", f"send Content-Type: {TRICKLE}")
        peer = self._peer(request)
        _check_match(request.headers.get("If-Match"), peer)
        candidates = _candidates(await _text(request))
        for candidate in candidates:
            await peer.connection.addIceCandidate(candidate)
        return web.Response(status=204, headers={"ETag": peer.etag})

    async def end(self, request: web.Request) -> web.Response:
        await self._front.peers.close(self._peer(request))
        return web.Response(status=200)

    async def _offer(self, request: web.Request) -> str:
        if request.content_type != SDP:
            raise Refusal(415, "media_type", f"send the offer with Content-Type: {SDP}")
        return await _text(request)

    def _created(self, peer: Peer) -> web.Response:
        headers = {
            "Location": f"/{peer.kind}/{peer.session}/{peer.id}",
            "ETag": peer.etag,
            "Accept-Patch": TRICKLE,
        }
        return self._with_servers(
            web.Response(status=201, text=peer.answer, content_type=SDP, headers=headers)
        )

    def _with_servers(self, response: web.Response) -> web.Response:
        for server in self._front.peers.options.described():
            secret = "".join(
                f'; {name}="{server[name]}"' for name in ("username", "credential") if server.get(name)
            )
            kind = '; credential-type="password"' if secret else ""
            response.headers.add("Link", f'<{server["urls"]}>; rel="ice-server"{secret}{kind}')
        return response

    def _peer(self, request: web.Request) -> Peer:
        match = request.match_info
        peer = self._front.peers.find(match["kind"], match["session"], match["peer"])
        if peer is None:
            raise not_found("such connection", "it has ended; send a new offer")
        return peer


async def _text(request: web.Request) -> str:
    try:
        return await request.text()
    except (UnicodeError, LookupError) as error:
        raise ProtocolError(f"the body is no text: {error}; send SDP in UTF-8") from error


def _check_match(etag: str | None, peer: Peer) -> None:
    """An ICE restart, `*`, is beyond what we can do."""
    if etag is None:
        raise Refusal(428, "precondition_required", "send If-Match with the ETag of the answer")
    if etag == "*":
        raise Refusal(422, "no_ice_restart", "ICE cannot be restarted here; send a new offer")
    if etag != peer.etag:
        raise Refusal(412, "precondition_failed", "If-Match is not the ETag of this connection's answer")


def _candidates(fragment: str) -> list[RTCIceCandidate]:
    """Candidates in an SDP fragment; the media they belong to is the first, since all share one transport."""
    candidates: list[RTCIceCandidate] = []
    mid = "0"
    for line in fragment.splitlines():
        if line.startswith("a=mid:"):
            mid = line.removeprefix("a=mid:").strip()
        elif line.startswith(_CANDIDATE):
            candidates.append(_candidate(line, mid))
    return candidates


def _candidate(line: str, mid: str) -> RTCIceCandidate:
    try:
        candidate = candidate_from_sdp(line.removeprefix("a=candidate:").strip())
    except (AssertionError, ValueError, IndexError) as error:
        raise ProtocolError(f"a candidate cannot be read: {line[:80]!r}") from error
    candidate.sdpMid = mid
    return candidate
