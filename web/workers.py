"""Starts worker processes, one for each device, restarts each when it dies, and passes messages both ways."""

import asyncio
import logging
import re
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from ..render.ditto.presets import RANDOM, check_names, check_options
from ..render.weights import check_live, default_folder
from ..stream.clock import NS_PER_SECOND
from ..stream.errors import LinkError, SetupError, UsageError
from ..stream.link import HOPELESS, Ready, ToFront, ToWorker, to_frame
from .child import Child
from .chores import Chores
from .devices import AUTO, CPU, Device, wanted
from .life import WARM_UP_S, Life
from .port import WorkerPort
from .standby import Standby

_LOG = logging.getLogger(__name__)

QUICK_DEATH_S = 5
"""A worker that lived shorter than this after it was ready makes the next start wait."""
FITTING_S = 1800.0
_FIRST_TRIES = 3
_MAX_BACKOFF_S = 8.0
_SILENCE_S = 5.0
_LAST_LOOK_S = 0.5
"""After a silence we look once more: it may have been us who did not listen."""
_SPOKEN_BY = re.compile(r"^[A-Z]+ [\w.]+: ")
"""What a log line begins with: its level and who says it."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """`engine` is auto, rig, ditto, or the import path pkg.module:Class of another engine. Where a ditto has
    its `weights`, and its `latency`: one of render/ditto/presets.py. Its decoder reads `low_bits` where that
    is close enough, and with `eager` nothing is captured on a GPU. `devices` says how many workers there are,
    and where: see web/devices.py. One without a session for `idle_unload_s` gives back its card's memory
    until the next; never with 0. With `standby`, workers that can park have a second process each, parked,
    that takes over when they die.
    """

    engine: str = "auto"
    weights: str | None = None
    latency: str | None = None
    low_bits: str | None = None
    eager: bool = False
    devices: str | int = AUTO
    idle_unload_s: int = 600
    standby: bool = True

    def __post_init__(self) -> None:
        if self.idle_unload_s < 0:
            raise UsageError(f"idle_unload_s is 0 (never) or more seconds, not {self.idle_unload_s}")
        wanted(self.devices)
        if self.engine == "auto":
            check_names(self.latency, self.low_bits)
            return
        check_options(
            self.engine,
            weights=self.weights,
            latency=self.latency,
            low_bits=self.low_bits,
            eager=self.eager,
        )


class WorkerEvents(Protocol):
    """Who is told what each worker does. It is told `worker_up` once that one is ready, and `worker_lost`
    once it no longer is.
    """

    def worker_up(self, worker: WorkerPort) -> None: ...

    def worker_lost(self, worker: WorkerPort) -> None: ...

    def message(self, worker: WorkerPort, message: ToFront) -> None: ...

    def busy(self, worker: WorkerPort) -> bool:
        """True while this worker must not be silent."""
        ...


class WorkerState(Enum):
    STARTING = "starting"
    UP = "up"
    RESTARTING = "restarting"
    STOPPED = "stopped"


def worker_command(options: WorkerOptions, workers: int = 1) -> tuple[str, ...]:
    """What starts each of the `workers` that share this machine, as `options` say."""
    given = {"engine": options.engine, "weights": options.weights, "latency": options.latency}
    given |= {"low-bits": options.low_bits}
    given |= {"workers": str(workers)} if workers > 1 else {}
    given |= {"idle-unload-s": str(options.idle_unload_s)} if options.idle_unload_s else {}
    flags = [part for name, value in given.items() if value is not None for part in (f"--{name}", value)]
    flags += ["--eager"] if options.eager else []
    return (sys.executable, "-m", "visavis.render.worker", *flags)


def patience_s(options: WorkerOptions) -> float:
    """How long a worker may take to get warm: the decoder in 8 bits is fitted to faces the first time."""
    return WARM_UP_S if options.low_bits is None else FITTING_S


def check_ditto(weights: str | None) -> None:
    """Raise SetupError, before any process is started, when engine ditto lacks torch or `weights`."""
    if find_spec("torch") is None:
        raise SetupError("engine ditto needs torch; install it: pip install 'visavis[ditto]'")
    if weights is None or not weights.startswith(RANDOM):
        check_live(default_folder() if weights is None else Path(weights).expanduser())


class Worker:
    """Keeps one worker up on its `device`. `ready` describes it, and is None while there is none."""

    def __init__(
        self,
        chores: Chores,
        command: Sequence[str],
        device: Device = CPU,
        *,
        standby: bool = True,
        patience_s: float = WARM_UP_S,
    ) -> None:
        """A process that is not warm after `patience_s` is given up."""
        self.state = WorkerState.STARTING
        self.device = device
        self.ready: Ready | None = None
        self.restarts = 0
        self._chores = chores
        self._command = tuple(command)
        self._life: Life | None = None
        self._patience_s = patience_s
        self._standby = Standby(self._spawn, patience_s) if standby else None
        self._last_words = ""

    @property
    def pid(self) -> int | None:
        """The worker's process, for logs and figures."""
        return self._life.child.pid if self._life is not None else None

    def send(self, message: ToWorker) -> None:
        """Queue `message`; it is lost while no worker is up."""
        if self._life is not None and self.ready is not None:
            self._life.child.write(to_frame(message))

    async def drain(self) -> None:
        if self._life is not None:
            await self._life.child.drain()

    async def run(self, events: WorkerEvents) -> None:
        """Until cancelled. Raises SetupError when no worker ever becomes ready."""
        quick_deaths = 0
        try:
            while True:
                lived_s = await self._live(events)
                quick = lived_s is None or lived_s < QUICK_DEATH_S
                quick_deaths = quick_deaths + 1 if quick else 0
                if self.restarts == 0 and lived_s is None:
                    self._give_up(quick_deaths)
                self.restarts += lived_s is not None
                await asyncio.sleep(backoff_s(quick_deaths))
        finally:
            self.state = WorkerState.STOPPED
            parts = [self._life.child.stop()] if self._life is not None else []
            parts += [self._standby.close()] if self._standby is not None else []
            await asyncio.gather(*parts)

    def _give_up(self, deaths: int) -> None:
        """Raise SetupError when no worker will ever start."""
        if self._life is not None and self._life.child.exit_code == HOPELESS:
            raise SetupError(_SPOKEN_BY.sub("", self._last_words))
        if deaths >= _FIRST_TRIES:
            raise SetupError(f"the worker does not start: {self._last_words or 'it says nothing'}")

    async def _live(self, events: WorkerEvents) -> float | None:
        """One worker's life; the seconds it was ready, or None when it never was."""
        life = await self._standby.taken() if self._standby is not None else None
        if life is None and (life := await self._started()) is None:
            return None
        self._life = life
        began_ns = time.monotonic_ns()
        self._up(life, events)
        try:
            await self._listen(life, events)
        except LinkError as error:
            self.ready = None
            self.state = WorkerState.RESTARTING
            events.worker_lost(self)
            life.child.kill()
            await self._discard(life, error)
        return (time.monotonic_ns() - began_ns) / NS_PER_SECOND

    async def _started(self) -> Life | None:
        """A new process that is warm, or None when it did not get there."""
        try:
            life = self._life = await self._spawn()
        except OSError as error:
            self._last_words = f"no process can be started ({error})"
            _LOG.warning("%s", self._last_words)
            return None
        try:
            await life.warm_up(self._patience_s)
        except (LinkError, TimeoutError) as error:
            # One that hung up is on its way out, and its exit code says whether another would fare better.
            if isinstance(error, TimeoutError):
                life.child.kill()
            await self._discard(life, error)
            return None
        return life

    async def _listen(self, life: Life, events: WorkerEvents) -> None:
        """Pass on messages until the worker ends. One that falls silent while it has work is killed."""
        while True:
            messages = await _patiently(life)
            if messages is None and events.busy(self):
                raise LinkError(f"it was silent for {_SILENCE_S:g} s")
            for message in messages or ():
                events.message(self, message)

    def _up(self, life: Life, events: WorkerEvents) -> None:
        assert life.ready is not None
        self.ready = life.ready
        self.state = WorkerState.UP
        words = (life.child.pid, self.device.name, life.ready.engine, life.ready.encoder)
        _LOG.info("worker %d on %s is ready: %s, %s", *words)
        events.worker_up(self)
        if self._standby is not None and life.ready.parks:
            preparing = self._standby.prepare(lambda: self.ready is None or events.busy(self))
            self._chores.spawn(preparing, f"standby of worker {life.child.pid}")

    async def _spawn(self) -> Life:
        child = await Child.spawn("worker", self._command, self.device.environment())
        self._chores.spawn(child.pump_log(), f"log of worker {child.pid}")
        return Life(child)

    async def _discard(self, life: Life, error: Exception) -> None:
        await life.child.stop()
        self._last_words = life.child.last_line
        if life.child.exit_code == HOPELESS:
            return
        _LOG.warning(
            "worker %d is gone (%s); its last words: %s", life.child.pid, error, self._last_words or "none"
        )


async def keep_up(workers: Sequence[Worker], events: WorkerEvents) -> None:
    """Run all until cancelled. One that never becomes ready is given up, and the others go on; raises
    SetupError, in a group, when none is left.
    """
    async with asyncio.TaskGroup() as group:
        for worker in workers:
            group.create_task(_keep(worker, workers, events))


async def _keep(worker: Worker, workers: Sequence[Worker], events: WorkerEvents) -> None:
    try:
        await worker.run(events)
    except SetupError as error:
        if all(one.state is WorkerState.STOPPED for one in workers):
            raise
        _LOG.error("the worker on %s is given up: %s", worker.device.name, error)


async def _patiently(life: Life) -> list[ToFront] | None:
    """Some messages, or None after a silence. Time in which this process stood still is no silence: what came
    meanwhile is there at the second look.
    """
    for patience_s in (_SILENCE_S, _LAST_LOOK_S):
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                return await life.receive()
    return None


def backoff_s(quick_deaths: int) -> float:
    """How long the next start waits: not at all after one death, longer and longer while they go on."""
    return 0.0 if quick_deaths < 2 else min(_MAX_BACKOFF_S, 0.25 * 2 ** (quick_deaths - 2))
