"""How many presenters a device holds: sessions that all speak, tick after tick, and how long a tick takes.

A tick is over when the pictures of all sessions are in the host's memory, as an encoder takes them.
"""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from ...stream.clock import FEATURE_HOP
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
SHORT: Final = 200
"""Ticks by which a number of sessions is judged at first."""
SETTLING: Final = 20
"""Ticks before any is counted, beside the delay of the windows."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """Milliseconds (n,) float64 that ticks took, of which the host needed `called_ms` (n,) to call for all of
    it; and, of those in which motion was made, until the first picture of it was there (m,). The device was
    asked `grown` times for more memory meanwhile."""

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
            "called_ms_p50": round(float(np.median(self.called_ms)), 3),
            "first_ms_p50": round(float(np.percentile(self.first_ms, 50)), 3),
            "first_ms_p95": round(float(np.percentile(self.first_ms, 95)), 3),
            "grown": self.grown,
        }


class Load:
    """Sessions with faces of noise that hear noise, each a tick later than the one before, so that their hops
    do not fall together."""

    def __init__(
        self, networks: Networks, shape: WindowShape, *, sessions: int, size: tuple[int, int] = PICTURE
    ) -> None:
        """Pictures are of `size` (width, height)."""
        self.sessions, self._size = sessions, size
        self._pictures = pictures_for(networks, sessions, size)
        self._surfaces: list[list[Surface]] = []
        bound = torch.full((WIDTH,), torch.inf, device=networks.device)
        self._mover = Mover(networks, shape, slots=sessions, cache_bytes=0)
        self._painter = Painter(networks, self._mover.motion, low=-bound, high=bound, pictures=self._pictures)
        self._noise = np.random.default_rng(1).normal(0, 0.1, (SOUNDS, FEATURE_HOP)).astype(np.float32)
        self._networks = networks
        self._tick = 0
        self._mover.warm()
        self._painter.warm()

    def run(self, ticks: int) -> Ticks:
        """`ticks` of them once all have begun."""
        for _ in range(self.sessions + self._mover.delay + SETTLING):
            self._step()
        before = _segments()
        spent: list[int] = []
        called: list[int] = []
        firsts: list[int] = []
        while len(spent) < ticks or not firsts:
            began_ns = time.monotonic_ns()
            called_ns, first_ns = self._step()
            spent.append(time.monotonic_ns() - began_ns)
            called.append(called_ns - began_ns)
            if first_ns is not None:
                firsts.append(first_ns - began_ns)
        grown = _segments() - before
        return Ticks(np.array(spent) / 1e6, np.array(called) / 1e6, np.array(firsts) / 1e6, grown)

    def _step(self) -> tuple[int, int | None]:
        """One tick of all that have begun: when all of it was called for, and when the first picture whose
        motion was made in it was there."""
        if self._tick < self.sessions:
            self._open(self._tick)
        speaking = range(min(self._tick + 1, self.sessions))
        frames = {slot: self._tick - slot - self._mover.delay for slot in speaking}
        drawn = [slot for slot in speaking if frames[slot] >= 0]
        ready = [slot for slot in drawn if self._mover.has_settled(slot, frames[slot])]
        surfaces = self._show(ready, frames)
        self._mover.hear([(slot, self._noise[(self._tick + 7 * slot) % SOUNDS]) for slot in speaking])
        self._mover.join()
        fresh = self._show([slot for slot in drawn if slot not in ready], frames)
        called_ns = time.monotonic_ns()
        first_ns: int | None = None
        if fresh:
            fresh[0].wait()
            first_ns = time.monotonic_ns()
        for surface in surfaces + fresh:
            surface.wait()
        self._tick += 1
        return called_ns, first_ns

    def _show(self, slots: list[int], frames: dict[int, int]) -> list[Surface]:
        """Draw frame `frames[slot]` of each of `slots`."""
        strokes = [
            Stroke(slot, frames[slot], 0, self._mover.place(frames[slot]), FrameControls()) for slot in slots
        ]
        surfaces = [self._surfaces[slot][self._tick % SURFACES] for slot in slots]
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
        self._surfaces.append(list(self._pictures.surfaces(slot, SURFACES)))
        self._painter.open(slot, Appearance(volume, source), Following())
        eyes = torch.ones(1, 2), torch.zeros(1, 6)
        character = Character.from_source(source, *eyes, canonical=source.canonical[0])
        self._mover.open(slot, character, seed=slot)


def capacity(
    load: Callable[[int], Load], *, most: int, ticks: int, counts: Sequence[int] = ()
) -> dict[str, Any]:  # figures as JSON takes them
    """The most sessions that keep pace for so many `ticks`, up to `most`, or of these `counts`; and what was
    tried on the way. They are found by halving, each for `SHORT` ticks at most, and then held for all."""
    tried: list[dict[str, Any]] = []
    if counts:
        tried += (trial(load, count, ticks) for count in counts)
        low = max((one["sessions"] for one in tried if one["keeps_pace"]), default=0)
    else:
        low, high = 0, most + 1
        while high - low > 1:
            count = (low + high) // 2
            tried.append(trial(load, count, min(ticks, SHORT)))
            low, high = (count, high) if tried[-1]["keeps_pace"] else (low, count)
        while low and ticks > SHORT:
            tried.append(trial(load, low, ticks))
            if tried[-1]["keeps_pace"]:
                break
            low -= 1
    return {
        "sessions": low,
        "of": max(counts, default=most),
        "ticks": ticks,
        "tried": sorted(tried, key=lambda one: (one["sessions"], one["ticks"])),
    }


def trial(load: Callable[[int], Load], count: int, ticks: int) -> dict[str, Any]:
    """So many sessions, whose memory is free again after."""
    running = load(count)
    found = running.run(ticks)
    tried: dict[str, Any] = {"sessions": count, "ticks": ticks}
    tried |= found.figures() | {"keeps_pace": found.keeps_pace}
    tried |= settled_memory()
    del running
    settled_memory()
    return tried


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
