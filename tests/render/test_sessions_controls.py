"""A storm of controls: a thousand a second change what is drawn, and nothing about when."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from support import tiny
from support.pattern import PatternEngine
from support.virtual import RATE, VirtualWorker, deadline_ms, request, tone
from visavis.render.engine import Crop, Due, Engine
from visavis.stream import link
from visavis.stream.clock import NS_PER_MS
from visavis.stream.controls import Controls

STORM_MS = 1000


class CountedPattern(PatternEngine):
    """Counts its steps."""

    steps = 0

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        self.steps += 1
        return super().step(due)


class CountedTiny(tiny.TinyEngine):
    """Counts its steps, and keeps the controls that reach it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.log: list[tuple[object, ...]] = []

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        self.steps += 1
        return super().step(due)

    def control(self, slot: int, controls: Controls) -> None:
        self.log.append(("control", slot, controls))
        super().control(slot, controls)


@pytest.fixture(autouse=True)
def face(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    tiny.write("adam")


def storm(count: int) -> Iterator[Controls]:
    for number in range(count):
        yield Controls(
            head_yaw=20 * (-1) ** number, gaze_x=number / count, emotion={"happy": number / count, "sad": 0.1}
        )


def played(engine: Engine, *, stormy: bool) -> VirtualWorker:
    """A second of speech, during which controls come each millisecond, and a second of silence."""
    worker, inbox = VirtualWorker(engine), link.WorkerInbox()
    if isinstance(engine, CountedTiny):
        worker.tell(request("a", avatar="adam", size=tiny.PLATE))
    else:
        worker.tell(request("a"))
    worker.run(400)
    worker.tell(link.Audio("a", "s", RATE, tone(STORM_MS)))
    worker.tell(link.EndSegment("a", "s"))
    for controls in storm(STORM_MS):
        if stormy:
            for message in inbox.feed(link.to_frame(link.SetControls("a", controls))):
                worker.tell(message)
        worker.run(1)
    worker.run(1000)
    return worker


@pytest.mark.parametrize("kind", [CountedPattern, CountedTiny])
def test_a_storm_of_controls_changes_no_pace_and_the_last_one_holds(
    kind: type[CountedPattern | CountedTiny],
) -> None:
    still, wild = kind(), kind()
    calm, stormy = played(still, stormy=False), played(wild, stormy=True)
    ticks = stormy.ticks("a")
    assert [tick.index for tick in ticks] == [tick.index for tick in calm.ticks("a")]
    assert not any(tick.repeated for tick in ticks)
    assert [tick.audio for tick in ticks] == [tick.audio for tick in calm.ticks("a")]
    for at_ns, message in stormy.said:
        if isinstance(message, link.Tick):
            assert 0 <= at_ns / NS_PER_MS - deadline_ms(message) < 2
    heard = [entry[2] for entry in wild.log if entry[0] == "control"]
    assert len(heard) <= STORM_MS / 40 + 12, "one for each frame that is drawn meanwhile, at most"
    assert heard[-1] == list(storm(STORM_MS))[-1]
    assert wild.steps == still.steps
