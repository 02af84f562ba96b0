"""What this machine is taken to hold."""

import os
from typing import Final

SLOTS_PER_CORE: Final = 2


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slots() -> int:
    """Sessions that a worker has room for."""
    return SLOTS_PER_CORE * cores()
