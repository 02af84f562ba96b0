"""How many sessions a worker serves: a process as the front starts it, sessions that all speak in real time,
and when their ticks come, encoded and with a picture of their own.

Needs neither the front nor viewers. Guests come and go beside the sessions that are counted.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..stream import link
from ..stream.clock import NS_PER_MS, NS_PER_SECOND, TICK_NS
from ..stream.controls import Controls
from ..stream.errors import CapacityError, SetupError, UsageError
from ..stream.pacer import spread
from ..stream.pcm import from_float
from .machine import usage
from .sound import SoundFile

TICK_MS: Final = 40.0
WARM_UP_NS: Final = 3 * NS_PER_SECOND
VISIT_NS: Final = 3 * NS_PER_SECOND
_START_S: Final = 400
_AHEAD_NS: Final = NS_PER_SECOND
"""How much sound every session has in store."""
_PIECE_NS: Final = NS_PER_SECOND // 5
_BETWEEN_NS: Final = NS_PER_SECOND // 10
"""One session asks after the other."""
_LOOK_S: Final = 0.02
_LONGEST_SIZE: Final = 12
_GUEST: Final = "guest-"
_BITRATE_BPS: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class WorkerBench:
    """What to run: `sessions` of `avatar` at `size` (width, height) that speak `sound` over and over, for
    `ticks` each, while `guests` more come and go; with `kill` the worker is killed and started again after.
    `options` are those of the worker, by name."""

    sound: Path
    sessions: int = 1
    ticks: int = 500
    guests: int = 0
    avatar: str = "ruby"
    size: tuple[int, int] = (720, 1280)
    kill: bool = False
    options: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        if min(self.sessions, self.ticks) < 1 or self.guests < 0:
            raise UsageError("a bench of a worker needs at least one session and one tick")


@dataclass(slots=True)
class _Heard:
    """What came of one session: lateness of its ticks in milliseconds, and how many were repeated."""

    asked_ns: int
    start_ns: int
    opened_ns: int = 0
    late_ms: list[float] = field(default_factory=list[float])
    repeated: list[bool] = field(default_factory=list[bool])


class _Worker:
    """A process, and what it says."""

    def __init__(self, options: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        flags = [part for name, value in options.items() for part in (f"--{name}", value)]
        command = (sys.executable, "-m", "visavis.render.worker", "--fd", str(theirs.fileno()), *flags)
        with theirs:
            self.process = subprocess.Popen(command, pass_fds=(theirs.fileno(),), stdout=subprocess.DEVNULL)
        self.ready: link.Ready | None = None
        self.heard: dict[str, _Heard] = {}
        self.open_now: set[str] = set()
        self.counting = False
        self.faults: list[str] = []
        self.refused: set[str] = set()
        """Guests that found no room."""
        self._socket = ours
        self._began = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def until_ready(self) -> link.Ready:
        """Raises SetupError when it does not start."""
        self._began.wait(_START_S)
        if self.ready is None:
            raise SetupError("the worker did not start; what it said stands above")
        return self.ready

    def send(self, message: link.ToWorker) -> None:
        with contextlib.suppress(OSError):
            self._socket.sendall(link.to_frame(message))

    def open(self, name: str, bench: WorkerBench, seed: int) -> None:
        """As the front does."""
        now_ns = time.monotonic_ns()
        there = (self.heard[other].start_ns for other in self.open_now)
        together = self.ready is not None and self.ready.batches
        start_ns = spread(now_ns, there, together=together)
        self.heard[name] = _Heard(now_ns, start_ns)
        self.open_now.add(name)
        width, height = bench.size
        self.send(
            link.Open(
                session=name,
                avatar=bench.avatar,
                width=width,
                height=height,
                seed=seed,
                start_ns=start_ns,
                index=0,
                epoch=0,
                bitrate_bps=_BITRATE_BPS,
                controls=Controls(),
            )
        )

    def close(self, name: str) -> None:
        self.open_now.remove(name)
        self.send(link.Close(name))

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._socket.close()

    def _read(self) -> None:
        inbox = link.FrontInbox()
        with contextlib.suppress(OSError):
            while data := self._socket.recv(1 << 18):
                now_ns = time.monotonic_ns()
                for message in inbox.feed(data):
                    self._hear(message, now_ns)
        self._began.set()

    def _hear(self, message: link.ToFront, now_ns: int) -> None:
        match message:
            case link.Ready():
                self.ready = message
                self._began.set()
            case link.Opened(name):
                self.heard[name].opened_ns = now_ns
            case link.Fault(name, CapacityError.code) if name.startswith(_GUEST):
                self.refused.add(name)
            case link.Fault():
                self.faults.append(f"{message.session}: {message.message}")
            case link.Tick() if self.counting:
                one = self.heard[message.session]
                one.late_ms.append((now_ns - one.start_ns - message.index * TICK_NS) / NS_PER_MS)
                one.repeated.append(message.repeated)
            case _:
                return


def measure(bench: WorkerBench, told: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Run `bench`; figures as JSON takes them. Raises SetupError when a session ends before its time."""
    names = [f"session-{number}" for number in range(bench.sessions)]
    with _running(bench.options) as worker:
        began_ns = time.monotonic_ns()
        ready = worker.until_ready()
        told(f"ready after {(time.monotonic_ns() - began_ns) / NS_PER_SECOND:.1f} s: {ready.engine}")
        figures = _speak(worker, bench, names) | _figures(bench, ready, worker, names)
    if bench.kill:
        figures["back_after_kill_ms"] = _back(bench, names)
    return figures


