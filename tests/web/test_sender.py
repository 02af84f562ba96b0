import asyncio
from dataclasses import dataclass, field
from typing import Any

import aioice.ice
import aiortc.rtcrtpsender
import pytest
from aiortc import RTCRtpReceiver, RTCRtpSender
from aiortc.rtp import (
    RTCP_PSFB_APP,
    RTCP_PSFB_PLI,
    RtcpPsfbPacket,
    RtcpReceiverInfo,
    RtcpRrPacket,
    RtcpSenderInfo,
    RtcpSrPacket,
    pack_remb_fci,
)
from visavis.stream.clock import NS_PER_SECOND, VIDEO_CLOCK_HZ
from visavis.stream.errors import SetupError
from visavis.web import sender


@dataclass
class Wire:
    """A transport that keeps what is sent."""

    state: str = "connected"
    sent: list[bytes] = field(default_factory=list[bytes])
    _stats_id: str = "wire"

    async def _send_rtp(self, data: bytes) -> None:
        self.sent.append(data)


@dataclass
class Reports:
    keyframes: int = 0
    ceilings: list[int] = field(default_factory=list[int])
    losses: list[float] = field(default_factory=list[float])

    def keyframe(self) -> None:
        self.keyframes += 1

    def ceiling(self, bitrate_bps: int) -> None:
        self.ceilings.append(bitrate_bps)

    def lost(self, fraction: float) -> None:
        self.losses.append(fraction)


def rtp_sender(wire: Wire) -> Any:
    return RTCRtpSender("video", wire)  # type: ignore[arg-type]


def report_of(ssrc: int, fraction_lost: int) -> RtcpRrPacket:
    info = RtcpReceiverInfo(
        ssrc=ssrc,
        fraction_lost=fraction_lost,
        packets_lost=0,
        highest_sequence=0,
        jitter=0,
        lsr=0,
        dlsr=0,
    )
    return RtcpRrPacket(ssrc=9, reports=[info])


def sender_report(ssrc: int) -> RtcpSrPacket:
    info = RtcpSenderInfo(ntp_timestamp=123, rtp_timestamp=456, packet_count=1, octet_count=1)
    return RtcpSrPacket(ssrc=ssrc, sender_info=info)


