import asyncio

import pytest
from support.front import Ear, Port, program, tick
from visavis.stream.errors import ProtocolError
from visavis.stream.link import Audio, EndSegment, Interrupt, Interrupted
from visavis.web.intake import QUEUE_LIMIT_MS, CutReason
from visavis.web.program import Program
from visavis.web.wire import Buffer, PlaybackFinished, PlaybackStarted

RATE = 8_000
SECOND = bytes(2 * RATE)


async def settled() -> None:
    """Let every task run until it waits for something else."""
    for _ in range(10):
        await asyncio.sleep(0)


def heard(session: Program) -> Ear:
    ear = Ear()
    session.listeners.append(ear)
    return ear


async def test_sound_reaches_the_worker_in_order_and_the_end_after_it() -> None:
    port = Port()
    utterance = program(port).intake.utter()
    assert await utterance.feed(SECOND + b"\1\2", RATE)
    utterance.end()
    assert b"".join(message.pcm for message in port.of(Audio)) == SECOND + b"\1\2"
    assert [message.segment for message in port.of(EndSegment)] == [utterance.name]
    assert isinstance(port.said[-1], EndSegment)


async def test_cues_travel_with_the_first_piece() -> None:
    port = Port()
    await program(port).intake.utter().feed(SECOND, RATE, [(5, 0, 400)])
    assert [message.cues for message in port.of(Audio)] == [((5, 0, 400),), ()]


async def test_utterances_take_turns_in_the_order_of_their_first_sound() -> None:
    port = Port()
    intake = program(port).intake
    first, second = intake.utter(), intake.utter()
    async with asyncio.TaskGroup() as group:
        await second.feed(SECOND, RATE)
        waiting = group.create_task(first.feed(SECOND, RATE))
        await settled()
        assert not waiting.done()
        await second.feed(SECOND, RATE)
        second.end()
    names = [message.segment for message in port.of(Audio)]
    assert names == [second.name] * 4 + [first.name] * 2


async def test_past_sixty_seconds_the_source_is_held_up_until_there_is_room_and_nothing_is_lost() -> None:
    port = Port()
    session = program(port)
    ear = heard(session)
    utterance = session.intake.utter()
    async with asyncio.TaskGroup() as group:
        feeding = group.create_task(utterance.feed(SECOND * 61, RATE))
        await settled()
        assert not feeding.done()
        assert session.intake.queued_ms == QUEUE_LIMIT_MS
        assert ear.heard == [Buffer(QUEUE_LIMIT_MS, paused=True)]
        for index in range(126):
            session.tick(tick(index, (utterance.name, index * 1920, (index + 1) * 1920, False)), 0)
        await settled()
        assert feeding.done()
    assert sum(len(message.pcm) for message in port.of(Audio)) == 61 * len(SECOND)
    assert ear.heard[-1] == Buffer(55_000, paused=False)


async def test_an_interrupt_tells_the_position_sent_including_ticks_already_on_their_way() -> None:
    port = Port()
    session = program(port)
    ear = heard(session)
    utterance = session.intake.utter("speech")
    await utterance.feed(SECOND, RATE)
    for index in range(5):
        session.tick(tick(index, (utterance.name, index * 1920, (index + 1) * 1920, False)), 0)
    async with asyncio.TaskGroup() as group:
        interrupting = group.create_task(session.intake.interrupt())
        await settled()
        assert port.of(Interrupt) == [Interrupt("s", 1)]
        session.interrupted(Interrupted("s", 1, 6))
        await settled()
        assert not interrupting.done()
        for index in (5, 6):
            session.tick(tick(index, (utterance.name, index * 1920, (index + 1) * 1920, False)), 0)
    assert interrupting.result() == ("speech", 280)
    assert ear.heard == [PlaybackStarted("speech"), PlaybackFinished("speech", 280, True)]
    assert utterance.cut is CutReason.INTERRUPTED
    assert not await utterance.feed(SECOND, RATE)


