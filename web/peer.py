"""WebRTC connections: one for each viewer and each microphone, from offer to end."""

import asyncio
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from aiortc import RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCSessionDescription
from aiortc.sdp import SessionDescription

from ..stream.errors import CapacityError, ProtocolError
from . import sender
from .chores import Bell, Chores

_LOG = logging.getLogger(__name__)

GATHER_S = 6.0
"""An answer may take this long: an unreachable STUN or TURN server costs 5 s of it."""
CONNECT_S = 30.0
MAX_SESSION_PEERS = 50
"""Viewers and microphones of one session."""
MAX_CONNECTING = 32
"""Connections of all sessions that are not up yet: each holds ports and threads of its own meanwhile."""
MAX_OFFER_BYTES = 64 << 10
MAX_OFFER_MEDIA = 16
_CLOSE_S = 2.0
_ID_BYTES = 18


@dataclass(frozen=True, slots=True)
class WebRtcOptions:
    """`ice_servers` are STUN and TURN addresses, for us and for clients; none by default, so that nobody
    outside is asked anything. `ice_username` and `ice_credential` go with TURN.
    """

    ice_servers: tuple[str, ...] = ()
    ice_username: str = ""
    ice_credential: str = ""

    def __post_init__(self) -> None:
        for url in self.ice_servers:
            if not url.startswith(("stun:", "turn:", "turns:")):
                raise ValueError(f"ice_servers: {url!r} does not begin with stun:, turn: or turns:")

    def rtc(self) -> RTCConfiguration:
        """What aiortc is told. An empty list is not the same as none: that would be a server of Google's."""
        return RTCConfiguration(
            iceServers=[
                RTCIceServer(url, self.ice_username or None, self.ice_credential or None)
                for url in self.ice_servers
            ]
        )

    def described(self) -> list[dict[str, str]]:
        """The servers as a browser takes them."""
        secret = {"username": self.ice_username, "credential": self.ice_credential}
        return [{"urls": url, **(secret if url.startswith("turn") else {})} for url in self.ice_servers]


@dataclass(slots=True, eq=False)
class Peer:
    """A connection of a session. `answer` is the SDP we gave; `ended` is called once, when it is over."""

    id: str
    etag: str
    session: str
    kind: str
    connection: RTCPeerConnection
    ended: Callable[[], None]
    answer: str = ""
    deadline: asyncio.TimerHandle | None = None

    @property
    def connected(self) -> bool:
        return self.connection.connectionState == "connected"


