"""Checks of the machine and of what is installed on it. None of them writes to disk."""

import ast
import hashlib
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from ..render import capacity
from ..render.encode import Rung, probed
from ..render.machine import cpu_name
from ..stream.errors import SetupError
from .findings import Finding, fault, from_error, note, ok
from .sender import check_libraries

RIG: Final = Path(__file__).parents[1] / "render" / "rig"
"""Where the drawing loops are that numba compiles."""
PROJECT: Final = "visavis"
PYTHONS: Final = ">=3.11"
_MEMORY_BYTES: Final = 638_000_000
"""What front and worker were measured to take with four sessions: 145 and 493 MB."""
_MEMORY: Final = Path("/proc/meminfo")
_SHOWN: Final = 3


def python(version: str = platform.python_version(), wanted: str = PYTHONS) -> Finding:
    """The interpreter."""
    if SpecifierSet(wanted).contains(version, prereleases=True):
        return ok("python", f"{version}, {sys.executable}")
    return fault("python", f"{version} is not {wanted}", "make a virtual environment with a newer one")


def packages(requirements: Iterable[str] | None = None) -> Finding:
    """What the project needs, against what is installed."""
    try:
        wanted = requirements if requirements is not None else metadata.requires(PROJECT) or ()
    except metadata.PackageNotFoundError:
        return note(
            "packages", "visavis is not installed, so versions cannot be compared", "run pip install -e ."
        )
    parsed = [Requirement(text) for text in wanted]
    needed = [one for one in parsed if one.marker is None or one.marker.evaluate({"extra": ""})]
    problems = [problem for one in needed if (problem := _misfit(one))]
    if not problems:
        return ok("packages", f"all {len(needed)} are installed, in versions that fit")
    more = f" and {len(problems) - _SHOWN} more" if problems[_SHOWN:] else ""
    fixes = " ".join(f"'{one}'" for one in needed if _misfit(one))
    return fault("packages", ", ".join(problems[:_SHOWN]) + more, f"pip install {fixes}")


def _misfit(wanted: Requirement) -> str:
    """What is wrong with the installed package; empty when it fits."""
    try:
        found = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return f"{wanted.name} is missing"
    if wanted.specifier.contains(found, prereleases=True):
        return ""
    return f"{wanted.name} {found} is not {wanted.specifier}"


def encoder(rungs: Callable[[], tuple[Rung, ...]] = probed) -> Finding:
    """The encoder that really encodes here."""
    about, tried = "encoder", rungs()
    version = f"PyAV {metadata.version('av')}"
    if (best := next((rung for rung in tried if rung.problem is None), None)) is not None:
        return ok(about, f"{best.name} of {version} encoded real frames")
    problems = "; ".join(f"{rung.name}: {rung.problem}" for rung in tried)
    return fault(
        about, f"none works ({problems})", "install PyAV's own wheel again: pip install --force-reinstall av"
    )


def webrtc(check: Callable[[], None] = check_libraries) -> Finding:
    """aiortc, with the hooks that are put into it."""
    try:
        check()
    except SetupError as error:
        return from_error("webrtc", error, needed=True)
    return ok("webrtc", f"aiortc {metadata.version('aiortc')} takes our hooks")


def viseme_net() -> Finding:
    """onnxruntime: whether it loads the net that hears mouth shapes, and what it can compute on."""
    about = "onnxruntime"
    try:
        from ..render.onnx import ort
        from ..render.rig.viseme import VisemeStage

        VisemeStage().warm()
    except Exception as error:
        # Whatever a broken library raises: that it does is the finding.
        return fault(about, f"it does not run ({error})", "pip install --force-reinstall onnxruntime")
    names = (name.removesuffix("ExecutionProvider") for name in ort.get_available_providers())
    return ok(about, f"{ort.__version__} runs the viseme net; it can use {', '.join(names)}")


def drawing_loops(folder: Path = RIG) -> Finding:
    """Whether numba kept the drawing loops that it compiled, for the sources as they are now."""
    about = "drawing"
    wanted = [one for source in sorted(folder.glob("*.py")) for one in _loops(source)]
    cold = sum(not _is_warm(source, name) for source, name in wanted)
    version = f"numba {metadata.version('numba')}"
    if not cold:
        return ok(about, f"{version} has all {len(wanted)} loops compiled")
    return note(
        about,
        f"{version} has yet to compile {cold} of {len(wanted)} loops",
        "nothing: the first start does it, takes longer, and keeps them",
    )


def _loops(source: Path) -> Iterator[tuple[Path, str]]:
    """The functions in `source` that numba keeps, each with the name of its index file."""
    tag = f"py{sys.version_info.major}{sys.version_info.minor}"
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and any(keyword.arg == "cache" for keyword in mark.keywords):
                first = min(one.lineno for one in node.decorator_list)
                yield source, f"{source.stem}.{node.name}-{first}.{tag}.nbi"


def _is_warm(source: Path, name: str) -> bool:
    """Whether there is an index called `name` that was made of `source` as it is now: numba writes its
    version and a stamp of the source into it, the hash or, in older versions, the time."""
    stamps = (
        hashlib.sha256(source.read_bytes()).digest(),
        b"G" + struct.pack(">d", source.stat().st_mtime),
    )
    version = metadata.version("numba").encode()
    for path in _indices(source, name):
        blob = path.read_bytes()
        if version in blob and any(stamp in blob for stamp in stamps):
            return True
    return False


def _indices(source: Path, name: str) -> Iterator[Path]:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "numba"
    if (beside := source.parent / "__pycache__" / name).is_file() and not chosen:
        yield beside
    yield from (Path(chosen) if chosen else cache).rglob(name)


def room(max_sessions: int, memory: Path = _MEMORY, *, workers: int = 1) -> Finding:
    """Cores, memory, and the sessions that a server with so many `workers` takes at once, of which
    `max_sessions` may be the bound, 0 for none."""
    cores, slots = capacity.cores(), workers * capacity.slots(workers)
    sessions = min(slots, max_sessions) if max_sessions else slots
    said = f"{cores} cores ({cpu_name()}), room for {sessions} sessions at once"
    try:
        sizes = dict(line.split(":", 1) for line in memory.read_text().splitlines())
        free, total = (int(sizes[key].split()[0]) << 10 for key in ("MemAvailable", "MemTotal"))
    except (OSError, KeyError, ValueError):
        return ok("machine", said)
    said += f"; {free >> 20:,} of {total >> 20:,} MiB of memory are free"
    if free < _MEMORY_BYTES:
        taken = f"a server with four sessions was measured to take {_MEMORY_BYTES // 1_000_000} MB"
        return note("machine", said, f"close something: {taken}")
    return ok("machine", said)
