import asyncio
from dataclasses import dataclass, field

import pytest
from support.front import Ear, Port, program, tick
from visavis.stream.clock import NS_PER_MS, TICK_NS
from visavis.stream.controls import Controls
from visavis.stream.link import Bitrate, Close, Keyframe, Open, SetControls, Tick
from visavis.web.program import RESTART_LEAD_TICKS, ProgramState
from visavis.web.wire import PlaybackFinished, State


@dataclass
class Screen:
    """A viewer that keeps what it gets."""

    waiting: bool = False
    bitrate_bps: int | None = None
    ticks: list[int] = field(default_factory=list[int])
    restarts: int = 0

    def put(self, tick: Tick) -> None:
        self.ticks.append(tick.index)

    def restart(self) -> None:
        self.restarts += 1


def test_opening_tells_the_worker_everything_about_the_session() -> None:
    port = Port()
    made = program(port, live=False)
    opened = port.of(Open)[0]
    assert (opened.session, opened.avatar, opened.width, opened.index) == ("s", "ruby", 64, 0)
    assert opened.bitrate_bps == made.nominal_bps
    assert made.shown_state == "starting"


def test_each_tick_goes_to_every_viewer_at_once() -> None:
    made = program()
    screens = [Screen(), Screen()]
    made.viewers += screens
    for index in range(3):
        made.tick(tick(index), 0)
    assert [screen.ticks for screen in screens] == [[0, 1, 2]] * 2


def test_a_tick_that_does_not_follow_is_dropped() -> None:
    made = program()
    screen = Screen()
    made.viewers.append(screen)
    for index in (5, 5, 4, 6):
        made.tick(tick(index), 0)
    assert screen.ticks == [5, 6]


def test_lateness_is_measured_against_the_deadline() -> None:
    made = program()
    made.tick(tick(10), 10 * TICK_NS + 7 * NS_PER_MS)
    assert made.traffic.lateness_ms.max == pytest.approx(7)


def test_the_state_tells_whether_somebody_speaks() -> None:
    made = program()
    assert made.shown_state == "idle"
    utterance = made.intake.utter()
    made.intake.push(utterance, bytes(7680), 48_000, ())
    made.tick(tick(0, (utterance.name, 0, 1920, False)), 0)
    assert made.shown_state == "speaking"
    made.tick(tick(1, (utterance.name, 1920, 3840, True)), 0)
    assert made.shown_state == "idle"


def test_a_waiting_viewer_gets_a_keyframe_asked_for_at_most_each_500_ms() -> None:
    port = Port()
    made = program(port)
    made.viewers.append(Screen(waiting=True))
    for index in range(26):
        made.tick(tick(index), index * TICK_NS)
    assert len(port.of(Keyframe)) == 2


def test_a_picture_loss_asks_at_once_and_a_storm_of_them_only_once() -> None:
    port = Port()
    made = program(port)
    for ms in range(0, 400, 10):
        made.want_keyframe(ms * NS_PER_MS)
    assert len(port.of(Keyframe)) == 1


def test_the_slowest_viewer_decides_the_bitrate() -> None:
    port = Port()
    made = program(port)
    slow, fast = Screen(bitrate_bps=500_000), Screen(bitrate_bps=10_000_000)
    made.viewers += [slow, fast, Screen()]
    made.tick(tick(0), 0)
    assert [message.bitrate_bps for message in port.of(Bitrate)] == [500_000]
    made.viewers.remove(slow)
    made.tick(tick(25), 0)
    assert [message.bitrate_bps for message in port.of(Bitrate)] == [500_000, made.nominal_bps]


def test_a_new_worker_goes_on_where_the_clock_stands_with_the_same_start() -> None:
    port = Port()
    made = program(port)
    ear, screen = Ear(), Screen()
    made.listeners.append(ear)
    made.viewers.append(screen)
    made.control(Controls(emotion="happy"))
    utterance = made.intake.utter("speech")
    made.intake.push(utterance, bytes(48_000), 48_000, ())
    made.tick(tick(24, (utterance.name, 0, 1920, False)), 25 * TICK_NS)
    made.worker_lost()
    assert made.shown_state == "restarting"
    assert ear.heard[-2:] == [State("restarting"), PlaybackFinished("speech", 40, True)]
    made.reopen(100 * TICK_NS)
    opened = port.of(Open)[-1]
    assert (opened.start_ns, opened.index) == (0, 100 + RESTART_LEAD_TICKS)
    assert opened.epoch > port.of(Open)[0].epoch
    assert opened.controls.emotion == "happy"
    assert screen.restarts == 1
    made.opened()
    assert ear.heard[-1] == State("up")
    assert made.shown_state == "idle"


def test_ticks_never_go_back_even_when_a_worker_had_run_ahead() -> None:
    port = Port()
    made = program(port)
    made.tick(tick(50), 50 * TICK_NS)
    made.worker_lost()
    made.reopen(10 * TICK_NS)
    assert port.of(Open)[-1].index > 50


def test_closing_tells_everybody_once() -> None:
    port = Port()
    made = program(port)
    ear = Ear()
    made.listeners.append(ear)
    made.close()
    made.close()
    assert made.state is ProgramState.CLOSED
    assert port.of(Close) == [Close("s")]
    assert ear.heard == [State("closed")]


def test_a_closed_session_ignores_what_still_arrives() -> None:
    made = program()
    made.close()
    made.tick(tick(1), 0)
    made.opened()
    made.worker_lost()
    made.reopen(0)
    assert made.state is ProgramState.CLOSED
    assert made.traffic.ticks == 0


def test_controls_are_kept_and_passed_on() -> None:
    port = Port()
    made = program(port)
    made.control(Controls(emotion="sad"))
    assert port.of(SetControls) == [SetControls("s", Controls(emotion="sad"))]
    assert made.controls.emotion == "sad"


def test_a_session_is_unused_once_its_viewers_and_guests_are_gone_and_nothing_waits() -> None:
    made = program()
    guest, screen = object(), Screen()
    made.join(guest)
    made.viewers.append(screen)
    assert made.idle_since_ns(5) is None
    made.leave(guest, 6)
    assert made.idle_since_ns(7) is None
    made.viewers.clear()
    assert made.idle_since_ns(9) == 7
    made.leave(object(), 11)
    assert made.idle_since_ns(12) == 11


async def test_waiting_for_a_session_ends_when_it_is_live_or_closed_or_in_time() -> None:
    made = program(live=False)
    with pytest.raises(TimeoutError):
        await made.until_live(0.01)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(made.until_live(5))
        await asyncio.sleep(0)
        made.opened()
        await waiting
    made.close()
    await made.until_live(0.01)
