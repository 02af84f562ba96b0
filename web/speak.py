"""Text to speech: jobs for the speech process, their sentences into sessions as they come."""

import asyncio
import itertools
import logging
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..stream.errors import CapacityError, LinkError, UsageError, VisavisError
from ..stream.link import to_frame
from .child import Child
from .chores import Chores
from .intake import CutReason, Utterance
from .program import Program
from .voice_link import (
    Cancel,
    Done,
    FromVoice,
    More,
    Piece,
    Speak,
    ToVoice,
    Voices,
    front_inbox,
)
from .wire import Failure, failure_of
from .workers import backoff_s

_LOG = logging.getLogger(__name__)

CREDIT = 2
"""Sentences that are made ahead of the one that is being queued."""
QUEUE_LIMIT = 16
_RESTART_S = 1.0
_WARM_UP_S = 20.0


@dataclass(frozen=True, slots=True)
class SpeechOptions:
    """`voice` speaks when a client names none."""

    voice: str = "heart"


@dataclass(slots=True)
class _Job:
    """One text. `before` counts the samples of it that earlier utterances have taken."""

    number: int
    text: str
    voice: str
    label: str
    utterance: Utterance
    before: int = 0
    pieces: deque[Piece] = field(default_factory=deque[Piece])
    done: Done | None = None


class Speaker:
    """Speaks texts into programs, those of one program one after the other."""

    def __init__(self, options: SpeechOptions, chores: Chores, command: Sequence[str] = ()) -> None:
        self._options = options
        self._chores = chores
        self._command = tuple(command) or (sys.executable, "-m", "visavis.web.voice")
        self._numbers = itertools.count(1)
        self._child: Child | None = None
        self._voices: tuple[str, ...] = ()
        self._up = asyncio.Event()
        self._waiting: dict[Program, deque[_Job]] = {}
        self._spoken: dict[int, tuple[_Job, Program]] = {}

    def say(self, program: Program, text: str, *, voice: str | None = None, label: str | None = None) -> str:
        """Queue `text`; the id that its playback events will carry. Raises UsageError for an unknown voice or
        a label in use, CapacityError when too many texts wait.
        """
        name = voice or self._options.voice
        if self._up.is_set():
            self._check_voice(name)
        queue = self._waiting.get(program)
        if queue is not None and len(queue) >= QUEUE_LIMIT:
            raise CapacityError(f"{QUEUE_LIMIT} texts wait to be spoken already; try again later")
        utterance = program.intake.utter(label)
        job = _Job(next(self._numbers), text, name, program.intake.label_of(utterance), utterance)
        if queue is None:
            self._waiting[program] = deque([job])
            self._chores.spawn(self._speak_all(program), f"speech of session {program.what.name}")
        else:
            queue.append(job)
        return job.label

    @property
    def pid(self) -> int | None:
        """The speech process, for logs and figures."""
        return self._child.pid if self._child is not None else None

    async def run(self) -> None:
        """Keep the speech process up until cancelled; one that never gets ready is started less and less."""
        failures = 0
        while True:
            failures = 0 if await self._live() else failures + 1
            await asyncio.sleep(_RESTART_S + backoff_s(failures))

    async def _live(self) -> bool:
        """One process's life; whether it ever got ready."""
        try:
            child = self._child = await Child.spawn("voice", self._command)
        except OSError as error:
            _LOG.warning("the speech process cannot be started: %s", error)
            return False
        self._chores.spawn(child.pump_log(), f"log of voice {child.pid}")
        try:
            await self._listen(child)
        except LinkError as error:
            _LOG.warning("the speech process is gone: %s", error)
        finally:
            was_up = self._up.is_set()
            self._up.clear()
            self._fail_all()
            child.kill()
            await child.stop()
        return was_up

    async def _listen(self, child: Child) -> None:
        inbox = front_inbox()
        while data := await child.read():
            for message in inbox.feed(data):
                self._receive(message)
        raise LinkError(child.last_line or "it ended without a word")

    def _receive(self, message: FromVoice) -> None:
        if isinstance(message, Voices):
            self._voices = message.names
            self._up.set()
            return
        found = self._spoken.get(message.job)
        if found is None:
            return
        job, program = found
        if isinstance(message, Piece):
            job.pieces.append(message)
        else:
            job.done = message
        program.bell.ring()

    def _fail_all(self) -> None:
        for job, program in self._spoken.values():
            job.done = Done(job.number, "the speech process ended; say it again")
            program.bell.ring()

    async def _speak_all(self, program: Program) -> None:
        """Speak what waits for `program`, then leave."""
        queue = self._waiting[program]
        try:
            while queue:
                await self._speak_or_tell(program, queue[0])
                queue.popleft()
        finally:
            del self._waiting[program]
            for job in queue:
                job.utterance.end()

    async def _speak_or_tell(self, program: Program, job: _Job) -> None:
        try:
            await self._speak(program, job)
        except Exception:
            # The boundary between one text and those that wait behind it.
            _LOG.exception("session %s: a text could not be spoken", program.what.name)
            job.utterance.end()
            program.tell(
                Failure(VisavisError.code, "the text could not be spoken; the server's log says why")
            )

    async def _speak(self, program: Program, job: _Job) -> None:
        if job.utterance.cut is not None:
            return
        try:
            async with asyncio.timeout(_WARM_UP_S):
                await self._up.wait()
        except TimeoutError:
            job.utterance.end()
            program.tell(Failure(CapacityError.code, "the speech process is not ready; say it again"))
            return
        try:
            self._check_voice(job.voice)
        except UsageError as error:
            job.utterance.end()
            program.tell(failure_of(error))
            return
        self._spoken[job.number] = (job, program)
        self._send(Speak(job.number, job.text, job.voice, CREDIT))
        try:
            problem = await self._feed(program, job)
        finally:
            del self._spoken[job.number]
            if job.done is None:
                self._send(Cancel(job.number))
            job.utterance.end()
        if problem is not None:
            program.tell(Failure(UsageError.code, problem))

    async def _feed(self, program: Program, job: _Job) -> str | None:
        """Pieces into the utterance as they come; what went wrong, if anything did."""
        while True:
            await program.bell.until(lambda: bool(job.pieces) or job.done is not None or job.utterance.over)
            if job.utterance.over:
                return None
            if not job.pieces:
                return job.done.problem if job.done is not None else None
            if not await _say(program, job, job.pieces.popleft()):
                return None
            self._send(More(job.number))

    def _check_voice(self, name: str) -> None:
        if name not in self._voices:
            raise UsageError(
                f"voice {name[:40]!r} is not on this machine; choose one of {', '.join(self._voices)}"
            )

    def _send(self, message: ToVoice) -> None:
        if self._child is not None:
            self._child.write(to_frame(message))


async def _say(program: Program, job: _Job, piece: Piece) -> bool:
    """Say all of `piece`, in a new utterance where the worker took the wait for it for the end of the one
    before. False when it was cut.
    """
    samples = len(piece.pcm) // 2
    said = 0
    while True:
        if job.utterance.cut is CutReason.STARVED:
            job.before += job.utterance.taken
            job.utterance = program.intake.resume(job.utterance, job.label)
        already = job.utterance.taken
        cues = [
            (viseme, max(0, start - job.before), end - job.before)
            for viseme, start, end in piece.cues
            if end > job.before
        ]
        await job.utterance.feed(piece.pcm[2 * said :], piece.rate, cues)
        said += job.utterance.taken - already
        if said == samples or job.utterance.over:
            return not job.utterance.over
