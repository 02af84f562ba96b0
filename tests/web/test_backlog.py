import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from support.front import Ear, Port, program, tick
from visavis.stream.link import Audio, EndSegment, Interrupted
from visavis.web.backlog import HIGH_BYTES, LIMIT_BYTES, Backlog, Said
from visavis.web.intake import QUEUE_LIMIT_MS
from visavis.web.program import Program
from visavis.web.wire import (
    Buffer,
    Failure,
    PlaybackFinished,
    PlaybackStarted,
    SegmentEnd,
    SegmentStart,
    Sound,
)

RATE = 8_000
SECOND = Sound(bytes(2 * RATE), RATE)
PIECE = Sound(bytes(1 << 16), 48_000)
LUMP = Sound(bytes(1 << 19), 48_000)


async def settled() -> None:
    """Let every task run until it waits for something else."""
    for _ in range(50):
        await asyncio.sleep(0)


@dataclass
class Stage:
    """A backlog that is being said into a session whose worker only remembers."""

    backlog: Backlog
    session: Program
    port: Port
    ear: Ear

    def finished(self) -> list[PlaybackFinished]:
        return [event for event in self.ear.heard if isinstance(event, PlaybackFinished)]

    def buffers(self) -> list[bool]:
        return [event.paused for event in self.ear.heard if isinstance(event, Buffer)]

    async def interrupt(self) -> None:
        """From elsewhere, and confirmed by the worker."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.session.intake.interrupt())
            await settled()
            self.session.interrupted(Interrupted("s", self.session.intake.epoch, -1))


@contextlib.asynccontextmanager
async def stage() -> AsyncIterator[Stage]:
    port, ear = Port(), Ear()
    session = program(port)
    session.listeners.append(ear)
    backlog = Backlog(session.intake, ear.tell)
    async with asyncio.TaskGroup() as group:
        group.create_task(backlog.speak())
        await settled()
        yield Stage(backlog, session, port, ear)
        session.close()
        backlog.close(keep=False)


async def test_what_was_put_is_said_in_order() -> None:
    async with stage() as there:
        for name in ("a", "b"):
            await there.backlog.put(SECOND)
            await there.backlog.put(SegmentEnd(name))
        await settled()
        kinds = [type(message) for message in there.port.said if isinstance(message, Audio | EndSegment)]
        assert kinds == [Audio, Audio, EndSegment] * 2


async def test_while_the_session_is_full_more_is_taken_up_to_the_limit_and_no_further() -> None:
    async with stage() as there:
        for _ in range(QUEUE_LIMIT_MS // 1000):
            await there.backlog.put(SECOND)
            await settled()
        taken = 0
        async with asyncio.timeout(5):
            while taken <= LIMIT_BYTES:
                await there.backlog.put(LUMP)
                await settled()
                taken += len(LUMP.pcm)
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(there.backlog.put(PIECE))
            await settled()
            assert not waiting.done()
            await there.interrupt()
        assert waiting.done()


async def test_a_flood_of_messages_without_sound_is_bounded_too() -> None:
    async with stage() as there:
        await there.session.intake.utter().feed(SECOND.pcm, RATE)
        await there.backlog.put(SECOND)
        count = 0
        with contextlib.suppress(TimeoutError):
            while count < 30_000:
                async with asyncio.timeout(0.05):
                    await there.backlog.put(SegmentEnd())
                count += 1
        assert count < 20_000


async def test_an_interrupt_finishes_every_segment_that_waits_by_its_name_and_in_order() -> None:
    async with stage() as there:
        await there.session.intake.utter("other").feed(SECOND.pcm, RATE)
        for name in ("a", "b"):
            await there.backlog.put(SECOND)
            await there.backlog.put(SegmentEnd(name))
        await there.backlog.put(SegmentEnd("silent"))
        await settled()
        assert there.session.intake.holds("b")
        await there.interrupt()
        names = ["other", "a", "b", "silent"]
        assert there.finished() == [PlaybackFinished(name, 0, True) for name in names]
        assert len(there.port.of(Audio)) == 2
        assert not there.session.intake.holds("b")


async def test_the_rest_of_a_segment_that_waited_at_an_interrupt_is_dropped_too() -> None:
    async with stage() as there:
        other = there.session.intake.utter("other")
        await other.feed(SECOND.pcm, RATE)
        for request in (SECOND, SegmentEnd("a"), SECOND):
            await there.backlog.put(request)
        await settled()
        await there.interrupt()
        before = len(there.port.of(Audio))
        for request in (SECOND, SegmentEnd("b"), SECOND):
            await there.backlog.put(request)
        await settled()
        assert len(there.port.of(Audio)) == before + 2


async def test_after_a_cut_sound_is_a_new_segment() -> None:
    async with stage() as there:
        await there.session.intake.utter("other").feed(SECOND.pcm, RATE)
        await there.backlog.put(SECOND)
        await settled()
        there.backlog.cut()
        await there.interrupt()
        before = len(there.port.of(Audio))
        await there.backlog.put(SECOND)
        await settled()
        assert len(there.port.of(Audio)) == before + 2


async def test_a_client_whose_sound_piles_up_is_told_to_wait_and_to_go_on() -> None:
    async with stage() as there:
        other = there.session.intake.utter("other")
        await other.feed(SECOND.pcm, RATE)
        taken = 0
        while taken < HIGH_BYTES:
            assert there.buffers() == []
            await there.backlog.put(PIECE)
            await settled()
            taken += len(PIECE.pcm) if taken or there.backlog._held else 0
        assert there.buffers() == [True]
        assert there.backlog.paused
        other.end()
        await settled()
        assert there.buffers() == [True, False]
        assert not there.backlog.paused


async def test_names_in_use_are_told_said_or_dropped() -> None:
    async with stage() as there:
        other = there.session.intake.utter("taken")
        await there.backlog.put(SegmentEnd("taken"))
        await settled()
        await other.feed(SECOND.pcm, RATE)
        for request in (SECOND, SegmentEnd(), SegmentEnd("taken")):
            await there.backlog.put(request)
        await settled()
        await there.interrupt()
        failures = [event for event in there.ear.heard if isinstance(event, Failure)]
        assert len(failures) == 2
        assert all("give this one another id" in failure.message for failure in failures)


async def test_a_client_that_is_cut_off_leaves_no_segment_unfinished() -> None:
    async with stage() as there:
        other = there.session.intake.utter("other")
        await other.feed(SECOND.pcm, RATE)
        for request in (SECOND, SegmentEnd("a"), SECOND, SegmentEnd("b")):
            await there.backlog.put(request)
        await settled()
        there.backlog.close(keep=False)
        assert there.finished() == [PlaybackFinished("a", 0, True), PlaybackFinished("b", 0, True)]
        assert len(there.session.intake._floor) == 1
        await settled()
        assert there.session.intake.sources == []


async def test_after_a_goodbye_what_waits_is_still_said() -> None:
    async with stage() as there:
        other = there.session.intake.utter("other")
        await other.feed(SECOND.pcm, RATE)
        for request in (SECOND, SegmentEnd("a"), SECOND):
            await there.backlog.put(request)
        there.backlog.close(keep=True)
        await settled()
        assert len(there.session.intake.sources) == 1
        other.end()
        await settled()
        assert len(there.port.of(Audio)) == 6
        assert len(there.port.of(EndSegment)) == 3
        assert there.session.intake.sources == []


async def test_a_segment_may_be_named_before_its_sound_which_ends_the_one_before_it() -> None:
    async with stage() as there:
        for request in (SegmentStart("a"), SECOND, SegmentStart("b"), SECOND, SegmentEnd()):
            await there.backlog.put(request)
        await settled()
        names = [message.segment for message in there.port.of(EndSegment)]
        assert len(names) == 2
        for index, name in enumerate(names):
            there.session.tick(tick(index, (name, 0, 1920, True)), 0)
        assert [event.id for event in there.ear.heard if isinstance(event, PlaybackStarted)] == ["a", "b"]


async def test_an_interrupt_spares_a_named_segment_that_comes_after_it() -> None:
    async with stage() as there:
        await there.backlog.put(SegmentStart("a"))
        await there.backlog.put(SECOND)
        await settled()
        await there.interrupt()
        await there.backlog.put(SegmentStart("b"))
        await there.backlog.put(SECOND)
        await settled()
        assert there.finished() == [PlaybackFinished("a", 0, True)]
        assert len(there.port.of(Audio)) == 4


async def test_a_segment_named_while_it_waits_is_finished_by_an_interrupt() -> None:
    async with stage() as there:
        await there.session.intake.utter("other").feed(SECOND.pcm, RATE)
        for request in (SECOND, SegmentEnd(), SegmentStart("a"), SECOND):
            await there.backlog.put(request)
        await settled()
        assert there.backlog.holds("a")
        await there.interrupt()
        assert there.finished()[-1] == PlaybackFinished("a", 0, True)


REQUESTS = st.one_of(
    st.integers(1, 20_000).map(lambda samples: Sound(bytes(2 * samples), RATE)),
    st.sampled_from([SegmentEnd(), SegmentEnd("a"), SegmentEnd("b"), SegmentStart("b"), None]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(REQUESTS, max_size=12))
def test_whatever_is_put_and_interrupted_every_segment_finishes_and_the_books_are_empty(
    requests: list[Said | None],
) -> None:
    """None stands for an interrupt."""

    async def run() -> None:
        async with stage() as there:
            for request in requests:
                if request is None:
                    await there.interrupt()
                else:
                    await there.backlog.put(request)
            await settled()
            await there.interrupt()
            assert there.session.intake.queued_ms == 0
            assert there.session.intake._ledger._entries == {}
            assert there.backlog._held == 0

    asyncio.run(run())