class Peers:
    """Every connection of this front."""

    def __init__(self, options: WebRtcOptions, chores: Chores) -> None:
        self.options = options
        self._chores = chores
        self._peers: dict[str, Peer] = {}
        self._closing: set[Peer] = set()
        self._bell = Bell()

    def __len__(self) -> int:
        return len(self._peers)

    def find(self, kind: str, session: str, peer: str) -> Peer | None:
        found = self._peers.get(peer)
        return found if found is not None and (found.kind, found.session) == (kind, session) else None

    async def connect(
        self,
        kind: str,
        session: str,
        offer: str,
        *,
        prepare: Callable[[RTCPeerConnection], None],
        connected: Callable[[], None],
        ended: Callable[[], None],
    ) -> Peer:
        """Answer `offer`. `prepare` adds our tracks; what else was offered stays inactive. `connected` is
        called when media may flow.

        Raises ProtocolError for an offer that cannot be answered, CapacityError when there are too many
        connections or ICE takes too long.
        """
        self._refuse_when_full(session)
        connection = RTCPeerConnection(self.options.rtc())
        peer = Peer(
            secrets.token_urlsafe(_ID_BYTES), f'"{secrets.token_hex(8)}"', session, kind, connection, ended
        )
        self._peers[peer.id] = peer
        self._watch(peer, connected)
        try:
            prepare(connection)
            await _negotiate(connection, offer)
        except BaseException:
            await self.close(peer)
            raise
        peer.answer = connection.localDescription.sdp
        loop = asyncio.get_running_loop()
        peer.deadline = loop.call_later(CONNECT_S, self._expire, peer)
        return peer

    async def close(self, peer: Peer) -> None:
        """End a connection. Closing twice is harmless."""
        if self._peers.pop(peer.id, None) is None:
            return
        if peer.deadline is not None:
            peer.deadline.cancel()
        self._closing.add(peer)
        peer.ended()
        try:
            async with asyncio.timeout(_CLOSE_S):
                # aiortc does not bear being cancelled in here.
                await asyncio.shield(peer.connection.close())
        except TimeoutError:
            _LOG.warning("%s %s did not close in time", peer.kind, peer.id[:6])
        except Exception as error:
            # What a half-negotiated connection runs into when it is closed is nobody's concern any more.
            _LOG.info("%s %s did not close cleanly: %r", peer.kind, peer.id[:6], error)
        finally:
            self._closing.discard(peer)
            self._bell.ring()

    def close_session(self, session: str) -> None:
        """End the connections of a session that is over, in the background."""
        for peer in list(self._peers.values()):
            if peer.session == session:
                self._chores.spawn(self.close(peer), f"end of {peer.kind} {peer.id[:6]}")

    async def close_all(self) -> None:
        """End every connection; returns when all are gone."""
        await asyncio.gather(*(self.close(peer) for peer in list(self._peers.values())))
        await self._bell.until(lambda: not self._closing)

    def _refuse_when_full(self, session: str) -> None:
        if sum(peer.session == session for peer in self._peers.values()) >= MAX_SESSION_PEERS:
            raise CapacityError(
                f"this session has {MAX_SESSION_PEERS} connections, which is all it takes; try again when "
                "somebody has left, or open another session"
            )
        if sum(not peer.connected for peer in self._peers.values()) >= MAX_CONNECTING:
            raise CapacityError(f"{MAX_CONNECTING} connections are being made already; try again soon")

    def _watch(self, peer: Peer, connected: Callable[[], None]) -> None:
        def changed() -> None:
            state = peer.connection.connectionState
            _LOG.info("%s %s of session %s: %s", peer.kind, peer.id[:6], peer.session, state)
            if state == "connected" and peer.id in self._peers:
                connected()
            elif state in ("failed", "closed"):
                self._chores.spawn(self.close(peer), f"end of {peer.kind} {peer.id[:6]}")

        peer.connection.add_listener("connectionstatechange", changed)

    def _expire(self, peer: Peer) -> None:
        """Give up on a client that took its answer and never came."""
        if not peer.connected:
            self._chores.spawn(self.close(peer), f"end of {peer.kind} {peer.id[:6]}")


def parse_offer(sdp: str) -> SessionDescription:
    """Raises ProtocolError for what is no SDP offer, or far larger than one."""
    _check_size(sdp)
    try:
        offer = SessionDescription.parse(sdp)
        sound = all(media.dtls and media.dtls.fingerprints for media in offer.media if media.port)
        names = {media.rtp.muxId for media in offer.media}
        bundled = {name for group in offer.group for name in group.items}
    except Exception as error:
        # aiortc's parser meets bad input with whatever its code runs into.
        reason = str(error) or type(error).__name__
        raise ProtocolError(
            f"the SDP offer cannot be read ({reason}); send a complete WebRTC offer"
        ) from error
    if not offer.media or not sound or not bundled <= names:
        raise ProtocolError("the SDP offer has no usable media; send a complete WebRTC offer")
    return offer


def _check_size(sdp: str) -> None:
    """Before anything is parsed: aiortc takes long over what is large, and everybody waits for it."""
    if len(sdp.encode(errors="replace")) > MAX_OFFER_BYTES:
        raise ProtocolError(
            f"the SDP offer is over the limit of {MAX_OFFER_BYTES} bytes; offer fewer codecs and candidates"
        )
    media = sum(line.startswith("m=") for line in sdp.splitlines())
    if media > MAX_OFFER_MEDIA:
        raise ProtocolError(
            f"the SDP offer has {media} media (m=), over the limit of {MAX_OFFER_MEDIA}; offer one audio and "
            "one video"
        )


async def _negotiate(connection: RTCPeerConnection, offer: str) -> None:
    ours = connection.getTransceivers()
    try:
        await connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        for transceiver in connection.getTransceivers():
            if transceiver not in ours:
                transceiver.direction = "inactive"
        answer = await connection.createAnswer()
    except Exception as error:
        # As above: the offer decides what goes wrong in here.
        raise ProtocolError(f"the SDP offer cannot be answered: {error}") from error
    try:
        async with asyncio.timeout(GATHER_S):
            await connection.setLocalDescription(answer)
    except TimeoutError:
        raise CapacityError("no network address was found in time; try again, or check ice_servers") from None
    except ValueError as error:
        raise ProtocolError(f"the SDP offer cannot be answered: {error}") from error


def prepare_process(*, loopback: bool) -> None:
    """Check the WebRTC library and set it up, once. Raises SetupError."""
    sender.check_libraries()
    sender.prepare(loopback=loopback)
