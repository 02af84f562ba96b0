"""Motion that was made before: what is said again with the same face and seed is not diffused again.

The key of a hop is chained from those before it, so it stands for all that was heard since the run began.
"""

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .hops import Made

CACHE_BYTES: Final = 64 << 20
"""About five minutes of motion in hops of 2 frames."""
_DIGEST_BYTES = 16


@dataclass(slots=True)
class CacheCounts:
    """Hops that were found and that were not, hops that had to make room, and bytes in use."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0
    used_bytes: int = 0


class MotionCache:
    """Hops by key, the one that was not wanted for longest makes room. Not thread-safe."""

    def __init__(self, capacity_bytes: int = CACHE_BYTES) -> None:
        """0 keeps nothing, and counts nothing."""
        self._capacity_bytes = capacity_bytes
        self._made: OrderedDict[bytes, Made] = OrderedDict()
        self.counts = CacheCounts()

    @property
    def is_on(self) -> bool:
        """Whether keys are worth their making."""
        return self._capacity_bytes > 0

    def find(self, key: bytes) -> Made | None:
        """What was kept under `key`."""
        if not self.is_on:
            return None
        made = self._made.get(key)
        if made is None:
            self.counts.misses += 1
            return None
        self._made.move_to_end(key)
        self.counts.hits += 1
        return made

    def keep(self, key: bytes, made: Made) -> None:
        """Have `made` for the next time, unless it is larger than everything."""
        if made.nbytes > self._capacity_bytes:
            return
        if (old := self._made.pop(key, None)) is not None:
            self.counts.used_bytes -= old.nbytes
        self._made[key] = made
        self.counts.used_bytes += made.nbytes
        while self.counts.used_bytes > self._capacity_bytes:
            _, gone = self._made.popitem(last=False)
            self.counts.used_bytes -= gone.nbytes
            self.counts.evictions += 1


def chained(key: bytes, *parts: bytes | NDArray[np.float32]) -> bytes:
    """The key of what comes after `key` by `parts`, in which their lengths count."""
    found = blake2b(key, digest_size=_DIGEST_BYTES)
    for part in parts:
        raw = part if isinstance(part, bytes) else part.tobytes()
        found.update(len(raw).to_bytes(8, "little"))
        found.update(raw)
    return found.digest()
