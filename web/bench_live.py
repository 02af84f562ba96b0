"""`visavis bench live`: a server of its own, some sessions that speak, a viewer each, and what they cost."""

import asyncio
import contextlib
import os
import signal
import socket
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription, rtcrtpreceiver
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack

from ..render.machine import Usage, children, cpu_name, usage
from ..stream.clock import NS_PER_MS, NS_PER_SECOND
from ..stream.errors import SetupError

WARM_UP_SECONDS = 5
WORKER = "visavis.render.worker"
_SAMPLE_SECONDS = 2
_VISIT_SECONDS = 3
_STANDBY_SECONDS = 100
_STANDBY_WARMS_SECONDS = 40
_DRAIN_SECONDS = 0.2
"""What was on its way to viewers when a worker was killed has come by then."""
_START_SECONDS = 300
_REFILL_MS = 8_000
_TEXT = (
    "This is a measurement of live sessions, and so I keep talking. Please bear with me for a little while. "
    "Every picture that you do not see is drawn, encoded and sent all the same, twenty five times a second. "
    "Perhaps we may speak about boats, maps, umbrellas, and the people who move them from place to place. "
)


@dataclass(frozen=True, slots=True)
class LiveBench:
    """What to run. `seconds` are measured after a warm-up of five. `guests` more sessions come and go
    meanwhile; with `kill` the workers are killed at the end. They say `sound`, s16le mono at a rate, or a
    text where there is none. `options` are further ones of `visavis serve`, by name."""

    sessions: int = 1
    seconds: int = 30
    size: str = "720x1280"
    avatar: str = "ruby"
    guests: int = 0
    kill: bool = False
    sound: tuple[int, bytes] | None = None
    options: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        if self.sessions < 1 or self.seconds < 5 or self.guests < 0:
            raise ValueError("a live bench needs at least one session and five seconds")


@dataclass(frozen=True, slots=True)
class Budgets:
    """What `--assert` holds the figures against."""

    p99_lateness_ms: float = 40
    worker_cpu_percent_per_session: float = 40
    front_rss_mb: float = 400
    worker_rss_mb: float = 500
    least_fps: float = 24.5


@dataclass(slots=True)
class _Viewer:
    """A receiver that counts pictures and decodes none, so that it costs the machine little."""

    peer: RTCPeerConnection
    frames: int = 0


class _NoDecoder:
    """Takes the place of aiortc's decoders: each encoded frame becomes one empty object."""

    def decode(self, encoded_frame: object) -> list[object]:
        return [encoded_frame]


def _no_decoder(codec: object) -> _NoDecoder:
    return _NoDecoder()


async def measure(bench: LiveBench) -> dict[str, Any]:
    """Run `bench` and return its figures."""
    setattr(rtcrtpreceiver, "get_decoder", _no_decoder)  # noqa: B010 (not exported, and the only way in)
    async with (
        _serving(bench) as (url, front),
        aiohttp.ClientSession(url) as client,
        asyncio.TaskGroup() as tasks,
    ):
        workers = children(front, command=WORKER)
        names = [await _open(client, bench) for _ in range(bench.sessions)]
        viewers = [await _watch(client, name, tasks) for name in names]
        quiet, leave = asyncio.Event(), asyncio.Event()
        for name in names:
            tasks.create_task(_keep_talking(client, bench, name, quiet))
        coming = [tasks.create_task(_come_and_go(client, bench, leave)) for _ in range(bench.guests)]
        await asyncio.sleep(WARM_UP_SECONDS)
        before = [await _state(client, name) for name in names]
        frames_before = [viewer.frames for viewer in viewers]
        start = (usage(front), _usage_of(workers))
        memory = await _sample_memory(front, workers, bench.seconds)
        end = (usage(front), _usage_of(workers))
        after = [await _state(client, name) for name in names]
        frames = [viewer.frames - first for viewer, first in zip(viewers, frames_before, strict=True)]
        leave.set()
        guests = sum(await asyncio.gather(*coming))
        has_standby = bench.kill and await _until_standby(front, workers, bench)
        back_ms = await _until_back(workers, viewers) if bench.kill else None
        quiet.set()
        for viewer in viewers:
            await viewer.peer.close()
    fps = [count / bench.seconds for count in frames]
    figures = _figures(bench, before, after, fps, start, end, memory)
    return (
        figures
        | {"guests": guests, "workers": len(workers)}
        | ({"back_after_kill_ms": back_ms, "standby": has_standby} if bench.kill else {})
    )


