import numpy as np
import pytest
from support.pattern import DELAY, PatternEngine
from visavis.render.avatar import find_avatar
from visavis.render.color import color_space
from visavis.render.composite import Compositor
from visavis.render.easel import Easel
from visavis.render.encode_audio import OpusEncoder
from visavis.render.live import Live, Offer
from visavis.render.pipeline import Pipeline, run
from visavis.render.surface import Surface
from visavis.stream.clock import FRAME_RATE, NS_PER_MS, TICK_NS, FrameClock
from visavis.stream.media import AudioChunk, Packet
from visavis.stream.pacer import Pacer
from visavis.stream.session import Session

SIZE = (512, 512)


class StubEncoder:
    """Remembers what it was asked."""

    name = "stub"

    def __init__(self) -> None:
        self.asked: list[tuple[int, bool]] = []
        self.bitrates: list[int] = []
        self.closed = False

    def encode(self, surface: Surface, *, pts: int, keyframe: bool) -> list[Packet]:
        self.asked.append((pts, keyframe))
        return [Packet(b"picture", pts, 90_000, keyframe)]

    def set_bitrate(self, bitrate_bps: int) -> None:
        self.bitrates.append(bitrate_bps)

    def close(self) -> list[Packet]:
        self.closed = True
        return []


@pytest.fixture(scope="module")
def compositor() -> Compositor:
    return Compositor(find_avatar("ruby").plate(SIZE), color_space(*SIZE))


@pytest.fixture
def engine() -> PatternEngine:
    engine = PatternEngine()
    engine.open(0, find_avatar("ruby"), size=SIZE, seed=1, index=0)
    return engine


@pytest.fixture
def video() -> StubEncoder:
    return StubEncoder()


@pytest.fixture
def live(engine: PatternEngine, compositor: Compositor, video: StubEncoder) -> Live:
    easel = Easel.of(engine, 0, compositor, surfaces=11)
    pipeline = Pipeline(Session("a"), slot=0, delay=DELAY, first=0, easel=easel)
    return Live(pipeline, Pacer(FrameClock(FRAME_RATE, 0)), video=video, audio=OpusEncoder(), name="a")


def offer(live: Live, kind: str, now_ns: int) -> Offer | None:
    return next((one for one in live.offers(now_ns) if one.kind == kind), None)


def draw(live: Live, engine: PatternEngine, now_ns: int) -> None:
    work = live.begin_draw(now_ns)
    run(engine, [work])
    live.finish_draw(work)


def test_in_silence_a_frame_is_drawn_no_earlier_than_the_lead(live: Live, engine: PatternEngine) -> None:
    for _ in range(3):
        draw(live, engine, 0)
    found = offer(live, "draw", 0)
    assert found is not None
    assert found.ready_ns == (3 - live.pacer.options.lead) * TICK_NS


def test_with_speech_at_hand_frames_may_be_drawn_up_to_the_horizon(live: Live, engine: PatternEngine) -> None:
    """One at the next tick, and another in the middle of it, until none is missing."""
    came_ns = 3 * NS_PER_MS
    live.pipeline.session.push(AudioChunk("s", np.zeros(96_000, np.float32), 48_000), came_ns)
    for _ in range(4):
        draw(live, engine, came_ns)
    horizon = live.pacer.options.horizon
    for number in range(horizon - 4):
        found = offer(live, "draw", came_ns)
        assert found is not None
        assert found.ready_ns == TICK_NS + number * TICK_NS // 2
        draw(live, engine, came_ns)
    found = offer(live, "draw", came_ns)
    assert found is not None
    assert found.ready_ns == (horizon - live.pacer.options.lead) * TICK_NS


def test_with_less_speech_than_up_to_the_horizon_a_frame_has_its_lead_alone(
    live: Live, engine: PatternEngine
) -> None:
    """So that a microphone's frames are drawn with those of the silent, and not a tick before."""
    for _ in range(3):
        draw(live, engine, 0)
    missing = live.pacer.options.horizon - 3
    lead_ns = (3 - live.pacer.options.lead) * TICK_NS
    live.pipeline.session.push(AudioChunk("s", np.zeros(1920 * missing - 48, np.float32), 48_000), 0)
    found = offer(live, "draw", 0)
    assert found is not None
    assert found.ready_ns == lead_ns
    live.pipeline.session.push(AudioChunk("s", np.zeros(48, np.float32), 48_000), 0)
    found = offer(live, "draw", 0)
    assert found is not None
    assert found.ready_ns == 0


def test_nothing_leaves_before_the_first_picture(live: Live) -> None:
    assert offer(live, "encode", 10 * TICK_NS) is None


def test_a_drawn_tick_may_be_encoded_shortly_before_its_deadline(live: Live, engine: PatternEngine) -> None:
    for _ in range(2):
        draw(live, engine, 0)
    live.finish_encode(live.encode(live.begin_encode(0)), 0)
    found = offer(live, "encode", 0)
    assert found is not None
    assert found.ready_ns == TICK_NS - live.pacer.options.encode_lead_ms * NS_PER_MS
    assert found.due_ns == TICK_NS


def test_a_missing_picture_is_repeated_after_the_grace_and_counted(
    live: Live, engine: PatternEngine, video: StubEncoder
) -> None:
    draw(live, engine, 0)
    live.finish_encode(live.encode(live.begin_encode(0)), 0)
    found = offer(live, "encode", 0)
    assert found is not None
    assert found.ready_ns == TICK_NS + live.pacer.options.grace_ms * NS_PER_MS
    tick = live.encode(live.begin_encode(found.ready_ns))
    assert (tick.index, tick.repeated) == (1, True)
    assert live.gauges().repeated == 1
    assert [pts for pts, _ in video.asked] == [0, 3600]


