"""The only place that touches private names of aiortc and aioice, each of them checked at start-up.

aiortc sends packets that were encoded elsewhere, but tells their source nothing: it keeps keyframe requests
and receiver reports to itself, stamps its sender reports with "now", and holds microphones back for 80 ms.
"""

# Reaching into another library is what this file is for.
# pyright: reportPrivateUsage=false

import logging
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from types import CodeType
from typing import Protocol, cast

import aioice.ice
import aiortc.rtcrtpsender
import av
from aiortc import RTCRtpReceiver, RTCRtpSender
from aiortc.clock import current_ntp_time
from aiortc.codecs import get_capabilities, get_encoder
from aiortc.jitterbuffer import JitterBuffer
from aiortc.rtcdtlstransport import RTCDtlsTransport
from aiortc.rtcrtpparameters import RTCRtpCodecCapability, RTCRtpCodecParameters
from aiortc.rtp import (
    RTCP_PSFB_APP,
    AnyRtcpPacket,
    RtcpPsfbPacket,
    RtcpRrPacket,
    RtcpSrPacket,
    unpack_remb_fci,
)

from ..stream.clock import NS_PER_SECOND, VIDEO_CLOCK_HZ
from ..stream.errors import SetupError
from .tracks import Encoded

_LOG = logging.getLogger(__name__)

HISTORY_PACKETS = 1024
"""Sent packets kept for retransmission: over 2 s of a large picture, where aiortc keeps a third of one."""
_MIC_CAPACITY = 4
"""Packets that a microphone's buffer spans: a lost one holds the rest back until the span is full."""
_LOSS_UNIT = 256

H264_PROFILES = ("42e01f", "42001f")


class Feedback(Protocol):
    """What receivers report."""

    def keyframe(self) -> None: ...

    def ceiling(self, bitrate_bps: int) -> None: ...

    def lost(self, fraction: float) -> None: ...


@dataclass(frozen=True, slots=True)
class _Hook:
    """`names` must be what `code` looks up at run time, or replacing them has no effect."""

    code: CodeType
    names: tuple[str, ...]


def prepare(*, loopback: bool) -> None:
    """Set what the libraries fix for the whole process. With `loopback`, peers are offered 127.0.0.1 too."""
    aiortc.rtcrtpsender.RTP_HISTORY_SIZE = HISTORY_PACKETS  # pyright: ignore[reportPrivateImportUsage]
    aioice.ice.get_host_addresses = _with_loopback if loopback else _HOST_ADDRESSES


_HOST_ADDRESSES = aioice.ice.get_host_addresses


def host_addresses(use_ipv4: bool, use_ipv6: bool) -> list[str]:
    """This machine's addresses of these families, without loopback and those of one link only."""
    return _HOST_ADDRESSES(use_ipv4, use_ipv6)


def _with_loopback(use_ipv4: bool, use_ipv6: bool) -> list[str]:
    """aioice leaves loopback out, so that a machine without a network has no address at all."""
    loopback = ["127.0.0.1"] if use_ipv4 else []
    return loopback + _HOST_ADDRESSES(use_ipv4, use_ipv6)


def ntp_epoch(start_ns: int, now_ns: int) -> int:
    """NTP time (32.32) of `start_ns`, both on the monotonic clock; `now_ns` is now."""
    return current_ntp_time() - ((now_ns - start_ns) << 32) // NS_PER_SECOND


def hear(sender: RTCRtpSender, feedback: Feedback) -> None:
    """Pass on what the receiver of `sender` reports."""
    handle = sender._handle_rtcp_packet

    async def handle_and_pass(packet: AnyRtcpPacket) -> None:
        await handle(packet)
        _pass_on(packet, sender._ssrc, feedback)

    sender._send_keyframe = feedback.keyframe
    sender._handle_rtcp_packet = handle_and_pass


def stamp(sender: RTCRtpSender, *, epoch: int, clock_rate: int, last_pts: Callable[[], int | None]) -> None:
    """Have sender reports say when a packet was meant to be sent, `epoch` (NTP, 32.32) plus its pts, so that
    receivers align sound and picture by pts.
    """
    send = sender._send_rtcp

    async def send_stamped(packets: list[AnyRtcpPacket]) -> None:
        if not any(isinstance(packet, RtcpSrPacket) for packet in packets):
            await send(packets)
            return
        pts = last_pts()
        if pts is None:
            return
        for packet in packets:
            if isinstance(packet, RtcpSrPacket):
                packet.sender_info.ntp_timestamp = epoch + (pts << 32) // clock_rate
        await send(packets)

    sender._send_rtcp = send_stamped


