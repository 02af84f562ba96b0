import pytest
from support.pattern import PatternEngine
from support.virtual import VirtualWorker, request
from visavis.render.idle import Idle
from visavis.render.sessions import Sessions
from visavis.stream import link
from visavis.stream.clock import NS_PER_SECOND
from visavis.stream.errors import SetupError


def worker(engine: PatternEngine, after_ns: int | None) -> VirtualWorker:
    made = VirtualWorker(engine)
    made.sessions = Sessions(engine, slots=4, idle=Idle(after_ns))
    return made


def parked(engine: PatternEngine) -> int:
    return engine.log.count(("park",))


def test_an_engine_without_sessions_is_parked_once_and_not_before_its_time() -> None:
    engine = PatternEngine()
    empty = worker(engine, 2 * NS_PER_SECOND)
    empty.run(1900)
    assert parked(engine) == 0
    empty.run(8000)
    assert parked(engine) == 1


def test_what_comes_back_at_once_is_given_sooner() -> None:
    engine = PatternEngine()
    empty = worker(engine, 2 * NS_PER_SECOND)
    empty.run(150)
    assert engine.log == []
    empty.run(100)
    assert engine.log == [("offload",)]
    empty.tell(request("a"))
    empty.run(500)
    empty.tell(link.Close("a"))
    empty.run(2500)
    assert [one for one in engine.log if one in {("offload",), ("park",)}] == [
        ("offload",),
        ("offload",),
        ("park",),
    ]


def test_a_session_keeps_it_awake_and_time_begins_anew_when_the_last_one_ends() -> None:
    engine = PatternEngine()
    busy = worker(engine, 2 * NS_PER_SECOND)
    busy.run(1500)
    busy.tell(request("a"))
    busy.run(3000)
    busy.tell(link.Close("a"))
    busy.run(1900)
    assert parked(engine) == 0
    busy.run(1000)
    assert parked(engine) == 1


def test_it_opens_sessions_after_it_was_parked_and_parks_again() -> None:
    engine = PatternEngine()
    again = worker(engine, NS_PER_SECOND)
    again.run(1500)
    again.tell(request("a"))
    again.run(1500)
    assert len(again.ticks("a")) > 20
    again.tell(link.Close("a"))
    again.run(1500)
    assert parked(engine) == 2


def test_without_a_time_it_never_parks() -> None:
    engine = PatternEngine()
    worker(engine, None).run(10_000)
    assert parked(engine) == 0


def test_an_engine_that_does_not_park_is_not_asked() -> None:
    engine = PatternEngine()
    engine.parks = False
    asked = worker(engine, NS_PER_SECOND)
    asked.run(3000)
    asked.tell(link.Park())
    asked.run(100)
    assert parked(engine) == 0


def test_one_that_could_not_be_parked_is_tried_again_after_the_same_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    engine = PatternEngine()
    engine.gives_back = False
    tried = worker(engine, NS_PER_SECOND)
    tried.run(1500)
    assert parked(engine) == 1
    assert "could not be given back" in caplog.text
    engine.gives_back = True
    tried.run(5000)
    assert parked(engine) == 2


def test_a_worker_that_is_told_to_park_and_cannot_has_no_use() -> None:
    engine = PatternEngine()
    engine.gives_back = False
    told = worker(engine, None)
    told.tell(link.Park())
    with pytest.raises(SetupError, match="cannot stand by"):
        told.run(10)


def test_while_it_is_parked_nobody_else_parks_it_and_no_slot_is_bound() -> None:
    """Where several threads share an engine."""
    engine = PatternEngine()
    sessions = Sessions(engine, slots=4, idle=Idle(0))
    offloading, _ = sessions.next_task(1)
    assert offloading is not None
    assert offloading.giving == "offload"
    assert sessions.next_task(1)[0] is None
    sessions.perform(offloading)
    sessions.finish(offloading, 1)
    parking, _ = sessions.next_task(1)
    assert parking is not None
    assert parking.giving == "park"
    assert sessions.next_task(1)[0] is None
    sessions.receive(request("a"), 1)
    parts, _ = sessions.next_task(1)
    assert parts is not None
    assert parts.open is not None
    sessions.perform(parts)
    sessions.finish(parts, 1)
    assert sessions.next_task(1)[0] is None
    sessions.perform(parking)
    sessions.finish(parking, 1)
    binding, _ = sessions.next_task(1)
    assert binding is not None
    assert binding.open is not None
    sessions.perform(binding)
    sessions.finish(binding, 1)
    # A session that came while it was being parked ends: it is parked again.
    sessions.receive(link.Close("a"), 2)
    closing, _ = sessions.next_task(2)
    assert closing is not None
    sessions.perform(closing)
    sessions.finish(closing, 2)
    again, _ = sessions.next_task(3)
    assert again is not None
    assert again.giving == "offload"


def test_one_that_is_told_to_parks_at_once_unless_somebody_is_there() -> None:
    engine = PatternEngine()
    told = worker(engine, None)
    told.tell(link.Park())
    told.run(10)
    assert parked(engine) == 1
    told.tell(request("a"))
    told.run(500)
    told.tell(link.Park())
    told.run(500)
    assert parked(engine) == 1
    assert len(told.ticks("a")) > 10
