"""The `ditto` engine as its users ask for it, by texts."""

from .engine import DittoEngine
from .presets import LIVE, shape_of


def ditto_engine(weights: str | None = None, latency: str | None = None) -> DittoEngine:
    """`weights` as `checkpoints.parse_source` takes them; `latency` is one of PRESETS, by default LIVE.

    Raises UsageError for texts that are neither, SetupError when the weights cannot be loaded.
    """
    return DittoEngine(weights, shape=shape_of(latency or LIVE))
