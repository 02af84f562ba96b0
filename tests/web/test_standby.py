import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from support.front import FAKE_WORKER, until
from visavis.render.machine import children
from visavis.stream.link import Ready, ToFront
from visavis.web import standby as standby_module
from visavis.web.child import Child
from visavis.web.chores import Chores
from visavis.web.life import Life
from visavis.web.port import WorkerPort
from visavis.web.standby import Standby
from visavis.web.workers import Worker, WorkerState

PARKS = (*FAKE_WORKER, "--parks")
SECOND_FAILS = """
import os, socket, sys
from visavis.stream.link import Ready, to_frame
flag = sys.argv[1]
if os.path.exists(flag):
    print("ERROR __main__: the card is full", flush=True)
    raise SystemExit(1)
open(flag, "w").close()
with socket.socket(fileno=int(sys.argv[sys.argv.index("--fd") + 1])) as link:
    link.sendall(to_frame(Ready("odd", 0, "", 1, True)))
    link.recv(1)
"""


class Log:
    def __init__(self) -> None:
        self.working = False
        self.told: list[str] = []

    def worker_up(self, worker: WorkerPort) -> None:
        self.told.append("up")

    def worker_lost(self, worker: WorkerPort) -> None:
        self.told.append("lost")

    def message(self, worker: WorkerPort, message: ToFront) -> None:
        assert not isinstance(message, Ready)

    def busy(self, worker: WorkerPort) -> bool:
        return self.working


@asynccontextmanager
async def running(
    command: tuple[str, ...], *, standby: bool = True, working: bool = False
) -> AsyncGenerator[tuple[Worker, Log]]:
    log = Log()
    log.working = working
    async with asyncio.TaskGroup() as group, Chores() as chores:
        worker = Worker(chores, command, standby=standby)
        task = group.create_task(worker.run(log))
        await until(lambda: worker.state is WorkerState.UP)
        yield worker, log
        task.cancel()


def processes() -> set[int]:
    """Workers of ours that run."""
    return set(children(os.getpid(), command="fake_worker"))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standby_module, "CALM_S", 0.0)


async def test_a_standby_is_parked_and_takes_over_and_another_stands_by(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    before = processes()
    async with running(PARKS) as (worker, log):
        await until(lambda: "parked" in caplog.text)
        first = worker.pid
        assert first is not None
        (waiting,) = processes() - before - {first}
        os.kill(first, signal.SIGKILL)
        await until(lambda: worker.pid == waiting and worker.state is WorkerState.UP)
        assert worker.restarts == 1
        assert log.told == ["up", "lost", "up"]
        await until(lambda: len(processes() - before) == 2 and caplog.text.count("stands by") == 2)
    assert processes() - before == set()


async def test_a_standby_that_died_is_not_believed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    before = processes()
    async with running(PARKS) as (worker, log):
        await until(lambda: "stands by" in caplog.text)
        first = worker.pid
        assert first is not None
        (waiting,) = processes() - before - {first}
        os.kill(waiting, signal.SIGKILL)
        await until(lambda: waiting not in processes())
        os.kill(first, signal.SIGKILL)
        await until(lambda: worker.restarts == 1 and worker.state is WorkerState.UP)
        assert worker.pid not in (first, waiting)
        assert log.told == ["up", "lost", "up"]


@pytest.mark.parametrize(("command", "standby"), [(FAKE_WORKER, True), (PARKS, False)], ids=["cannot", "off"])
async def test_there_is_none_where_it_could_not_park_or_is_not_wanted(
    command: tuple[str, ...], standby: bool
) -> None:
    before = processes()
    async with running(command, standby=standby) as (worker, _):
        await asyncio.sleep(0.3)
        assert processes() - before == {worker.pid}


async def test_a_standby_that_does_not_start_leaves_the_worker_alone(
    caplog: pytest.LogCaptureFixture, tmp_path: object
) -> None:
    command = (sys.executable, "-c", SECOND_FAILS, f"{tmp_path}/flag")
    async with running(command) as (worker, log):
        await until(lambda: "there is no standby" in caplog.text)
        assert "the card is full" in caplog.text
        assert worker.state is WorkerState.UP
        assert log.told == ["up"]


async def test_a_standby_waits_for_a_quiet_moment_but_not_for_ever(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(standby_module, "LOOK_S", 0.01)
    async with running(PARKS, working=True) as (_, log):
        await asyncio.sleep(0.3)
        assert "stands by" not in caplog.text
        log.working = False
        await until(lambda: "stands by" in caplog.text)
    caplog.clear()
    monkeypatch.setattr(standby_module, "PATIENCE_S", 0.1)
    async with running(PARKS, working=True):
        await until(lambda: "stands by" in caplog.text)


async def test_one_that_gets_warm_after_the_end_is_stopped() -> None:
    before = processes()

    async def start() -> Life:
        return Life(await Child.spawn("worker", PARKS))

    standby = Standby(start, 30)
    async with asyncio.TaskGroup() as group:
        group.create_task(standby.prepare(lambda: False))
        await until(lambda: processes() != before)
        await standby.close()
    assert await standby.taken() is None
    assert processes() == before


async def test_none_is_started_beside_a_worker_that_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standby_module, "LOOK_S", 0.01)
    monkeypatch.setattr(standby_module, "CALM_S", 0.3)
    before = processes()
    async with running(PARKS, working=True) as (worker, log):
        first = worker.pid
        assert first is not None
        log.working = False
        os.kill(first, signal.SIGKILL)
        await until(lambda: worker.state is WorkerState.RESTARTING)
        while worker.state is WorkerState.RESTARTING:
            assert len(processes() - before) <= 1
            await asyncio.sleep(0.01)
        assert worker.restarts == 1
