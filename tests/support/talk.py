"""Clients that talk to a playout, and what comes out of it."""

import numpy as np
from support.sound import Sound
from visavis.stream.clock import NS_PER_MS
from visavis.stream.media import AudioChunk
from visavis.stream.playout import Cut, Playout
from visavis.stream.visemes import Cue


def counted(count: int, *, first: int = 1) -> Sound:
    """(count,) samples that are all different and never 0."""
    return np.arange(first, first + count, dtype=np.float32)


def chunk(name: str, samples: Sound, *, rate: int = 48_000, cues: tuple[Cue, ...] = ()) -> AudioChunk:
    return AudioChunk(name, samples, rate, cues)


def filled(*parts: tuple[str, int], now_ms: int = 0) -> Playout:
    """A playout with these segments of so many samples, all but the last one ended."""
    playout = Playout()
    for name, count in parts:
        playout.push(chunk(name, counted(count)), now_ms * NS_PER_MS)
    return playout


def take(playout: Playout, at_ms: int) -> Cut:
    return playout.take(at_ms * NS_PER_MS)


def drained(playout: Playout, *, at_ms: int = 0) -> list[Cut]:
    """Every tick until nothing is left."""
    ticks: list[Cut] = []
    while not playout.empty:
        ticks.append(take(playout, at_ms + 40 * len(ticks)))
        assert len(ticks) < 5000
    return ticks


def sound_of(ticks: list[Cut], name: str) -> Sound:
    """The samples of segment `name`, by its spans."""
    parts: list[Sound] = []
    for tick in ticks:
        at = 0
        for span in tick.spans:
            if span.segment == name:
                parts.append(tick.sent[at : at + span.end - span.start])
            at += span.end - span.start
    return np.concatenate([np.zeros(0, np.float32), *parts])
