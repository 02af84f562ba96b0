import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from visavis.render.ditto.bench_motion import MotionBench
from visavis.scripts import bench_motion

ROOT = Path(__file__).resolve().parents[2]
SERVERS = ("aiohttp", "aiortc", "av", "hibari", "onnxruntime", "cv2", "msgspec", "typer", "numba", "soxr")
WITHOUT = f"""
import sys
for name in {SERVERS}:
    sys.modules[name] = None
import visavis.scripts.bench_motion, visavis.scripts.bench_networks
"""


def test_figures_are_printed_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[MotionBench] = []

    def measure(bench: MotionBench) -> dict[str, Any]:
        asked.append(bench)
        return {"bench": "motion"}

    monkeypatch.setattr(bench_motion, "measure", measure)
    out = tmp_path / "figures.json"
    options = ["--device", "cpu", "--latency", "reference", "--rounds", "4", "--json", str(out)]
    assert bench_motion.main(options) == 0
    assert asked == [MotionBench("cpu", "random:1", "reference", 4)]
    assert json.loads(out.read_text()) == json.loads(capsys.readouterr().out) == {"bench": "motion"}


def test_what_makes_no_sense_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench_motion.main(["--latency", "fast"]) == 1
    assert "choose one of low-latency" in capsys.readouterr().err


def test_benches_start_where_the_servers_libraries_are_not(tmp_path: Path) -> None:
    (tmp_path / "visavis").symlink_to(ROOT)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, env=environment, check=False
    )
    assert ran.returncode == 0, ran.stderr
