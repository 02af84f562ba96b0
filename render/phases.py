"""When sessions begin, so that what an engine does once in some ticks for each of them is done for a batch of
them, and for no more.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ..stream.clock import TICK_NS, FrameClock

TOGETHER: Final = 8
"""Sessions whose turn is at the same moment. For so many it takes hardly longer than for one."""
WAIT: Final = 5
"""Ticks among which one is chosen: nobody waits longer for the first picture."""


def horizon(lead: int, most: int, cadence: int) -> int:
    """Ticks ahead of its release that a frame may be drawn, `most` at most: so many that those who speak, and
    are that far ahead, have their turn with those who are silent, and have only their `lead`.
    """
    return max((lead + turns * cadence for turns in range(1, (most - lead) // cadence + 1)), default=most)


def phase(clock: FrameClock, tick: int, cadence: int) -> int:
    """The moment of `tick` within `cadence` ticks of the machine's time, in nanoseconds."""
    return clock.deadline_ns(tick) % (cadence * TICK_NS)


def first_tick(clock: FrameClock, earliest: int, cadence: int, taken: Iterable[int]) -> int:
    """`earliest` or one of the `WAIT` ticks from there: of the phase that the most of `taken` share, if those
    are less than `TOGETHER`; else of the one farthest from all others; else of the one that the fewest share.
    """
    counts = Counter(taken)

    def rank(tick: int) -> tuple[int, int]:
        moment = phase(clock, tick, cadence)
        count = counts[moment]
        if 0 < count < TOGETHER:
            return 0, -count
        return (2, count) if count else (1, -_room(moment, counts, cadence * TICK_NS))

    return min(range(earliest, earliest + min(cadence, WAIT)), key=rank)


def _room(moment: int, taken: Iterable[int], period: int) -> int:
    """How far the next of `taken` is, in a circle of `period`."""
    return min((min((moment - one) % period, (one - moment) % period) for one in taken), default=0)
