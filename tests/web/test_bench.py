import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner
from visavis.render.ditto import bench_gpu, bench_motion
from visavis.stream.errors import SetupError
from visavis.web import bench
from visavis.web.cli import app

FIGURES: dict[str, Any] = {
    "sessions": 2,
    "size": "512x512",
    "engine": "rig",
    "lateness_ms": {"p50": 1.0, "p95": 5.0, "p99": 99.0},
    "counters": {"generated": 100},
    "received_fps": [25.0],
    "front": {"rss_mb": 150},
    "worker": {"rss_mb": 300, "cpu_percent_per_session": 30.0},
}


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    async def measure(options: bench.LiveBench) -> dict[str, Any]:
        return {**FIGURES, "sessions": options.sessions}

    monkeypatch.setattr(bench, "measure", measure)


def test_json_carries_every_figure_and_the_broken_budgets() -> None:
    result = CliRunner().invoke(app, ["bench", "live", "--sessions", "3", "--json"])
    figures = json.loads(result.stdout)
    assert figures["sessions"] == 3
    assert figures["misses"] == ["p99 lateness is 99.0 ms, over 40 ms"]
    assert result.exit_code == 0


def test_a_broken_budget_fails_when_it_is_held_against_the_figures() -> None:
    result = CliRunner().invoke(app, ["bench", "live", "--assert"])
    assert result.exit_code == 1


def test_a_person_gets_a_table() -> None:
    result = CliRunner().invoke(app, ["bench", "live"])
    assert "2 live sessions" not in result.stdout
    assert "lateness_ms p99" in result.stdout
    assert "over budget: p99 lateness" in result.stdout


def test_what_fails_inside_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    async def measure(_options: bench.LiveBench) -> dict[str, Any]:
        async with asyncio.TaskGroup():
            raise SetupError("a session was refused: no such size")

    monkeypatch.setattr(bench, "measure", measure)
    result = CliRunner().invoke(app, ["bench", "live", "--size", "1x1"])
    assert result.exit_code == 1
    assert result.stderr == "visavis: a session was refused: no such size\n"


def test_a_bench_of_no_sessions_is_wrong_use() -> None:
    assert CliRunner().invoke(app, ["bench", "live", "--sessions", "0"]).exit_code == 2


@pytest.fixture
def motion(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Quick figures of `bench motion`, and what was asked for."""
    asked: list[tuple[object, ...]] = []

    def measure(options: bench_motion.MotionBench) -> dict[str, Any]:
        asked.append((options.device, options.weights, options.latency, options.rounds))
        row = {
            "stage": "lmdm",
            "steps": 10,
            "batch": 1,
            "ms": 7.5,
            "ms_p95": 8.0,
            "ms_a_frame": 1.5,
            "ratio": 1.0,
        }
        return {"bench": "motion", "hop": 5, "cpu": "a processor", "torch": "2.0", "stages": [row]}

    monkeypatch.setattr(bench_motion, "measure", measure)
    return asked


def test_motion_is_measured_as_it_is_asked_for(motion: list[tuple[object, ...]]) -> None:
    options = [
        "--device",
        "cpu",
        "--weights",
        "random:4",
        "--latency",
        "reference",
        "--rounds",
        "3",
        "--json",
    ]
    result = CliRunner().invoke(app, ["bench", "motion", *options])
    assert json.loads(result.stdout)["stages"][0]["ms"] == 7.5
    assert motion == [("cpu", "random:4", "reference", 3)]


def test_figures_of_motion_are_a_table_for_a_person(motion: list[tuple[object, ...]]) -> None:
    result = CliRunner().invoke(app, ["bench", "motion"])
    assert "5 frames a hop, a processor, torch 2.0" in " ".join(result.stdout.split())
    assert "lmdm" in result.stdout
    assert motion == [("auto", "random:1", "balanced", 0)]


def test_motion_without_torch_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "find_spec", lambda _name: None)
    result = CliRunner().invoke(app, ["bench", "motion"])
    assert result.exit_code == 1
    assert "pip install 'visavis[ditto]'" in result.stderr


def test_a_latency_that_there_is_not_is_wrong_use() -> None:
    assert CliRunner().invoke(app, ["bench", "motion", "--latency", "fast"]).exit_code == 2


def test_a_card_is_measured_as_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    def measure(options: bench_gpu.GpuBench, told: Callable[[str], None]) -> dict[str, Any]:
        asked.append((options.device, options.most, options.ticks, options.rounds))
        told("batch 1: 2.000 ms a frame")
        times = {f"{way}_ms_a_frame": 2.0 for way in ("plain", "fused", "replay")}
        row = {"batch": 1, "plain_to_replay": 4.5, "psnr_db": 71.5, **times}
        balanced = {"sessions": 15, "of": 16}
        return {"cpu": "a processor", "torch": "2.0", "pictures": [row], "capacity": {"balanced": balanced}}

    monkeypatch.setattr(bench_gpu, "measure", measure)
    options = ["--device", "cpu", "--most", "3", "--ticks", "4", "--rounds", "5"]
    result = CliRunner().invoke(app, ["bench", "gpu", *options, "--json"])
    assert json.loads(result.stdout)["pictures"][0]["psnr_db"] == 71.5
    assert result.stderr == "batch 1: 2.000 ms a frame\n"
    assert asked == [("cpu", 3, 4, 5)]
    table = CliRunner().invoke(app, ["bench", "gpu", "--device", "cpu"]).stdout
    assert "71.5" in table
    assert "balanced: 15 sessions, of 16 tried at most" in table
