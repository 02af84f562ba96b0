"""How many presenters a device holds: sessions that all speak, tick after tick, and how long a tick takes.

As in a worker, sessions are drawn at two moments of a tick, in real time. A tick is over when its pictures
are in the host's memory, as an encoder takes them, and takes as long as that is after its moment.
"""

import gc
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import torch
from numpy.typing import NDArray

from ...stream.clock import FEATURE_HOP, NS_PER_MS, NS_PER_SECOND, TICK_NS
from ...stream.pacer import MOMENTS
from ..phases import TOGETHER
from ..surface import Surface
from .conditions import Character
from .controls import Following, FrameControls
from .decoder import ENLARGED
from .delay import WindowShape
from .motion import WIDTH, Motion, Source
from .mover import Mover
from .networks import Networks
from .painter import Appearance, Painter, Stroke, pictures_for

TICK_MS: Final = 40.0
PICTURE: Final = (1080, 1920)
FACE: Final = 0.78
"""Of a picture's shorter side is the crop that is put on it."""
SURFACES: Final = 3
SOUNDS: Final = 256
"""Ticks of sound, of which each session hears others in turn."""
LATE_SHARE, LATE_EVERY = 0.01, 25
"""Of all ticks may be late, and after how many they are counted."""
SETTLING: Final = 20
"""Ticks before any is counted, beside the delay of the windows."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """Milliseconds (n,) float64 from the moments of ticks until their pictures were there; `called_ms` (n,)
    that the host computed to call for them; and, where motion was made, until the first picture of it was
    there (m,). The device was asked `grown` times for more memory meanwhile."""

    ms: NDArray[np.float64]
    called_ms: NDArray[np.float64]
    first_ms: NDArray[np.float64]
    grown: int

    @property
    def keeps_pace(self) -> bool:
        """99 of 100 are done before the next one is due."""
        return float(np.percentile(self.ms, 99)) < TICK_MS

    def figures(self) -> dict[str, float]:
        return {
            "ms_p50": round(float(np.percentile(self.ms, 50)), 3),
            "ms_p95": round(float(np.percentile(self.ms, 95)), 3),
            "ms_p99": round(float(np.percentile(self.ms, 99)), 3),
            "ms_max": round(float(self.ms.max()), 3),
            "called_ms_mean": round(float(self.called_ms.mean()), 3),
            "called_ms_p50": round(float(np.median(self.called_ms)), 3),
            "first_ms_p50": round(float(np.percentile(self.first_ms, 50)), 3),
            "first_ms_p95": round(float(np.percentile(self.first_ms, 95)), 3),
            "grown": self.grown,
        }


@dataclass(frozen=True, slots=True)
class _There:
    """How many milliseconds after their time pictures were there, and the first whose motion was new."""

    ms: float
    first_ms: float | None

    @classmethod
    def of(cls, due_ns: int, rest: Sequence[Surface], fresh: Sequence[Surface]) -> Self:
        """Once they are."""
        first_ms = _late_ms(fresh[0], due_ns) if fresh else None
        return cls(max((_late_ms(one, due_ns) for one in (*rest, *fresh)), default=0.0), first_ms)


def starts(sessions: int, hop: int) -> list[int]:
    """The first ticks of sessions whose windows are `hop` apart: those of a batch have theirs together, and
    batches theirs as far from each other as can be."""
    batches = [session % MOMENTS + MOMENTS * (session // (MOMENTS * TOGETHER)) for session in range(sessions)]
    number = max(batches) + 1
    turns = [batch * hop // number for batch in batches]
    return [session + (turn - session) % hop for session, turn in enumerate(turns)]


class Load:
    """Sessions with faces of noise that hear noise, at the moments at which a worker's would: batches of them
    have their hops together."""

    def __init__(
        self, networks: Networks, shape: WindowShape, *, sessions: int, size: tuple[int, int] = PICTURE
    ) -> None:
        """Pictures are of `size` (width, height)."""
        self.sessions, self._size = sessions, size
        self._pictures = pictures_for(networks, sessions, size)
        self._surfaces: dict[int, list[Surface]] = {}
        bound = torch.full((WIDTH,), torch.inf, device=networks.device)
        self._mover = Mover(networks, shape, slots=sessions, cache_bytes=0)
        self._painter = Painter(networks, self._mover.motion, low=-bound, high=bound, pictures=self._pictures)
        self._noise = np.random.default_rng(1).normal(0, 0.1, (SOUNDS, FEATURE_HOP)).astype(np.float32)
        self._networks = networks
        self._starts = starts(sessions, shape.hop)
        self._moments = [range(first, sessions, MOMENTS) for first in range(min(MOMENTS, sessions))]
        self._in_time = networks.device.type == "cuda"
        """Without a card all is called for as soon as it can be."""
        self._mover.warm()
        self._painter.warm()

    def run(self, ticks: int) -> Ticks:
        """`ticks` of them once all have begun, or fewer, if by then too many were late. For one run."""
        warm = max(self._starts) + self._mover.delay + SETTLING
        with ThreadPoolExecutor(1) as watcher:
            began_ns = time.monotonic_ns()
            called, done = list[float](), list[list[Future[_There]]]()
            segments, last = 0, list[Future[_There]]()
            for tick in range(warm + max(ticks, self._mover.shape.hop)):
                if tick == warm:
                    # What opening took is none of what a tick takes.
                    for one in last:
                        one.result()
                    began_ns = time.monotonic_ns() - tick * TICK_NS
                    segments = _segments()
                spent_ns, there = 0, list[Future[_There]]()
                for number, slots in enumerate(self._moments):
                    due_ns = self._wait(began_ns, tick, number)
                    used_ns = time.thread_time_ns()
                    rest, fresh = self._step(tick, slots)
                    spent_ns += time.thread_time_ns() - used_ns
                    there.append(watcher.submit(_There.of, due_ns, rest, fresh))
                last = there
                if tick >= warm:
                    called.append(spent_ns / NS_PER_MS)
                    done.append(there)
                    if len(done) % LATE_EVERY == 0 and _late(done) > LATE_SHARE * ticks + 1:
                        break
            found = [[one.result() for one in some] for some in done]
        firsts = [one.first_ms for some in found for one in some if one.first_ms is not None]
        ms = [max(one.ms for one in some) for some in found]
        grown = _segments() - segments
        return Ticks(np.array(ms[:ticks]), np.array(called[:ticks]), np.array(firsts), grown)

    def _wait(self, began_ns: int, tick: int, moment: int) -> int:
        """Until it is time for what is called for at `moment` of `tick`; when that is."""
        if not self._in_time:
            return time.monotonic_ns()
        due_ns = began_ns + tick * TICK_NS + moment * TICK_NS // MOMENTS
        time.sleep(max(due_ns - time.monotonic_ns(), 0) / NS_PER_SECOND)
        return due_ns

    def _step(self, tick: int, slots: Sequence[int]) -> tuple[list[Surface], list[Surface]]:
        """One tick of those of `slots` that have begun: where their pictures go, those last whose motion was
        made in it."""
        for slot in slots:
            if self._starts[slot] == tick:
                self._open(slot)
        speaking = [slot for slot in slots if self._starts[slot] <= tick]
        frames = {slot: tick - self._starts[slot] - self._mover.delay for slot in speaking}
        drawn = [slot for slot in speaking if frames[slot] >= 0]
        ready = [slot for slot in drawn if self._mover.has_settled(slot, frames[slot])]
        rest = self._show(tick, ready, frames)
        self._mover.hear([(slot, self._noise[(tick + 7 * slot) % SOUNDS]) for slot in speaking])
        self._mover.join()
        return rest, self._show(tick, [slot for slot in drawn if slot not in ready], frames)

    def _show(self, tick: int, slots: list[int], frames: dict[int, int]) -> list[Surface]:
        """Draw at `tick` frame `frames[slot]` of each of `slots`."""
        strokes = [
            Stroke(slot, frames[slot], 0, self._mover.place(frames[slot]), FrameControls()) for slot in slots
        ]
        surfaces = [self._surfaces[slot][tick % SURFACES] for slot in slots]
        self._painter.show(strokes, surfaces)
        return surfaces

    def _open(self, slot: int) -> None:
        size, side = self._networks.warp.size.motion, self._networks.side
        drawn = torch.Generator().manual_seed(slot)
        source = Source(
            Motion.from_rows(torch.randn(1, WIDTH, generator=drawn) * 0.3),
            torch.randn(1, 63, generator=drawn) * 0.3,
        )
        volume = torch.randn(1, size.channels, size.depth, side, side, generator=drawn)
        width, height = self._size
        scale = FACE * min(width, height) / (ENLARGED * side)
        left, top = width * (1 - FACE) / 2, height / 4
        matrix = np.array([[[scale, 0, left], [0, scale, top]]], np.float32)
        self._pictures.open(slot, np.full((height, width, 3), 90, np.uint8), matrix)
        self._surfaces[slot] = list(self._pictures.surfaces(slot, SURFACES))
        self._painter.open(slot, Appearance(volume, source), Following())
        eyes = torch.ones(1, 2), torch.zeros(1, 6)
        character = Character.from_source(source, *eyes, canonical=source.canonical[0])
        self._mover.open(slot, character, seed=slot)


def capacity(
    load: Callable[[int], Load], *, most: int, ticks: int, counts: Sequence[int] = ()
) -> dict[str, Any]:  # figures as JSON takes them
    """How many sessions keep pace for so many `ticks`, counted down from `most`, or of these `counts`; and
    what was tried on the way. Too many are soon found out, so that counting down is quicker than halving."""
    tried: list[dict[str, Any]] = []
    for count in counts or range(most, 0, -1):
        tried.append(trial(load, count, ticks))
        if tried[-1]["keeps_pace"] and not counts:
            break
    return {
        "sessions": max((one["sessions"] for one in tried if one["keeps_pace"]), default=0),
        "of": max(counts, default=most),
        "ticks": ticks,
        "tried": sorted(tried, key=lambda one: one["sessions"]),
    }


def trial(load: Callable[[int], Load], count: int, ticks: int) -> dict[str, Any]:
    """So many sessions, whose memory is free again after."""
    running = load(count)
    found = running.run(ticks)
    tried: dict[str, Any] = {"sessions": count, "ticks": len(found.ms)}
    tried |= found.figures() | {"keeps_pace": found.keeps_pace}
    tried |= settled_memory()
    del running
    settled_memory()
    return tried


def _late(done: Sequence[Sequence[Future[_There]]]) -> int:
    """How many ticks have taken longer than they may, of those that are over."""
    over = (some for some in done if all(one.done() for one in some))
    return sum(max(one.result().ms for one in some) >= TICK_MS for some in over)


def _late_ms(surface: Surface, due_ns: int) -> float:
    surface.wait()
    return (time.monotonic_ns() - due_ns) / NS_PER_MS


def _segments() -> int:
    """How often the device has been asked for memory so far."""
    return int(torch.cuda.memory_stats().get("segment.all.allocated", 0)) if torch.cuda.is_available() else 0


def settled_memory() -> dict[str, int]:
    """Bytes that are allocated, that torch holds for it, and that the card has given to all processes, once
    what nobody needs is free again: a captured call and what it belongs to hold each other. Nothing where
    there is no card."""
    gc.collect()
    if not torch.cuda.is_available():
        return {}
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    return {
        "allocated_bytes": torch.cuda.memory_allocated(),
        "reserved_bytes": torch.cuda.memory_reserved(),
        "card_bytes": total - free,
    }
