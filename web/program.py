"""One session in the front: its timeline, its ticks to every viewer, and what is told about them."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ..stream.clock import FRAME_RATE, FrameClock
from ..stream.controls import Controls
from ..stream.errors import IllegalTransition
from ..stream.link import Bitrate, Close, Interrupted, Keyframe, Open, SetControls, Tick
from .bitrate import nominal_bps, worth_changing
from .chores import Bell
from .intake import Intake
from .port import Listener, Viewer, WorkerPort
from .traffic import SECOND_TICKS, Counts, KeyframeGate, Traffic
from .wire import Event, State

_LOG = logging.getLogger(__name__)

RESTART_LEAD_TICKS = 3
"""How far ahead of the clock a new worker begins, so that its first tick is not late already."""


class ProgramState(Enum):
    STARTING = "starting"
    LIVE = "live"
    RESTARTING = "restarting"
    CLOSED = "closed"


ALLOWED: Mapping[ProgramState, frozenset[ProgramState]] = {
    ProgramState.STARTING: frozenset({ProgramState.LIVE, ProgramState.RESTARTING, ProgramState.CLOSED}),
    ProgramState.LIVE: frozenset({ProgramState.RESTARTING, ProgramState.CLOSED}),
    ProgramState.RESTARTING: frozenset({ProgramState.LIVE, ProgramState.CLOSED}),
    ProgramState.CLOSED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class Description:
    """What a session shows, fixed when it opens."""

    name: str
    avatar: str
    width: int
    height: int
    seed: int


class Program:
    """A session's timeline as the front sees it, on one `worker` for life. `now_ns` is always the caller's
    monotonic clock.
    """

    def __init__(self, what: Description, *, start_ns: int, worker: WorkerPort) -> None:
        self.what = what
        self.clock = FrameClock(FRAME_RATE, start_ns)
        self.state = ProgramState.STARTING
        self.controls = Controls()
        self.counts = Counts()
        self.traffic = Traffic()
        self.bell = Bell()
        self.intake = Intake(what.name, worker=worker, bell=self.bell, tell=self._tell_all)
        self.used_ns = start_ns
        self._guests: set[object] = set()
        self.listeners: list[Listener] = []
        self.viewers: list[Viewer] = []
        self.worker = worker
        self._keyframes = KeyframeGate()
        self.nominal_bps = nominal_bps(what.width, what.height)
        self._bitrate_bps = self.nominal_bps
        self._last = -1
        self._interrupted: Interrupted | None = None

    @property
    def shown_state(self) -> str:
        """The state in a client's words."""
        if self.state is not ProgramState.LIVE:
            return self.state.value
        return "idle" if self.intake.speaking is None else "speaking"

    def open(self, index: int) -> None:
        """Have the worker start at tick `index`."""
        what = self.what
        self.worker.send(
            Open(
                session=what.name,
                avatar=what.avatar,
                width=what.width,
                height=what.height,
                seed=what.seed,
                start_ns=self.clock.start_ns,
                index=index,
                epoch=self.intake.epoch,
                bitrate_bps=self._bitrate_bps,
                controls=self.controls,
            )
        )

    def opened(self) -> None:
        """The worker draws this session now."""
        if self.state is ProgramState.CLOSED:
            return
        self._move(ProgramState.LIVE)
        self.intake.live = True
        self.tell(State("up"))
        self.bell.ring()

    async def until_live(self, patience_s: float) -> None:
        """Return once the session is live or closed. Raises TimeoutError."""
        settled = (ProgramState.LIVE, ProgramState.CLOSED)
        async with asyncio.timeout(patience_s):
            await self.bell.until(lambda: self.state in settled)

    def worker_lost(self) -> None:
        """The worker died: what it held is gone, the timeline goes on."""
        if self.state is ProgramState.CLOSED:
            return
        self._move(ProgramState.RESTARTING)
        self.counts.restart()
        self._interrupted = None
        self.tell(State("restarting"))
        self.intake.lose()

    def reopen(self, now_ns: int) -> None:
        """Go on with a new worker where the clock stands."""
        if self.state is ProgramState.CLOSED:
            return
        self.open(max(self._last, self.clock.due(now_ns)) + RESTART_LEAD_TICKS)
        for viewer in self.viewers:
            viewer.restart()

    def close(self) -> None:
        """The session is over. Closing twice is harmless."""
        if self.state is ProgramState.CLOSED:
            return
        self._move(ProgramState.CLOSED)
        self.worker.send(Close(self.what.name))
        self.intake.close()
        self.tell(State("closed"))
        self.bell.ring()

    def interrupted(self, message: Interrupted) -> None:
        """The worker obeyed; ticks up to the message's index still come, and count as sent."""
        self._interrupted = message
        self._settle()

    def tick(self, tick: Tick, now_ns: int) -> None:
        """Give one tick to every viewer at once, then do the books."""
        if self.state is ProgramState.CLOSED or tick.index <= self._last:
            return
        self._last = tick.index
        for viewer in self.viewers:
            viewer.put(tick)
        self.traffic.count(tick, -self.clock.until(tick.index, now_ns))
        self.intake.play(tick.spans)
        self._settle()
        self._follow_viewers(tick.index, now_ns)

    def want_keyframe(self, now_ns: int) -> None:
        """A viewer joins, or cannot decode."""
        self._keyframes.wanted = True
        self._ask_keyframe(now_ns)

    def control(self, controls: Controls) -> None:
        self.controls = controls
        self.worker.send(SetControls(self.what.name, controls))

    def tell(self, event: Event) -> None:
        for listener in list(self.listeners):
            listener.tell(event)

    def join(self, guest: object) -> None:
        """A connection or a microphone, which keeps the session alive as viewers do."""
        self._guests.add(guest)

    def leave(self, guest: object, now_ns: int) -> None:
        """Leaving twice, or without having joined, is harmless."""
        self._guests.discard(guest)
        self.used_ns = now_ns

    def idle_since_ns(self, now_ns: int) -> int | None:
        """Since when nobody has used the session; None while somebody does."""
        if self.viewers or self._guests or self.intake.queued_ms:
            self.used_ns = now_ns
            return None
        return self.used_ns

    def _settle(self) -> None:
        if self._interrupted is not None and self._last >= self._interrupted.index:
            self.intake.settle(self._interrupted.epoch)
            self._interrupted = None

    def _follow_viewers(self, index: int, now_ns: int) -> None:
        if any(viewer.waiting for viewer in self.viewers):
            self._keyframes.wanted = True
        self._ask_keyframe(now_ns)
        if index % SECOND_TICKS == 0:
            self._follow_slowest()

    def _ask_keyframe(self, now_ns: int) -> None:
        if self._keyframes.due(now_ns):
            self.worker.send(Keyframe(self.what.name))

    def _follow_slowest(self) -> None:
        limits = [bps for viewer in self.viewers if (bps := viewer.bitrate_bps) is not None]
        wanted = min([*limits, self.nominal_bps])
        if worth_changing(self._bitrate_bps, wanted):
            self._bitrate_bps = wanted
            self.worker.send(Bitrate(self.what.name, wanted))

    def _tell_all(self, events: Sequence[Event]) -> None:
        for event in events:
            self.tell(event)

    def _move(self, state: ProgramState) -> None:
        if state is self.state:
            return
        if state not in ALLOWED[self.state]:
            raise IllegalTransition(
                f"session {self.what.name} cannot go from {self.state.value} to {state.value}"
            )
        _LOG.info("session %s: %s -> %s", self.what.name, self.state.value, state.value)
        self.state = state
