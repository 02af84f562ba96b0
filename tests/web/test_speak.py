import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from support.front import FAKE_VOICE, Ear, Port, program, tick, until
from visavis.stream.errors import CapacityError, ProtocolError, UsageError
from visavis.stream.link import Audio, EndSegment, Interrupted
from visavis.web import speak as speak_module
from visavis.web.chores import Chores
from visavis.web.program import Program
from visavis.web.speak import QUEUE_LIMIT, Speaker, SpeechOptions
from visavis.web.voice_link import Done, Piece
from visavis.web.wire import Failure, PlaybackFinished

WORD_BYTES = 4_800


@dataclass
class Stage:
    """A speaker with the fake voice, and one session whose worker only remembers."""

    speaker: Speaker
    port: Port
    session: Program
    ear: Ear

    def sound(self) -> int:
        """Words' worth of sound that the worker was given."""
        return sum(len(message.pcm) for message in self.port.of(Audio)) // WORD_BYTES

    def play(self) -> None:
        """Send everything that was ended, as the worker would."""
        for index, message in enumerate(self.port.of(EndSegment)):
            self.session.tick(tick(index, (message.segment, 0, 1920, True)), 0)


@contextlib.asynccontextmanager
async def stage(command: tuple[str, ...] = FAKE_VOICE) -> AsyncIterator[Stage]:
    async with asyncio.TaskGroup() as group, Chores() as chores:
        speaker = Speaker(SpeechOptions(), chores, command)
        running = group.create_task(speaker.run())
        port = Port()
        session = program(port)
        ear = Ear()
        session.listeners.append(ear)
        try:
            yield Stage(speaker, port, session, ear)
        finally:
            session.close()
            running.cancel()


async def test_a_text_is_spoken_sentence_by_sentence_with_mouth_shapes_as_one_segment() -> None:
    async with stage() as there:
        label = there.speaker.say(there.session, "One two. Three.", label="mine")
        assert label == "mine"
        await until(lambda: len(there.port.of(EndSegment)) == 1)
        assert there.sound() == 3
        assert len({message.segment for message in there.port.of(Audio)}) == 1
        assert there.port.of(Audio)[0].cues == ((0, 0, 4_800),)


async def test_texts_of_one_session_are_spoken_one_after_the_other() -> None:
    async with stage() as there:
        for number in range(3):
            there.speaker.say(there.session, "One two three. Four.", label=f"t{number}")
        await until(lambda: len(there.port.of(EndSegment)) == 3)
        order = [message.segment for message in there.port.said if isinstance(message, Audio | EndSegment)]
        assert order == sorted(order)


async def test_a_text_that_waits_is_held_back_until_there_is_room() -> None:
    async with stage() as there:
        there.speaker.say(there.session, ". ".join(["word " * 100] * 20))
        await until(lambda: there.session.intake.queued_ms >= 60_000)
        assert there.sound() == 600
        assert there.port.of(EndSegment) == []


async def test_an_interrupt_stops_what_is_spoken_and_drops_what_waits() -> None:
    async with stage() as there:
        there.speaker.say(there.session, "One. hang.", label="a")
        there.speaker.say(there.session, "Two.", label="b")
        await until(lambda: there.sound() == 1)
        there.session.intake.lose()
        there.session.intake.live = True
        finished = [event for event in there.ear.heard if isinstance(event, PlaybackFinished)]
        assert finished == [PlaybackFinished("a", 0, True), PlaybackFinished("b", 0, True)]
        there.speaker.say(there.session, "Three four.", label="c")
        await until(lambda: len(there.port.of(EndSegment)) == 1)
        assert there.sound() == 3


WORD = bytes(WORD_BYTES)


async def begun(there: Stage) -> str:
    """Have a text spoken whose sentences the test makes, and give its first word; the segment's name."""
    there.speaker.say(there.session, "hang.", label="mine")
    await until(lambda: bool(there.speaker._spoken))
    there.speaker._receive(Piece(1, 24_000, WORD, ((5, 0, 2_400),)))
    await until(lambda: there.sound() == 1)
    return there.port.of(Audio)[0].segment


async def test_a_text_whose_next_sentence_took_long_goes_on_under_its_label_with_its_mouth_shapes() -> None:
    async with stage() as there:
        first = await begun(there)
        there.session.intake.starved(first)
        there.speaker._receive(Piece(1, 24_000, WORD, ((6, 2_300, 4_800),)))
        await until(lambda: there.sound() == 2)
        second = there.port.of(Audio)[1]
        assert second.segment != first
        assert second.cues == ((6, 0, 2_400),)
        there.speaker._receive(Done(1))
        await until(lambda: len(there.port.of(EndSegment)) == 1)
        for index, name in enumerate((first, second.segment)):
            there.session.tick(tick(index, (name, 0, 1920, True)), 0)
        assert [event.id for event in there.ear.heard if isinstance(event, PlaybackFinished)] == ["mine"] * 2


async def test_a_text_that_starved_and_is_complete_makes_no_further_segment() -> None:
    async with stage() as there:
        there.session.intake.starved(await begun(there))
        there.speaker._receive(Done(1))
        await until(lambda: not there.speaker._spoken)
        assert there.session.intake._utterances == {}


async def test_an_interrupt_ends_a_text_that_starved() -> None:
    async with stage() as there:
        there.session.intake.starved(await begun(there))
        async with asyncio.TaskGroup() as group:
            group.create_task(there.session.intake.interrupt())
            await asyncio.sleep(0)
            there.session.interrupted(Interrupted("s", 1, -1))
        await until(lambda: not there.speaker._spoken)
        assert there.sound() == 1


