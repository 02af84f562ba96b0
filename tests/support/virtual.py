"""A worker without threads on a clock that the test moves: every task takes no time, or as long as it is
told.
"""

from dataclasses import dataclass, field

import numpy as np
from visavis.render.engine import Engine
from visavis.render.sessions import Sessions, Task
from visavis.stream import link
from visavis.stream.clock import NS_PER_MS, TICK_NS
from visavis.stream.controls import Controls
from visavis.stream.pcm import from_float

RATE = 16_000


def request(
    name: str, *, avatar: str = "ruby", index: int = 0, seed: int = 1, size: tuple[int, int] = (512, 512)
) -> link.Open:
    """A session of the small size, or of another (width, height), whose clock starts at time 0."""
    return link.Open(
        session=name,
        avatar=avatar,
        width=size[0],
        height=size[1],
        seed=seed,
        start_ns=0,
        index=index,
        epoch=0,
        bitrate_bps=800_000,
        controls=Controls(),
    )


def tone(ms: int, *, level: float = 0.4, hz: int = 440) -> bytes:
    """`ms` of a sine at 16 kHz, s16le."""
    at = np.arange(RATE * ms // 1000)
    return from_float((level * np.sin(2 * np.pi * hz * at / RATE)).astype(np.float32))


@dataclass
class VirtualWorker:
    """Drives `Sessions` as the worker's threads would, in virtual time. `slow_ms` is what a draw costs."""

    engine: Engine
    slots: int = 4
    slow_ms: int = 0
    now_ns: int = 0
    said: list[tuple[int, link.ToFront]] = field(default_factory=list[tuple[int, link.ToFront]])

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.engine, slots=self.slots)

    def tell(self, message: link.ToWorker) -> None:
        self._hear(self.sessions.receive(message, self.now_ns))

    def run(self, ms: int) -> None:
        """Let `ms` pass."""
        end_ns = self.now_ns + ms * NS_PER_MS
        while self.now_ns <= end_ns:
            task, wake_ns = self.sessions.next_task(self.now_ns)
            if task is not None:
                self._do(task)
            self._hear(self.sessions.outgoing(self.now_ns))
            if task is not None:
                continue
            times = [end_ns + 1, wake_ns, self.sessions.next_send_ns()]
            self.now_ns = max(self.now_ns + 1, min(time for time in times if time is not None))

    def ticks(self, session: str) -> list[link.Tick]:
        return [m for _, m in self.said if isinstance(m, link.Tick) and m.session == session]

    def of(self, kind: type) -> list[link.ToFront]:
        return [message for _, message in self.said if isinstance(message, kind)]

    def _do(self, task: Task) -> None:
        self.sessions.perform(task)
        if task.draws:
            self.now_ns += self.slow_ms * NS_PER_MS
        self._hear(self.sessions.finish(task, self.now_ns))

    def _hear(self, messages: list[link.ToFront]) -> None:
        self.said += [(self.now_ns, message) for message in messages]


def deadline_ms(tick: link.Tick) -> float:
    return tick.index * TICK_NS / NS_PER_MS


def say(worker: VirtualWorker, name: str, ms: int, *, segment: str = "s", end: bool = True) -> None:
    """`ms` of a tone for session `name`."""
    worker.tell(link.Audio(name, segment, RATE, tone(ms)))
    if end:
        worker.tell(link.EndSegment(name, segment))
