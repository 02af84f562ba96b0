"""Sessions of an engine that makes whole pictures, which come late: everything goes as with one of crops."""

import av
import pytest
from support.pattern import Later, PatternEngine, PictureEngine, read_luma
from support.virtual import VirtualWorker, request, say
from visavis.render.encode_x264 import X264Encoder
from visavis.stream import link
from visavis.stream.clock import NS_PER_MS
from visavis.stream.errors import CapacityError

Shown = list[tuple[int, bool]]


def shown(ticks: list[link.Tick]) -> Shown:
    decoder = av.CodecContext.create("h264", "r")
    frames = [f for tick in ticks for f in decoder.decode(av.Packet(tick.video))] + decoder.decode(None)
    return [read_luma(frame.to_ndarray(format="yuv420p")[: frame.height]) for frame in frames]


def played(engine: PatternEngine, *, slow_ms: int = 0) -> tuple[Shown, list[link.Tick]]:
    worker = VirtualWorker(engine, slow_ms=slow_ms)
    worker.tell(request("a"))
    worker.run(400)
    say(worker, "a", 700, end=False)
    worker.run(600)
    worker.tell(link.Interrupt("a", 1))
    worker.run(300)
    worker.now_ns += 5_000 * NS_PER_MS
    worker.run(600)
    ticks = worker.ticks("a")
    return shown(ticks), ticks


@pytest.mark.parametrize("slow_ms", [0, 70])
def test_every_tick_shows_what_an_engine_of_crops_would_show(slow_ms: int) -> None:
    mine, ticks = played(PictureEngine(), slow_ms=slow_ms)
    theirs, other = played(PatternEngine(), slow_ms=slow_ms)
    assert mine == theirs
    assert any(flash for _, flash in mine)
    assert [(tick.index, tick.epoch, tick.repeated, tick.keyframe, tick.audio) for tick in ticks] == [
        (tick.index, tick.epoch, tick.repeated, tick.keyframe, tick.audio) for tick in other
    ]
    assert any(tick.repeated for tick in ticks)


def test_each_picture_is_waited_for_before_it_is_encoded() -> None:
    engine = PictureEngine()
    worker = VirtualWorker(engine)
    worker.tell(request("a"))
    worker.run(500)
    waits = [surface.ready.waits for surface in engine.given[0] if isinstance(surface.ready, Later)]
    encoded = len(worker.ticks("a"))
    assert 10 < encoded <= sum(waits) <= encoded + 4, "some are encoded, but not due"


def test_a_closed_session_gives_its_pictures_back_and_the_next_gets_others() -> None:
    engine = PictureEngine()
    worker = VirtualWorker(engine, slots=1)
    worker.tell(request("a"))
    worker.run(200)
    first = engine.given[0]
    worker.tell(link.Close("a"))
    worker.run(100)
    assert not engine.given
    worker.tell(request("b"))
    worker.run(200)
    assert engine.given[0] is not first
    assert worker.ticks("b")


def test_a_slot_without_memory_for_its_pictures_is_closed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(slot: int, count: int) -> None:
        raise CapacityError("the card's memory is full; end another session")

    closed: list[object] = []
    engine = PictureEngine()
    worker = VirtualWorker(engine)
    monkeypatch.setattr(engine, "surfaces", refuse)
    monkeypatch.setattr(X264Encoder, "close", lambda encoder: closed.append(encoder))
    worker.tell(request("a"))
    worker.run(100)
    assert [(fault.code, fault.fatal) for fault in worker.of(link.Fault)] == [("full", True)]
    assert [entry[0] for entry in engine.log] == ["open", "control", "close"]
    assert len(closed) == 1
    assert len(worker.sessions) == 0
