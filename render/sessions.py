"""Every session of a worker: what the front asks of them, what they could do next, what has been made.

No threads, no sockets, no clock of its own. The owner's lock guards every call but `perform`, which does the
heavy work and touches only what its task names.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from ..stream import link
from ..stream.clock import FRAME_RATE, NS_PER_SECOND, FrameClock
from ..stream.errors import AudioError, IllegalTransition, VisavisError
from ..stream.media import AudioChunk
from ..stream.pacer import Pacer, PacerOptions, latency_ms
from ..stream.pcm import to_float
from ..stream.resample import check_rate
from ..stream.roster import Roster
from ..stream.session import Session
from ..stream.visemes import VISEMES, Cue
from .easel import Easel
from .engine import Engine
from .idle import Giving, Idle
from .live import EVERY, Encode, Kind, Live
from .parts import Parts, parts_for
from .phases import first_tick, horizon, phase
from .pipeline import Draw, Pipeline, run
from .scheduler import choose

_LOG = logging.getLogger(__name__)
_SPARE_SURFACES = 3
"""Beyond the horizon: one being drawn, one being encoded, one kept for repeats."""


class Duty(Enum):
    """What a caller of `next_task` takes on. An engine that batches has one caller for all that it does,
    since its slots share their state; the others do the rest."""

    ALL = "all"
    ENGINE = "engine"
    REST = "rest"


_KINDS: Final[dict[Duty, frozenset[Kind]]] = {
    Duty.ALL: EVERY,
    Duty.ENGINE: frozenset(("draw",)),
    Duty.REST: frozenset(("encode",)),
}


@dataclass(slots=True, eq=False)
class Guest:
    """A session from its request on: its timeline at once, its parts when its avatar is loaded, its live
    state when the engine has bound its slot."""

    request: link.Open
    session: Session
    slot: int
    parts: Parts | None = None
    live: Live | None = None
    closing: bool = False
    busy: bool = False
    wants: list[link.ToWorker] = field(default_factory=list[link.ToWorker])
    """Wishes that came before the live state was there."""


@dataclass(slots=True)
class Task:
    """One piece of heavy work: draws of several sessions, one encode, a guest to open (its parts first, then
    its slot) or close, or an engine that gives memory back."""

    draws: list[tuple[Live, Draw]] = field(default_factory=list[tuple[Live, Draw]])
    encode: tuple[Live, Encode] | None = None
    open: Guest | None = None
    close: Guest | None = None
    giving: Giving | None = None
    parked: bool = False
    tick: link.Tick | None = None
    parts: Parts | None = None
    live: Live | None = None
    error: Exception | None = None

    @property
    def sessions(self) -> list[str]:
        guests = [guest.request.session for guest in (self.open, self.close) if guest]
        return [live.name for live, _ in self.draws] + ([self.encode[0].name] if self.encode else []) + guests


class Sessions:
    """The worker's sessions on one engine."""

    def __init__(
        self, engine: Engine, *, slots: int, options: PacerOptions | None = None, idle: Idle | None = None
    ) -> None:
        options = options or PacerOptions()
        self.options = replace(options, horizon=horizon(options.lead, options.horizon, engine.cadence))
        self.delay = engine.spec.lookahead // engine.spec.hop
        self._engine = engine
        self._idle = idle or Idle()
        self._parking = False
        self._roster = Roster(slots)
        self._guests: dict[str, Guest] = {}
        self._errands: deque[Guest] = deque()
        self._phases: dict[int, int] = {}
        """Of the slots that live, when the engine has more to do for them; a stall moves it."""
        self._gauged_ns = 0
        self._counted: link.EngineCounts | None = None

    @property
    def latency_ms(self) -> int:
        """From a sample's arrival to its release, at most."""
        return latency_ms(self._engine.spec, self.options)

    def __len__(self) -> int:
        return len(self._guests)

    # ---- what the front asks

    def receive(self, message: link.ToWorker, now_ns: int) -> list[link.ToFront]:
        """Do what `message` asks. What cannot be done becomes a Fault for its session and harms no other."""
        if isinstance(message, link.Park):
            if not self._guests:
                self._idle.hasten()
            return []
        try:
            if isinstance(message, link.Open):
                self._open(message)
                return []
            guest = self._guests.get(message.session)
            return [] if guest is None or guest.closing else self._apply(guest, message, now_ns)
        except VisavisError as error:
            fatal = isinstance(message, link.Open)
            return [link.Fault(message.session, error.code, str(error), fatal=fatal)]

    def _open(self, request: link.Open) -> None:
        if request.session in self._guests:
            raise IllegalTransition(f"session {request.session} is open already")
        slot = self._roster.take(request.session)
        self._idle.wake()
        guest = Guest(request, Session(request.session, epoch=request.epoch), slot)
        self._guests[request.session] = guest
        self._errands.append(guest)

    def _apply(self, guest: Guest, message: link.ToWorker, now_ns: int) -> list[link.ToFront]:
        match message:
            case link.Audio():
                guest.session.push(_chunk(message), now_ns)
            case link.EndSegment():
                guest.session.end(message.segment)
            case link.Interrupt():
                return _interrupt(guest, message)
            case link.Close():
                guest.closing = True
                guest.session.close()
                self._errands.append(guest)
            case _ if guest.live is None:
                guest.wants.append(message)
            case _:
                _adjust(guest.live, message)
        return []

    # ---- what could be done

    def next_task(self, now_ns: int, duty: Duty = Duty.ALL) -> tuple[Task | None, int | None]:
        """The most urgent task, begun; or None and when to look again (None: when something arrives).

        Sessions that close come first, which frees their slots, and new ones last. To bind a slot is short
        where one thread does nothing else for the engine, and would wait for ever where that is overloaded.
        """
        if duty is not Duty.REST and (closing := self._next_errand(lambda guest: guest.closing)):
            return Task(close=closing), None
        if duty is Duty.ENGINE and (opening := self._next_opening(duty)):
            return Task(open=opening), None
        lives = [guest.live for guest in self._guests.values() if guest.live and not guest.closing]
        choice = choose(lives, now_ns, max_batch=self._engine.max_batch, kinds=_KINDS[duty])
        if choice.picked and choice.picked[0][1].kind == "encode":
            live = choice.picked[0][0]
            return Task(encode=(live, live.begin_encode(now_ns))), None
        if choice.picked:
            return Task(draws=[(live, live.begin_draw(now_ns)) for live, _ in choice.picked]), None
        if opening := self._next_opening(duty):
            return Task(open=opening), None
        rest = self._idle.next(now_ns) if self._can_park(duty) else None
        if rest is not None and rest.due_ns <= now_ns:
            self._idle.begin(rest.giving)
            self._parking = True
            return Task(giving=rest.giving), None
        return None, choice.wake_ns if rest is None else rest.due_ns

    def _can_park(self, duty: Duty) -> bool:
        return not (self._guests or self._parking) and duty is not Duty.REST and self._engine.parks

    def _next_opening(self, duty: Duty) -> Guest | None:
        """None of those whose next step is the engine's while that gives memory back."""

        def wanted(guest: Guest) -> bool:
            return not guest.closing and _opens(guest, duty) and not (guest.parts and self._parking)

        return self._next_errand(wanted)

    def _next_errand(self, wanted: Callable[[Guest], bool]) -> Guest | None:
        for guest in self._errands:
            if wanted(guest) and not guest.busy and not (guest.live and guest.live.busy):
                self._errands.remove(guest)
                guest.busy = True
                return guest
        return None

    def perform(self, task: Task) -> None:
        """Do the heavy part, without the lock. A failure is kept in the task."""
        try:
            if task.draws:
                run(self._engine, [draw for _, draw in task.draws])
            elif task.encode:
                live, work = task.encode
                task.tick = live.encode(work)
            elif task.open and task.open.parts is None:
                task.parts = parts_for(task.open.request, self._engine.pictures)
            elif task.open and task.open.parts:
                task.live = self._bind(task.open, task.open.parts)
            elif task.close:
                self._release(task.close)
            elif task.giving == "offload":
                self._engine.offload()
            elif task.giving == "park":
                task.parked = self._engine.park()
        except Exception as error:
            if not isinstance(error, VisavisError):
                _LOG.exception("work for %s failed", ", ".join(task.sessions) or "no session")
            task.error = error

    def finish(self, task: Task, now_ns: int) -> list[link.ToFront]:
        """Book what `perform` did; what the front should hear of it."""
        for live, draw in task.draws:
            live.finish_draw(draw)
        if task.encode:
            task.encode[0].finish_encode(task.tick, now_ns)
        if task.giving:
            self._parking = False
        if task.giving == "park":
            self._idle.parked(task.parked)
        if task.error:
            return [fault for name in task.sessions if (fault := self._give_up(name, task))]
        if task.close:
            self._remove(task.close)
        if task.open and task.parts:
            self._queue(task.open, task.parts)
        if task.open and task.live:
            return self._settle(task.open, task.live, now_ns)
        return []

    def outgoing(self, now_ns: int) -> list[link.ToFront]:
        """Everything whose time has come: ticks, starved segments, and once a second the gauges
        and what the engine counts."""
        lives = [guest.live for guest in self._guests.values() if guest.live]
        messages: list[link.ToFront] = [tick for live in lives for tick in live.due(now_ns)]
        messages += self._starved(now_ns)
        if now_ns - self._gauged_ns >= NS_PER_SECOND:
            self._gauged_ns = now_ns
            messages += [live.gauges() for live in lives]
            messages += self._news()
        return messages

    def _news(self) -> list[link.ToFront]:
        """What the engine has counted, where that has changed."""
        counts = self._engine.counts()
        if counts is None or counts == self._counted:
            return []
        self._counted = counts
        return [counts]

    def next_send_ns(self) -> int | None:
        """When `outgoing` has the next tick, as far as they are encoded."""
        times = [guest.live.send_ns for guest in self._guests.values() if guest.live and guest.live.outbox]
        return min((time for time in times if time is not None), default=None)

    # ---- opening and closing

    def _queue(self, guest: Guest, parts: Parts) -> None:
        guest.busy = False
        guest.parts = parts
        if not guest.closing:
            self._errands.append(guest)

    def _bind(self, guest: Guest, parts: Parts) -> Live:
        """Raises what the engine does; then the slot is free again, and the encoder closed too."""
        request = guest.request
        size = (request.width, request.height)
        surfaces = self.options.horizon + _SPARE_SURFACES
        with ExitStack() as undo:
            undo.callback(parts.video.close)
            self._engine.open(guest.slot, parts.avatar, size=size, seed=request.seed, index=request.index)
            undo.callback(self._engine.close, guest.slot)
            self._engine.control(guest.slot, request.controls)
            easel = Easel.of(self._engine, guest.slot, parts.compositor, surfaces=surfaces)
            undo.pop_all()
        pipeline = Pipeline(
            guest.session,
            slot=guest.slot,
            delay=self.delay,
            first=request.index,
            easel=easel,
        )
        pacer = Pacer(FrameClock(FRAME_RATE, request.start_ns), self.options)
        return Live(pipeline, pacer, video=parts.video, audio=parts.audio, name=request.session)

    def _release(self, guest: Guest) -> None:
        """Give back what `guest` has: nothing, or its parts, or those and its slot."""
        if guest.live:
            guest.live.close()
            self._engine.close(guest.slot)
        elif guest.parts:
            guest.parts.video.close()

    def _settle(self, guest: Guest, live: Live, now_ns: int) -> list[link.ToFront]:
        guest.busy = False
        guest.live = live
        clock, cadence = live.pacer.clock, self._engine.cadence
        earliest = max(clock.due(now_ns) + self.options.lead, live.pipeline.gate.next)
        first = first_tick(clock, earliest, cadence, self._phases.values())
        self._phases[guest.slot] = phase(clock, first, cadence)
        if first > live.pipeline.gate.next:
            live.pipeline.skip_to(first)
        for wish in guest.wants:
            _adjust(live, wish)
        guest.wants.clear()
        return [] if guest.closing else [link.Opened(guest.request.session)]

    def _give_up(self, name: str, task: Task) -> link.Fault | None:
        """End the session whose share of `task` failed. One that is closing already only waits for it."""
        guest, error = self._guests[name], task.error
        if guest in (task.open, task.close):
            self._remove(guest)
        elif guest.closing:
            return None
        else:
            guest.closing = True
            self._errands.append(guest)
        code = error.code if isinstance(error, VisavisError) else VisavisError.code
        return link.Fault(name, code, f"{error}; start the session again", fatal=True)

    def _remove(self, guest: Guest) -> None:
        if guest in self._errands:
            self._errands.remove(guest)
        self._roster.release(guest.request.session)
        self._phases.pop(guest.slot, None)
        del self._guests[guest.request.session]

    def _starved(self, now_ns: int) -> Iterator[link.Starved]:
        for name, guest in self._guests.items():
            segment = guest.session.starved(now_ns)
            if segment is not None:
                yield link.Starved(name, segment)


