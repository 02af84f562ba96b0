"""Sessions over several workers: who takes the next one, and who loses what when one dies."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.front import Port
from visavis.stream.clock import TICK_NS
from visavis.stream.controls import Controls
from visavis.stream.errors import CapacityError, StartingError
from visavis.stream.link import Close, Fault, Gauges, Open, Opened, Ready
from visavis.web.program import ProgramState
from visavis.web.sessions import SessionOptions, Sessions, Wish

WISH = Wish("ruby", (64, 64), None, Controls())


class Row:
    """Sessions with several workers that only remember, of so many slots each."""

    def __init__(self, *slots: int, options: SessionOptions | None = None, batches: bool = False) -> None:
        self._says = [Ready("fake", 240, "clip", count, batches=batches) for count in slots]
        self.ports = [Port(ready=ready) for ready in self._says]
        self.sessions = Sessions(options or SessionOptions(), workers=self.ports, on_close=lambda _: None)

    async def create(self) -> int:
        """Open a session; the number of the worker that it came to."""
        said = [len(port.said) for port in self.ports]
        async with asyncio.TaskGroup() as group:
            creating = group.create_task(self.sessions.create(WISH, 0))
            await asyncio.sleep(0)
            index = next(i for i, port in enumerate(self.ports) if len(port.said) > said[i])
            self.sessions.message(self.ports[index], Opened(self.ports[index].of(Open)[-1].session))
        assert creating.result().worker is self.ports[index]
        return index

    def lose(self, index: int) -> None:
        self.ports[index].ready = None
        self.sessions.worker_lost(self.ports[index])

    def regain(self, index: int) -> None:
        self.ports[index].ready = self._says[index]
        self.sessions.worker_up(self.ports[index])

    @property
    def taken(self) -> list[int]:
        return [len(self.sessions.on(port)) for port in self.ports]


async def test_sessions_go_to_the_worker_with_the_most_room_and_all_workers_fill() -> None:
    row = Row(2, 3, 1)
    assert [await row.create() for _ in range(6)] == [1, 0, 1, 0, 1, 2]
    with pytest.raises(CapacityError, match="all 6 sessions are taken"):
        await row.sessions.create(WISH, 0)
    assert row.taken == [2, 3, 1]


async def test_the_room_that_a_session_leaves_is_its_workers() -> None:
    row = Row(2, 2)
    for _ in range(4):
        await row.create()
    assert row.sessions.close(row.sessions.on(row.ports[1])[0].what.name)
    assert (row.taken, len(row.ports[1].of(Close)), row.ports[0].of(Close)) == ([2, 1], 1, [])
    assert await row.create() == 1


async def test_the_limit_is_on_the_sum() -> None:
    row = Row(2, 2, options=SessionOptions(max_sessions=3))
    assert [await row.create() for _ in range(3)] == [0, 1, 0]
    with pytest.raises(CapacityError, match="all 3 sessions are taken"):
        await row.sessions.create(WISH, 0)


async def test_a_lost_worker_takes_down_and_gets_back_its_own_sessions_alone() -> None:
    row = Row(2, 2)
    for _ in range(4):
        await row.create()
    row.lose(0)
    assert [one.state for one in row.sessions.on(row.ports[0])] == [ProgramState.RESTARTING] * 2
    assert [one.state for one in row.sessions.on(row.ports[1])] == [ProgramState.LIVE] * 2
    assert (row.sessions.busy(row.ports[0]), row.sessions.busy(row.ports[1])) == (False, True)
    assert (row.sessions.ready, row.sessions.workers_up, row.sessions.engine) == (True, 1, "fake")
    row.regain(0)
    opened = [len(port.of(Open)) for port in row.ports]
    assert opened == [4, 2]


async def test_while_a_worker_is_away_the_others_take_new_sessions_and_its_own_keep_their_room() -> None:
    row = Row(2, 2)
    assert [await row.create() for _ in range(2)] == [0, 1]
    row.lose(0)
    assert await row.create() == 1
    with pytest.raises(CapacityError, match="all 3 sessions are taken"):
        await row.sessions.create(WISH, 0)
    row.regain(0)
    assert await row.create() == 0
    row.lose(0)
    row.lose(1)
    with pytest.raises(StartingError):
        await row.sessions.create(WISH, 0)


async def test_a_message_about_another_workers_session_is_ignored() -> None:
    row = Row(1, 1)
    await row.create()
    program = row.sessions.programs[0]
    row.sessions.message(row.ports[1], Gauges(program.what.name, 9, 9, 9, 9, 0))
    row.sessions.message(row.ports[1], Fault(program.what.name, "encoder_lost", "gone", True))
    assert (program.counts.late, program.state) == (0, ProgramState.LIVE)


async def test_ticks_are_spread_over_all_workers_since_they_share_the_cores() -> None:
    row = Row(2, 2)
    for _ in range(4):
        await row.create()
    phases = sorted(program.clock.start_ns % TICK_NS for program in row.sessions.programs)
    assert phases == [quarter * TICK_NS // 4 for quarter in range(4)]


async def test_ticks_of_a_worker_that_batches_are_together_at_two_moments_whatever_the_others_do() -> None:
    row = Row(6, 6, batches=True)
    for _ in range(8):
        await row.create()
    for port in row.ports:
        moments = sorted(program.clock.start_ns % TICK_NS for program in row.sessions.on(port))
        assert moments == [0, 0, TICK_NS // 2, TICK_NS // 2]


class Churn:
    """Sessions that come and go on workers that die and come back; at every look each worker counts one
    picture more of each of its sessions, from 0 after its death.
    """

    def __init__(self, slots: list[int]) -> None:
        self.slots = slots
        self.row = Row(*slots)
        self._counted: dict[str, int] = {}

    @property
    def up(self) -> list[int]:
        return [index for index, port in enumerate(self.row.ports) if port.ready is not None]

    async def open(self) -> None:
        if any(self.row.taken[index] < self.slots[index] for index in self.up):
            await self.row.create()

    def close(self, number: int) -> None:
        if programs := self.row.sessions.programs:
            self.row.sessions.close(programs[number % len(programs)].what.name)

    def lose_or_regain(self, number: int) -> None:
        index = number % len(self.slots)
        if index not in self.up:
            self.row.regain(index)
            return
        for program in self.row.sessions.on(self.row.ports[index]):
            self._counted.pop(program.what.name, None)
        self.row.lose(index)

    def look(self) -> tuple[int, int]:
        """The sums of drawn and of late pictures."""
        for port in (self.row.ports[index] for index in self.up):
            for program in self.row.sessions.on(port):
                count = self._counted[program.what.name] = self._counted.get(program.what.name, 0) + 1
                self.row.sessions.message(port, Gauges(program.what.name, count, 0, count, 0, 0))
        figures = self.row.sessions.figures()
        return figures.generated, figures.late


@given(
    slots=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    events=st.lists(
        st.tuples(st.sampled_from(["open", "open", "close", "turn"]), st.integers(0, 11)), max_size=40
    ),
)
def test_sums_rise_by_what_was_drawn_and_no_worker_is_over_its_slots(
    slots: list[int], events: list[tuple[str, int]]
) -> None:
    async def churn() -> None:
        studio, drawn = Churn(slots), 0
        for what, number in events:
            if what == "open":
                await studio.open()
            elif what == "close":
                studio.close(number)
            else:
                studio.lose_or_regain(number)
            drawn += sum(studio.row.taken[index] for index in studio.up)
            assert studio.look() == (drawn, drawn)
            assert all(taken <= most for taken, most in zip(studio.row.taken, slots, strict=True))

    asyncio.run(churn())
