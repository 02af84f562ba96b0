import asyncio
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.front import FAKE_WORKER, until
from visavis.render.weights import LIVE, file_named
from visavis.stream.controls import Controls
from visavis.stream.errors import SetupError, UsageError
from visavis.stream.link import HOPELESS, Open, Tick, ToFront
from visavis.web import workers as workers_module
from visavis.web.chores import Chores, first_of
from visavis.web.devices import CPU, Device
from visavis.web.port import WorkerPort
from visavis.web.workers import (
    Worker,
    WorkerOptions,
    WorkerState,
    backoff_s,
    check_ditto,
    keep_up,
    worker_command,
)

DIES = (sys.executable, "-c", "print('no engine here'); raise SystemExit(1)")
SPEAKS_FIRST = """
import socket, sys
from visavis.stream.link import Opened, to_frame
with socket.socket(fileno=int(sys.argv[sys.argv.index("--fd") + 1])) as link:
    link.sendall(to_frame(Opened("s")))
    link.recv(1)
"""


@dataclass
class Log:
    """Events of a worker, in order."""

    working: bool = False
    told: list[str] = field(default_factory=list[str])
    messages: list[ToFront] = field(default_factory=list[ToFront])

    def worker_up(self, worker: WorkerPort) -> None:
        assert worker.ready is not None
        self.told.append(f"up {worker.ready.engine}")

    def worker_lost(self, worker: WorkerPort) -> None:
        assert worker.ready is None
        self.told.append("lost")

    def message(self, worker: WorkerPort, message: ToFront) -> None:
        assert worker.ready is not None
        self.messages.append(message)

    def busy(self, worker: WorkerPort) -> bool:
        return self.working


def opening(avatar: str) -> Open:
    return Open("s", avatar, 64, 64, 1, 0, 0, 0, 1_000_000, Controls())


async def failure_of(command: tuple[str, ...], device: Device = CPU) -> str:
    async with Chores() as chores:
        worker = Worker(chores, command, device)
        error: SetupError | None = None
        try:
            await worker.run(Log())
        except SetupError as raised:
            error = raised
    assert error is not None
    assert worker.state is WorkerState.STOPPED
    return str(error)


async def test_a_killed_worker_comes_back_and_what_is_told_meanwhile_is_lost() -> None:
    log = Log()
    async with asyncio.TaskGroup() as group, Chores() as chores:
        worker = Worker(chores, FAKE_WORKER)
        worker.send(opening("ruby"))
        running = group.create_task(worker.run(log))
        await until(lambda: worker.state is WorkerState.UP)
        worker.send(opening("ruby"))
        await until(lambda: any(isinstance(message, Tick) for message in log.messages))
        first = worker.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await until(lambda: worker.restarts == 1 and worker.state is WorkerState.UP)
        assert worker.pid != first
        assert log.told == ["up fake", "lost", "up fake"]
        running.cancel()
    assert worker.state is WorkerState.STOPPED


async def test_a_worker_that_never_becomes_ready_is_given_up_with_its_last_words() -> None:
    assert await failure_of(DIES) == "the worker does not start: no engine here"


async def test_a_worker_that_says_why_none_can_start_is_believed_at_once(tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    says = (
        "import os, sys, time\n"
        f"open({str(tries)!r}, 'a').write('x')\n"
        "print('ERROR __main__: no weights: fetch them', flush=True)\n"
        "os.close(int(sys.argv[sys.argv.index('--fd') + 1]))\n"
        "time.sleep(0.1)\n"
        f"raise SystemExit({HOPELESS})"
    )
    assert await failure_of((sys.executable, "-c", says)) == "no weights: fetch them"
    assert tries.read_text() == "x"


def test_ditto_is_not_started_without_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_ditto("random:1")
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    with pytest.raises(SetupError, match=r"holds no weights of Ditto: get them with visavis weights fetch$"):
        check_ditto(None)
    for name in LIVE[1:]:
        (tmp_path / str(file_named(name))).write_bytes(b"")
    with pytest.raises(
        SetupError, match=f"lacks hubert: get the rest with visavis weights fetch --to {tmp_path}$"
    ):
        check_ditto(str(tmp_path))
    (tmp_path / str(file_named(LIVE[0]))).write_bytes(b"")
    check_ditto(str(tmp_path))


def test_ditto_is_not_started_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "find_spec", lambda _name: None)
    with pytest.raises(SetupError, match=r"pip install 'visavis\[ditto\]'"):
        check_ditto("random:1")


async def test_a_process_that_cannot_be_started_is_tried_again_like_one_that_dies() -> None:
    assert "no process can be started" in await failure_of(("no-such-program-anywhere",))


async def test_a_worker_that_speaks_before_it_is_ready_is_not_taken() -> None:
    assert "does not start" in await failure_of((sys.executable, "-c", SPEAKS_FIRST))


async def test_a_worker_that_falls_silent_at_work_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "_SILENCE_S", 0.1)
    log = Log(working=False)
    async with asyncio.TaskGroup() as group, Chores() as chores:
        worker = Worker(chores, FAKE_WORKER)
        running = group.create_task(worker.run(log))
        await until(lambda: worker.state is WorkerState.UP)
        await asyncio.sleep(0.3)
        assert log.told == ["up fake"]
        log.working = True
        await until(lambda: "lost" in log.told)
        running.cancel()