def _chunk(message: link.Audio) -> AudioChunk:
    """The sound in `message`. Raises AudioError when it is none that a session can take."""
    cues = tuple(Cue(*cue) for cue in message.cues)
    if any(not 0 <= cue.viseme < len(VISEMES) for cue in cues):
        raise AudioError(f"a cue names no viseme; use 0 to {len(VISEMES) - 1}")
    if len(message.pcm) % 2:
        raise AudioError("half a sample came; send whole s16le samples")
    return AudioChunk(message.segment, to_float(message.pcm), check_rate(message.rate), cues)


def _interrupt(guest: Guest, message: link.Interrupt) -> list[link.ToFront]:
    if guest.live is None:
        left = guest.request.index - 1 if guest.session.interrupt(message.epoch, None) else None
    else:
        left = guest.live.pipeline.interrupt(message.epoch)
    return [] if left is None else [link.Interrupted(message.session, message.epoch, left)]


def _adjust(live: Live, message: link.ToWorker) -> None:
    match message:
        case link.SetControls():
            live.pipeline.control(message.controls)
        case link.Keyframe():
            live.request_keyframe()
        case link.Bitrate():
            live.set_bitrate(message.bitrate_bps)
        case _:
            raise AssertionError(f"{type(message).__name__} is no adjustment")


def _opens(guest: Guest, duty: Duty) -> bool:
    """Whether the next step in opening `guest` is part of `duty`."""
    return duty in (Duty.ALL, Duty.ENGINE if guest.parts else Duty.REST)
