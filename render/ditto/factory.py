"""The `ditto` engine as its users ask for it, by texts."""

from ...stream.errors import SetupError
from .checkpoints import parse_source
from .core.low_bits import Format
from .eight_bits import with_low_bits
from .engine import DittoEngine
from .networks import best_device, load_networks
from .presets import LIVE, shape_of


def ditto_engine(
    weights: str | None = None,
    latency: str | None = None,
    *,
    low_bits: Format | None = None,
    eager: bool = False,
) -> DittoEngine:
    """`weights` as `checkpoints.parse_source` takes them; `latency` is one of PRESETS, by default LIVE. The
    decoder reads `low_bits` where that is close enough; with `eager` nothing is captured on a GPU.

    Raises UsageError for texts that are neither, SetupError when the weights cannot be loaded.
    """
    shape, source = shape_of(latency or LIVE), parse_source(weights)
    device = best_device()
    if low_bits is not None and device.type != "cuda":
        raise SetupError("only an NVIDIA GPU gains by 8 bits, and torch finds none: leave out --low-bits")
    networks = load_networks(source, device, eager=eager)
    if low_bits is not None:
        networks = with_low_bits(networks, source, low_bits)
    return DittoEngine(networks, source=source, shape=shape)