def misses(figures: dict[str, Any], budgets: Budgets) -> list[str]:
    """Which budgets `figures` break, a sentence each."""
    checks = (
        ("p99 lateness", figures["lateness_ms"]["p99"], budgets.p99_lateness_ms, "ms"),
        (
            "worker CPU a session",
            figures["worker"]["cpu_percent_per_session"],
            budgets.worker_cpu_percent_per_session,
            "%",
        ),
        ("front memory", figures["front"]["rss_mb"], budgets.front_rss_mb, "MB"),
        ("worker memory", figures["worker"]["rss_mb"], budgets.worker_rss_mb, "MB"),
    )
    found = [
        f"{name} is {value} {unit}, over {limit} {unit}"
        for name, value, limit, unit in checks
        if value > limit
    ]
    if min(figures["received_fps"]) < budgets.least_fps:
        found.append(f"a viewer received {min(figures['received_fps'])} frames a second")
    return found


@contextlib.asynccontextmanager
async def _serving(bench: LiveBench) -> AsyncGenerator[tuple[str, int]]:
    """A server on a free port: its address and the front's process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["-m", "visavis.web.cli", "serve", "--port", str(port)]
    command += ["--max-sessions", str(bench.sessions + bench.guests), "--avatar", bench.avatar]
    command += [part for name, value in bench.options.items() for part in (f"--{name}", value)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.DEVNULL, env={**os.environ}
    )
    url = f"http://127.0.0.1:{port}"
    try:
        await _until_ready(url, process)
        yield url, process.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _until_ready(url: str, process: asyncio.subprocess.Process) -> None:
    async with aiohttp.ClientSession(url) as client:
        for _ in range(_START_SECONDS * 10):
            if process.returncode is not None:
                break
            with contextlib.suppress(aiohttp.ClientError):
                async with client.get("/readyz") as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.1)
    raise SetupError("the server did not start; run `visavis serve` to see why")


async def _open(client: aiohttp.ClientSession, bench: LiveBench) -> str:
    async with client.post("/v1/sessions", json={"avatar": bench.avatar, "size": bench.size}) as answer:
        body = await answer.json()
        if answer.status != 201:
            raise SetupError(f"a session was refused: {body['error']['message']}")
        return body["id"]


async def _watch(client: aiohttp.ClientSession, session: str, tasks: asyncio.TaskGroup) -> _Viewer:
    viewer = _Viewer(RTCPeerConnection(RTCConfiguration(iceServers=[])))
    for kind in ("video", "audio"):
        viewer.peer.addTransceiver(kind, direction="recvonly")

    @viewer.peer.on("track")
    def follow(track: MediaStreamTrack) -> None:  # pyright: ignore[reportUnusedFunction]
        tasks.create_task(_count(viewer, track))

    await viewer.peer.setLocalDescription(await viewer.peer.createOffer())
    offer = viewer.peer.localDescription.sdp
    headers = {"content-type": "application/sdp"}
    async with client.post(f"/whep/{session}", data=offer, headers=headers) as answer:
        sdp = await answer.text()
        if answer.status != 201:
            raise SetupError(f"a viewer was refused: {sdp}")
    await viewer.peer.setRemoteDescription(RTCSessionDescription(sdp, "answer"))
    return viewer


async def _count(viewer: _Viewer, track: MediaStreamTrack) -> None:
    with contextlib.suppress(MediaStreamError):
        while True:
            await track.recv()
            viewer.frames += track.kind == "video"


async def _keep_talking(
    client: aiohttp.ClientSession, bench: LiveBench, session: str, quiet: asyncio.Event
) -> None:
    async with _voice(client, bench, session) as speak:
        while not quiet.is_set():
            if (await _state(client, session))["queued_ms"] < _REFILL_MS:
                await speak()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(quiet.wait(), _SAMPLE_SECONDS)


@contextlib.asynccontextmanager
async def _voice(
    client: aiohttp.ClientSession, bench: LiveBench, session: str
) -> AsyncGenerator[Callable[[], Awaitable[None]]]:
    """What makes `session` say a little more: the text over HTTP, or the sound over its websocket."""
    if bench.sound is None:

        async def say() -> None:
            async with client.post(f"/v1/sessions/{session}/say", json={"text": _TEXT}):
                pass

        yield say
        return
    rate, pcm = bench.sound
    async with client.ws_connect(f"/v1/sessions/{session}/ws") as socket:
        await socket.send_json({"type": "start", "sample_rate": rate})
        yield lambda: socket.send_bytes(pcm)


async def _state(client: aiohttp.ClientSession, session: str) -> dict[str, Any]:
    async with client.get(f"/v1/sessions/{session}") as answer:
        return await answer.json()


async def _come_and_go(client: aiohttp.ClientSession, bench: LiveBench, leave: asyncio.Event) -> int:
    """Sessions that begin, speak for a while and end, one after the other, until they shall `leave`: how
    many."""
    count = 0
    while not leave.is_set():
        name = await _open(client, bench)
        async with _voice(client, bench, name) as speak:
            await speak()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(leave.wait(), _VISIT_SECONDS)
        async with client.delete(f"/v1/sessions/{name}"):
            count += 1
    return count


async def _until_standby(front: int, workers: Sequence[int], bench: LiveBench) -> bool:
    """Whether each worker has a second process, which is waited for where there may be one: while sessions
    speak it does not hurry."""
    looks = _STANDBY_SECONDS // _SAMPLE_SECONDS if bench.options.get("engine") == "ditto" else 0
    for _ in range(looks):
        if len(children(front, command=WORKER)) >= 2 * len(workers):
            # It is there, but not yet warm.
            await asyncio.sleep(_STANDBY_WARMS_SECONDS)
            return True
        await asyncio.sleep(_SAMPLE_SECONDS)
    return False


async def _until_back(workers: Sequence[int], viewers: Sequence[_Viewer]) -> int:
    """Milliseconds from the death of all `workers` until every viewer has a new picture."""
    for worker in workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    began_ns = time.monotonic_ns()
    await asyncio.sleep(_DRAIN_SECONDS)
    frames = [viewer.frames for viewer in viewers]
    while any(viewer.frames == before for viewer, before in zip(viewers, frames, strict=True)):
        if time.monotonic_ns() - began_ns > _START_SECONDS * NS_PER_SECOND:
            raise SetupError("the workers did not come back; run `visavis serve` to see why")
        await asyncio.sleep(0.01)
    return (time.monotonic_ns() - began_ns) // NS_PER_MS


def _usage_of(processes: Sequence[int]) -> Usage:
    """Of all of them."""
    each = [usage(one) for one in processes]
    return Usage(sum(one.cpu_ms for one in each), sum(one.rss_bytes for one in each))


async def _sample_memory(front: int, workers: Sequence[int], seconds: int) -> list[tuple[int, int]]:
    """(front, workers) resident bytes each two seconds, for `seconds`."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    samples: list[tuple[int, int]] = []
    while (left := end - loop.time()) > 0:
        samples.append((usage(front).rss_bytes, _usage_of(workers).rss_bytes))
        await asyncio.sleep(min(left, _SAMPLE_SECONDS))
    return samples