def test_the_installed_libraries_pass_the_self_test() -> None:
    sender.check_libraries()


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (RTCRtpSender, "_send_rtcp"),
        (RTCRtpSender, "_handle_rtcp_packet"),
        (RTCRtpReceiver, "_handle_rtp_packet"),
        (RTCRtpSender, "_run_rtcp"),
    ],
)
def test_a_missing_hook_is_told_with_the_version(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    async def other(_self: object) -> None:
        return

    monkeypatch.setattr(owner, name, other)
    if name == "_send_rtcp":
        monkeypatch.setattr(RTCRtpSender, "_run_rtcp", other)
    with pytest.raises(SetupError, match=r"aiortc 1\.\d+\.\d+.*install the pinned one"):
        sender.check_libraries()


def test_a_hook_that_is_gone_altogether_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(RTCRtpSender, "_next_encoded_frame")
    with pytest.raises(SetupError, match="_next_encoded_frame"):
        sender.check_libraries()


async def test_reports_of_the_receiver_reach_us() -> None:
    reports, rtp = Reports(), rtp_sender(Wire())
    sender.hear(rtp, reports)
    await rtp._handle_rtcp_packet(RtcpPsfbPacket(fmt=RTCP_PSFB_PLI, ssrc=9, media_ssrc=rtp._ssrc))
    await rtp._handle_rtcp_packet(report_of(rtp._ssrc, 64))
    await rtp._handle_rtcp_packet(report_of(rtp._ssrc + 1, 128))
    fci = pack_remb_fci(800_000, [rtp._ssrc])
    await rtp._handle_rtcp_packet(RtcpPsfbPacket(fmt=RTCP_PSFB_APP, ssrc=9, media_ssrc=0, fci=fci))
    other = pack_remb_fci(700_000, [rtp._ssrc + 1])
    await rtp._handle_rtcp_packet(RtcpPsfbPacket(fmt=RTCP_PSFB_APP, ssrc=9, media_ssrc=0, fci=other))
    await rtp._handle_rtcp_packet(RtcpPsfbPacket(fmt=RTCP_PSFB_APP, ssrc=9, media_ssrc=0, fci=b"junk"))
    assert reports.keyframes == 1
    assert reports.losses == [0.25]
    assert reports.ceilings == [pytest.approx(800_000, rel=0.01)]


async def test_sender_reports_say_when_a_packet_was_meant_to_be_sent() -> None:
    wire = Wire()
    rtp = rtp_sender(wire)
    epoch = 1000 << 32
    sender.stamp(rtp, epoch=epoch, clock_rate=VIDEO_CLOCK_HZ, last_pts=lambda: 3 * 45_000)
    await rtp._send_rtcp([sender_report(rtp._ssrc)])
    ntp = int.from_bytes(wire.sent[0][8:16], "big")
    assert ntp == epoch + (3 << 31)
    assert int.from_bytes(wire.sent[0][16:20], "big") == 456


async def test_no_sender_report_goes_out_before_the_first_packet() -> None:
    wire = Wire()
    rtp = rtp_sender(wire)
    sender.stamp(rtp, epoch=0, clock_rate=VIDEO_CLOCK_HZ, last_pts=lambda: None)
    await rtp._send_rtcp([sender_report(rtp._ssrc)])
    assert wire.sent == []


async def test_the_epoch_is_the_wall_clock_at_the_start_of_the_session() -> None:
    now = sender.ntp_epoch(5 * NS_PER_SECOND, 5 * NS_PER_SECOND)
    earlier = sender.ntp_epoch(3 * NS_PER_SECOND, 5 * NS_PER_SECOND)
    assert (now - earlier) / (1 << 32) == pytest.approx(2, abs=0.2)


async def test_a_microphones_packets_are_not_held_back() -> None:
    receiver: Any = RTCRtpReceiver("audio", Wire())  # type: ignore[arg-type]
    sender.hurry(receiver)
    buffer = receiver._RTCRtpReceiver__jitter_buffer
    assert (buffer.capacity, buffer._prefetch) == (4, 0)


def test_h264_is_offered_with_the_most_compatible_profile_first_and_retransmission() -> None:
    codecs = sender.codecs_of("video", "h264")
    assert [codec.mimeType for codec in codecs] == ["video/H264", "video/H264", "video/rtx"]
    assert codecs[0].parameters["profile-level-id"] == "42e01f"


def test_loopback_is_offered_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aioice.ice, "get_host_addresses", aioice.ice.get_host_addresses)
    monkeypatch.setattr(aiortc.rtcrtpsender, "RTP_HISTORY_SIZE", 128)
    sender.prepare(loopback=True)
    assert "127.0.0.1" in aioice.ice.get_host_addresses(use_ipv4=True, use_ipv6=False)
    assert "127.0.0.1" not in aioice.ice.get_host_addresses(use_ipv4=False, use_ipv6=False)
    sender.prepare(loopback=False)
    assert "127.0.0.1" not in aioice.ice.get_host_addresses(use_ipv4=True, use_ipv6=False)
    assert aiortc.rtcrtpsender.RTP_HISTORY_SIZE == sender.HISTORY_PACKETS


async def test_a_real_sender_uses_the_hooks() -> None:
    """What the self-test reads from the code, seen at work: the report task goes through our stamp."""
    wire = Wire()
    rtp = rtp_sender(wire)
    stamped = asyncio.Event()

    def last_pts() -> int:
        stamped.set()
        return 0

    sender.stamp(rtp, epoch=0, clock_rate=VIDEO_CLOCK_HZ, last_pts=last_pts)
    async with asyncio.timeout(5):
        reporting = asyncio.ensure_future(rtp._run_rtcp())
        await stamped.wait()
        reporting.cancel()
        await reporting
