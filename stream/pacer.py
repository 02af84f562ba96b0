"""When a tick may be drawn, encoded and sent, and when its picture is given up: all from one clock."""

from collections.abc import Iterable
from dataclasses import dataclass

from .clock import FRAME_RATE, NS_PER_MS, TICK_NS, FrameClock
from .stage import StageSpec, pipeline_latency


@dataclass(frozen=True, slots=True)
class PacerOptions:
    """`lead` ticks before its deadline a frame must be begun; `horizon` ticks before its release it may be,
    when its speech is known; `encode_lead_ms` before its deadline it may be encoded, after which an
    interrupt leaves it; `grace_ms` after its deadline a missing picture is replaced by the last; a gate more
    than `stall` ticks behind jumps.
    """

    lead: int = 2
    horizon: int = 7
    encode_lead_ms: int = 20
    grace_ms: int = 8
    stall: int = 50

    def __post_init__(self) -> None:
        if not 1 <= self.lead <= self.horizon:
            raise ValueError(f"lead must lie between 1 and the horizon, not {self.lead} and {self.horizon}")


def latency_ms(spec: StageSpec, options: PacerOptions) -> int:
    """From a sample's arrival to its release, at most: the delay of the engine of `spec`, and the lead.
    Transport and the viewer's buffers come on top.
    """
    return round(1000 * (pipeline_latency([spec]) + options.lead / FRAME_RATE.per_second))


@dataclass(frozen=True, slots=True)
class Pacer:
    """Times on the monotonic clock, in nanoseconds, for one session."""

    clock: FrameClock
    options: PacerOptions = PacerOptions()

    def draw_ns(self, index: int) -> int:
        """When drawing frame `index` must begin, whether or not there is speech."""
        return self.clock.deadline_ns(index) - self.options.lead * TICK_NS

    def reachable(self, index: int, now_ns: int) -> int:
        """The first frame from `index` on that is worth beginning now. Where less than a tick is left, it and
        those after it would come late one after the other: all up to one with nearly its lead are left out.
        """
        if self.clock.until(index, now_ns) >= TICK_NS:
            return index
        return max(index, self.clock.due(now_ns) + self.options.lead)

    def encode_ns(self, index: int) -> int:
        """When tick `index` may be encoded."""
        return self.clock.deadline_ns(index) - self.options.encode_lead_ms * NS_PER_MS

    def repeat_ns(self, index: int) -> int:
        """When the last picture stands in for frame `index`."""
        return self.clock.deadline_ns(index) + self.options.grace_ms * NS_PER_MS

    def send_ns(self, index: int) -> int:
        """When tick `index` leaves."""
        return self.clock.deadline_ns(index)

    def stalled(self, index: int, now_ns: int) -> int | None:
        """Where the gate must jump to when tick `index` is hopelessly late, as after a suspended machine."""
        due = self.clock.due(now_ns)
        return due if due - index > self.options.stall else None


_PHASES = 8
MOMENTS = 2
"""Moments of a tick at which sessions that are drawn together leave: so that what is drawn is always a batch,
and something is encoded meanwhile."""


def spread(now_ns: int, taken: Iterable[int], *, together: bool = False) -> int:
    """A start not before `now_ns` whose ticks fall as far as can be from those of sessions begun at `taken`,
    so that their work does not come all at once; or, for an engine that draws many `together`, at one of few
    moments.
    """
    phases = MOMENTS if together else _PHASES
    used = [start_ns % TICK_NS for start_ns in taken]

    def room(wait_ns: int) -> tuple[int, int]:
        nearest = min((_apart(now_ns + wait_ns, phase) for phase in used), default=0)
        return nearest, -used.count((now_ns + wait_ns) % TICK_NS)

    waits = sorted((phase * TICK_NS // phases - now_ns) % TICK_NS for phase in range(phases))
    return now_ns + max(waits, key=room)


def _apart(a: int, b: int) -> int:
    """Distance of two moments within a tick, the short way round."""
    return min((a - b) % TICK_NS, (b - a) % TICK_NS)
