"""How a stage consumes its input, and what that costs in delay."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from .clock import Rate


@dataclass(frozen=True, slots=True)
class StageSpec:
    """Window, hop and look-ahead of a stage, in units of its input rate."""

    rate: Rate
    window: int
    hop: int
    lookahead: int = 0

    def __post_init__(self) -> None:
        if self.hop < 1 or self.window < self.hop or self.lookahead < 0:
            raise ValueError(f"a stage needs 1 <= hop <= window and lookahead >= 0, not {self}")

    @property
    def latency(self) -> Fraction:
        """Seconds from the first sample of a hop to its result, compute time not counted."""
        return (self.hop + self.lookahead) / self.rate.per_second


def pipeline_latency(specs: Iterable[StageSpec]) -> Fraction:
    """Algorithmic delay in seconds of stages run one after another."""
    return sum((spec.latency for spec in specs), Fraction(0))
