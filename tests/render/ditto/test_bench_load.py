import time
from collections import Counter
from typing import cast

import numpy as np
import pytest
from support import tiny
from visavis.render.ditto.bench_load import Load, Ticks, capacity, starts
from visavis.render.ditto.delay import WindowShape
from visavis.render.surface import Surface, surface_over


def test_every_session_hears_and_is_drawn_each_tick() -> None:
    found = Load(tiny.networks(), WindowShape(2, 2), sessions=3, size=(96, 160)).run(4)
    assert found.ms.shape == (4,)
    assert found.called_ms.shape == (4,)
    assert found.first_ms.shape == (4,)
    assert (found.first_ms > 0).all()
    assert found.figures()["ms_max"] >= found.figures()["ms_p50"] > 0
    assert found.figures()["called_ms_p50"] > 0


@pytest.mark.parametrize(
    ("sessions", "hop", "batches"), [(15, 5, [8, 7]), (1, 5, [1]), (12, 2, [6, 6]), (20, 5, [8, 8, 2, 2])]
)
def test_batches_of_sessions_have_their_hops_together(sessions: int, hop: int, batches: list[int]) -> None:
    found = starts(sessions, hop)
    hops = Counter((session % 2, start % hop) for session, start in enumerate(found))
    assert sorted(hops.values(), reverse=True) == batches
    assert all(session <= start < session + hop for session, start in enumerate(found))


def test_on_a_card_ticks_have_their_time_and_lateness_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(tiny.networks(), WindowShape(2, 2), sessions=1, size=(96, 160))
    surface = surface_over(np.zeros((6, 4), np.uint8))

    def slow(tick: int, slots: object) -> tuple[list[Surface], list[Surface]]:
        time.sleep(0.05)
        return [surface], []

    monkeypatch.setattr(load, "_step", slow)
    as_it_can = load.run(4)
    monkeypatch.setattr(load, "_in_time", True)
    found = load.run(4)
    assert (np.diff(found.ms) > 5).all()
    assert found.ms[-1] > as_it_can.ms.min() + 20
    assert not found.keeps_pace


def test_a_run_in_which_too_many_are_late_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(tiny.networks(), WindowShape(2, 2), sessions=1, size=(96, 160))
    surface = surface_over(np.zeros((6, 4), np.uint8))

    def slow(tick: int, slots: object) -> tuple[list[Surface], list[Surface]]:
        time.sleep(0.06)
        return [surface], []

    monkeypatch.setattr(load, "_step", slow)
    monkeypatch.setattr(load, "_in_time", True)
    found = load.run(200)
    assert len(found.ms) == 25
    assert not found.keeps_pace


class Made:
    """A load of so many sessions that each take their time."""

    def __init__(self, sessions: int) -> None:
        self.sessions = sessions

    def run(self, ticks: int) -> Ticks:
        return Ticks(np.full(ticks, 3.0 * self.sessions), np.ones(ticks), np.ones(1), 0)


@pytest.mark.parametrize(("most", "expected"), [(40, 13), (13, 13), (5, 5)])
def test_the_most_sessions_that_keep_pace_are_found(most: int, expected: int) -> None:
    found = capacity(lambda sessions: cast(Load, Made(sessions)), most=most, ticks=10)
    assert found["sessions"] == expected
    assert [one["sessions"] for one in found["tried"]] == list(range(expected, most + 1))
    assert all(one["keeps_pace"] == (one["sessions"] <= 13) for one in found["tried"])


def test_numbers_of_sessions_may_be_given() -> None:
    made: list[int] = []

    def load(sessions: int) -> Load:
        made.append(sessions)
        return cast(Load, Made(sessions))

    found = capacity(load, most=40, ticks=10, counts=(14, 12, 13))
    assert made == [14, 12, 13]
    assert (found["sessions"], found["of"]) == (13, 14)
    assert capacity(load, most=40, ticks=10, counts=(20,))["sessions"] == 0


def test_one_late_tick_in_a_hundred_is_the_limit() -> None:
    assert Ticks(np.array([10.0] * 199 + [50.0]), np.ones(200), np.ones(1), 0).keeps_pace
    assert not Ticks(np.array([10.0] * 95 + [50.0] * 5), np.ones(100), np.ones(1), 0).keeps_pace
