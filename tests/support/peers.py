"""A WebRTC client on loopback, as far as the tests of the front need one."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import av
import numpy as np
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from aiortc.rtp import RtcpSrPacket, RtpPacket

from .front import Studio

SDP = {"Content-Type": "application/sdp"}
NTP_ONE = 1 << 32
CLOCK_HZ = {"video": 90_000, "audio": 48_000}


@dataclass
class Watcher:
    """What a receiver got: decoded pictures by arrival, first RTP timestamps, and sender reports."""

    connection: RTCPeerConnection
    location: str = ""
    answer: str = ""
    pictures_ns: list[int] = field(default_factory=list[int])
    first_stamp: dict[str, int] = field(default_factory=dict[str, int])
    reports: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    tasks: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])

    def first_ntp(self, kind: str) -> float:
        """When the first packet was meant to be sent, in seconds of NTP time, by its sender report."""
        ntp, stamp = self.reports[kind]
        behind = (stamp - self.first_stamp[kind]) & 0xFFFFFFFF
        return ntp / NTP_ONE - behind / CLOCK_HZ[kind]

    async def watch(self, track: MediaStreamTrack) -> None:
        with contextlib.suppress(MediaStreamError):
            while True:
                await track.recv()
                if track.kind == "video":
                    self.pictures_ns.append(time.monotonic_ns())

    def listen(self) -> None:
        """Note timestamps and reports, which aiortc keeps to itself."""
        for transceiver in self.connection.getTransceivers():
            self._listen(transceiver.kind, transceiver.receiver)

    def _listen(self, kind: str, receiver: Any) -> None:
        on_report, on_packet = receiver._handle_rtcp_packet, receiver._handle_rtp_packet

        async def handle_report(packet: object) -> None:
            if isinstance(packet, RtcpSrPacket):
                info = packet.sender_info
                self.reports[kind] = (info.ntp_timestamp, info.rtp_timestamp)
            await on_report(packet)

        async def handle_packet(packet: RtpPacket, arrival_time_ms: int) -> None:
            self.first_stamp.setdefault(kind, packet.timestamp)
            await on_packet(packet, arrival_time_ms)

        receiver._handle_rtcp_packet = handle_report
        receiver._handle_rtp_packet = handle_packet


def connection() -> RTCPeerConnection:
    return RTCPeerConnection(RTCConfiguration(iceServers=[]))


async def offer_of(peer: RTCPeerConnection) -> str:
    """A complete offer of what was added to `peer`."""
    await peer.setLocalDescription(await peer.createOffer())
    return peer.localDescription.sdp


async def viewer_offer(*kinds: str) -> tuple[RTCPeerConnection, str]:
    """A connection that wants to receive `kinds`, and its offer."""
    peer = connection()
    for kind in kinds or ("audio", "video"):
        peer.addTransceiver(kind, direction="recvonly")
    return peer, await offer_of(peer)


@contextlib.asynccontextmanager
async def watching(studio: Studio, session: str, *kinds: str) -> AsyncIterator[Watcher]:
    """A viewer of `session`, connected."""
    peer, offer = await viewer_offer(*kinds)
    watcher = Watcher(peer)
    # Only as long as a test runs, and cancelled below.
    peer.on("track", lambda track: watcher.tasks.append(asyncio.ensure_future(watcher.watch(track))))
    async with studio.client.post(f"/whep/{session}", data=offer, headers=SDP) as answer:
        text = await answer.text()
        assert answer.status == 201, text
        watcher.location = answer.headers["Location"]
        watcher.answer = text
    await peer.setRemoteDescription(RTCSessionDescription(text, "answer"))
    watcher.listen()
    try:
        yield watcher
    finally:
        await peer.close()
        for task in watcher.tasks:
            task.cancel()
        await asyncio.gather(*watcher.tasks, return_exceptions=True)


class Tone(MediaStreamTrack):
    """Sound in real time, 20 ms a frame: silence, a tone from frame `begin` to `end`, then silence again."""

    kind = "audio"

    def __init__(self, begin: int, end: int) -> None:
        super().__init__()
        self._begin, self._end = begin, end
        self._index = 0
        self._start_ns = time.monotonic_ns()

    async def recv(self) -> av.AudioFrame:
        due_ns = self._start_ns + self._index * 20_000_000
        await asyncio.sleep(max(0, due_ns - time.monotonic_ns()) / 1e9)
        loud = self._begin <= self._index < self._end
        at = np.arange(960) + self._index * 960
        samples = (12_000 * np.sin(2 * np.pi * 440 * at / 48_000) * loud).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), "s16", "mono")
        frame.sample_rate = 48_000
        frame.pts = self._index * 960
        frame.time_base = Fraction(1, 48_000)
        self._index += 1
        return frame


@contextlib.asynccontextmanager
async def speaking(studio: Studio, session: str, track: MediaStreamTrack) -> AsyncIterator[str]:
    """A microphone of `session`, connected; its Location."""
    peer = connection()
    peer.addTransceiver(track, direction="sendonly")
    offer = await offer_of(peer)
    async with studio.client.post(f"/whip/{session}", data=offer, headers=SDP) as answer:
        text = await answer.text()
        assert answer.status == 201, text
        location = answer.headers["Location"]
    await peer.setRemoteDescription(RTCSessionDescription(text, "answer"))
    try:
        yield location
    finally:
        await peer.close()