async def test_a_sentence_that_starves_half_said_is_said_to_its_end() -> None:
    async with stage() as there:
        said = there.port.of

        async def drain() -> None:
            if len(said(Audio)) == 1:
                there.session.intake.starved(said(Audio)[0].segment)

        there.port.drain = drain
        there.speaker.say(there.session, "hang.", label="mine")
        await until(lambda: bool(there.speaker._spoken))
        there.speaker._receive(Piece(1, 24_000, WORD * 15, ((5, 0, 30_000), (6, 30_000, 36_000))))
        await until(lambda: there.sound() == 15)
        first, second, _ = said(Audio)
        assert first.segment != second.segment
        assert second.cues == ((5, 0, 18_000), (6, 18_000, 24_000))


async def test_text_that_cannot_be_spoken_is_told_and_the_next_one_is_spoken() -> None:
    async with stage() as there:
        there.speaker.say(there.session, "This must fail.", label="a")
        there.speaker.say(there.session, "One.", label="b")
        await until(lambda: there.sound() == 1)
        assert Failure("bad_request", "this cannot be spoken") in there.ear.heard
        assert PlaybackFinished("a", 0, False) in there.ear.heard


async def test_a_text_that_trips_over_a_fault_of_ours_is_told_and_those_behind_it_are_spoken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feed = Speaker._feed

    async def faulty(self: Speaker, session: Program, job: speak_module._Job) -> str | None:
        if job.label == "a":
            raise ZeroDivisionError
        return await feed(self, session, job)

    monkeypatch.setattr(Speaker, "_feed", faulty)
    async with stage() as there:
        for label in ("a", "b"):
            there.speaker.say(there.session, "One.", label=label)
        await until(lambda: len(there.port.of(EndSegment)) == 1)
        assert there.sound() == 1
        assert PlaybackFinished("a", 0, False) in there.ear.heard
        assert any(isinstance(event, Failure) and event.code == "failed" for event in there.ear.heard)


async def test_texts_that_wait_when_the_server_stops_leave_no_segment_unfinished() -> None:
    async with stage() as there:
        for label in ("a", "b"):
            there.speaker.say(there.session, "hang.", label=label)
        await until(lambda: bool(there.speaker._spoken))
        for task in list(there.speaker._chores._tasks):
            if task.get_name().startswith("speech of"):
                task.cancel()
        await until(lambda: there.speaker._waiting == {})
        assert there.session.intake._utterances == {}


async def test_a_voice_that_is_not_here_is_refused_with_those_that_are() -> None:
    async with stage() as there:
        there.speaker.say(there.session, "One.", voice="nobody", label="early")
        await until(lambda: any(isinstance(event, Failure) for event in there.ear.heard))
        with pytest.raises(UsageError, match="choose one of heart, emma"):
            there.speaker.say(there.session, "One.", voice="nobody")
        there.speaker.say(there.session, "One.", voice="emma")
        await until(lambda: there.sound() == 1)
        assert "choose one of heart, emma" in str(there.ear.heard)


async def test_a_label_in_use_is_refused() -> None:
    async with stage() as there:
        there.speaker.say(there.session, "One.", label="a")
        with pytest.raises(ProtocolError):
            there.speaker.say(there.session, "Two.", label="a")


async def test_only_so_many_texts_may_wait() -> None:
    async with stage() as there:
        for _ in range(QUEUE_LIMIT):
            there.speaker.say(there.session, "hang.")
        with pytest.raises(CapacityError, match="16 texts wait"):
            there.speaker.say(there.session, "One more.")


async def test_a_speech_process_that_dies_fails_its_text_and_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(speak_module, "_RESTART_S", 0.0)
    async with stage() as there:
        there.speaker.say(there.session, "One. hang.", label="a")
        await until(lambda: there.sound() == 1)
        pid = there.speaker.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await until(lambda: any(isinstance(event, Failure) for event in there.ear.heard))
        there.speaker.say(there.session, "Two.", label="b")
        await until(lambda: there.sound() == 2)


async def test_a_speech_process_that_never_gets_ready_is_not_waited_for_forever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(speak_module, "_WARM_UP_S", 0.01)
    async with stage((sys.executable, "-c", "import time; time.sleep(60)")) as there:
        there.speaker.say(there.session, "One.", label="a")
        await until(lambda: PlaybackFinished("a", 0, False) in there.ear.heard)
        assert Failure("full", "the speech process is not ready; say it again") in there.ear.heard


@pytest.mark.parametrize(
    "command",
    [(sys.executable, "-c", "print('no voice here')"), ("no-such-program-anywhere",)],
    ids=["dies", "does not start"],
)
async def test_a_speech_process_that_fails_again_and_again_is_started_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    deaths: list[int] = []
    monkeypatch.setattr(speak_module, "_RESTART_S", 0.0)
    monkeypatch.setattr(speak_module, "backoff_s", lambda count: deaths.append(count) or 0.0)
    async with stage(command):
        await until(lambda: len(deaths) >= 3)
    assert deaths[:3] == [1, 2, 3]


async def test_two_sessions_do_not_wait_for_each_other() -> None:
    async with stage() as there:
        port = Port()
        other = program(port)
        there.speaker.say(there.session, "hang.", label="a")
        there.speaker.say(other, "One.", label="a")
        await until(lambda: len(port.of(EndSegment)) == 1)
        other.close()
