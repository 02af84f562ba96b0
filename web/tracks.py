"""One viewer's share of a programme: two tracks of encoded packets that start and skip together."""

import asyncio
from collections import deque
from fractions import Fraction
from typing import Any, TypeAlias

import av
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack

from ..stream.clock import FRAME_RATE, PROGRAM_HOP, PROGRAM_HZ, VIDEO_CLOCK_HZ
from ..stream.link import Tick
from .bitrate import Estimate

BACKLOG_TICKS = 12
"""A viewer that lies further behind than this, 480 ms, loses pictures up to the next keyframe."""
_OPUS_SAMPLES = PROGRAM_HOP // 2
_VIDEO_BASE = Fraction(1, VIDEO_CLOCK_HZ)
_AUDIO_BASE = Fraction(1, PROGRAM_HZ)

# The parameter is the stream a packet was read from, and these come from none.
Encoded: TypeAlias = "av.Packet[Any]"


class PacketTrack(MediaStreamTrack):
    """Packets in order, at most `limit` of them; `last_pts` is that of the last one taken."""

    def __init__(self, kind: str, limit: int) -> None:
        super().__init__()
        self.kind = kind
        self.last_pts: int | None = None
        self._limit = limit
        self._packets: deque[Encoded] = deque()
        self._waiter: asyncio.Future[None] | None = None

    def room_for(self, count: int) -> bool:
        return len(self._packets) + count <= self._limit

    def put(self, packet: Encoded) -> None:
        self._packets.append(packet)
        self._wake()

    def clear(self) -> int:
        """Forget what was not taken yet; says how much."""
        lost = len(self._packets)
        self._packets.clear()
        return lost

    async def recv(self) -> Encoded:
        """The next packet, as soon as there is one. Raises MediaStreamError once the track has stopped."""
        while not self._packets:
            if self.readyState != "live":
                raise MediaStreamError
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        packet = self._packets.popleft()
        self.last_pts = packet.pts
        return packet

    def stop(self) -> None:
        super().stop()
        self._wake()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class Feed:
    """A viewer. Nothing flows before a keyframe, and sound starts in the tick of the first picture.

    When the video track is full its packets are dropped and the viewer waits for a keyframe; sound goes on.
    """

    def __init__(self, *, has_video: bool, has_audio: bool, estimate: Estimate) -> None:
        self.video = PacketTrack("video", BACKLOG_TICKS) if has_video else None
        self.audio = PacketTrack("audio", 2 * BACKLOG_TICKS) if has_audio else None
        self.estimate = estimate
        self.dropped = 0
        self._waiting = has_video
        self._started = not has_video

    @property
    def waiting(self) -> bool:
        return self._waiting

    @property
    def bitrate_bps(self) -> int | None:
        return self.estimate.bps if self.video is not None else None

    def put(self, tick: Tick) -> None:
        if self.video is not None:
            self._put_video(self.video, tick)
        if self.audio is not None and self._started:
            self._put_audio(self.audio, tick)

    def restart(self) -> None:
        self._waiting = self.video is not None

    def stop(self) -> None:
        for track in (self.video, self.audio):
            if track is not None:
                track.stop()

    def _put_video(self, track: PacketTrack, tick: Tick) -> None:
        if not track.room_for(1):
            self.dropped += track.clear()
            self._waiting = True
        if self._waiting and not tick.keyframe:
            self.dropped += self._started
            return
        self._waiting = False
        self._started = True
        track.put(_packet(tick.video, FRAME_RATE.pts(tick.index, VIDEO_CLOCK_HZ), _VIDEO_BASE))

    def _put_audio(self, track: PacketTrack, tick: Tick) -> None:
        if not track.room_for(2):
            self.dropped += track.clear()
        for half, opus in enumerate(tick.audio):
            track.put(_packet(opus, tick.index * PROGRAM_HOP + half * _OPUS_SAMPLES, _AUDIO_BASE))


def _packet(data: bytes, pts: int, base: Fraction) -> Encoded:
    packet: Encoded = av.Packet(data)
    packet.pts = pts
    packet.time_base = base
    return packet
