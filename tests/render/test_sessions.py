from itertools import pairwise

import av
import numpy as np
import pytest
from support.pattern import BrokenEngine, PatternEngine, read_luma
from support.virtual import RATE, VirtualWorker, request, say, tone
from visavis.render.rig.engine import RigEngine
from visavis.stream import link
from visavis.stream.clock import NS_PER_MS, NS_PER_SECOND, PROGRAM_HOP, TICK_NS


@pytest.fixture
def worker() -> VirtualWorker:
    return VirtualWorker(PatternEngine())


def pictures(ticks: list[link.Tick]) -> list[tuple[int, bool]]:
    decoder = av.CodecContext.create("h264", "r")
    frames = [f for tick in ticks for f in decoder.decode(av.Packet(tick.video))] + decoder.decode(None)
    return [read_luma(frame.to_ndarray(format="yuv420p")[: frame.height]) for frame in frames]


def sounds(ticks: list[link.Tick]) -> np.ndarray:
    decoder = av.CodecContext.create("libopus", "r")
    decoder.sample_rate = 48_000
    decoder.layout = "mono"
    frames = [f for tick in ticks for data in tick.audio for f in decoder.decode(av.Packet(data))]
    return np.concatenate([frame.to_ndarray().ravel() for frame in frames]) / 32768


