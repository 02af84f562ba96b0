"""`visavis doctor` from outside: what it prints, its exit code, and that it leaves nothing behind."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support import tiny
from typer.testing import CliRunner, Result
from visavis.web import checkup_ditto
from visavis.web.cli import app
from visavis.web.delays import delays

WATCHED = """
import os, sys
from importlib.machinery import PathFinder

class WithoutTorch(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] == "torch" else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutTorch
CHANGES = {f"os.{word}" for word in ("mkdir", "remove", "rename", "rmdir", "link", "symlink", "truncate")}

def watch(event, arguments):
    writes = event == "open" and arguments[0] != os.devnull and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if writes or event in CHANGES:
        sys.stderr.write(f"written: {event} {arguments}\\n")

from visavis.web.cli import app
sys.addaudithook(watch)
try:
    app(["doctor", "--port", "0", "--json"])
finally:
    assert "torch" not in sys.modules
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No torch, so that no process of its is started."""
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(checkup_ditto, "find_spec", lambda _name: None)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["doctor", *arguments])


def test_a_machine_that_can_serve_a_presenter_is_well_without_torch_and_weights() -> None:
    result = run("--port", "0")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    first, *rest = result.stdout.splitlines()
    assert first.endswith("for a server with engine rig")
    marks = {line[6:18].strip(): line[:5].strip() for line in rest if line[:1] in ("o", "n", "F")}
    well = {"python", "packages", "encoder", "webrtc", "onnxruntime", "avatar", "port", "certificate", "home"}
    assert {about for about, mark in marks.items() if mark == "ok"} >= well
    assert (marks["torch"], marks["weights"]) == ("note", "note")
    assert "-> pip install 'visavis[ditto]'" in result.stdout
    assert "-> visavis weights fetch" in result.stdout


def test_every_note_and_fault_says_what_to_do() -> None:
    report = json.loads(run("--port", "0", "--engine", "ditto", "--json").stdout)
    assert [one for one in report["findings"] if one["level"] != "ok" and not one["advice"]] == []


def test_a_ditto_avatar_makes_faults_of_what_its_engine_lacks() -> None:
    tiny.write("ada")
    result = run("--port", "0", "--avatar", "ada")
    assert result.exit_code == 1
    assert result.stderr == "visavis: 2 faults found: see the lines above\n"
    assert [line[6:18].strip() for line in result.stdout.splitlines() if line.startswith("FAULT")] == [
        "torch",
        "weights",
    ]


def test_a_port_that_is_taken_is_a_fault() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run("--port", str(taken.getsockname()[1]), "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["good"] is False
    assert result.stderr == "visavis: 1 fault found: see the lines above\n"


def test_options_are_those_of_a_server(tmp_path: Path) -> None:
    (tmp_path / "visavis.toml").write_text("[sessions]\navatar = 'nobody'\n[listen]\nport = 0\n")
    result = run("--config", "visavis.toml")
    assert result.exit_code == 1
    assert "can draw no 'nobody'" in result.stdout
    assert run("--engine", "rig", "--weights", "x").exit_code == 2
    assert run("--devices", "0").exit_code == 2
    assert "ok    workers      3 workers on the CPU" in run("--port", "0", "--devices", "3").stdout


def test_delays_stand_in_a_table_and_in_the_json() -> None:
    report = json.loads(run("--port", "0", "--json").stdout)
    table = run("--port", "0").stdout.partition("engine  --latency")[2].splitlines()[1:]
    for delay, row, line in zip(delays(), report["delays"], table, strict=True):
        assert (row["engine"], row["latency"], row["latency_ms"]) == (
            delay.engine,
            delay.latency,
            delay.latency_ms,
        )
        assert line.split()[0] == delay.engine
        assert line.endswith(f"{delay.delay_ms} ms".ljust(7) + f"  {delay.latency_ms} ms")


def test_without_torch_it_runs_and_writes_nothing(home: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-B", "-c", WATCHED], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "written" not in done.stderr
    report = json.loads(done.stdout)
    assert [one["said"] for one in report["findings"] if one["about"] == "torch"] == [
        "not installed: engine ditto and visavis avatar add cannot be used"
    ]
    assert list(tmp_path.iterdir()) == []
