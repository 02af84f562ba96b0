"""Figures for Prometheus, read from the sessions when somebody asks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from ..stream.stats import Histogram
from .peer import Peers
from .port import WorkerPort
from .program import Program
from .sessions import Sessions
from .tracks import Feed

_MS_PER_S = 1000


class CountedWorker(WorkerPort, Protocol):
    """A worker whose deaths are counted."""

    @property
    def restarts(self) -> int: ...


class Metrics:
    """The figures of one front. Sessions that ended stay in the sums; what belongs to one of `workers` has
    its number for a label.
    """

    def __init__(self, sessions: Sessions, workers: Sequence[CountedWorker], peers: Peers) -> None:
        self._sessions = sessions
        self._workers = workers
        self._peers = peers
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        programs = self._sessions.programs
        workers = self._workers
        open_on = [len(self._sessions.on(worker)) for worker in workers]
        yield _by_worker(GaugeMetricFamily, "sessions", "Sessions that are open", open_on)
        yield _gauge("peers", "WebRTC connections", len(self._peers))
        up = [int(worker.ready is not None) for worker in workers]
        yield _by_worker(GaugeMetricFamily, "worker_up", "1 while the worker is ready", up)
        deaths = [worker.restarts for worker in workers]
        yield _by_worker(CounterMetricFamily, "worker_restarts", "Times the worker died", deaths)
        yield _gauge("queued_ms", "Sound that waits, in all", sum(p.intake.queued_ms for p in programs))
        yield _gauge("bitrate_bps", "Bits a second for one viewer of each", _bitrate(programs))
        yield from self._totals(programs)

    def _totals(self, programs: Iterable[Program]) -> Iterator[Metric]:
        figures = self._sessions.figures()
        yield _counter("ticks", "Ticks sent", figures.ticks)
        yield _counter("frames_generated", "Pictures drawn", figures.generated)
        yield _counter("frames_repeated", "Pictures that had to stand in for a late one", figures.repeated)
        yield _counter("frames_late", "Pictures drawn too late", figures.late)
        yield _counter("underruns", "Times a segment ran dry", figures.underruns)
        feeds = [viewer for program in programs for viewer in program.viewers if isinstance(viewer, Feed)]
        yield _gauge("viewer_drops", "Packets that slow viewers lost", sum(feed.dropped for feed in feeds))
        yield _histogram("tick_lateness_seconds", "How late ticks left", figures.lateness_ms)
        yield from self._engine()

    def _engine(self) -> Iterator[Metric]:
        """Nothing where the engine counts nothing: a zero would say that it does."""
        counts = self._sessions.engine_counts()
        if counts is None:
            return
        yield _counter("motion_cache_hits", "Hops of motion that were known", counts.cache_hits)
        yield _counter("motion_cache_misses", "Hops of motion that had to be made", counts.cache_misses)
        yield _counter("motion_cache_evictions", "Hops of motion that made room", counts.cache_evictions)
        yield _gauge("motion_cache_bytes", "What known motion takes now", counts.cache_bytes)
        yield _counter(
            "mended_samples", "Samples that were no number or beyond full scale", counts.mended_samples
        )


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"visavis_{name}", text, value=value)


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"visavis_{name}", text, value=value)


def _by_worker(
    kind: type[GaugeMetricFamily] | type[CounterMetricFamily], name: str, text: str, values: Sequence[int]
) -> Metric:
    """One value for each worker."""
    family = kind(f"visavis_{name}", text, labels=("worker",))
    for number, value in enumerate(values):
        family.add_metric((str(number),), value)
    return family


def _histogram(name: str, text: str, histogram: Histogram) -> Metric:
    buckets: list[tuple[str, float]] = []
    seen = 0
    for bound, count in zip(histogram.bounds, histogram.counts, strict=False):
        seen += count
        buckets.append((f"{bound / _MS_PER_S:g}", seen))
    buckets.append(("+Inf", histogram.total))
    return HistogramMetricFamily(
        f"visavis_{name}", text, buckets=buckets, sum_value=histogram.sum / _MS_PER_S
    )


def _bitrate(programs: Iterable[Program]) -> int:
    return sum(program.traffic.bitrate_bps for program in programs)
