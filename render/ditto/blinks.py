"""The reference's blink schedules, which end with the clip and repeat after it. Ours never end:
stream/blink.py."""

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

NEVER: Final = -1
RANDOM: Final = 0
RANDOM_GAPS: Final = (60, 100)
"""Frames between blinks that are drawn, both ends included."""
UNKNOWN_LENGTH: Final = 3000
"""Frames of a schedule whose clip has no known length."""


def schedule(
    frames: int, offsets: int, gaps: int | Sequence[int], draws: Iterator[int] | None = None
) -> NDArray[np.int64]:
    """For each of `frames`, which of `offsets` rows of lid offsets it takes; row 0 is rest.

    `gaps` are the frames between blinks: one number, several in turn, `NEVER`, or `RANDOM`, which takes them
    from `draws`: the one before the first blink, the one after the last, then one after each blink.
    """
    found = np.zeros(frames, np.int64)
    if gaps == NEVER:
        return found
    first, last, between = _gaps(gaps, draws)
    stop = frames - max(last, offsets)
    at = first
    while at < stop:
        found[at : at + offsets] = np.arange(offsets)
        at += offsets + next(between)
    return found


def _gaps(gaps: int | Sequence[int], draws: Iterator[int] | None) -> tuple[int, int, Iterator[int]]:
    """The gaps before the first blink, after the last, and between."""
    if isinstance(gaps, int) and gaps > 0:
        return gaps, gaps, cycle((gaps,))
    if gaps == RANDOM:
        if draws is None:
            raise ValueError("random gaps need draws")
        return next(draws), next(draws), draws
    if isinstance(gaps, int) or not gaps or min(gaps) < 1:
        raise ValueError(f"gaps between blinks are whole numbers above 0, {NEVER} or {RANDOM}, not {gaps}")
    return gaps[0], gaps[-1], islice(cycle(gaps), 1, None)
