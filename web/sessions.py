"""Every session of this front: admission and its worker, messages to each, and the end of unused ones."""

import logging
import random
import secrets
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass

from ..stream.clock import NS_PER_SECOND
from ..stream.controls import Controls
from ..stream.errors import CapacityError, LinkError, StartingError, VisavisError
from ..stream.link import EngineCounts, Fault, Gauges, Interrupted, Opened, Ready, Starved, Tick, ToFront
from ..stream.pacer import spread
from ..stream.placement import place
from .port import WorkerPort
from .program import Description, Program, ProgramState
from .traffic import EngineTotals, Totals, summed
from .wire import Failure

_LOG = logging.getLogger(__name__)

_OPEN_PATIENCE_S = 15.0
_ID_BYTES = 12
_SEED_LIMIT = 1 << 31


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """`avatar` is shown when a client names none; `max_sessions` 0 means as many as the workers have slots;
    `idle_close_s` ends a session that has no viewer, no connection and no request for so long.
    """

    avatar: str = "ruby"
    max_sessions: int = 0
    idle_close_s: int = 60

    def __post_init__(self) -> None:
        if self.max_sessions < 0:
            raise ValueError("max_sessions cannot be negative; 0 leaves it to the workers")
        if self.idle_close_s < 1:
            raise ValueError("idle_close_s must be at least 1")


@dataclass(frozen=True, slots=True)
class Wish:
    """What a client asks for when it opens a session."""

    avatar: str
    size: tuple[int, int]
    seed: int | None
    controls: Controls


