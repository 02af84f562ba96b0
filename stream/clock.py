"""Exact time: rates, ticks, presentation timestamps and deadlines, in integers only.

Audio is the master. Tick n is one video frame and the audio samples `[n * hop, (n + 1) * hop)` beside it.
"""

from dataclasses import dataclass
from fractions import Fraction

NS_PER_SECOND = 1_000_000_000
NS_PER_MS = 1_000_000

VIDEO_CLOCK_HZ = 90_000
"""RTP clock of every video codec."""
PROGRAM_HZ = 48_000
"""Sample rate of the audio that is sent."""
FEATURE_HZ = 16_000
"""Sample rate of the audio that engines hear."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Things per second, exactly. Index 0 is at time 0."""

    per_second: Fraction

    def __post_init__(self) -> None:
        if self.per_second <= 0:
            raise ValueError(f"a rate must be positive, not {self.per_second}")

    def pts(self, index: int, clock_rate: int) -> int:
        """Timestamp of `index` in ticks of `clock_rate`, rounded down."""
        return index * clock_rate * self.per_second.denominator // self.per_second.numerator

    def deadline_ns(self, index: int) -> int:
        """Nanoseconds from time 0 to `index`, rounded up, so that `index_at(deadline_ns(i)) == i`."""
        return -(-index * NS_PER_SECOND * self.per_second.denominator // self.per_second.numerator)

    def index_at(self, elapsed_ns: int) -> int:
        """The last index whose deadline is not after `elapsed_ns`."""
        return elapsed_ns * self.per_second.numerator // (NS_PER_SECOND * self.per_second.denominator)

    def samples(self, sample_rate: int) -> int:
        """Audio samples in one tick; only rates that divide evenly are accepted."""
        exact = sample_rate / self.per_second
        if exact.denominator != 1:
            raise ValueError(
                f"{sample_rate} Hz does not divide into whole ticks of {self.per_second} a second"
            )
        return int(exact)


FRAME_RATE = Rate(Fraction(25))
"""Video frames, and so ticks, a second."""
PROGRAM_HOP = FRAME_RATE.samples(PROGRAM_HZ)
"""Sent samples a tick: 1,920."""
FEATURE_HOP = FRAME_RATE.samples(FEATURE_HZ)
"""Heard samples a tick: 640."""
TICK_NS = FRAME_RATE.deadline_ns(1)
"""Nanoseconds a tick: 40,000,000."""


@dataclass(frozen=True, slots=True)
class FrameClock:
    """Ticks of `rate` counted from `start_ns` on the monotonic clock. It never drifts: nothing
    accumulates.
    """

    rate: Rate
    start_ns: int

    def pts(self, index: int) -> int:
        """Video timestamp of tick `index` at 90 kHz."""
        return self.rate.pts(index, VIDEO_CLOCK_HZ)

    def deadline_ns(self, index: int) -> int:
        """When tick `index` leaves, on the monotonic clock."""
        return self.start_ns + self.rate.deadline_ns(index)

    def until(self, index: int, now_ns: int) -> int:
        """Nanoseconds left before tick `index`; negative when it is late."""
        return self.deadline_ns(index) - now_ns

    def due(self, now_ns: int) -> int:
        """The last tick whose time has come; negative before the start."""
        return self.rate.index_at(now_ns - self.start_ns)


def to_ms(samples: int, sample_rate: int) -> int:
    """Whole milliseconds in `samples`, rounded down."""
    return samples * 1000 // sample_rate


def to_samples(ms: int, sample_rate: int) -> int:
    """Samples in `ms` milliseconds, rounded down."""
    return ms * sample_rate // 1000
