"""The `ditto` engine as its users ask for it, by texts."""

from .engine import DittoEngine
from .presets import LIVE, PRESETS, check_latency
from .windows import WindowShape


def ditto_engine(weights: str | None = None, latency: str | None = None) -> DittoEngine:
    """`weights` as `checkpoints.parse_source` takes them; `latency` is one of PRESETS, by default LIVE.

    Raises UsageError for texts that are neither, SetupError when the weights cannot be loaded.
    """
    hop, fuse = PRESETS[check_latency(latency or LIVE)]
    return DittoEngine(weights, shape=WindowShape(hop=hop, fuse=fuse))
