"""A front with two worker processes: what its clients notice of there being two, and of one's death."""

import os
import signal
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from support.front import Studio, studio, until
from visavis.stream.link import Tick
from visavis.web.config import Config
from visavis.web.program import Program, ProgramState
from visavis.web.workers import WorkerOptions, WorkerState

TWO = Config(worker=WorkerOptions(devices=2))
SLOTS = 3


@dataclass
class Eye:
    """A viewer that remembers which ticks it got."""

    indices: list[int] = field(default_factory=list[int])
    waiting: bool = False
    bitrate_bps: int | None = None

    def put(self, tick: Tick) -> None:
        self.indices.append(tick.index)

    def restart(self) -> None:
        return


def watched(program: Program) -> Eye:
    eye = Eye()
    program.viewers.append(eye)
    return eye


async def both_up(server: Studio) -> None:
    await until(lambda: server.front.sessions.workers_up == 2)


def kill(server: Studio, number: int) -> None:
    pid = server.front.workers[number].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


async def test_both_workers_fill_evenly_and_then_no_more_is_taken() -> None:
    async with studio(TWO) as server:
        await both_up(server)
        ready = {"status": "ready", "engine": "fake", "workers": 2, "workers_up": 2}
        assert await server.call("GET", "/readyz") == (200, ready)
        for _ in range(2 * SLOTS):
            await server.open()
        first, second = (server.front.sessions.on(worker) for worker in server.front.workers)
        assert (len(first), len(second)) == (SLOTS, SLOTS)
        status, body = await server.call("POST", "/v1/sessions", {})
        assert (status, body["error"]["code"]) == (503, "full")
        assert "all 6 sessions are taken" in body["error"]["message"]
        gone = second[1].what.name
        assert (await server.call("DELETE", f"/v1/sessions/{gone}"))[0] == 204
        again = server.program((await server.open())["id"])
        assert again.worker is server.front.workers[1]


async def test_a_killed_worker_takes_down_its_own_sessions_and_the_others_get_every_tick() -> None:
    async with studio(TWO) as server:
        await both_up(server)
        programs = [server.program((await server.open())["id"]) for _ in range(4)]
        hit = server.front.sessions.on(server.front.workers[0])
        kept = [program for program in programs if program not in hit]
        assert (len(hit), len(kept)) == (2, 2)
        eyes = [watched(program) for program in kept]
        await until(lambda: all(len(eye.indices) > 5 for eye in eyes))
        ticks = [program.traffic.ticks for program in hit]
        kill(server, 0)
        await until(lambda: server.front.sessions.workers_up == 1)
        assert [program.state for program in hit] == [ProgramState.RESTARTING] * 2
        assert [program.state for program in kept] == [ProgramState.LIVE] * 2
        await until(lambda: all(program.traffic.ticks > was for program, was in zip(hit, ticks, strict=True)))
        seen = [len(eye.indices) for eye in eyes]
        await until(lambda: all(len(eye.indices) > was for eye, was in zip(eyes, seen, strict=True)))
        for eye in eyes:
            assert {b - a for a, b in pairwise(eye.indices)} == {1}
        assert [worker.restarts for worker in server.front.workers] == [1, 0]
        assert [program.worker for program in hit] == [server.front.workers[0]] * 2


async def test_a_worker_that_cannot_start_leaves_the_other_serving(tmp_path: Path) -> None:
    first = tmp_path / "taken"
    script = tmp_path / "worker.py"
    fake = Path(__file__).parents[1] / "support" / "fake_worker.py"
    script.write_text(
        "import pathlib, runpy, sys\n"
        "try:\n"
        f"    pathlib.Path({str(first)!r}).touch(exist_ok=False)\n"
        "except FileExistsError:\n"
        "    sys.exit('this device is taken')\n"
        f"runpy.run_path({str(fake)!r}, run_name='__main__')\n"
    )
    async with studio(TWO, worker=(sys.executable, str(script))) as server:
        workers = server.front.workers
        await until(lambda: WorkerState.STOPPED in [worker.state for worker in workers])
        for _ in range(SLOTS):
            await server.open()
        assert (await server.call("POST", "/v1/sessions", {}))[0] == 503
        ready = {"status": "ready", "engine": "fake", "workers": 2, "workers_up": 1}
        assert await server.call("GET", "/readyz") == (200, ready)
        async with server.client.get("/metrics") as answer:
            text = await answer.text()
        up = sorted(line for line in text.splitlines() if line.startswith("visavis_worker_up{"))
        assert sorted(line[-3:] for line in up) == ["0.0", "1.0"]
        assert server.front.sessions.programs[0].state is ProgramState.LIVE