def hurry(receiver: RTCRtpReceiver) -> None:
    """Do not hold a microphone's packets back."""
    buffer = JitterBuffer(capacity=_MIC_CAPACITY, prefetch=0)
    receiver._RTCRtpReceiver__jitter_buffer = buffer  # pyright: ignore[reportAttributeAccessIssue]


def codecs_of(kind: str, name: str) -> list[RTCRtpCodecCapability]:
    """aiortc's entries for codec `name`, with retransmission, the most compatible profile first."""
    wanted = [
        codec
        for codec in get_capabilities(kind).codecs
        if codec.mimeType.lower() in (f"{kind}/{name}", f"{kind}/rtx")
    ]
    return sorted(wanted, key=_preference)


def check_libraries() -> None:
    """Raises SetupError when the installed aiortc is not the one these hooks were made for."""
    problem = _missing_hook() or _unpackable()
    if problem is not None:
        raise SetupError(
            f"aiortc {version('aiortc')} with aioice {version('aioice')} does not work with this release "
            f"({problem}); install the pinned one: pip install 'aiortc==1.16.0' 'aioice==0.13.0'"
        )


def _pass_on(packet: AnyRtcpPacket, ssrc: int, feedback: Feedback) -> None:
    if isinstance(packet, RtcpRrPacket | RtcpSrPacket):
        for report in packet.reports:
            if report.ssrc == ssrc:
                feedback.lost(report.fraction_lost / _LOSS_UNIT)
    elif isinstance(packet, RtcpPsfbPacket) and packet.fmt == RTCP_PSFB_APP:
        try:
            bitrate_bps, ssrcs = unpack_remb_fci(packet.fci)
        except ValueError:
            return
        if ssrc in ssrcs:
            feedback.ceiling(bitrate_bps)


def _preference(codec: RTCRtpCodecCapability) -> int:
    profile = str(codec.parameters.get("profile-level-id", "")).lower()
    return H264_PROFILES.index(profile) if profile in H264_PROFILES else len(H264_PROFILES)


def _missing_hook() -> str | None:
    try:
        hooks = (
            _Hook(RTCRtpSender._handle_rtcp_packet.__code__, ("_send_keyframe",)),
            _Hook(RTCRtpSender._run_rtp.__code__, ("_next_encoded_frame", "RTP_HISTORY_SIZE")),
            _Hook(RTCRtpSender._next_encoded_frame.__code__, ("recv", "pack")),
            _Hook(RTCRtpSender._run_rtcp.__code__, ("_send_rtcp",)),
            _Hook(RTCDtlsTransport._handle_rtcp_data.__code__, ("_handle_rtcp_packet",)),
            _Hook(RTCRtpReceiver._handle_rtp_packet.__code__, ("_RTCRtpReceiver__jitter_buffer",)),
            _Hook(aioice.ice.Connection.gather_candidates.__code__, ("get_host_addresses",)),
        )
    except AttributeError as error:
        return str(error)
    for hook in hooks:
        for name in hook.names:
            if name not in hook.code.co_names:
                return f"{hook.code.co_qualname} does not use {name}"
    return None


def _unpackable() -> str | None:
    """Says what is wrong when Annex B pictures do not become RTP payloads."""
    parameters = RTCRtpCodecParameters(mimeType="video/H264", clockRate=VIDEO_CLOCK_HZ, payloadType=96)
    packet: Encoded = av.Packet(b"\x00\x00\x00\x01\x67\x42\x00\x1f\x00\x00\x00\x01\x65\x88\x84")
    packet.pts, packet.time_base = 3600, Fraction(1, VIDEO_CLOCK_HZ)
    # The encoder's declared type lacks pack, which every encoder has.
    encoder = cast("_Packer", get_encoder(parameters))
    payloads, timestamp = encoder.pack(packet)
    if not payloads or timestamp != packet.pts:
        return "encoded pictures are not packed"
    return None


class _Packer(Protocol):
    def pack(self, packet: Encoded) -> tuple[list[bytes], int]: ...