class Sessions:
    """Programs by name, each on one of `workers`. `on_close` is told the name of each that ended."""

    def __init__(
        self, options: SessionOptions, *, workers: Sequence[WorkerPort], on_close: Callable[[str], None]
    ) -> None:
        self._options = options
        self._workers = tuple(workers)
        self._on_close = on_close
        self._programs: dict[str, Program] = {}
        self._faults: dict[str, Fault] = {}
        self._past = Totals()
        self._engine_totals = {worker: EngineTotals() for worker in self._workers}

    @property
    def workers_up(self) -> int:
        """How many workers take sessions now."""
        return sum(worker.ready is not None for worker in self._workers)

    @property
    def ready(self) -> bool:
        """True while a worker takes sessions."""
        return self.workers_up > 0

    @property
    def engine(self) -> str:
        """That of all workers; empty while there is none."""
        ready = self._any_ready()
        return ready.engine if ready is not None else ""

    @property
    def latency_ms(self) -> int:
        """From sound to sight inside the server, at most; 0 while there is no worker."""
        ready = self._any_ready()
        return ready.latency_ms if ready is not None else 0

    @property
    def programs(self) -> list[Program]:
        return list(self._programs.values())

    def on(self, worker: WorkerPort) -> list[Program]:
        """The programs of one worker."""
        return [program for program in self._programs.values() if program.worker is worker]

    def busy(self, worker: WorkerPort) -> bool:
        return any(program.state is ProgramState.LIVE for program in self.on(worker))

    def figures(self) -> Totals:
        """Sums over all sessions there have been."""
        totals = deepcopy(self._past)
        for program in self._programs.values():
            totals.add(program.counts, program.traffic)
        return totals

    def engine_counts(self) -> EngineCounts | None:
        """What the engines counted, over all workers there have been; None where they count nothing."""
        return summed(totals.total for totals in self._engine_totals.values())

    def find(self, name: str) -> Program | None:
        return self._programs.get(name)

    async def create(self, wish: Wish, now_ns: int) -> Program:
        """A session that is live, on the worker with the most room. Raises CapacityError when there is none,
        or what the worker said.
        """
        worker = self._with_room()
        width, height = wish.size
        seed = random.randrange(_SEED_LIMIT) if wish.seed is None else wish.seed
        name = secrets.token_urlsafe(_ID_BYTES)
        what = Description(name, wish.avatar, width, height, seed)
        program = Program(what, start_ns=self._start_ns(worker, now_ns), worker=worker)
        program.controls = wish.controls
        self._programs[name] = program
        program.open(0)
        try:
            await program.until_live(_OPEN_PATIENCE_S)
        except TimeoutError:
            self.close(name)
            raise CapacityError("the worker did not start the session in time; try again") from None
        except BaseException:
            self.close(name)
            raise
        if program.state is ProgramState.CLOSED:
            fault = self._faults.pop(name, None)
            raise _error_of(fault)
        return program

    def close(self, name: str) -> bool:
        """End a session; False when there is none of this name."""
        program = self._programs.pop(name, None)
        if program is None:
            return False
        program.close()
        self._past.add(program.counts, program.traffic)
        self._on_close(name)
        return True

    def close_all(self) -> None:
        for name in list(self._programs):
            self.close(name)

    def sweep(self, now_ns: int) -> None:
        """Close what nobody has used for long."""
        for name, program in list(self._programs.items()):
            since_ns = program.idle_since_ns(now_ns)
            if since_ns is not None and now_ns - since_ns >= self._options.idle_close_s * NS_PER_SECOND:
                _LOG.info("session %s: unused for %d s", name, self._options.idle_close_s)
                self.close(name)

    def worker_up(self, worker: WorkerPort) -> None:
        """`worker` takes sessions; those that it had go on."""
        now_ns = time.monotonic_ns()
        for program in self.on(worker):
            program.reopen(now_ns)

    def worker_lost(self, worker: WorkerPort) -> None:
        """`worker` died, and its sessions wait until it is up again; the others notice nothing."""
        self._engine_totals[worker].restart()
        for program in self.on(worker):
            program.worker_lost()

    def message(self, worker: WorkerPort, message: ToFront) -> None:
        """One message of `worker`'s. What concerns an ended session, or another's, is ignored."""
        if isinstance(message, Ready):
            raise LinkError("the worker said twice that it is ready")
        if isinstance(message, EngineCounts):
            self._engine_totals[worker].take(message)
            return
        program = self._programs.get(message.session)
        if program is None or program.worker is not worker:
            return
        try:
            self._pass_on(program, message)
        except Exception:
            # The boundary between one session and all others, which share this front.
            _LOG.exception("session %s failed and is closed", message.session)
            self.close(message.session)

    def _pass_on(
        self, program: Program, message: Tick | Opened | Interrupted | Starved | Gauges | Fault
    ) -> None:
        match message:
            case Tick():
                program.tick(message, time.monotonic_ns())
            case Opened():
                program.opened()
            case Interrupted():
                program.interrupted(message)
            case Starved():
                program.intake.starved(message.segment)
            case Gauges():
                program.counts.take(message)
            case Fault():
                self._fault(program, message)

    def _fault(self, program: Program, fault: Fault) -> None:
        _LOG.warning("session %s: %s", fault.session, fault.message)
        program.tell(Failure(fault.code, fault.message))
        if not fault.fatal:
            return
        if program.state is ProgramState.STARTING:
            self._faults[fault.session] = fault
        self.close(fault.session)

    def _start_ns(self, worker: WorkerPort, now_ns: int) -> int:
        """Where the next session's ticks begin. Batches are a worker's own; the cores are everybody's."""
        together = worker.ready is not None and worker.ready.batches
        others = self.on(worker) if together else self.programs
        return spread(now_ns, (other.clock.start_ns for other in others), together=together)

    def _with_room(self) -> WorkerPort:
        """The worker that takes the next session. Raises CapacityError or StartingError."""
        if not self.ready:
            raise StartingError("the worker is starting; try again in a few seconds")
        most, taken = self._options.max_sessions, len(self._programs)
        index = place([self._free(worker) for worker in self._workers])
        if index is None or (most and taken >= most):
            raise CapacityError(f"all {taken} sessions are taken; try again later, or raise --max-sessions")
        return self._workers[index]

    def _free(self, worker: WorkerPort) -> int:
        return worker.ready.slots - len(self.on(worker)) if worker.ready is not None else 0

    def _any_ready(self) -> Ready | None:
        return next((worker.ready for worker in self._workers if worker.ready is not None), None)


def _error_of(fault: Fault | None) -> VisavisError:
    if fault is None:
        return CapacityError("the session ended before it began; try again")
    error = CapacityError if fault.code == CapacityError.code else VisavisError
    return error(fault.message)
