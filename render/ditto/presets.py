"""How windows of motion lie, by what a user calls it: the less delay, the more often the model runs."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from ...stream.errors import UsageError
from .delay import WindowShape

PRESETS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {"low-latency": (2, 2), "balanced": (5, 5), "reference": (10, 10), "offline": (70, 8)}
)
"""Frames from one window to the next, and how many frames before its own a window still changes."""
RANDOM: Final = "random:"
"""And a seed, in place of a folder: weights that draw noise."""
LOW_BITS: Final = ("int8", "e4m3")
"""Formats of 8 bits that the decoder may read."""
LIVE: Final = "balanced"
OFFLINE: Final = "offline"


def check_latency(name: str) -> str:
    """`name` where there is such a preset, else a UsageError with those there are."""
    if name not in PRESETS:
        raise UsageError(f"there is no latency {name[:40]!r}; choose one of {', '.join(PRESETS)}")
    return name


def shape_of(latency: str) -> WindowShape:
    """How windows lie for the preset `latency`. Raises UsageError with those there are."""
    hop, fuse = PRESETS[check_latency(latency)]
    return WindowShape(hop=hop, fuse=fuse)


def check_options(
    engine: str, *, weights: str | None, latency: str | None, low_bits: str | None = None, eager: bool = False
) -> None:
    """Raise UsageError when an option is given that `engine` does not know, or names what is not there.

    What `weights` hold is seen when they are loaded.
    """
    given = {"weights": weights, "latency": latency, "low-bits": low_bits, "eager": eager or None}
    for option, value in given.items():
        if value is not None and engine != "ditto":
            raise UsageError(f"--{option} belongs to --engine ditto, not to {engine[:40]}; leave it out")
    check_names(latency, low_bits)
    if weights is not None and not weights.startswith(RANDOM) and not Path(weights).expanduser().is_dir():
        raise UsageError(
            f"--weights {weights[:80]} is no folder; give the folder of the files, or {RANDOM}SEED"
        )


def check_names(latency: str | None, low_bits: str | None) -> None:
    """Raise UsageError when there is no such preset, or no such format."""
    if latency is not None:
        check_latency(latency)
    if low_bits is not None and low_bits not in LOW_BITS:
        raise UsageError(f"there is no format {low_bits[:40]!r}; choose one of {', '.join(LOW_BITS)}")
