import asyncio
import json
from typing import Any

import pytest
from typer.testing import CliRunner
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
