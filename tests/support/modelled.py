"""A worker on a modelled card and a clock of its own: what is drawn takes a batch's time, one after another,
and what is encoded as long as it takes a core. The sessions are real, their pictures are not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from visavis.render.avatar import Avatar
from visavis.render.ditto.delay import WindowShape, spec_of, ticks_after
from visavis.render.ditto.painter import BATCH
from visavis.render.engine import Crop, Due
from visavis.render.sessions import Duty, Sessions, Task
from visavis.render.surface import Layout, Surface, surface_over
from visavis.stream import link
from visavis.stream.clock import NS_PER_MS, TICK_NS
from visavis.stream.controls import Controls
from visavis.stream.link import EngineCounts
from visavis.stream.media import Packet
from visavis.stream.pacer import spread

from .virtual import RATE, tone

PICTURES_MS = {1: 2.9, 2: 5.0, 3: 7.4, 4: 9.1, 8: 17.5}
"""Of an H200, by how many are drawn at once."""
WINDOWS_MS = {1: 5.2, 2: 6.0, 4: 6.6, 8: 7.6, 16: 11.7}
HOST_MS, ENCODING_MS, OPENING_MS = 0.5, 20.0, 20.0
STEP_MS = 0.25
THREADS = 15


@dataclass
class Arriving:
    """When a picture is there."""

    at_ms: float = 0.0

    def wait(self) -> None:
        pass


class ModelEngine:
    """An engine of hop 5 on a card where one batch waits while another is drawn."""

    kind, max_batch, most_slots, parks = "ditto", BATCH, 16, False
    layout: Layout = "nv12"

    def __init__(self) -> None:
        shape = WindowShape(hop=5, fuse=5)
        self.spec, self.cadence, self.delay = spec_of(shape), shape.hop, ticks_after(shape)
        self.pictures = self
        self.now_ms = self.spent_ms = self.free_ms = self.begun_ms = 0.0
        self.batches, self.turns = list[int](), list[int]()
        self._heard: dict[int, int] = {}

    def warm(self) -> None:
        pass

    def open(self, slot: int, avatar: Avatar, *, size: tuple[int, int], seed: int, index: int) -> None:
        self._heard[slot] = 0
        self.spent_ms += OPENING_MS

    def surfaces(self, slot: int, count: int) -> list[Surface]:
        return [surface_over(np.zeros((6, 4), np.uint8), "nv12", ready=Arriving()) for _ in range(count)]

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        turning: list[Due] = []
        for one in due:
            before = self._heard[one.slot] // self.cadence
            self._heard[one.slot] += len(one.ticks)
            if self._heard[one.slot] // self.cadence > before:
                turning.append(one)
        self._draw([one for one in due if one not in turning])
        if turning:
            self._take(next(ms for most, ms in WINDOWS_MS.items() if most >= len(turning)))
            self.turns.append(len(turning))
        self._draw(turning)
        return [None] * len(due)

    def mask(self, slot: int) -> Any:
        raise AssertionError("pictures need no mask")

    def control(self, slot: int, controls: Controls) -> None:
        pass

    def interrupt(self, slot: int, sent: int) -> None:
        """Its turns stay where they were."""

    def close(self, slot: int) -> None:
        pass

    def offload(self) -> None:
        pass

    def park(self) -> bool:
        return False

    def counts(self) -> EngineCounts | None:
        return None

    def _draw(self, due: list[Due]) -> None:
        while due:
            size = max(size for size in PICTURES_MS if size <= len(due))
            some, due = due[:size], due[size:]
            self.spent_ms = max(self.spent_ms, self.begun_ms - self.now_ms) + HOST_MS * size
            self.begun_ms = max(self.free_ms, self.now_ms + self.spent_ms)
            self._take(PICTURES_MS[size])
            self.batches.append(size)
            for one in some:
                assert one.surface is not None
                assert isinstance(one.surface.ready, Arriving)
                one.surface.ready.at_ms = self.free_ms

    def _take(self, ms: float) -> None:
        self.free_ms = max(self.free_ms, self.now_ms + self.spent_ms) + ms


class _Quick:
    """Both encoders."""

    name = "none"

    def encode(self, *_: object, **__: object) -> list[Packet]:
        return []

    def close(self) -> None:
        pass


@dataclass
class ModelWorker:
    """Sessions by name, each fed with so many milliseconds of sound ahead; None for silence."""

    engine: ModelEngine = field(default_factory=ModelEngine)
    late_ms: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    repeated: dict[str, list[bool]] = field(default_factory=dict[str, list[bool]])

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.engine, slots=16)
        self._starts: dict[str, int] = {}
        self._fed: dict[str, tuple[float, float]] = {}
        self._drawing: tuple[float, Task] | None = None
        self._busy: list[tuple[float, Task]] = []
        self._costs = costs()

    @property
    def now_ms(self) -> float:
        return self.engine.now_ms

    def open(self, name: str, *, ahead_ms: float | None) -> None:
        now_ns = round(self.now_ms * NS_PER_MS)
        self._starts[name] = spread(now_ns, self._starts.values(), together=True)
        self.sessions.receive(
            link.Open(name, "nobody", 1080, 1920, 1, self._starts[name], 0, 0, 1, Controls()), now_ns
        )
        if ahead_ms is not None:
            self._fed[name] = self.now_ms, ahead_ms
        self.late_ms[name], self.repeated[name] = [], []

    def close(self, name: str) -> None:
        self.sessions.receive(link.Close(name), round(self.now_ms * NS_PER_MS))
        del self._starts[name]
        self._fed.pop(name, None)

    def hang(self, ms: float) -> None:
        """The card does nothing for so long."""
        self.engine.free_ms = max(self.engine.free_ms, self.now_ms) + ms

    def run(self, ms: float) -> None:
        for _ in range(round(ms / STEP_MS)):
            now_ns = round(self.now_ms * NS_PER_MS)
            self._feed(now_ns)
            self._finish(now_ns)
            for message in self.sessions.outgoing(now_ns):
                if isinstance(message, link.Tick) and message.session in self._starts:
                    due_ns = self._starts[message.session] + message.index * TICK_NS
                    self.late_ms[message.session].append((now_ns - due_ns) / NS_PER_MS)
                    self.repeated[message.session].append(message.repeated)
            self._begin(now_ns)
            self.engine.now_ms += STEP_MS

    def _feed(self, now_ns: int) -> None:
        for name, (fed_ms, ahead_ms) in self._fed.items():
            piece_ms = min(max(ahead_ms, 20), 200)
            if fed_ms <= self.now_ms + ahead_ms:
                self.sessions.receive(link.Audio(name, "s", RATE, tone(int(piece_ms))), now_ns)
                self._fed[name] = fed_ms + piece_ms, ahead_ms

    def _finish(self, now_ns: int) -> None:
        if self._drawing and self._drawing[0] <= self.now_ms:
            self.sessions.finish(self._drawing[1], now_ns)
            self._drawing = None
        for one in [one for one in self._busy if one[0] <= self.now_ms]:
            self._busy.remove(one)
            self.sessions.finish(one[1], now_ns)

    def _begin(self, now_ns: int) -> None:
        while self._drawing is None and (task := self.sessions.next_task(now_ns, Duty.ENGINE)[0]):
            self.engine.spent_ms = 0.0
            self._perform(task)
            self._drawing = self.now_ms + self.engine.spent_ms, task
        while len(self._busy) < THREADS and (task := self.sessions.next_task(now_ns, Duty.REST)[0]):
            ready_ms = 0.0
            if task.encode and isinstance(ready := task.encode[1].surface.ready, Arriving):
                ready_ms = ready.at_ms
            self._perform(task)
            self._busy.append((max(self.now_ms, ready_ms) + next(self._costs), task))

    def _perform(self, task: Task) -> None:
        self.sessions.perform(task)
        if task.error:
            raise task.error


def parts(*_: object) -> Any:
    """In place of `parts_for`."""
    return SimpleNamespace(
        avatar=None, compositor=None, video=_Quick(), audio=SimpleNamespace(encode=lambda _: b"")
    )


def costs() -> Iterator[float]:
    """Of an encode each, in milliseconds."""
    random = np.random.default_rng(1)
    while True:
        yield ENCODING_MS * random.uniform(0.75, 1.2)