def _figures(
    bench: LiveBench,
    before: list[dict[str, Any]],
    after: list[dict[str, Any]],
    fps: list[float],
    start: tuple[Usage, Usage],
    end: tuple[Usage, Usage],
    memory: list[tuple[int, int]],
) -> dict[str, Any]:
    front, worker = (
        {
            "cpu_percent": round((b.cpu_ms - a.cpu_ms) / bench.seconds / 10, 1),
            "rss_mb": round(max(sample) / 1e6),
            "rss_slope_mb_per_minute": _slope(sample),
        }
        for a, b, sample in zip(start, end, zip(*memory, strict=True), strict=True)
    )
    worker["cpu_percent_per_session"] = round(worker["cpu_percent"] / bench.sessions, 1)
    lateness = {p: max(state["lateness_ms"][p] for state in after) for p in ("p50", "p95", "p99")}
    counters = {
        name: sum(b["counters"][name] - a["counters"][name] for a, b in zip(before, after, strict=True))
        for name in ("generated", "repeated", "late", "underruns")
    }
    return {
        "bench": "live",
        "sessions": bench.sessions,
        "seconds": bench.seconds,
        "size": bench.size,
        "engine": after[0]["engine"],
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "lateness_ms": lateness,
        "counters": counters,
        "received_fps": [round(value, 2) for value in fps],
        "front": front,
        "worker": worker,
    }


def _slope(samples: tuple[int, ...]) -> float:
    """Least-squares growth in MB a minute over the second half, when all is warm."""
    half = samples[len(samples) // 2 :]
    if len(half) < 3:
        return 0.0
    minutes = [index * _SAMPLE_SECONDS / 60 for index in range(len(half))]
    return round(statistics.linear_regression(minutes, half).slope / 1e6, 2)
