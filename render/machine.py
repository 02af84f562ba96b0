"""What processes cost, as Linux counts it."""

import os
from dataclasses import dataclass
from pathlib import Path

from ..stream.errors import SetupError

_PROC = Path("/proc")
_STAT_PARENT, _STAT_USER, _STAT_SYSTEM = 1, 11, 12
"""Fields of /proc/PID/stat after the command's closing parenthesis."""


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU time so far and resident memory now."""

    cpu_ms: int
    rss_bytes: int


def _stat(pid: int) -> list[str]:
    return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


def usage(pid: int) -> Usage:
    """What process `pid` costs. Raises SetupError where there is no /proc or no such process."""
    try:
        fields = _stat(pid)
        pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
    except OSError as error:
        raise SetupError(f"process {pid} cannot be measured ({error}); benches need Linux") from error
    ticks = int(fields[_STAT_USER]) + int(fields[_STAT_SYSTEM])
    return Usage(
        cpu_ms=ticks * 1000 // os.sysconf("SC_CLK_TCK"),
        rss_bytes=pages * os.sysconf("SC_PAGE_SIZE"),
    )


def children(pid: int, *, command: str) -> list[int]:
    """Processes started by `pid` whose command line contains `command`."""
    found: list[int] = []
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int(_stat(int(entry.name))[_STAT_PARENT])
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if parent == pid and command in line:
            found.append(int(entry.name))
    return sorted(found)


def cpu_name() -> str:
    """The processor's own name, or what the platform calls it."""
    try:
        lines = (_PROC / "cpuinfo").read_text().splitlines()
    except OSError:
        return os.uname().machine
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else os.uname().machine
