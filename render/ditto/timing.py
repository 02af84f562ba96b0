"""What benches share: how long steps take on a device, and on what machine."""

import os
import platform
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

WARM_CALLS = 3
_CPU = Path("/proc/cpuinfo")
_DRIVER = Path("/proc/driver/nvidia/version")

Step = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds (n,) float64 of the calls of one step."""

    ms: NDArray[np.float64]

    @property
    def median(self) -> float:
        return float(np.median(self.ms))

    def figures(self, frames: int = 1) -> dict[str, float]:
        """Of a call that makes `frames` frames."""
        return {
            "ms": round(self.median, 4),
            "ms_best": round(float(self.ms.min()), 4),
            "ms_p95": round(float(np.percentile(self.ms, 95)), 4),
            "ms_a_frame": round(self.median / frames, 4),
        }

    def ratio(self, other: "Spent") -> float:
        """How many times as long as `other`, which was measured in the same rounds."""
        return round(float(np.median(self.ms / other.ms)), 3)


@torch.inference_mode()
def measured(steps: Mapping[str, Step], device: torch.device, *, rounds: int) -> dict[str, Spent]:
    """What each step takes. Every round calls each once, so that what slows the machine slows all alike."""
    for step in steps.values():
        for _ in range(WARM_CALLS):
            step()
    found: dict[str, list[int]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            _settle(device)
            began_ns = time.monotonic_ns()
            step()
            _settle(device)
            found[name].append(time.monotonic_ns() - began_ns)
    return {name: Spent(np.array(spent) / 1e6) for name, spent in found.items()}


def by_kernel(step: Step, device: torch.device, *, most: int = 30) -> list[dict[str, Any]]:
    """What one call of `step` keeps a GPU busy with, what takes longest first: up to `most` kernels, with
    their `launches` and `ms`. None on a CPU."""
    if device.type != "cuda":
        return []
    step()
    _settle(device)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as watched:
        step()
        _settle(device)
    found = [(one.device_time_total / 1e3, one.count, one.key[:90]) for one in watched.key_averages()]
    found.sort(reverse=True)
    return [{"kernel": name, "launches": launches, "ms": round(ms, 4)} for ms, launches, name in found[:most]]


def machine(device: torch.device) -> dict[str, str | int]:
    """Where and when figures were taken."""
    found: dict[str, str | int] = {
        "date": datetime.now(UTC).date().isoformat(),
        "device": device.type,
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    if device.type == "cuda":
        found |= {
            "card": torch.cuda.get_device_name(device),
            "driver": driver(),
            "cuda": str(torch.version.cuda),
        }
    return found


def _settle(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _cpu() -> str:
    try:
        named = re.search(r"model name\s*:\s*(.+)", _CPU.read_text())
    except OSError:
        named = None
    return named[1].strip() if named else platform.machine()


def driver() -> str:
    """The version of NVIDIA's, as far as it tells."""
    try:
        named = re.search(r"\s(\d+\.\d+(\.\d+)?)\s", _DRIVER.read_text())
    except OSError:
        named = None
    return named[1] if named else "unknown"
