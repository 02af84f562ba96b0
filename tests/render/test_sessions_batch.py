"""Sessions of an engine that batches: two faces in one step, each as it would be alone."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support import tiny
from support.virtual import RATE, VirtualWorker, deadline_ms, request, tone
from visavis.render.engine import Crop, Due
from visavis.stream import link
from visavis.stream.controls import Controls

SIZE = tiny.PLATE
FACES = {"a": "adam", "b": "eve"}
LEAD_MS = 80


class Watched(tiny.TinyEngine):
    """Keeps the slots of each step, and each picture by slot and frame. All sessions begin at once."""

    def __init__(self) -> None:
        super().__init__()
        self.cadence = 1
        self.steps: list[list[int]] = []
        self.drawn: dict[int, dict[int, NDArray[np.uint8]]] = {}

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        crops = super().step(due)
        self.steps.append([one.slot for one in due])
        delay = self.spec.lookahead // self.spec.hop
        for one in due:
            if one.draw and one.surface is not None:
                one.surface.wait()
                pictures = self.drawn.setdefault(one.slot, {})
                pictures[one.audio.index - delay] = one.surface.buffer.copy()
        return crops


@pytest.fixture(autouse=True)
def faces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    for seed, name in enumerate(FACES.values()):
        tiny.write(name, seed=seed)


def run(names: str) -> VirtualWorker:
    """Sessions of these names that each say something else, one of them interrupted."""
    worker = VirtualWorker(Watched())
    for name in names:
        worker.tell(request(name, avatar=FACES[name], size=SIZE))
    worker.run(400)
    for name in names:
        worker.tell(
            link.Audio(name, "s", RATE, tone({"a": 700, "b": 900}[name], hz={"a": 200, "b": 600}[name]))
        )
        worker.tell(link.EndSegment(name, "s"))
    worker.run(600)
    if "b" in names:
        worker.tell(link.Interrupt("b", 1))
    worker.run(700)
    return worker


def test_two_faces_in_one_step_are_each_what_they_are_alone() -> None:
    both = run("ab")
    assert isinstance(both.engine, Watched)
    shared = [slots for slots in both.engine.steps if len(slots) == 2]
    assert len(shared) > 0.6 * len(both.engine.steps) > 20
    for slot, name in enumerate("ab"):
        alone = run(name)
        assert isinstance(alone.engine, Watched)
        drawn, own = both.engine.drawn[slot], alone.engine.drawn[0]
        assert drawn.keys() == own.keys()
        for index, picture in own.items():
            assert np.abs(drawn[index].astype(int) - picture).max() <= 1, (name, index)
        assert [(tick.index, tick.epoch, tick.spans) for tick in both.ticks(name)] == [
            (tick.index, tick.epoch, tick.spans) for tick in alone.ticks(name)
        ]
    last = max(both.engine.drawn[0])
    assert np.abs(both.engine.drawn[0][last].astype(int) - both.engine.drawn[1][last]).max() > 50


def test_the_delay_that_a_session_is_told_is_the_engines_own_and_the_lead() -> None:
    worker = VirtualWorker(tiny.TinyEngine())
    assert worker.sessions.latency_ms == 240 + LEAD_MS
    worker.tell(request("a", avatar="adam", size=SIZE))
    worker.run(1000)
    arrived_ms = worker.now_ns / 1e6
    worker.tell(link.Audio("a", "s", RATE, tone(400)))
    worker.run(1000)
    first = next(tick for tick in worker.ticks("a") if tick.spans)
    assert worker.sessions.latency_ms - 40 <= deadline_ms(first) - arrived_ms <= worker.sessions.latency_ms


def test_a_thousand_controls_a_second_leave_the_pace_and_the_pictures_alone() -> None:
    calm, stormy = (VirtualWorker(Watched()) for _ in range(2))
    for worker in (calm, stormy):
        worker.tell(request("a", avatar="adam", size=SIZE))
        worker.run(300)
    calm.run(2000)
    for _ in range(1000):
        stormy.tell(link.SetControls("a", Controls(head_yaw=20, intensity=2)))
        stormy.tell(link.SetControls("a", Controls()))
        stormy.run(2)
    paces = [[(tick.index, tick.repeated) for tick in worker.ticks("a")] for worker in (calm, stormy)]
    shorter = min(map(len, paces))
    assert shorter >= 50
    assert paces[0][:shorter] == paces[1][:shorter]
    assert not any(repeated for _, repeated in paces[1])


def test_who_is_silent_who_has_a_microphone_and_who_reads_have_their_turns_in_one_batch() -> None:
    """The reader's frames are drawn before the others', and by whole turns before."""
    engine = Watched()
    engine.cadence = 2
    worker = VirtualWorker(engine)
    names = "abc"
    for name in names:
        worker.tell(request(name, avatar="adam", size=SIZE))
    worker.run(400)
    worker.tell(link.Audio("b", "s", RATE, tone(4000)))
    for _ in range(100):
        worker.tell(link.Audio("c", "s", RATE, tone(20)))
        worker.run(20)
    assert all(sorted(slots) == [0, 1, 2] for slots in engine.steps[-20:])
    ahead = [worker.sessions._guests[name].live for name in names]
    frames = [live.pipeline.frame for live in ahead if live is not None]
    assert frames[1] - frames[0] == worker.sessions.options.horizon - worker.sessions.options.lead
    assert frames[2] == frames[0]
    assert (frames[1] - frames[0]) % engine.cadence == 0
