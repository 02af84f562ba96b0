"""Two workers under one front: sessions spread over both, and one that dies is no matter of the other's."""

import asyncio
import os
import signal
import time
import urllib.request
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.artifacts import keep
from support.server import Server, serving
from support.viewer import Viewer

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

BACK_NS = 4_000_000_000
TICK_RTP = 3_600
SESSIONS = 4
LOOK_S = 0.05


def labelled(server: Server, name: str) -> list[float]:
    """What /metrics says of each worker."""
    with urllib.request.urlopen(server.url + "/metrics", timeout=30) as answer:
        text = answer.read().decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    found = {sample.labels["worker"]: sample.value for sample in samples if sample.name == f"visavis_{name}"}
    return [found[str(number)] for number in range(len(found))]


async def until(server: Server, name: str, wanted: list[float]) -> None:
    """Wait until /metrics says this of the workers."""
    async with asyncio.timeout(60):
        while True:
            if await asyncio.to_thread(labelled, server, name) == wanted:
                return
            await asyncio.sleep(LOOK_S)


def shown(server: Server, sessions: list[str]) -> list[dict[str, Any]]:
    return [server.call("GET", f"/v1/sessions/{session}") for session in sessions]


def summed(statuses: list[dict[str, Any]], which: list[int]) -> dict[str, int]:
    """The counters of these sessions, added up."""
    return {
        name: sum(statuses[one]["counters"][name] for one in which)
        for name in ("generated", "repeated", "late")
    }


async def back(server: Server, sessions: list[str]) -> list[int]:
    """Wait until a worker has died and all sessions are live again; those that were down meanwhile."""
    down: set[int] = set()
    async with asyncio.timeout(60):
        while True:
            died = sum(await asyncio.to_thread(labelled, server, "worker_restarts_total"))
            states = [one["state"] for one in await asyncio.to_thread(shown, server, sessions)]
            down |= {number for number, state in enumerate(states) if state == "restarting"}
            if died and down and set(states) == {"idle"}:
                return sorted(down)
            await asyncio.sleep(LOOK_S)


async def test_a_killed_worker_takes_down_its_own_sessions_and_the_others_miss_no_tick(
    tmp_path: Path,
) -> None:
    with serving(tmp_path / "server.log", "--devices", "cpu,cpu") as server:
        await until(server, "worker_up", [1, 1])
        ready = await asyncio.to_thread(server.call, "GET", "/readyz")
        assert (ready["workers"], ready["workers_up"]) == (2, 2)
        sessions = [(await asyncio.to_thread(server.open))["id"] for _ in range(SESSIONS)]
        assert await asyncio.to_thread(labelled, server, "sessions") == [2, 2]
        async with (
            Viewer(server.url, f"/whep/{sessions[0]}", read_pattern=False) as even,
            Viewer(server.url, f"/whep/{sessions[1]}", read_pattern=False) as odd,
        ):
            for viewer in (even, odd):
                await viewer.until_frames(75)
            before = await asyncio.to_thread(shown, server, sessions)
            worker, other = server.worker_pids()
            killed_ns = time.monotonic_ns()
            os.kill(worker, signal.SIGKILL)
            down = await back(server, sessions)
            back_ns = time.monotonic_ns() - killed_ns
            after = await asyncio.to_thread(shown, server, sessions)
            assert other in server.worker_pids()
            for viewer in (even, odd):
                await viewer.until_frames(len(viewer.frames) + 50)
    assert down in ([0, 2], [1, 3])
    kept = [number for number in range(SESSIONS) if number not in down]
    frames = (odd if 0 in down else even).frames
    first_ns = min(at for at, *_ in (even if 0 in down else odd).frames if at > killed_ns + 200_000_000)
    gaps_ms = [(b[0] - a[0]) / 1e6 for a, b in pairwise(frames) if a[0] > killed_ns - 1_000_000_000]
    was, now = summed(before, kept), summed(after, kept)
    counted = {name: now[name] - was[name] for name in was}
    keep(
        "workers-kill",
        {
            "back_ms": back_ns / 1e6,
            "first_frame_ms": (first_ns - killed_ns) / 1e6,
            "others": counted,
            "others_longest_gap_ms": max(gaps_ms),
        },
    )
    assert back_ns <= BACK_NS
    assert first_ns - killed_ns <= BACK_NS
    stamps = [stamp for _, stamp, *_ in frames]
    assert {b - a for a, b in pairwise(stamps)} == {TICK_RTP}, "the others missed a tick"
    assert counted["repeated"] <= counted["generated"] // 10
