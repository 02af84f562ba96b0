import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import aiohttp
import pytest
from support.front import FAKE_VOICE, FAKE_WORKER, studio
from visavis.stream.clock import NS_PER_SECOND
from visavis.stream.errors import SetupError
from visavis.web import app as app_module
from visavis.web.config import Config
from visavis.web.devices import CPU, Device
from visavis.web.tls import ListenOptions

ANY_PORT = Config(listen=ListenOptions(port=0))


def children() -> set[int]:
    """Processes that this one has started and that still run."""
    path = f"/proc/{os.getpid()}/task/{os.getpid()}/children"
    with open(path) as file:
        return {int(pid) for pid in file.read().split()}


async def served(config: Config, number: signal.Signals) -> tuple[str, int]:
    """Serve until ready, look at the page, send us the signal; the address and the time the end took."""
    before = children()
    addresses: list[str] = []
    ready = asyncio.Event()

    def announce(found: Sequence[str], devices: Sequence[Device]) -> None:
        assert list(devices) == [CPU]
        addresses.extend(found)
        ready.set()

    async with asyncio.TaskGroup() as group:
        serving = group.create_task(
            app_module.serve(config, announce=announce, worker=FAKE_WORKER, voice=FAKE_VOICE)
        )
        async with asyncio.timeout(20):
            await ready.wait()
        async with aiohttp.ClientSession() as client:
            async with client.get(addresses[0] + "readyz") as answer:
                assert answer.status == 200
            async with client.post(addresses[0] + "v1/sessions", json={"avatar": "ruby"}) as answer:
                assert answer.status == 201
        assert len(children() - before) == 2
        began_ns = time.monotonic_ns()
        os.kill(os.getpid(), number)
        await serving
    assert children() == before
    return addresses[0], time.monotonic_ns() - began_ns


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_server_and_its_processes_within_three_seconds(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    interval = sys.getswitchinterval()
    monkeypatch.setattr(app_module, "_settle_memory", lambda: None)
    try:
        address, took_ns = await served(ANY_PORT, number)
    finally:
        sys.setswitchinterval(interval)
    assert address.startswith("http://127.0.0.1:")
    assert took_ns < 3 * NS_PER_SECOND


async def test_a_port_in_use_is_told_in_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        config = replace(ANY_PORT, listen=ListenOptions(port=taken.getsockname()[1]))
        with pytest.raises(
            SetupError, match=r"cannot be listened on \(Address already in use\); choose another --port"
        ):
            await app_module.serve(config, announce=print, worker=FAKE_WORKER, voice=FAKE_VOICE)


async def test_a_worker_that_cannot_start_ends_the_server_with_its_last_words() -> None:
    dies = (sys.executable, "-c", "raise SystemExit('no engine here')")
    with pytest.raises(SetupError, match="the worker does not start: no engine here"):
        await app_module.serve(ANY_PORT, announce=print, worker=dies, voice=FAKE_VOICE)


async def test_the_page_is_at_the_root_and_its_parts_are_beside_it() -> None:
    async with studio() as server:
        async with server.client.get("/?session=any") as answer:
            assert answer.status == 200
            assert answer.content_type == "text/html"
        async with server.client.get("/static/main.js") as answer:
            assert answer.status == 200
        async with server.client.get("/static/../app.py") as answer:
            assert answer.status == 404
