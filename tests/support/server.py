"""A real `visavis serve` for end-to-end tests: started on a free port, stopped with everything it started."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 120
_STOP_SECONDS = 10
_CALL_SECONDS = 30


@dataclass(frozen=True)
class Server:
    """A running server at `url`; `process` is its front."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """One JSON request; raises urllib.error.HTTPError as it comes."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=_CALL_SECONDS) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def open(self, **wishes: Any) -> dict[str, Any]:
        """A new session's answer."""
        return self.call("POST", "/v1/sessions", {"avatar": "ruby", "size": "512x512", **wishes})

    def worker_pids(self) -> list[int]:
        """The worker processes that the front has running now."""
        found: list[int] = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                command = (entry / "cmdline").read_bytes()
                if parent == self.process.pid and b"visavis.render.worker" in command:
                    found.append(int(entry.name))
        return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serving(log: Path, *options: str, engine: str = "auto") -> Iterator[Server]:
    """Start `visavis serve`, wait until it is ready, and stop it in the end."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "visavis.web.cli",
        "serve",
        "--port",
        str(port),
        "--engine",
        engine,
        *options,
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "tests"),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment, cwd=ROOT)
    server = Server(f"http://127.0.0.1:{port}", process, log)
    try:
        _wait_until_ready(server)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"the server did not stop within {_STOP_SECONDS} s of SIGTERM") from None


def _wait_until_ready(server: Server) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if server.process.poll() is not None:
            break
        with contextlib.suppress(urllib.error.URLError, OSError):
            server.call("GET", "/readyz")
            return
        time.sleep(0.05)
    raise AssertionError(f"the server did not become ready:\n{server.log.read_text()[-4000:]}")
