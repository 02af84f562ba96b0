import asyncio
import json
import os
from typing import Any

import pytest
from support.server import ROOT
from visavis.web.bench_live import Budgets, LiveBench, misses

GOOD: dict[str, Any] = {
    "lateness_ms": {"p50": 1.0, "p95": 5.0, "p99": 20.0},
    "received_fps": [25.0, 24.9],
    "front": {"rss_mb": 150},
    "worker": {"rss_mb": 300, "cpu_percent_per_session": 30.0},
}


def test_figures_within_every_budget_miss_nothing() -> None:
    assert misses(GOOD, Budgets()) == []


@pytest.mark.parametrize(
    ("figures", "complaint"),
    [
        ({"lateness_ms": {"p99": 41.0}}, "p99 lateness is 41.0 ms, over 40 ms"),
        ({"received_fps": [25.0, 24.0]}, "a viewer received 24.0 frames a second"),
        ({"front": {"rss_mb": 500}}, "front memory is 500 MB, over 400 MB"),
        ({"worker": {"rss_mb": 300, "cpu_percent_per_session": 55.0}}, "worker CPU a session is 55.0 %"),
        ({"worker": {"rss_mb": 600, "cpu_percent_per_session": 5.0}}, "worker memory is 600 MB"),
    ],
    ids=["lateness", "frames", "front memory", "worker cpu", "worker memory"],
)
def test_each_budget_is_held(figures: dict[str, Any], complaint: str) -> None:
    (found,) = misses(GOOD | figures, Budgets())
    assert found.startswith(complaint)


@pytest.mark.parametrize("wrong", [{"sessions": 0}, {"seconds": 1}])
def test_a_bench_of_nothing_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least"):
        LiveBench(**wrong)


@pytest.mark.e2e
async def test_the_command_measures_a_server_of_its_own_and_leaves_nothing_running() -> None:
    command = ["-m", "visavis.web.cli", "bench", "live", "--seconds", "5", "--size", "512x512", "--json"]
    command += ["--engine", "support.pattern:PatternEngine"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    process = await asyncio.create_subprocess_exec(
        ROOT / ".venv/bin/python", *command, stdout=asyncio.subprocess.PIPE, env=environment, cwd=ROOT
    )
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    figures = json.loads(out)
    assert process.returncode == 0
    assert figures["engine"] == "pattern"
    assert figures["counters"]["generated"] > 60
    assert 20 < figures["received_fps"][0] < 27
    assert figures["worker"]["rss_mb"] > 20
