"""A worker without an engine: a real process that speaks the link, sends a small encoded clip and silence.

`--fd N` is its end of the socket. The avatar's name asks for trouble: `broken` cannot be opened, `never` is
never opened, `crash` ends the process, `lost` is opened and then reported lost.
"""

import argparse
import select
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import av
import numpy as np
from visavis.stream import link
from visavis.stream.clock import FRAME_RATE, PROGRAM_HOP, PROGRAM_HZ, FrameClock

SIZE = 64
CLIP_FRAMES = 50
OPUS_SILENCE = b"\xf8\xff\xfe"
STARVE_TICKS = 25
SLOTS = 3


@dataclass
class Segment:
    name: str
    queued: int = 0
    taken: int = 0
    ended: bool = False
    dry_ticks: int = 0

    def add(self, message: link.Audio) -> None:
        self.queued += len(message.pcm) // 2 * PROGRAM_HZ // message.rate
        self.dry_ticks = 0


@dataclass
class Session:
    request: link.Open
    index: int
    epoch: int
    frame: int = 0
    segments: list[Segment] = field(default_factory=list[Segment])
    keyframe: bool = True

    @property
    def due_ns(self) -> int:
        return FrameClock(FRAME_RATE, self.request.start_ns).deadline_ns(self.index)

    def hear(self, message: link.Audio) -> None:
        if not self.segments or self.segments[-1].name != message.segment:
            self.segments.append(Segment(message.segment))
        self.segments[-1].add(message)

    def end(self, name: str) -> None:
        for segment in self.segments:
            segment.ended |= segment.name == name

    def spans(self) -> Iterator[link.TickSpan]:
        room = PROGRAM_HOP
        while self.segments and (room or self.segments[0].queued == 0):
            head = self.segments[0]
            count = min(room, head.queued)
            last = head.ended and count == head.queued
            if not count and not last:
                return
            yield link.TickSpan(head.name, head.taken, head.taken + count, last)
            head.taken += count
            head.queued -= count
            room -= count
            if last:
                self.segments.pop(0)

    def starved(self) -> str | None:
        head = self.segments[0] if self.segments else None
        if head is None or head.ended or head.queued:
            return None
        head.dry_ticks += 1
        if head.dry_ticks < STARVE_TICKS:
            return None
        head.ended = True
        return head.name


class FakeWorker:
    def __init__(self, connection: socket.socket, *, parks: bool = False) -> None:
        self._parks = parks
        self._connection = connection
        self._sessions: dict[str, Session] = {}
        self._clip = clip()

    def run(self) -> None:
        inbox = link.WorkerInbox()
        self._say(link.Ready(engine="fake", latency_ms=240, encoder="clip", slots=SLOTS, parks=self._parks))
        while True:
            waits = [session.due_ns - time.monotonic_ns() for session in self._sessions.values()]
            wait_s = max(0, min(waits)) / 1e9 if waits else None
            if select.select([self._connection], [], [], wait_s)[0]:
                data = self._connection.recv(1 << 16)
                if not data:
                    return
                for message in inbox.feed(data):
                    self._obey(message)
            for session in self._sessions.values():
                if session.due_ns <= time.monotonic_ns():
                    self._tick(session)

    def _obey(self, message: link.ToWorker) -> None:
        if isinstance(message, link.Open):
            self._open(message)
            return
        if isinstance(message, link.Park):
            sys.stdout.write("parked\n")
            sys.stdout.flush()
            return
        session = self._sessions.get(message.session)
        if session is None:
            return
        match message:
            case link.Audio():
                session.hear(message)
            case link.EndSegment():
                session.end(message.segment)
            case link.Interrupt():
                session.epoch = message.epoch
                session.segments.clear()
                self._say(link.Interrupted(message.session, message.epoch, session.index - 1))
            case link.Keyframe():
                session.keyframe = True
            case link.Close():
                del self._sessions[message.session]
            case _:
                pass

    def _open(self, message: link.Open) -> None:
        match message.avatar:
            case "broken":
                self._say(link.Fault(message.session, "bad_avatar", "its mesh is torn; pack it again", True))
                return
            case "never":
                return
            case "crash":
                sys.stdout.write("this avatar ends the process\n")
                sys.exit(3)
            case _:
                pass
        due = FrameClock(FRAME_RATE, message.start_ns).due(time.monotonic_ns())
        self._sessions[message.session] = Session(message, max(message.index, due + 2), message.epoch)
        self._say(link.Opened(message.session))
        if message.avatar == "lost":
            del self._sessions[message.session]
            self._say(link.Fault(message.session, "encoder_lost", "the encoder is gone; start again", True))

    def _tick(self, session: Session) -> None:
        if session.keyframe:
            session.frame = 0
            session.keyframe = False
        name = session.request.session
        video, keyframe = self._clip[session.frame]
        self._say(
            link.Tick(
                session=name,
                epoch=session.epoch,
                index=session.index,
                video=video,
                keyframe=keyframe,
                repeated=False,
                audio=(OPUS_SILENCE, OPUS_SILENCE),
                spans=tuple(session.spans()),
            )
        )
        starved = session.starved()
        if starved is not None:
            self._say(link.Starved(name, starved))
        if session.index % 25 == 0:
            self._say(link.Gauges(name, session.index, 1, 2, 3, 0))
        session.frame = (session.frame + 1) % CLIP_FRAMES
        session.index += 1

    def _say(self, message: link.ToFront) -> None:
        self._connection.sendall(link.to_frame(message))


def clip() -> list[tuple[bytes, bool]]:
    """Encoded pictures that loop: an IDR, then pictures that follow from it."""
    codec = av.CodecContext.create("libx264", "w")
    codec.width = codec.height = SIZE
    codec.pix_fmt = "yuv420p"
    codec.framerate = FRAME_RATE.per_second
    codec.time_base = 1 / FRAME_RATE.per_second
    codec.profile = "Baseline"
    codec.options = {"preset": "ultrafast", "tune": "zerolatency", "g": str(CLIP_FRAMES * 2)}
    codec.thread_count = 1
    pictures: list[tuple[bytes, bool]] = []
    for index in range(CLIP_FRAMES):
        picture = np.full((SIZE * 3 // 2, SIZE), 128, np.uint8)
        picture[:SIZE, index : index + 8] = 235
        frame = av.VideoFrame.from_ndarray(picture, "yuv420p")
        frame.pts = index
        pictures += [(bytes(packet), packet.is_keyframe) for packet in codec.encode(frame)]
    return pictures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True)
    parser.add_argument("--parks", action="store_true")
    options = parser.parse_args()
    with socket.socket(fileno=options.fd) as connection:
        FakeWorker(connection, parks=options.parks).run()


if __name__ == "__main__":
    main()
