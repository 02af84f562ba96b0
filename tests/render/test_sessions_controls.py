"""A storm of controls: a thousand a second change what is drawn, and nothing about when."""

from collections.abc import Iterator, Sequence

from support.pattern import PatternEngine
from support.virtual import RATE, VirtualWorker, deadline_ms, request, tone
from visavis.render.engine import Crop, Due
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


def storm(count: int) -> Iterator[Controls]:
    for number in range(count):
        yield Controls(
            head_yaw=20 * (-1) ** number, gaze_x=number / count, emotion={"happy": number / count, "sad": 0.1}
        )


def played(engine: CountedPattern, *, stormy: bool) -> VirtualWorker:
    """A second of speech, during which controls come each millisecond over the link, and one of silence."""
    worker, inbox = VirtualWorker(engine), link.WorkerInbox()
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


def test_a_storm_of_controls_changes_no_pace_and_the_last_one_holds() -> None:
    still, wild = CountedPattern(), CountedPattern()
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
