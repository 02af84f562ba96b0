"""Figures of one session: what left, how late, and what the worker counted."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..stream.clock import FRAME_RATE, NS_PER_MS, NS_PER_SECOND
from ..stream.link import EngineCounts, Gauges, Tick
from ..stream.stats import Histogram

KEYFRAME_INTERVAL_NS = 500 * NS_PER_MS
SECOND_TICKS = FRAME_RATE.index_at(NS_PER_SECOND)


@dataclass(slots=True)
class Counts:
    """The worker's counters, summed over its restarts."""

    generated: int = 0
    repeated: int = 0
    late: int = 0
    underruns: int = 0
    _base: tuple[int, int, int, int] = (0, 0, 0, 0)

    def take(self, gauges: Gauges) -> None:
        now = (gauges.generated, gauges.repeated, gauges.late, gauges.underruns)
        self.generated, self.repeated, self.late, self.underruns = (
            base + count for base, count in zip(self._base, now, strict=True)
        )

    def restart(self) -> None:
        """The worker's counters begin at 0 again."""
        self._base = (self.generated, self.repeated, self.late, self.underruns)


@dataclass(slots=True)
class Traffic:
    """`bitrate_bps` of the last whole second; lateness against the tick's deadline."""

    ticks: int = 0
    bitrate_bps: int = 0
    lateness_ms: Histogram = field(default_factory=Histogram)
    _bytes: int = 0
    _second: int = 0

    def count(self, tick: Tick, late_ns: int) -> None:
        self.ticks += 1
        self.lateness_ms.add(max(0, late_ns) / NS_PER_MS)
        second = tick.index // SECOND_TICKS
        if second != self._second:
            self.bitrate_bps = self._bytes * 8
            self._bytes = 0
            self._second = second
        self._bytes += len(tick.video) + sum(map(len, tick.audio))


@dataclass(slots=True)
class Totals:
    """Figures of several sessions, those that have ended included."""

    ticks: int = 0
    generated: int = 0
    repeated: int = 0
    late: int = 0
    underruns: int = 0
    lateness_ms: Histogram = field(default_factory=Histogram)

    def add(self, counts: Counts, traffic: Traffic) -> None:
        self.ticks += traffic.ticks
        self.generated += counts.generated
        self.repeated += counts.repeated
        self.late += counts.late
        self.underruns += counts.underruns
        self._merge(traffic.lateness_ms)

    def _merge(self, other: Histogram) -> None:
        mine = self.lateness_ms
        mine.counts = [a + b for a, b in zip(mine.counts, other.counts, strict=True)]
        mine.total += other.total
        mine.sum += other.sum
        mine.max = max(mine.max, other.max)


@dataclass(slots=True)
class EngineTotals:
    """What the engine of one worker counted, one process after another. What the last one counted after its
    last word is lost with it.
    """

    _past: EngineCounts = field(default_factory=EngineCounts)
    _now: EngineCounts | None = None
    _seen: bool = False

    @property
    def total(self) -> EngineCounts | None:
        """None where no engine has counted anything; what it holds is that of the present process."""
        if not self._seen:
            return None
        past, now = self._past, self._now or EngineCounts()
        return EngineCounts(
            cache_hits=past.cache_hits + now.cache_hits,
            cache_misses=past.cache_misses + now.cache_misses,
            cache_evictions=past.cache_evictions + now.cache_evictions,
            cache_bytes=now.cache_bytes,
            mended_samples=past.mended_samples + now.mended_samples,
        )

    def take(self, counts: EngineCounts) -> None:
        self._now = counts
        self._seen = True

    def restart(self) -> None:
        """The next process's counters begin at 0 again, and its cache is empty."""
        self._past = self.total or EngineCounts()
        self._now = None


def summed(counts: Iterable[EngineCounts | None]) -> EngineCounts | None:
    """What all engines counted; None where none did."""
    seen = [one for one in counts if one is not None]
    if not seen:
        return None
    return EngineCounts(
        cache_hits=sum(one.cache_hits for one in seen),
        cache_misses=sum(one.cache_misses for one in seen),
        cache_evictions=sum(one.cache_evictions for one in seen),
        cache_bytes=sum(one.cache_bytes for one in seen),
        mended_samples=sum(one.mended_samples for one in seen),
    )


@dataclass(slots=True)
class KeyframeGate:
    """At most one keyframe each 500 ms for all viewers together; a wish that came too early is kept."""

    wanted: bool = False
    _asked_ns: int | None = None

    def due(self, now_ns: int) -> bool:
        """True when a wished-for keyframe should be asked for now."""
        early = self._asked_ns is not None and now_ns - self._asked_ns < KEYFRAME_INTERVAL_NS
        if early or not self.wanted:
            return False
        self.wanted = False
        self._asked_ns = now_ns
        return True
