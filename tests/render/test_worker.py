import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from support.virtual import RATE, request, tone
from visavis import render
from visavis.render import capacity
from visavis.render import worker as worker_module
from visavis.render.ditto import factory
from visavis.render.idle import Idle
from visavis.render.worker import load_engine, main
from visavis.stream import link
from visavis.stream.errors import SetupError, UsageError

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 30


class Front:
    """The other end of a real worker process."""

    def __init__(self, engine: str) -> None:
        self.socket, theirs = socket.socketpair()
        self.socket.settimeout(PATIENCE_SECONDS)
        command = [
            sys.executable,
            "-m",
            "visavis.render.worker",
            "--fd",
            str(theirs.fileno()),
            "--engine",
            engine,
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env=environment, stderr=subprocess.PIPE
        )
        theirs.close()
        self._inbox = link.FrontInbox()
        self._waiting: list[link.ToFront] = []

    def send(self, message: link.ToWorker) -> None:
        self.socket.sendall(link.to_frame(message))

    def receive(self) -> link.ToFront:
        while not self._waiting:
            data = self.socket.recv(1 << 16)
            assert data, "the worker hung up"
            self._waiting += self._inbox.feed(data)
        return self._waiting.pop(0)

    def until(self, kind: type[link.Tick], session: str, count: int) -> list[link.Tick]:
        found: list[link.Tick] = []
        while len(found) < count:
            message = self.receive()
            if isinstance(message, kind) and message.session == session:
                found.append(message)
        return found


@pytest.fixture
def front(request: pytest.FixtureRequest) -> Iterator[Front]:
    front = Front(getattr(request, "param", "support.pattern:PatternEngine"))
    yield front
    front.socket.close()
    front.process.kill()
    front.process.wait()
    assert front.process.stderr is not None
    front.process.stderr.close()


def live_request(name: str) -> link.Open:
    return msgspec.structs.replace(request(name), start_ns=time.monotonic_ns())


@pytest.mark.e2e
def test_a_worker_says_what_it_is_and_sends_ticks_in_real_time(front: Front) -> None:
    ready = front.receive()
    assert isinstance(ready, link.Ready)
    assert (ready.engine, ready.latency_ms, ready.encoder) == ("pattern", 240, "libx264")
    assert not ready.batches
    front.send(live_request("a"))
    front.send(link.Audio("a", "s", RATE, tone(300)))
    front.send(link.EndSegment("a", "s"))
    ticks = front.until(link.Tick, "a", 25)
    assert [tick.index for tick in ticks] == list(range(ticks[0].index, ticks[0].index + 25))
    assert ticks[0].keyframe
    assert any(tick.spans for tick in ticks)


@pytest.mark.e2e
@pytest.mark.parametrize("front", ["support.tiny:TinyEngine"], indirect=True)
def test_a_worker_says_that_its_engine_batches(front: Front) -> None:
    ready = front.receive()
    assert isinstance(ready, link.Ready)
    assert ready.batches


@pytest.mark.e2e
def test_a_worker_ends_when_the_front_hangs_up(front: Front) -> None:
    front.receive()
    front.send(live_request("a"))
    front.until(link.Tick, "a", 3)
    front.socket.close()
    assert front.process.wait(10) == 0


@pytest.mark.e2e
def test_bytes_that_are_no_message_end_the_worker_with_a_line_in_its_log(front: Front) -> None:
    front.receive()
    front.socket.sendall(b"\xff\xff\xff\xff garbage")
    assert front.process.wait(10) == 0
    assert front.process.stderr is not None
    assert b"the link to the front ended" in front.process.stderr.read()


@pytest.mark.e2e
@pytest.mark.parametrize(
    "front",
    ["support.pattern:CrashingEngine", "support.pattern:LostEngine"],
    indirect=True,
    ids=["crashing", "device lost"],
)
def test_a_worker_that_loses_a_thread_ends_so_that_another_can_take_its_place(front: Front) -> None:
    front.receive()
    # It may be gone already.
    with suppress(BrokenPipeError):
        front.send(live_request("a"))
    assert front.process.wait(10) == 0
    assert front.process.stderr is not None
    assert b"failed, and the worker ends" in front.process.stderr.read()


@pytest.mark.e2e
def test_a_worker_that_is_killed_leaves_a_closed_link(front: Front) -> None:
    front.receive()
    os.kill(front.process.pid, signal.SIGKILL)
    with pytest.raises(AssertionError, match="hung up"):
        front.receive()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nonsense", "use auto, rig, ditto, or package.module:Class"),
        ("no.such.module:Engine", "cannot be loaded"),
        ("support.pattern:Missing", "cannot be loaded"),
    ],
)
def test_an_engine_that_cannot_be_had_is_told_plainly(name: str, hint: str) -> None:
    with pytest.raises(SetupError, match=hint):
        load_engine(name)


def test_weights_and_latency_belong_to_ditto() -> None:
    with pytest.raises(UsageError, match="--weights belongs to --engine ditto"):
        load_engine("rig", weights="random:1")
    with pytest.raises(UsageError, match="--latency belongs to --engine ditto"):
        load_engine("auto", latency="balanced")
    with pytest.raises(UsageError, match="--low-bits belongs to --engine ditto"):
        load_engine("rig", low_bits="int8")
    with pytest.raises(UsageError, match="--eager belongs to --engine ditto"):
        load_engine("rig", eager=True)
    with pytest.raises(UsageError, match="no format 'fp4'; choose one of int8, e4m3"):
        load_engine("ditto", low_bits="fp4")


def test_the_process_tells_ditto_what_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str | bool | None, ...]] = []

    def ditto_engine(weights: str | None, latency: str | None, *, low_bits: str | None, eager: bool) -> None:
        seen.append((weights, latency, low_bits, eager))
        raise SetupError("this is all")

    monkeypatch.setattr(factory, "ditto_engine", ditto_engine)
    ours, theirs = socket.socketpair()
    options = ["--engine", "ditto", "--weights", "random:1", "--latency", "low-latency"]
    options += ["--low-bits", "int8", "--eager"]
    with ours:
        assert main(["--fd", str(theirs.detach()), *options]) == link.HOPELESS
    assert seen == [("random:1", "low-latency", "int8", True)]


def test_ditto_without_torch_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    # What is imported here instead must not stay behind.
    monkeypatch.setattr(render, "ditto", render.ditto)
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("visavis.render.ditto")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SetupError, match=r"visavis\[ditto\]"):
        load_engine("ditto", weights="random:1")


@pytest.mark.parametrize("workers", [1, 2, 99])
def test_a_process_takes_its_share_of_the_machine(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    seen: list[tuple[int, int]] = []

    class Taken:
        def __init__(
            self, _engine: object, _connection: object, *, slots: int, threads: int, idle: Idle
        ) -> None:
            seen.append((slots, threads))
            assert idle.next(0) is None

        def serve(self) -> None:
            return

    monkeypatch.setattr(worker_module, "Worker", Taken)
    ours, theirs = socket.socketpair()
    options = ["--engine", "support.pattern:PatternEngine", "--workers", str(workers)]
    with ours:
        assert main(["--fd", str(theirs.detach()), *options]) == 0
    assert seen == [(capacity.slots(workers), capacity.threads(workers))]


def test_the_process_fails_with_one_line_when_its_engine_is_missing(caplog: pytest.LogCaptureFixture) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        assert main(["--fd", str(theirs.detach()), "--engine", "nonsense"]) == link.HOPELESS
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "no engine is called 'nonsense'; use auto, rig, ditto, or package.module:Class"
    ]
