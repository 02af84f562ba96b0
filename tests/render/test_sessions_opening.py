"""Sessions that open and close: what they need, in what order, and what is left when it cannot be had."""

import pytest
from support.pattern import PatternEngine
from support.virtual import VirtualWorker, request, say
from visavis.render.encode_x264 import X264Encoder
from visavis.render.sessions import Duty, Task
from visavis.stream import link
from visavis.stream.clock import NS_PER_MS
from visavis.stream.controls import Controls
from visavis.stream.errors import AvatarError, EncoderError


@pytest.fixture
def worker() -> VirtualWorker:
    return VirtualWorker(PatternEngine())


def test_an_encoder_that_does_not_open_leaves_the_engine_untouched(
    worker: VirtualWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise EncoderError("no more of these")

    monkeypatch.setattr("visavis.render.parts.open_encoder", refuse)
    worker.tell(request("a"))
    worker.run(100)
    assert [(fault.code, fault.fatal) for fault in worker.of(link.Fault)] == [("encoder_lost", True)]
    assert not worker.engine.log
    assert len(worker.sessions) == 0


def test_a_session_is_closed_before_anything_is_drawn_so_that_the_next_finds_its_slot() -> None:
    worker = VirtualWorker(PatternEngine(), slots=2, slow_ms=100)
    worker.tell(request("a"))
    worker.tell(request("b"))
    worker.run(500)
    worker.tell(link.Close("b"))
    task, _ = worker.sessions.next_task(worker.now_ns)
    assert task is not None
    assert task.close is not None


def test_an_unknown_avatar_or_size_is_a_fatal_fault_and_frees_the_slot() -> None:
    worker = VirtualWorker(PatternEngine(), slots=1)
    worker.tell(request("a", avatar="nobody"))
    worker.run(100)
    (fault,) = worker.of(link.Fault)
    assert fault.fatal
    assert fault.code == "bad_avatar"
    worker.tell(request("b"))
    worker.run(300)
    assert worker.ticks("b")


def test_a_session_too_many_is_refused_and_the_others_go_on() -> None:
    worker = VirtualWorker(PatternEngine(), slots=1)
    worker.tell(request("a"))
    worker.tell(request("b"))
    (fault,) = worker.of(link.Fault)
    assert (fault.session, fault.code, fault.fatal) == ("b", "full", True)
    worker.run(300)
    assert worker.ticks("a")


def test_an_engine_that_does_not_open_leaves_no_encoder_open(
    worker: VirtualWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AvatarError("of another kind")

    closed: list[object] = []
    monkeypatch.setattr(worker.engine, "open", refuse)
    monkeypatch.setattr(X264Encoder, "close", lambda encoder: closed.append(encoder))
    worker.tell(request("a"))
    worker.run(100)
    assert [(fault.code, fault.fatal) for fault in worker.of(link.Fault)] == [("bad_avatar", True)]
    assert len(closed) == 1
    assert len(worker.sessions) == 0


def test_a_session_closed_between_its_parts_and_its_slot_leaves_nothing_behind(
    worker: VirtualWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[object] = []
    monkeypatch.setattr(X264Encoder, "close", lambda encoder: closed.append(encoder))
    worker.tell(request("a"))
    do(worker, Duty.REST)
    worker.tell(link.Close("a"))
    worker.run(100)
    assert not worker.engine.log
    assert len(closed) == 1
    assert len(worker.sessions) == 0


def do(worker: VirtualWorker, duty: Duty) -> Task | None:
    """One task of `duty`, if there is any."""
    task, _ = worker.sessions.next_task(worker.now_ns, duty)
    if task is not None:
        worker.sessions.perform(task)
        worker.sessions.finish(task, worker.now_ns)
    return task


def test_one_caller_does_all_that_the_engine_does_and_others_the_rest(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    assert do(worker, Duty.ENGINE) is None
    assert do(worker, Duty.REST)
    assert not worker.engine.log
    assert do(worker, Duty.REST) is None
    assert do(worker, Duty.ENGINE)
    assert worker.engine.log[0] == ("open", 0, "ruby", (512, 512), 0)
    ticks: list[link.Tick] = []
    for _ in range(100):
        worker.now_ns += 10 * NS_PER_MS
        ticks += [said for said in worker.sessions.outgoing(worker.now_ns) if isinstance(said, link.Tick)]
        drawn, encoded = do(worker, Duty.ENGINE), do(worker, Duty.REST)
        assert drawn is None or drawn.draws
        assert encoded is None or encoded.encode
    assert ticks[-1].index >= 20
    worker.tell(link.Close("a"))
    assert do(worker, Duty.REST) is None
    assert do(worker, Duty.ENGINE)
    assert worker.engine.log[-1] == ("close", 0)


def test_a_slot_is_bound_before_the_next_drawing_where_one_caller_does_both(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(400)
    worker.tell(request("b"))
    assert do(worker, Duty.REST)
    worker.now_ns += 1000 * NS_PER_MS
    task = do(worker, Duty.ENGINE)
    assert task is not None
    assert task.open is not None
    assert ("open", 1, "ruby", (512, 512), 0) in worker.engine.log


def test_a_session_closed_while_it_opens_leaves_nothing_behind(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.tell(link.Close("a"))
    worker.run(300)
    assert len(worker.sessions) == 0
    assert not worker.ticks("a")


def test_wishes_made_while_the_avatar_loads_are_kept(worker: VirtualWorker) -> None:
    wish = Controls(emotion="happy")
    worker.tell(request("a"))
    worker.tell(link.SetControls("a", wish))
    say(worker, "a", 200)
    worker.run(1000)
    assert ("control", 0, wish) in worker.engine.log
    assert any(tick.spans for tick in worker.ticks("a"))


def test_a_session_that_opens_late_starts_in_the_present(worker: VirtualWorker) -> None:
    worker.now_ns = 5_000 * NS_PER_MS
    worker.tell(request("a"))
    worker.run(300)
    assert worker.ticks("a")[0].index >= 125
