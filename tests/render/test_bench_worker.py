from pathlib import Path

import pytest
from support.server import ROOT
from visavis.render import bench_worker
from visavis.render.bench_worker import WorkerBench, measure, spoken, wanted_size
from visavis.stream.errors import AudioError, SetupError, UsageError

SOUND = ROOT / "tests/assets/hibari.wav"
PATTERN = {"engine": "support.pattern:PatternEngine"}


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    monkeypatch.setattr(bench_worker, "WARM_UP_NS", 300_000_000)
    monkeypatch.setattr(bench_worker, "VISIT_NS", 300_000_000)


@pytest.mark.e2e
def test_sessions_that_are_drawn_in_time_keep_pace_while_guests_come_and_go() -> None:
    said: list[str] = []
    bench = WorkerBench(SOUND, sessions=2, ticks=30, guests=1, size=(512, 512), kill=True, options=PATTERN)
    found = measure(bench, said.append)
    assert (found["engine"], found["sessions"], found["ticks"]) == ("pattern", 2, 30)
    assert found["guests"] >= 2
    assert found["late_ms"]["p50"] < found["late_ms"]["max"]
    assert found["late_ms"]["p50"] < 40
    assert 0 < found["cores"] < 4
    assert 0 < found["back_after_kill_ms"] < 60_000
    assert "pattern" in said[0]


@pytest.mark.e2e
def test_a_worker_that_draws_too_slowly_does_not_keep_pace() -> None:
    found = measure(
        WorkerBench(SOUND, ticks=30, size=(512, 512), options={"engine": "support.slow:SlowEngine"})
    )
    assert not found["keeps_pace"]
    assert found["repeated"] > 5


def test_a_worker_that_does_not_start_is_told() -> None:
    with pytest.raises(SetupError, match="did not start"):
        measure(WorkerBench(SOUND, options={"engine": "nonsense"}))


def test_a_session_that_ends_is_told() -> None:
    with pytest.raises(SetupError, match="nobody"):
        measure(WorkerBench(SOUND, ticks=10, avatar="nobody", size=(512, 512), options=PATTERN))


def test_a_bench_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="at least"):
        WorkerBench(SOUND, sessions=0)


@pytest.mark.parametrize("text", ["", "720", "x", "720x", "720x1280x3", "-1x2", "9" * 9 + "x" + "9" * 9])
def test_a_size_is_two_numbers(text: str) -> None:
    assert wanted_size("720x1280") == (720, 1280)
    with pytest.raises(UsageError, match="720x1280"):
        wanted_size(text)


def test_sound_is_read_whole(tmp_path: Path) -> None:
    rate, pcm = spoken(SOUND)
    assert rate > 8000
    assert len(pcm) / 2 / rate > 1
    with pytest.raises(AudioError):
        spoken(tmp_path / "gone.wav")


def test_more_sessions_than_there_is_room_for_are_told() -> None:
    with pytest.raises(SetupError, match="all 1 slots are taken"):
        measure(WorkerBench(SOUND, sessions=2, ticks=5, size=(512, 512), options=PATTERN | {"workers": "99"}))
