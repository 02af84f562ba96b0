"""How windows of motion lie, and the delay that this makes. Needs no torch: whoever asks what a preset costs
must not load what draws.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from ...stream.clock import FEATURE_HOP, FEATURE_HZ, Rate
from ...stream.stage import StageSpec

LENGTH: Final = 80
"""Rows of a window."""
LOOKAHEAD: Final = 2
"""Frames of sound beyond a frame's own that its features hear."""


@dataclass(frozen=True, slots=True)
class WindowShape:
    """How windows lie: `hop` rows apart, the last `fuse` old rows still to change, means over `smooth`."""

    hop: int = 10
    fuse: int = 10
    smooth: int = 3

    def __post_init__(self) -> None:
        if not 1 <= self.hop <= LENGTH:
            raise ValueError(f"windows of {LENGTH} rows can be 1 to {LENGTH} rows apart, not {self.hop}")
        if not 0 <= self.fuse <= self.overlap:
            raise ValueError(f"0 to {self.overlap} rows can be fused at hop {self.hop}, not {self.fuse}")

    @property
    def overlap(self) -> int:
        """Rows that a window shares with the one before."""
        return LENGTH - self.hop

    @property
    def reach(self) -> int:
        """Rows to each side that smoothing takes in; even counts take one row more."""
        return max(self.smooth, 1) // 2

    @property
    def kept(self) -> int:
        """Rows that a state holds."""
        return LENGTH + self.reach

    @property
    def delay(self) -> int:
        """Frames from the start of the first frame that leaves with a window to the end of what it hears."""
        return self.hop + self.fuse


def ticks_after(shape: WindowShape) -> int:
    """Ticks of sound that must follow a frame's own before its motion has settled."""
    return shape.delay + LOOKAHEAD - 1


def spec_of(shape: WindowShape) -> StageSpec:
    """Of the engine whose windows lie so: it hears tick by tick, in samples at 16 kHz."""
    return StageSpec(
        Rate(Fraction(FEATURE_HZ)),
        window=(LENGTH + shape.hop) * FEATURE_HOP,
        hop=FEATURE_HOP,
        lookahead=ticks_after(shape) * FEATURE_HOP,
    )
