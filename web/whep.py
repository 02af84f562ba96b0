"""Viewing over WHEP: an offer to receive, answered with the session's own packets."""

import time
from dataclasses import dataclass

from aiortc import RTCPeerConnection, RTCRtpTransceiver
from aiortc.sdp import MediaDescription

from ..stream.clock import PROGRAM_HZ, VIDEO_CLOCK_HZ
from ..stream.errors import UsageError
from . import sender
from .bitrate import Estimate
from .peer import Peer, Peers, parse_offer
from .program import Program
from .tracks import Feed, PacketTrack


class NotAcceptable(UsageError):
    """An offer that asks for what we do not send."""

    code = "not_acceptable"


@dataclass(slots=True)
class Viewing:
    """What a viewer's receiver reports, turned into wishes."""

    program: Program
    estimate: Estimate

    def keyframe(self) -> None:
        self.program.want_keyframe(time.monotonic_ns())

    def ceiling(self, bitrate_bps: int) -> None:
        self.estimate.ceiling(bitrate_bps, self.program.traffic.bitrate_bps)

    def lost(self, fraction: float) -> None:
        self.estimate.lost(fraction)


async def view(peers: Peers, program: Program, offer: str) -> Peer:
    """Answer a viewer's offer. Raises ProtocolError, NotAcceptable or CapacityError."""
    wanted = _wanted(offer)
    estimate = Estimate(program.nominal_bps)
    feed = Feed(has_video="video" in wanted, has_audio="audio" in wanted, estimate=estimate)
    epoch = sender.ntp_epoch(program.clock.start_ns, time.monotonic_ns())

    def prepare(connection: RTCPeerConnection) -> None:
        if feed.audio is not None:
            _send(connection, feed.audio, "opus", epoch, PROGRAM_HZ)
        if feed.video is not None:
            transceiver = _send(connection, feed.video, "h264", epoch, VIDEO_CLOCK_HZ)
            sender.hear(transceiver.sender, Viewing(program, estimate))

    def connected() -> None:
        if feed not in program.viewers:
            program.viewers.append(feed)
            program.want_keyframe(time.monotonic_ns())

    def ended() -> None:
        feed.stop()
        if feed in program.viewers:
            program.viewers.remove(feed)
            program.used_ns = time.monotonic_ns()

    return await peers.connect(
        "whep",
        program.what.name,
        offer,
        prepare=prepare,
        connected=connected,
        ended=ended,
    )


def _send(
    connection: RTCPeerConnection, track: PacketTrack, codec: str, epoch: int, clock_rate: int
) -> RTCRtpTransceiver:
    transceiver = connection.addTransceiver(track, direction="sendonly")
    transceiver.setCodecPreferences(sender.codecs_of(track.kind, codec))
    sender.stamp(transceiver.sender, epoch=epoch, clock_rate=clock_rate, last_pts=lambda: track.last_pts)
    return transceiver


def _wanted(offer: str) -> set[str]:
    """The kinds of media that `offer` can receive from us."""
    open_media = [
        media
        for media in parse_offer(offer).media
        if media.kind in ("audio", "video") and media.direction in ("recvonly", "sendrecv") and media.port
    ]
    if not open_media:
        raise NotAcceptable("the offer receives nothing; a viewer offers recvonly audio and video")
    for media in open_media:
        _check_codec(media)
    return {media.kind for media in open_media}


def _check_codec(media: MediaDescription) -> None:
    names = {codec.name.lower() for codec in media.rtp.codecs}
    if media.kind == "video" and "h264" not in names:
        raise NotAcceptable(
            "this server sends H.264, which the offer lacks; use a browser that plays it (in Firefox, turn "
            "the OpenH264 plugin on). VP8 is not there yet"
        )
    if media.kind == "audio" and "opus" not in names:
        raise NotAcceptable("this server sends Opus, which the offer lacks; offer it")