def test_only_one_draw_and_one_encode_run_at_a_time(live: Live, engine: PatternEngine) -> None:
    draw(live, engine, 0)
    work = live.begin_encode(0)
    assert offer(live, "encode", 10 * TICK_NS) is None
    live.begin_draw(0)
    assert offer(live, "draw", 10 * TICK_NS) is None
    assert live.busy
    live.finish_encode(live.encode(work), 0)
    assert live.busy


def test_the_first_picture_is_a_keyframe_and_later_ones_only_when_asked(
    live: Live, engine: PatternEngine, video: StubEncoder
) -> None:
    for index in range(3):
        draw(live, engine, index * TICK_NS)
        if index == 2:
            live.request_keyframe()
        live.finish_encode(live.encode(live.begin_encode(index * TICK_NS)), 0)
    assert [keyframe for _, keyframe in video.asked] == [True, False, True]


def test_a_new_bitrate_is_set_once_before_the_next_picture(
    live: Live, engine: PatternEngine, video: StubEncoder
) -> None:
    live.set_bitrate(700_000)
    for index in range(2):
        draw(live, engine, index * TICK_NS)
        live.encode(live.begin_encode(index * TICK_NS))
    assert video.bitrates == [700_000]


def test_encoded_ticks_wait_for_their_time_and_then_leave_in_order(live: Live, engine: PatternEngine) -> None:
    for _ in range(3):
        draw(live, engine, 0)
        live.finish_encode(live.encode(live.begin_encode(0)), 0)
    assert [tick.index for tick in live.due(0)] == [0]
    assert live.send_ns == TICK_NS
    assert [tick.index for tick in live.due(2 * TICK_NS)] == [1, 2]
    assert live.send_ns is None


def test_a_front_that_takes_nothing_stops_the_encoder(live: Live, engine: PatternEngine) -> None:
    for index in range(5):
        draw(live, engine, index * TICK_NS)
        if offer(live, "encode", index * TICK_NS):
            live.finish_encode(live.encode(live.begin_encode(index * TICK_NS)), 0)
    assert len(live.outbox) == 4
    assert offer(live, "encode", 10 * TICK_NS) is None


def test_a_first_picture_that_comes_hopelessly_late_still_leaves(live: Live, engine: PatternEngine) -> None:
    draw(live, engine, 0)
    late_ns = 2 * live.pacer.options.stall * TICK_NS
    live.finish_encode(live.encode(live.begin_encode(late_ns)), 0)
    assert [tick.index for tick in live.due(late_ns)] == [0]
    draw(live, engine, late_ns)
    assert live.begin_encode(late_ns).audio.index == 2 * live.pacer.options.stall


def test_a_failed_encode_leaves_the_session_able_to_close(live: Live, engine: PatternEngine) -> None:
    draw(live, engine, 0)
    live.begin_encode(0)
    live.finish_encode(None, 0)
    assert not live.busy
    live.close()


def test_after_a_late_picture_the_next_one_is_for_a_tick_that_can_be_reached(
    live: Live, engine: PatternEngine
) -> None:
    draw(live, engine, 0)
    live.finish_encode(live.encode(live.begin_encode(0)), 0)
    slow = live.begin_draw(0)
    live.begin_encode(TICK_NS)
    live.encoding = False
    run(engine, [slow])
    live.finish_draw(slow)
    assert live.counters.late == 1
    now_ns = 2 * TICK_NS - 10 * NS_PER_MS
    caught_up = live.begin_draw(now_ns)
    assert caught_up.index == 1 + live.pacer.options.lead
    assert [tick.index for tick in caught_up.ticks][-1] == caught_up.index + DELAY
    run(engine, [caught_up])
    live.finish_draw(caught_up)
    assert live.begin_draw(now_ns).index == caught_up.index + 1


def test_a_tick_that_is_encoded_late_is_a_late_picture_too(live: Live, engine: PatternEngine) -> None:
    for _ in range(2):
        draw(live, engine, 0)
    work = live.begin_encode(0)
    live.finish_encode(live.encode(work), 1)
    assert live.begin_draw(2 * TICK_NS - 1).index == 1 + live.pacer.options.lead


def test_after_a_hitch_pictures_are_on_time_again_and_not_late_for_ever(
    live: Live, engine: PatternEngine
) -> None:
    """One thread draws, for exactly a tick and once for longer, and another encodes."""
    under_way, done_ms = None, 0
    late: list[int] = []
    for ms in range(-80, 4000):
        now_ns = ms * NS_PER_MS
        if under_way is not None and ms >= done_ms:
            run(engine, [under_way])
            live.finish_draw(under_way)
            late.append(live.counters.late)
            under_way = None
        wanted = offer(live, "encode", now_ns)
        if wanted is not None and wanted.ready_ns <= now_ns:
            live.finish_encode(live.encode(live.begin_encode(now_ns)), now_ns)
            list(live.due(now_ns + TICK_NS))
        wanted = offer(live, "draw", now_ns)
        if wanted is not None and wanted.ready_ns <= now_ns:
            under_way = live.begin_draw(now_ns)
            done_ms = ms + (130 if len(late) == 20 else 40)
    assert late[20] == 1
    assert late[-1] <= 3
