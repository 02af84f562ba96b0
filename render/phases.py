"""When sessions begin, so that what an engine does once in some ticks is not due for all of them at once."""

from collections import Counter
from collections.abc import Iterable

from ..stream.clock import TICK_NS, FrameClock


def phase(clock: FrameClock, tick: int, cadence: int) -> int:
    """Which of `cadence` ticks of the machine's time `tick` falls into."""
    return clock.deadline_ns(tick) // TICK_NS % cadence


def first_tick(clock: FrameClock, earliest: int, cadence: int, taken: Iterable[int]) -> int:
    """`earliest` or one of the ticks after it, of a phase that the fewest others have `taken`."""
    counts = Counter(taken)
    return min(range(earliest, earliest + cadence), key=lambda tick: counts[phase(clock, tick, cadence)])
