import asyncio

import pytest
from support.front import Ear, Port, studio, tick, until
from visavis.stream.clock import NS_PER_SECOND
from visavis.stream.controls import Controls
from visavis.stream.errors import CapacityError, LinkError, StartingError, VisavisError
from visavis.stream.link import Close, Fault, Gauges, Interrupted, Open, Opened, Ready, Starved, ToFront
from visavis.web import sessions as sessions_module
from visavis.web.program import Program, ProgramState
from visavis.web.sessions import SessionOptions, Sessions, Wish
from visavis.web.wire import Failure, State

READY = Ready(engine="fake", latency_ms=240, encoder="clip", slots=2)
WISH = Wish("ruby", (64, 64), None, Controls())


class Desk:
    """Sessions with a worker that only remembers; `answer` plays the worker's part."""

    def __init__(self, options: SessionOptions | None = None) -> None:
        self.port = Port()
        self.closed: list[str] = []
        self.sessions = Sessions(
            options or SessionOptions(), workers=[self.port], on_close=self.closed.append
        )

    def up(self, ready: Ready = READY) -> None:
        self.port.ready = ready
        self.sessions.worker_up(self.port)

    def lost(self) -> None:
        self.port.ready = None
        self.sessions.worker_lost(self.port)

    def message(self, message: ToFront) -> None:
        self.sessions.message(self.port, message)

    async def create(self, wish: Wish = WISH) -> Program:
        """A session that the worker opens at once."""
        async with asyncio.TaskGroup() as group:
            creating = group.create_task(self.sessions.create(wish, 0))
            await asyncio.sleep(0)
            self.message(Opened(self.port.of(Open)[-1].session))
        return creating.result()


async def ready_desk(options: SessionOptions | None = None) -> Desk:
    desk = Desk(options)
    desk.up()
    return desk


async def test_a_session_is_made_once_the_worker_has_opened_it() -> None:
    desk = await ready_desk()
    program = await desk.create(Wish("marcus", (128, 128), 7, Controls(emotion="happy")))
    opened = desk.port.of(Open)[0]
    assert (opened.avatar, opened.width, opened.seed, opened.controls.emotion) == ("marcus", 128, 7, "happy")
    assert program.state is ProgramState.LIVE
    assert desk.sessions.find(program.what.name) is program
    assert desk.sessions.busy(desk.port)


async def test_a_client_that_leaves_before_its_session_is_made_leaves_none_behind() -> None:
    desk = await ready_desk()
    async with asyncio.TaskGroup() as group:
        creating = group.create_task(desk.sessions.create(WISH, 0))
        await asyncio.sleep(0)
        creating.cancel()
    assert desk.sessions.programs == []
    assert desk.port.of(Close)


async def test_names_and_seeds_differ_from_session_to_session() -> None:
    desk = await ready_desk()
    first, second = await desk.create(), await desk.create()
    assert first.what.name != second.what.name
    assert first.what.seed != second.what.seed


async def test_latency_is_that_of_the_workers_delay_and_lead() -> None:
    desk = Desk()
    assert (desk.sessions.latency_ms, desk.sessions.engine, desk.sessions.ready) == (0, "", False)
    desk.up()
    assert (desk.sessions.latency_ms, desk.sessions.engine, desk.sessions.ready) == (240, "fake", True)


async def test_without_a_worker_nothing_can_be_opened() -> None:
    with pytest.raises(StartingError, match="the worker is starting"):
        await Desk().sessions.create(WISH, 0)


@pytest.mark.parametrize(("limit", "fit"), [(0, 2), (1, 1), (5, 2)])
async def test_no_more_sessions_than_slots_and_limit_allow(limit: int, fit: int) -> None:
    desk = await ready_desk(SessionOptions(max_sessions=limit))
    made = [await desk.create() for _ in range(fit)]
    with pytest.raises(CapacityError, match=f"all {fit} sessions are taken"):
        await desk.sessions.create(WISH, 0)
    assert desk.sessions.close(made[0].what.name)
    await desk.create()


@pytest.mark.parametrize(("code", "error"), [("full", CapacityError), ("bad_avatar", VisavisError)])
async def test_what_the_worker_says_of_a_session_it_cannot_open_is_told(code: str, error: type) -> None:
    desk = await ready_desk()
    async with asyncio.TaskGroup() as group:
        creating = group.create_task(_failing(desk, error))
        await asyncio.sleep(0)
        desk.message(Fault(desk.port.of(Open)[0].session, code, "it cannot be", True))
    assert creating.result() == "it cannot be"
    assert desk.sessions.programs == []


