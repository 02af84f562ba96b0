"""Counters and histograms of fixed size: cheap to add to, honest at the tail."""

from collections.abc import Sequence

DEFAULT_BOUNDS_MS = (0, 1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 250, 500, 1000, 2000, 5000)


class Histogram:
    """Counts of values at or below each bound; the last bucket holds everything above."""

    def __init__(self, bounds: Sequence[int] = DEFAULT_BOUNDS_MS) -> None:
        if list(bounds) != sorted(set(bounds)):
            raise ValueError("histogram bounds must rise")
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0
        self.sum = 0.0
        self.max = 0.0

    def add(self, value: float) -> None:
        index = next((i for i, bound in enumerate(self.bounds) if value <= bound), len(self.bounds))
        self.counts[index] += 1
        self.sum += value
        self.max = value if self.total == 0 else max(self.max, value)
        self.total += 1

    def percentile(self, percent: float) -> float:
        """An upper bound of the value below which `percent` of all lie: the bound of its bucket, at most the
        maximum.

        0.0 when nothing was added.
        """
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile lies between 0 and 100, not {percent}")
        if self.total == 0:
            return 0.0
        wanted = percent * self.total / 100
        seen = 0
        for count, bound in zip(self.counts, self.bounds, strict=False):
            seen += count
            if seen >= wanted and seen > 0:
                return min(float(bound), self.max)
        return self.max
