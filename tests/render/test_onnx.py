"""onnxruntime says nothing about its user."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOADS = """
from visavis.render.onnx import ort
ort.InferenceSession({model!r}, providers=["CPUExecutionProvider"])
"""


def files_after(code: str, home: Path) -> list[Path]:
    """What a process that runs `code` leaves in its `home`."""
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    model = str(ROOT / "render" / "rig" / "viseme.onnx")
    command = [sys.executable, "-c", code.format(model=model)]
    subprocess.run(command, env=environment | {"HOME": str(home)}, check=True)
    return [path for path in home.rglob("*") if path.is_file()]


def test_a_session_leaves_no_records_of_its_user(tmp_path: Path) -> None:
    assert files_after(LOADS, tmp_path) == []


def test_every_process_of_ours_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    from visavis.web import child, cli

    assert child._FRUGAL["ORT_DISABLE_TELEMETRY"] == "1"
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    monkeypatch.setattr(cli, "app", lambda: None)
    cli.main()
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"
