import logging
import os
import sys
import time
from pathlib import Path

import pytest
from support.front import until
from visavis.web import child as child_module
from visavis.web.child import Child
from visavis.web.chores import Chores

ECHO = """
import socket, sys
with socket.socket(fileno=int(sys.argv[sys.argv.index("--fd") + 1])) as link:
    while data := link.recv(65536):
        link.sendall(data.upper())
"""
TALKS = "print('the first line'); print('the last words'); raise SystemExit(3)"
STUBBORN = "import time; time.sleep(60)"


def script(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_bytes_go_both_ways_and_the_child_ends_when_asked() -> None:
    child = await Child.spawn("echo", script(ECHO))
    child.write(b"hello")
    await child.drain()
    assert await child.read() == b"HELLO"
    assert child.alive
    await child.stop()
    assert not child.alive
    assert gone(child.pid)


async def test_what_the_child_prints_is_logged_and_its_last_words_are_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        async with Chores() as chores:
            child = await Child.spawn("talker", script(TALKS))
            chores.spawn(child.pump_log(), "log")
            assert await child.read() == b""
            await child.stop()
    assert child.last_line == "the last words"
    assert child.exit_code == 3
    assert f"talker[{child.pid}]: the first line" in caplog.text


async def test_what_the_child_logs_keeps_its_level_and_so_does_a_trace_after_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lines = ("plain", "ERROR render.worker: it broke", "  File x.py, line 1", "INFO render.worker: on we go")
    with caplog.at_level(logging.WARNING):
        async with Chores() as chores:
            child = await Child.spawn("worker", script(f"print({chr(10).join(lines)!r})"))
            chores.spawn(child.pump_log(), "log")
            await child.stop()
    said = [record.getMessage().partition(": ")[2] for record in caplog.records]
    assert said == list(lines[1:3])


async def test_a_child_that_does_not_end_when_asked_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "_STOP_S", 0.05)
    child = await Child.spawn("stubborn", script(STUBBORN))
    began_ns = time.monotonic_ns()
    await child.stop()
    assert time.monotonic_ns() - began_ns < 2_000_000_000
    assert gone(child.pid)


SHY = """
import os, socket, sys, time
fd = int(sys.argv[sys.argv.index("--fd") + 1])
{}
os.close(fd)
time.sleep(60)
"""


@pytest.mark.parametrize(
    "first",
    ["", "os.write(fd, b'nobody reads this')", "while not os.path.exists(sys.argv[1]): time.sleep(0.01)"],
    ids=["silent", "with words left", "with our words left"],
)
async def test_a_child_that_hung_up_is_known_for_it_before_it_ends(first: str, tmp_path: Path) -> None:
    flag = tmp_path / "told"
    child = await Child.spawn("shy", (*script(SHY.format(first)), str(flag)))
    assert child.connected
    child.write(b"hello")
    await child.drain()
    flag.touch()
    await until(lambda: not child.connected)
    assert child.alive
    child.kill()
    await child.stop()
    assert not child.connected


async def test_a_killed_child_reads_as_its_end_and_takes_no_more() -> None:
    child = await Child.spawn("echo", script(ECHO))
    child.kill()
    assert await child.read() == b""
    await until(lambda: not child.alive)
    child.write(b"lost")
    await child.drain()
    child.kill()
    await child.stop()


async def test_a_line_without_end_is_cut_and_not_kept_whole() -> None:
    async with Chores() as chores:
        child = await Child.spawn("noisy", script("import sys; sys.stdout.write('x' * 1000000)"))
        chores.spawn(child.pump_log(), "log")
        await child.stop()
    assert 0 < len(child.last_line) < 1_000_000


async def test_a_signal_for_our_terminal_does_not_reach_the_child() -> None:
    child = await Child.spawn("echo", script(ECHO))
    assert os.getpgid(child.pid) == child.pid != os.getpgid(0)
    await child.stop()


SHOWS = """
import os, socket, sys
with socket.socket(fileno=int(sys.argv[sys.argv.index("--fd") + 1])) as link:
    link.sendall("{OPENBLAS_NUM_THREADS} {MALLOC_ARENA_MAX}".format(**os.environ).encode())
"""


async def test_a_child_is_frugal_with_threads_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("MALLOC_ARENA_MAX", "7")
    child = await Child.spawn("shows", script(SHOWS))
    assert await child.read() == b"1 7"
    await child.stop()
