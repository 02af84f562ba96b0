"""What this machine is taken to hold."""

import os
from typing import Final

SLOTS_PER_CORE: Final = 2
_LEAST_THREADS: Final = 2


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slots(workers: int = 1) -> int:
    """Sessions that each of the `workers` that share this machine has room for."""
    return max(SLOTS_PER_CORE * cores() // workers, 1)


def threads(workers: int = 1) -> int:
    """Threads of each that draw and encode."""
    return max(cores() // workers, _LEAST_THREADS)
