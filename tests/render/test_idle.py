from support.pattern import PatternEngine
from support.virtual import VirtualWorker, request
from visavis.render.idle import Idle
from visavis.render.sessions import Sessions
from visavis.stream import link
from visavis.stream.clock import NS_PER_SECOND


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


def test_an_engine_that_cannot_park_is_asked_once() -> None:
    engine = PatternEngine()
    engine.parks = False
    asked = worker(engine, NS_PER_SECOND)
    asked.run(3000)
    asked.tell(request("a"))
    asked.run(500)
    asked.tell(link.Close("a"))
    asked.run(3000)
    assert parked(engine) == 1


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