async def test_a_front_that_stood_still_does_not_take_that_for_its_workers_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers_module, "_SILENCE_S", 0.5)
    log = Log(working=True)
    async with asyncio.TaskGroup() as group, Chores() as chores:
        worker = Worker(chores, FAKE_WORKER)
        running = group.create_task(worker.run(log))
        await until(lambda: worker.state is WorkerState.UP)
        worker.send(opening("ruby"))
        await until(lambda: len(log.messages) > 3)
        for _ in range(3):
            time.sleep(0.7)  # noqa: ASYNC251
            log.messages.clear()
            await until(lambda: len(log.messages) > 3)
        assert log.told == ["up fake"]
        running.cancel()


async def test_a_worker_that_sends_nonsense_is_replaced() -> None:
    nonsense = (
        "import socket, sys\n"
        "from visavis.stream.link import Ready, to_frame\n"
        "with socket.socket(fileno=int(sys.argv[sys.argv.index('--fd') + 1])) as link:\n"
        "    link.sendall(to_frame(Ready('odd', 0, '', 1)))\n"
        "    link.recv(1)\n"
        "    link.sendall(b'\\xff' * 64)\n"
        "    link.recv(1 << 16)\n"
    )
    log = Log()
    async with asyncio.TaskGroup() as group, Chores() as chores:
        worker = Worker(chores, (sys.executable, "-c", nonsense))
        running = group.create_task(worker.run(log))
        await until(lambda: worker.state is WorkerState.UP)
        worker.send(opening("ruby"))
        await until(lambda: log.told[:2] == ["up odd", "lost"])
        running.cancel()


def test_the_first_restart_is_at_once_and_repeated_ones_wait_longer_and_longer() -> None:
    assert [backoff_s(deaths) for deaths in range(9)] == [0, 0, 0.25, 0.5, 1, 2, 4, 8, 8]


def test_the_real_worker_is_told_its_engine_and_what_belongs_to_it() -> None:
    start = ("-m", "visavis.render.worker", "--engine")
    assert worker_command(WorkerOptions("rig", idle_unload_s=0))[1:] == (*start, "rig")
    ditto = WorkerOptions("ditto", "random:1", "low-latency", idle_unload_s=90)
    flags = ("--weights", "random:1", "--latency", "low-latency", "--idle-unload-s", "90")
    assert worker_command(ditto)[1:] == (*start, "ditto", *flags)


def test_a_time_below_0_is_refused() -> None:
    with pytest.raises(UsageError, match="idle_unload_s is 0"):
        WorkerOptions(idle_unload_s=-1)


@pytest.mark.parametrize("options", [("rig", "random:1", None), ("rig", None, "balanced")])
def test_options_of_another_engine_are_refused(options: tuple[str, str | None, str | None]) -> None:
    with pytest.raises(UsageError, match="belongs to --engine ditto"):
        WorkerOptions(*options)


@pytest.mark.parametrize("engine", ["auto", "ditto"])
def test_an_unknown_latency_is_refused(engine: str) -> None:
    with pytest.raises(UsageError, match="choose one of low-latency, balanced, reference, offline"):
        WorkerOptions(engine, None, "fast")


def test_workers_that_share_a_machine_are_told_how_many_they_are() -> None:
    assert worker_command(WorkerOptions("rig", idle_unload_s=0), 3)[-2:] == ("--workers", "3")
    assert "--workers" not in worker_command(WorkerOptions("rig"), 1)


def test_devices_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="there can be 1 to 64 workers"):
        WorkerOptions(devices="0")


async def test_a_worker_sees_the_gpu_it_is_given_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    says = "import os; raise SystemExit('it sees ' + os.environ.get('CUDA_VISIBLE_DEVICES', 'all'))"
    command = (sys.executable, "-c", says)
    assert (await failure_of(command)).endswith("it sees all")
    assert (await failure_of(command, Device("GPU 3", "3"))).endswith("it sees 3")
    assert (await failure_of(command, Device("the CPU", ""))).endswith("it sees")


async def test_a_worker_that_never_starts_is_given_up_and_the_other_serves(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = Log()
    async with asyncio.TaskGroup() as group, Chores() as chores:
        good, bad = Worker(chores, FAKE_WORKER), Worker(chores, DIES, Device("GPU 7", "7"))
        running = group.create_task(keep_up([bad, good], log))
        await until(lambda: good.state is WorkerState.UP and bad.state is WorkerState.STOPPED)
        assert not running.done()
        assert log.told == ["up fake"]
        said = "the worker on GPU 7 is given up: the worker does not start: no engine here"
        assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == [said]
        good.send(opening("ruby"))
        await until(lambda: any(isinstance(message, Tick) for message in log.messages))
        running.cancel()
    assert good.state is WorkerState.STOPPED


async def test_when_no_worker_starts_all_are_given_up() -> None:
    async with Chores() as chores:
        with pytest.raises(ExceptionGroup) as errors:
            await keep_up([Worker(chores, DIES), Worker(chores, DIES)], Log())
    assert str(first_of(errors.value)) == "the worker does not start: no engine here"


async def test_each_worker_is_restarted_by_itself() -> None:
    log = Log()
    async with asyncio.TaskGroup() as group, Chores() as chores:
        one, two = Worker(chores, FAKE_WORKER), Worker(chores, FAKE_WORKER)
        running = group.create_task(keep_up([one, two], log))
        await until(lambda: one.state is two.state is WorkerState.UP)
        killed, kept = one.pid, two.pid
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        await until(lambda: one.restarts == 1 and one.state is WorkerState.UP)
        assert (two.pid, two.restarts) == (kept, 0)
        assert log.told == ["up fake", "up fake", "lost", "up fake"]
        running.cancel()
    assert one.state is two.state is WorkerState.STOPPED