async def _failing(desk: Desk, error: type) -> str:
    with pytest.raises(error) as raised:
        await desk.sessions.create(WISH, 0)
    return str(raised.value)


async def test_a_worker_that_does_not_answer_is_not_waited_for_forever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions_module, "_OPEN_PATIENCE_S", 0.01)
    desk = await ready_desk()
    with pytest.raises(CapacityError, match="in time"):
        await desk.sessions.create(WISH, 0)
    assert len(desk.port.of(Close)) == 1
    assert desk.sessions.programs == []


async def test_messages_reach_their_session_and_those_of_ended_ones_are_ignored() -> None:
    desk = await ready_desk()
    program = await desk.create()
    name = program.what.name
    for message in (
        Gauges(name, 1, 2, 3, 4, 0),
        Starved(name, "segment-9"),
        Interrupted(name, 0, -1),
        Opened("gone"),
        Fault("gone", "x", "y", True),
    ):
        desk.message(message)
    assert program.counts.repeated == 2


async def test_a_fault_that_is_not_fatal_is_told_and_a_fatal_one_ends_the_session() -> None:
    desk = await ready_desk()
    program, other = await desk.create(), await desk.create()
    ear = Ear()
    program.listeners.append(ear)
    desk.message(Fault(program.what.name, "bad_audio", "too much", False))
    desk.message(Fault(program.what.name, "encoder_lost", "start again", True))
    assert ear.heard == [
        Failure("bad_audio", "too much"),
        Failure("encoder_lost", "start again"),
        State("closed"),
    ]
    assert desk.closed == [program.what.name]
    assert desk.sessions.programs == [other]


async def test_a_session_that_fails_inside_is_closed_and_the_others_go_on() -> None:
    class Broken:
        waiting = False
        bitrate_bps = None

        def put(self, _tick: object) -> None:
            raise ZeroDivisionError

        def restart(self) -> None:
            return

    desk = await ready_desk()
    program, other = await desk.create(), await desk.create()
    program.viewers.append(Broken())
    broken = tick(1)
    desk.message(type(broken)(program.what.name, 0, 1, b"", False, False, (b"", b""), ()))
    assert desk.sessions.programs == [other]


async def test_a_new_worker_gets_every_session_again() -> None:
    desk = await ready_desk()
    program = await desk.create()
    desk.lost()
    assert not desk.sessions.busy(desk.port)
    assert program.state is ProgramState.RESTARTING
    desk.up()
    assert [message.session for message in desk.port.of(Open)] == [program.what.name] * 2


async def test_a_second_ready_is_an_error_of_the_link() -> None:
    desk = await ready_desk()
    with pytest.raises(LinkError):
        desk.message(READY)


async def test_unused_sessions_are_closed_after_a_minute_and_used_ones_stay() -> None:
    desk = await ready_desk()
    unused, used = await desk.create(), await desk.create()
    used.join(object())
    desk.sessions.sweep(59 * NS_PER_SECOND)
    assert len(desk.sessions.programs) == 2
    desk.sessions.sweep(60 * NS_PER_SECOND)
    assert desk.sessions.programs == [used]
    assert desk.closed == [unused.what.name]


async def test_sums_keep_what_ended_sessions_counted() -> None:
    desk = await ready_desk()
    for _ in range(2):
        program = await desk.create()
        desk.message(Gauges(program.what.name, 10, 0, 0, 0, 0))
        desk.sessions.close(program.what.name)
    program = await desk.create()
    desk.message(Gauges(program.what.name, 5, 0, 0, 0, 0))
    assert desk.sessions.figures().generated == 25
    assert desk.sessions.figures().generated == 25


async def test_closing_an_unknown_session_does_nothing() -> None:
    assert not Desk().sessions.close("never")


async def test_a_worker_that_dies_while_it_opens_a_session_gets_another_try() -> None:
    async with studio() as server:
        before = server.front.workers[0].restarts
        async with asyncio.TaskGroup() as group:
            creating = group.create_task(server.call("POST", "/v1/sessions", {"avatar": "crash"}))
            await until(lambda: server.front.workers[0].restarts > before)
            for program in server.front.sessions.programs:
                server.front.sessions.close(program.what.name)
        status, body = creating.result()
        assert (status, body["error"]["code"]) == (503, "full")