async def test_an_interrupt_of_a_finished_or_unknown_segment_does_nothing() -> None:
    port = Port()
    session = program(port)
    assert await session.intake.interrupt("never was") == (None, 0)
    assert port.of(Interrupt) == []


async def test_an_interrupt_in_silence_is_harmless() -> None:
    session = program()
    async with asyncio.TaskGroup() as group:
        interrupting = group.create_task(session.intake.interrupt())
        await settled()
        session.interrupted(Interrupted("s", 1, -1))
    assert interrupting.result() == (None, 0)


async def test_sound_after_an_interrupt_is_not_cut_by_it() -> None:
    port = Port()
    session = program(port)
    old = session.intake.utter()
    await old.feed(SECOND, RATE)
    async with asyncio.TaskGroup() as group:
        group.create_task(session.intake.interrupt())
        await settled()
        new = session.intake.utter("new")
        await new.feed(SECOND, RATE)
        session.interrupted(Interrupted("s", 1, -1))
    assert new.cut is None
    assert session.intake.queued_ms == 1_000


async def test_an_interrupt_without_a_worker_is_answered_at_once() -> None:
    session = program()
    utterance = session.intake.utter("a")
    await utterance.feed(SECOND, RATE)
    session.tick(tick(0, (utterance.name, 0, 1920, False)), 0)
    session.worker_lost()
    assert await session.intake.interrupt() == (None, 0)


async def test_whoever_gives_up_on_an_interrupt_leaves_nothing_behind() -> None:
    intake = program(Port()).intake
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(intake.interrupt())
        await settled()
        asking.cancel()
    assert intake._watching == []


async def test_a_source_that_waits_is_freed_when_its_utterance_is_cut() -> None:
    session = program()
    first, second = session.intake.utter(), session.intake.utter()
    await first.feed(SECOND, RATE)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(second.feed(SECOND, RATE))
        await settled()
        session.close()
    assert waiting.result() is False
    assert second.cut is CutReason.LOST


async def test_a_starved_segment_gives_its_turn_away_and_finishes_when_it_was_played() -> None:
    port = Port()
    session = program(port)
    ear = heard(session)
    quiet, next_one = session.intake.utter("quiet"), session.intake.utter("next")
    await quiet.feed(b"\0\0" * 320, RATE)
    session.intake.starved(quiet.name)
    assert quiet.cut is CutReason.STARVED
    assert await next_one.feed(SECOND, RATE)
    session.tick(tick(0, (quiet.name, 0, 1920, True)), 0)
    assert ear.heard == [PlaybackStarted("quiet"), PlaybackFinished("quiet", 40, False)]


async def test_sound_for_a_session_that_is_over_is_refused_at_once() -> None:
    port = Port()
    session = program(port)
    session.close()
    utterance = session.intake.utter()
    assert not await utterance.feed(SECOND, RATE)
    assert utterance.cut is CutReason.LOST
    utterance.end("late")
    assert not port.of(Audio)


async def test_an_end_names_the_segment_and_one_without_sound_finishes_at_once() -> None:
    port = Port()
    session = program(port)
    ear = heard(session)
    session.intake.utter().end("mine")
    assert ear.heard == [PlaybackFinished("mine", 0, False)]
    assert port.of(EndSegment) == []


async def test_a_name_in_use_is_refused_and_the_segment_ends_all_the_same() -> None:
    port = Port()
    intake = program(port).intake
    taken, other = intake.utter("taken"), intake.utter()
    await other.feed(SECOND, RATE)
    with pytest.raises(ProtocolError):
        other.end("taken")
    assert other.cut is CutReason.ENDED
    assert taken.cut is None
    assert [message.segment for message in port.of(EndSegment)] == [other.name]


async def test_ending_twice_is_harmless() -> None:
    port = Port()
    utterance = program(port).intake.utter()
    await utterance.feed(SECOND, RATE)
    utterance.end()
    utterance.end()
    assert len(port.of(EndSegment)) == 1