@contextlib.contextmanager
def _running(options: Mapping[str, str]) -> Generator[_Worker]:
    worker = _Worker(options)
    try:
        yield worker
    finally:
        worker.kill()


def _speak(worker: _Worker, bench: WorkerBench, names: list[str]) -> dict[str, Any]:
    """Until every session of `names` has had its ticks. Guests there were meanwhile, and cores in use."""
    speaker = _Speaker(worker, bench)
    for number, name in enumerate(names):
        worker.open(name, bench, number)
        speaker.add(name)
        speaker.feed_for(_BETWEEN_NS)
    speaker.feed_for(WARM_UP_NS)
    worker.counting = True
    began_ns, began = time.monotonic_ns(), usage(worker.process.pid)
    visits, there = 0, dict[str, int]()
    while min(len(worker.heard[name].late_ms) for name in names) < bench.ticks:
        _check(worker)
        now_ns = time.monotonic_ns()
        for name in [
            name for name, until_ns in there.items() if now_ns >= until_ns or name in worker.refused
        ]:
            del there[name]
            speaker.remove(name)
            worker.close(name)
        if len(there) < bench.guests:
            name, visits = f"{_GUEST}{visits}", visits + 1
            there[name] = now_ns + VISIT_NS
            worker.open(name, bench, len(names))
            speaker.add(name)
        speaker.feed_for(_BETWEEN_NS)
    worker.counting = False
    spent_ms = (time.monotonic_ns() - began_ns) / NS_PER_MS
    computed_ms = usage(worker.process.pid).cpu_ms - began.cpu_ms
    return {
        "guests": visits - len(worker.refused),
        "cores": round(computed_ms / spent_ms, 2),
    }


def _check(worker: _Worker) -> None:
    if worker.faults or worker.process.poll() is not None:
        raise SetupError(f"a session ended: {'; '.join(worker.faults) or 'the worker is gone'}")


class _Speaker:
    """Keeps sessions in sound."""

    def __init__(self, worker: _Worker, bench: WorkerBench) -> None:
        self._rate, self._pcm = spoken(bench.sound)
        self._worker = worker
        self._fed_ns: dict[str, int] = {}

    def add(self, name: str) -> None:
        self._fed_ns[name] = time.monotonic_ns()

    def remove(self, name: str) -> None:
        del self._fed_ns[name]

    def feed_for(self, ns: int) -> None:
        """Go on for a while."""
        end_ns = time.monotonic_ns() + ns
        while (now_ns := time.monotonic_ns()) < end_ns:
            for name, fed_ns in self._fed_ns.items():
                if fed_ns < now_ns + _AHEAD_NS:
                    self._worker.send(link.Audio(name, "a", self._rate, self._piece(fed_ns)))
                    self._fed_ns[name] = fed_ns + _PIECE_NS
            time.sleep(_LOOK_S)

    def _piece(self, at_ns: int) -> bytes:
        length = 2 * (self._rate * _PIECE_NS // NS_PER_SECOND)
        turn = at_ns // _PIECE_NS % max(len(self._pcm) // length, 1)
        return self._pcm[turn * length : (turn + 1) * length]


def wanted_size(text: str) -> tuple[int, int]:
    """(width, height) of `WIDTHxHEIGHT`. Raises UsageError."""
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and len(text) < _LONGEST_SIZE):
        raise UsageError(f"{text[:20]!r} is no size; write it as 720x1280")
    return int(width), int(height)


def spoken(path: Path) -> tuple[int, bytes]:
    """The rate and the s16le mono samples of a sound file. Raises AudioError."""
    with SoundFile(path) as file:
        chunks = list(file.chunks("a"))
    return chunks[0].rate, from_float(np.concatenate([chunk.samples for chunk in chunks]))


def _figures(bench: WorkerBench, ready: link.Ready, worker: _Worker, names: list[str]) -> dict[str, Any]:
    late_ms = np.array([ms for name in names for ms in worker.heard[name].late_ms[: bench.ticks]])
    everyone = worker.heard.values()
    opening_ms = [(one.opened_ns - one.asked_ns) / NS_PER_MS for one in everyone if one.opened_ns]
    p50, p95, p99, most = (round(float(value), 2) for value in np.percentile(late_ms, (50, 95, 99, 100)))
    repeated = sum(sum(worker.heard[name].repeated[: bench.ticks]) for name in names)
    return {
        "bench": "worker",
        "engine": ready.engine,
        "encoder": ready.encoder,
        "latency_ms": ready.latency_ms,
        "sessions": bench.sessions,
        "ticks": bench.ticks,
        "size": list(bench.size),
        "repeated": repeated,
        "late_ms": {"p50": p50, "p95": p95, "p99": p99, "max": most},
        "opening_ms": {
            "p50": round(float(np.median(opening_ms)), 1),
            "max": round(float(np.max(opening_ms)), 1),
        },
        "keeps_pace": bool(p99 < TICK_MS and repeated <= 0.01 * len(late_ms)),
    }


def _back(bench: WorkerBench, names: list[str]) -> int:
    """Milliseconds from the start of a new worker until every session has ticks again."""
    began_ns = time.monotonic_ns()
    with _running(bench.options) as worker:
        worker.until_ready()
        for number, name in enumerate(names):
            worker.open(name, bench, number)
        worker.counting = True
        while not all(one.late_ms for one in worker.heard.values()):
            _check(worker)
            time.sleep(_LOOK_S)
        return (time.monotonic_ns() - began_ns) // NS_PER_MS
