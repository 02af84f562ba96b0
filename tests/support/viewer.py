"""A decoding WHEP viewer: what a receiver sees and hears, and when, for measurements."""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

import aiohttp
import aioice.ice
import numpy as np
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from aiortc.rtcrtpreceiver import RemoteStreamTrack
from aiortc.rtp import RtcpSrPacket, RtpPacket

from .pattern import read_luma

LOUD = 0.05
NTP_FRACTION = 1 << 32


@dataclass
class Viewer:
    """Joins `url` + `path` and records until left.

    Arrival is when the last packet came off the wire, before any buffer of the receiver.
    `frames` holds (arrival ns, RTP timestamp, frame number, flash) of the pattern engine's picture; `sounds`
    holds (arrival ns, RTP timestamp of the first sample, samples float32 mono 48 kHz); `reports` maps a
    medium to the sender report's (NTP seconds, RTP timestamp) pairs.
    """

    url: str
    path: str
    read_pattern: bool = True
    frames: list[tuple[int, int, int, bool]] = field(default_factory=list[tuple[int, int, int, bool]])
    sounds: list[tuple[int, int, np.ndarray]] = field(default_factory=list[tuple[int, int, np.ndarray]])
    reports: dict[str, list[tuple[float, int]]] = field(default_factory=dict[str, list[tuple[float, int]]])
    origins: dict[str, int] = field(default_factory=dict[str, int])

    async def __aenter__(self) -> Self:
        _gather_loopback()
        self._peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._tasks: list[asyncio.Task[None]] = []
        self._arrived = asyncio.Event()
        self._arrivals: dict[tuple[str, int], int] = {}
        for kind in ("video", "audio"):
            self._peer.addTransceiver(kind, direction="recvonly")
        self._peer.on("track", self._follow)
        await self._peer.setLocalDescription(await self._peer.createOffer())
        async with aiohttp.ClientSession() as client:
            offer = self._peer.localDescription.sdp
            headers = {"content-type": "application/sdp"}
            async with client.post(self.url + self.path, data=offer, headers=headers) as answer:
                text = await answer.text()
                assert answer.status == 201, text
                self.resource = answer.headers["Location"]
        self.answer = text
        await self._peer.setRemoteDescription(RTCSessionDescription(text, "answer"))
        for transceiver in self._peer.getTransceivers():
            self._listen(transceiver.kind, transceiver.receiver)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        async with aiohttp.ClientSession() as client, client.delete(self.url + self.resource):
            pass
        await self._peer.close()
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def until_beeps(self, count: int, *, seconds: float = 40) -> None:
        """Wait for `count` beeps that came with a flash and for a sender report of each medium."""
        async with asyncio.timeout(seconds):
            while True:
                flashes, beeps = len(flash_starts(self.frames)), len(beep_starts(self.sounds))
                if min(flashes, beeps) >= count and all(self.reports.values()):
                    return
                await self.until_frames(len(self.frames) + (25 if count < 20 else 250))

    async def until_frames(self, count: int, *, seconds: float = 20) -> None:
        """Wait for `count` decoded frames."""
        async with asyncio.timeout(seconds):
            while len(self.frames) < count:
                self._arrived.clear()
                await self._arrived.wait()

    def see(self, now_ns: int, i420: np.ndarray) -> None:
        """Called with each picture (H * 3 / 2, W) uint8; nothing is kept of it here."""

    def _follow(self, track: RemoteStreamTrack) -> None:
        follow = self._watch if track.kind == "video" else self._hear
        self._tasks.append(asyncio.ensure_future(follow(track)))

    async def _watch(self, track: RemoteStreamTrack) -> None:
        with contextlib.suppress(MediaStreamError):
            while True:
                frame = await track.recv()
                now_ns = self._arrival_ns("video", frame.pts)
                picture = frame.to_ndarray(format="yuv420p")
                self.see(now_ns, picture)
                number, flash = read_luma(picture[: frame.height]) if self.read_pattern else (0, False)
                self.frames.append((now_ns, frame.pts, number, flash))
                self._arrived.set()

    async def _hear(self, track: RemoteStreamTrack) -> None:
        with contextlib.suppress(MediaStreamError):
            while True:
                frame = await track.recv()
                samples = frame.to_ndarray().reshape(-1, 2)[:, 0].astype(np.float32) / 32768
                self.sounds.append((self._arrival_ns("audio", frame.pts), frame.pts, samples))

    def _arrival_ns(self, kind: str, pts: int) -> int:
        """When the last packet of what has timestamp `pts` came off the wire."""
        return self._arrivals.pop((kind, (self.origins[kind] + pts) % 2**32))

    def _listen(self, kind: str, receiver: Any) -> None:
        """Note sender reports and the first packet's timestamp, which aiortc keeps to itself."""
        on_report, on_packet = receiver._handle_rtcp_packet, receiver._handle_rtp_packet
        pairs = self.reports.setdefault(kind, [])

        async def handle_report(packet: object) -> None:
            if isinstance(packet, RtcpSrPacket):
                info = packet.sender_info
                pairs.append((info.ntp_timestamp / NTP_FRACTION, info.rtp_timestamp))
            await on_report(packet)

        async def handle_packet(packet: RtpPacket, arrival_time_ms: int) -> None:
            if packet.payload:
                self.origins.setdefault(kind, packet.timestamp)
                self._arrivals[kind, packet.timestamp] = time.monotonic_ns()
            await on_packet(packet, arrival_time_ms)

        receiver._handle_rtcp_packet = handle_report
        receiver._handle_rtp_packet = handle_packet


def beep_starts(sounds: list[tuple[int, int, np.ndarray]], *, gap: int = 4800) -> list[tuple[int, int]]:
    """(arrival ns, RTP timestamp) of each first loud sample after at least `gap` quiet ones."""
    starts: list[tuple[int, int]] = []
    quiet = gap
    for arrived_ns, stamp, samples in sounds:
        loud = np.flatnonzero(np.abs(samples) > LOUD)
        if len(loud) and quiet + loud[0] >= gap:
            starts.append((arrived_ns, stamp + int(loud[0])))
        quiet = len(samples) - int(loud[-1]) - 1 if len(loud) else quiet + len(samples)
    return starts


def flash_starts(frames: list[tuple[int, int, int, bool]]) -> list[tuple[int, int]]:
    """(arrival ns, RTP timestamp) of each first flashing frame."""
    return [(now[0], now[1]) for before, now in pairwise(frames) if now[3] and not before[3]]


def _gather_loopback() -> None:
    """Let ICE use the loopback address, as both ends of a test live there."""
    aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]  # type: ignore[assignment]