def test_ticks_leave_one_by_one_on_their_deadlines_from_the_start(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(1000)
    ticks = worker.ticks("a")
    assert [tick.index for tick in ticks] == list(range(ticks[0].index, ticks[0].index + len(ticks)))
    assert len(ticks) >= 22
    for at_ns, message in worker.said:
        if isinstance(message, link.Tick):
            assert 0 <= at_ns - message.index * TICK_NS < 2 * NS_PER_MS
    assert ticks[0].keyframe
    assert not any(tick.keyframe or tick.repeated for tick in ticks[1:])


def test_each_tick_shows_its_own_frame(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(1200)
    ticks = worker.ticks("a")
    assert [index for index, _ in pictures(ticks)] == [tick.index for tick in ticks]


def test_flash_and_beep_of_a_tick_leave_together(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(400)
    say(worker, "a", 200)
    worker.run(1200)
    ticks = worker.ticks("a")
    flashes = [index for index, flash in pictures(ticks) if flash]
    spoken = [tick.index for tick in ticks if tick.spans]
    assert spoken
    assert flashes == spoken
    loud = np.abs(sounds(ticks)).reshape(-1, PROGRAM_HOP).max(axis=1) > 0.1
    heard = [tick.index for tick, flag in zip(ticks, loud, strict=True) if flag]
    assert abs(heard[0] - flashes[0]) <= 1
    assert abs(heard[-1] - flashes[-1]) <= 1


def test_every_sample_is_sent_once_and_the_end_is_marked_once(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(300)
    say(worker, "a", 500)
    worker.run(1500)
    spans = [span for tick in worker.ticks("a") for span in tick.spans]
    assert [span.start for span in spans] == [0, *[span.end for span in spans[:-1]]]
    assert abs(spans[-1].end - 24_000) <= 1
    assert [span.last for span in spans] == [False] * (len(spans) - 1) + [True]


def test_the_delay_from_sound_to_release_is_the_promised_one(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(1000)
    arrived_ns = worker.now_ns
    say(worker, "a", 400)
    worker.run(1000)
    first = next(at for at, m in worker.said if isinstance(m, link.Tick) and m.spans)
    promised_ms = worker.sessions.latency_ms
    assert promised_ms - 40 <= (first - arrived_ns) / NS_PER_MS <= promised_ms


def test_drawing_runs_ahead_of_speech_but_never_past_the_horizon(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(1000)
    say(worker, "a", 4000)
    live = worker.sessions._guests["a"].live
    assert live is not None
    deepest = 0
    for _ in range(60):
        worker.run(10)
        deepest = max(deepest, live.pipeline.frame - live.pipeline.gate.next)
    assert deepest == worker.sessions.options.horizon


def test_an_interrupt_stops_the_old_sound_within_two_ticks_and_tells_where(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(600)
    say(worker, "a", 5000)
    worker.run(1000)
    asked_ns = worker.now_ns
    worker.tell(link.Interrupt("a", 1))
    worker.run(600)
    (told,) = worker.of(link.Interrupted)
    ticks = worker.ticks("a")
    assert [tick.index for tick in ticks if tick.epoch == 0][-1] == told.index
    assert not [tick for tick in ticks if tick.epoch == 1 and tick.spans]
    last_old_ns = max(at for at, m in worker.said if isinstance(m, link.Tick) and m.spans)
    assert last_old_ns - asked_ns <= 60 * NS_PER_MS
    assert [index for index, _ in pictures(ticks)] == [tick.index for tick in ticks]
    assert ("interrupt", 0, told.index) in worker.engine.log


def test_sound_after_an_interrupt_belongs_to_the_new_epoch_and_starts_at_its_beginning(
    worker: VirtualWorker,
) -> None:
    worker.tell(request("a"))
    worker.run(400)
    say(worker, "a", 3000, segment="old")
    worker.run(800)
    worker.tell(link.Interrupt("a", 1))
    say(worker, "a", 200, segment="new")
    worker.run(1000)
    spoken = [
        (tick.epoch, span) for tick in worker.ticks("a") for span in tick.spans if span.segment == "new"
    ]
    assert spoken[0][0] == 1
    assert spoken[0][1].start == 0
    assert spoken[-1][1].last


def test_an_old_interrupt_changes_nothing(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(300)
    worker.tell(link.Interrupt("a", 0))
    assert not worker.of(link.Interrupted)


def test_a_slow_engine_repeats_pictures_but_keeps_the_sound_on_time() -> None:
    worker = VirtualWorker(PatternEngine(), slow_ms=70)
    worker.tell(request("a"))
    worker.run(400)
    say(worker, "a", 1500)
    worker.run(2500)
    ticks = worker.ticks("a")
    assert any(tick.repeated for tick in ticks)
    assert [tick.index for tick in ticks] == list(range(ticks[0].index, ticks[0].index + len(ticks)))
    spans = [span for tick in ticks for span in tick.spans]
    assert [span.start for span in spans] == [0, *[span.end for span in spans[:-1]]]
    gauges = worker.of(link.Gauges)[-1]
    assert gauges.repeated > 0


def test_a_machine_that_slept_goes_on_at_the_present_and_loses_no_sound(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(400)
    say(worker, "a", 2000)
    worker.run(600)
    worker.now_ns += 60_000 * NS_PER_MS
    worker.run(3000)
    ticks = worker.ticks("a")
    assert ticks[-1].index >= 60_000 // 40
    assert len(ticks) < 200
    spans = [span for tick in ticks for span in tick.spans]
    assert [span.start for span in spans] == [0, *[span.end for span in spans[:-1]]]
    assert spans[-1].last


@pytest.mark.parametrize("engine", [PatternEngine, RigEngine])
def test_two_sessions_give_the_same_ticks_as_each_alone(
    engine: type[PatternEngine] | type[RigEngine],
) -> None:
    def record(names: list[str]) -> dict[str, list[link.Tick]]:
        worker = VirtualWorker(engine())
        for name in names:
            worker.tell(request(name, avatar={"a": "ruby", "b": "marcus"}[name]))
        worker.run(500)
        for name in names:
            say(worker, name, {"a": 300, "b": 700}[name])
        worker.run(1500)
        return {name: worker.ticks(name) for name in names}

    both = record(["a", "b"])
    assert both["a"] == record(["a"])["a"]
    assert both["b"] == record(["b"])["b"]
    assert both["a"][5].video != both["b"][5].video


def test_a_broken_drawing_ends_its_session_with_a_fault_and_frees_the_slot() -> None:
    worker = VirtualWorker(BrokenEngine(), slots=2)
    worker.tell(request("a"))
    worker.tell(request("b"))
    worker.run(300)
    say(worker, "a", 300)
    worker.run(800)
    (fault,) = worker.of(link.Fault)
    assert fault.session == "a"
    assert fault.fatal
    assert "start the session again" in fault.message
    worker.run(400)
    assert worker.ticks("b")[-1].index >= 33
    worker.tell(request("c"))
    worker.run(300)
    assert worker.ticks("c")


def test_a_drawing_that_breaks_while_its_session_closes_leaves_nothing_open() -> None:
    worker = VirtualWorker(BrokenEngine(), slots=1)
    worker.tell(request("a"))
    worker.run(300)
    say(worker, "a", 300)
    while True:
        task, _ = worker.sessions.next_task(worker.now_ns)
        if task is None:
            worker.now_ns += NS_PER_MS
            continue
        worker.sessions.perform(task)
        if task.error is not None:
            break
        worker.sessions.finish(task, worker.now_ns)
    worker.tell(link.Close("a"))
    assert not worker.sessions.finish(task, worker.now_ns)
    worker.run(100)
    assert ("close", 0) in worker.engine.log
    assert len(worker.sessions) == 0


def test_a_wrong_rate_is_a_fault_that_ends_nothing(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(200)
    worker.tell(link.Audio("a", "s", 96_000, tone(40)))
    (fault,) = worker.of(link.Fault)
    assert (fault.code, fault.fatal) == ("bad_audio", False)
    worker.run(300)
    assert worker.ticks("a")[-1].index >= 10


@pytest.mark.parametrize(
    "chunk",
    [link.Audio("a", "s", RATE, b"\0\0\0"), link.Audio("a", "s", RATE, tone(40), ((15, 0, 100),))],
    ids=["half a sample", "a cue of no viseme"],
)
def test_sound_that_is_none_is_a_fault_that_ends_nothing(worker: VirtualWorker, chunk: link.Audio) -> None:
    worker.tell(request("a"))
    worker.run(200)
    worker.tell(chunk)
    (fault,) = worker.of(link.Fault)
    assert (fault.code, fault.fatal) == ("bad_audio", False)
    worker.run(300)
    assert worker.ticks("a")[-1].index >= 10


def test_messages_for_a_session_that_is_gone_are_ignored(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(300)
    worker.tell(link.Close("a"))
    worker.run(100)
    for message in (link.Audio("a", "s", RATE, b""), link.Interrupt("a", 9), link.Keyframe("a")):
        worker.tell(message)
    assert not worker.of(link.Fault)
    assert ("close", 0) in worker.engine.log


def test_a_keyframe_comes_when_it_is_asked_for(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(500)
    worker.tell(link.Keyframe("a"))
    asked = worker.ticks("a")[-1].index
    worker.run(200)
    later = [tick for tick in worker.ticks("a") if tick.index > asked]
    assert [tick.keyframe for tick in later[:3]].count(True) == 1


def test_a_segment_whose_client_went_quiet_is_told_and_finished(worker: VirtualWorker) -> None:
    worker.tell(request("a"))
    worker.run(300)
    say(worker, "a", 300, end=False)
    worker.run(2500)
    assert [message.segment for message in worker.of(link.Starved)] == ["s"]
    spans = [span for tick in worker.ticks("a") for span in tick.spans]
    assert spans[-1].last


def test_what_the_engine_counts_is_told_once_a_second_and_only_when_it_has_changed() -> None:
    engine = PatternEngine()
    worker = VirtualWorker(engine)
    worker.run(3_000)
    assert not worker.of(link.EngineCounts)
    worker.tell(request("a"))
    for step in range(100):
        engine.counted = link.EngineCounts(cache_hits=min(step, 60))
        worker.run(40)
    times_ns, told = zip(
        *[(at, one) for at, one in worker.said if isinstance(one, link.EngineCounts)], strict=True
    )
    assert told[-1] == link.EngineCounts(cache_hits=60)
    assert 3 <= len(told) <= 4
    assert len(set(told)) == len(told)
    assert all(b - a >= NS_PER_SECOND for a, b in pairwise(times_ns))


def test_sessions_begin_with_their_turns_in_one_batch_until_it_is_full() -> None:
    worker = VirtualWorker(PatternEngine(), slots=10)
    worker.engine.cadence = 3
    for name in "abcdefghi":
        worker.tell(request(name))
        worker.run(70)
    worker.run(1000)
    firsts = [worker.ticks(name)[0].index % 3 for name in "abcdefghi"]
    assert len(set(firsts[:8])) == 1
    assert firsts[8] != firsts[0]
    worker.tell(link.Close("b"))
    worker.run(200)
    worker.tell(request("j"))
    worker.run(1000)
    assert worker.ticks("j")[0].index % 3 == firsts[0]
