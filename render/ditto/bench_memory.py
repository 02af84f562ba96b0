"""What networks and their sessions hold of a card, and how long the most of it takes to leave and to come
back."""

import time
from collections.abc import Sequence
from typing import Any

from torch import nn

from .bench_load import Load, settled_memory
from .core.memory import Memory
from .delay import WindowShape
from .networks import Networks


def memory_of(
    networks: Networks, shape: WindowShape, counts: Sequence[int], picture: tuple[int, int]
) -> dict[str, Any]:  # figures as JSON takes them
    """Bytes of networks, and of all that there is with so many sessions, of windows of `shape` and `picture`
    (width, height)."""
    found: dict[str, Any] = {
        "warp_bytes": _held(networks.warp),
        "decoder_bytes": _held(networks.decoder),
    }
    if networks.device.type != "cuda":
        return found
    found["networks_bytes"] = settled_memory()["allocated_bytes"]
    for count in counts:
        load = Load(networks, shape, sessions=count, size=picture)
        load.run(1)
        found[f"with {count}"] = settled_memory() | _away_and_back(networks.memory)
        del load
    settled_memory()
    return found


def _away_and_back(memory: Memory) -> dict[str, Any]:
    """What the card has given while all that can is away; and milliseconds until it is, and until it is back,
    the second time: the first one also pins memory of the host."""
    found: dict[str, Any] = {}
    for _ in range(2):
        began_s = time.perf_counter()
        if not memory.leave():
            return {}
        left_s = time.perf_counter()
        found["offloaded_card_bytes"] = settled_memory()["card_bytes"]
        returning_s = time.perf_counter()
        memory.come_back()
        found["offload_ms"] = round(1e3 * (left_s - began_s), 2)
        found["back_ms"] = round(1e3 * (time.perf_counter() - returning_s), 2)
    return found


def _held(network: nn.Module) -> int:
    return sum(one.nbytes for one in (*network.parameters(), *network.buffers()))
