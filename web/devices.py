"""The devices that workers draw on, one each: what the option `devices` stands for on this machine."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Final

from ..stream.errors import UsageError

AUTO: Final = "auto"
MAX_WORKERS: Final = 64
SHOWN_BY: Final = "CUDA_VISIBLE_DEVICES"
_ORDER: Final = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""Numbers as nvidia-smi counts; CUDA's own order puts the fastest first."""
_CPU: Final = "cpu"
_GPU: Final = "cuda:"
_LIST: Final = ("nvidia-smi", "-L")
_DRIVER: Final = Path("/proc/driver/nvidia/gpus")
_PATIENCE_S: Final = 20
_DIGITS: Final = 3
_HOW: Final = f"give {AUTO}, GPUs such as 0,1 or cuda:0, cpu,cpu, or a number of workers without a GPU"


@dataclass(frozen=True, slots=True)
class Device:
    """`name` is for people; `shown` is what the worker finds in CUDA_VISIBLE_DEVICES, None for what we do."""

    name: str
    shown: str | None = None

    def environment(self, ours: Mapping[str, str] = os.environ) -> dict[str, str]:
        """What is set for the worker; `ours` is the front's own environment."""
        if self.shown is None:
            return {}
        order = {} if SHOWN_BY in ours else _ORDER
        return {**order, SHOWN_BY: self.shown}


ANY: Final = Device("this machine")
CPU: Final = Device("the CPU")


@dataclass(frozen=True, slots=True)
class Gpus:
    """`names` as CUDA_VISIBLE_DEVICES takes them; `why` says why there are none."""

    names: tuple[str, ...] = ()
    why: str = ""


def wanted(devices: str | int) -> tuple[str, ...] | None:
    """The option's entries, each `cpu` or a GPU's number; None for auto. Raises UsageError."""
    text = str(devices).strip()
    if text == AUTO:
        return None
    if text.isdecimal():
        return (_CPU,) * _count(text)
    entries = tuple(part.strip().removeprefix(_GPU) for part in text.split(","))
    for entry in entries:
        if entry != _CPU and not (entry.isascii() and entry.isdecimal() and len(entry) <= _DIGITS):
            raise UsageError(f"devices: {text[:40]!r} is no list of devices; {_HOW}")
    numbers = [int(entry) for entry in entries if entry != _CPU]
    if len(set(numbers)) < len(numbers):
        raise UsageError(
            f"devices: {text[:40]!r} names a GPU twice; a GPU has one worker, for all its sessions"
        )
    _count(str(len(entries)))
    return tuple(entry if entry == _CPU else str(int(entry)) for entry in entries)


def _count(text: str) -> int:
    if not text.isascii() or len(text) > _DIGITS or not 1 <= int(text) <= MAX_WORKERS:
        hint = "; GPU 0 alone is cuda:0" if text == "0" else ""
        raise UsageError(f"devices: there can be 1 to {MAX_WORKERS} workers, not {text[:20]}{hint}")
    return int(text)


def chosen(devices: str | int, engine: str, gpus: Callable[[], Gpus] | None = None) -> tuple[Device, ...]:
    """One device for each worker of `engine`. Raises UsageError for a GPU that is not here."""
    entries, seen = wanted(devices), gpus or visible_gpus
    if entries is None:
        names = seen().names if engine == "ditto" else ()
        return tuple(map(_gpu, names)) or (CPU if engine in ("rig", "ditto") else ANY,)
    found = seen() if any(entry != _CPU for entry in entries) else Gpus()
    return tuple(Device(CPU.name, "") if entry == _CPU else _numbered(found, int(entry)) for entry in entries)


def _numbered(found: Gpus, number: int) -> Device:
    if number < len(found.names):
        return _gpu(found.names[number])
    count = len(found.names)
    reason = f"{count} can be used, numbered from 0" if count else found.why
    raise UsageError(f"devices: there is no GPU {number} ({reason}); name others with --devices")


def _gpu(name: str) -> Device:
    return Device(f"GPU {name}", name)


def described(devices: Sequence[Device]) -> str:
    """Such as "2 workers on GPU 0, GPU 1"."""
    names = ", ".join(dict.fromkeys(device.name for device in devices))
    return f"{len(devices)} worker{'s' if len(devices) != 1 else ''} on {names}"


def visible_gpus(environment: Mapping[str, str] = os.environ) -> Gpus:
    """The NVIDIA GPUs that a process of ours may use, without torch and without a context on any."""
    count, why = _present()
    shown = environment.get(SHOWN_BY)
    if not count or shown is None:
        return Gpus(tuple(map(str, range(count))), why)
    names = tuple(takewhile(lambda name: _is_shown(name, count), (part.strip() for part in shown.split(","))))
    return Gpus(names, "" if names else f"{SHOWN_BY} is {shown[:40]!r}")


def _is_shown(name: str, count: int) -> bool:
    """CUDA ends its list at the first entry that is no device: a number out of range, or nothing."""
    if name.removeprefix("-").isdecimal():
        return 0 <= int(name) < count
    return name.startswith(("GPU-", "MIG-"))


def _present() -> tuple[int, str]:
    """How many GPUs the driver lists, and why there are none: nvidia-smi first, which leaves out those that
    are kept from a container."""
    try:
        done = subprocess.run(_LIST, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        gone = isinstance(error, FileNotFoundError)
        said = "nvidia-smi is not installed" if gone else f"nvidia-smi cannot be asked: {error}"
    else:
        count = sum(line.startswith("GPU ") for line in done.stdout.splitlines())
        if done.returncode == 0 and count:
            return count, ""
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        said = f"nvidia-smi lists none{': ' if last else ''}{''.join(last)[:80]}"
    try:
        count = sum(1 for _ in _DRIVER.iterdir())
    except OSError:
        return 0, f"{said}, and no NVIDIA driver is loaded"
    return count, "" if count else f"{said}, and the driver lists none"
