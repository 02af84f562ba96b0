"""Which worker takes the next session."""

from collections.abc import Sequence


def place(free: Sequence[int]) -> int | None:
    """The worker with the most places `free`, the first of those; None when nobody has any."""
    best = max(range(len(free)), key=free.__getitem__, default=None)
    return best if best is not None and free[best] > 0 else None
