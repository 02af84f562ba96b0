import numpy as np
import pytest
from support.pattern import DELAY, PatternEngine, matrix, read_luma
from visavis.render.avatar import find_avatar
from visavis.render.color import color_space
from visavis.render.composite import Compositor
from visavis.render.easel import Easel
from visavis.render.pipeline import MOST_UNHEARD, Pipeline, run
from visavis.stream.controls import Controls
from visavis.stream.media import AudioChunk
from visavis.stream.session import Session

SIZE = (512, 512)
FIRST = 7
SURFACES = 4


@pytest.fixture(scope="module")
def compositor() -> Compositor:
    return Compositor(find_avatar("ruby").plate(SIZE), color_space(*SIZE))


@pytest.fixture
def engine() -> PatternEngine:
    engine = PatternEngine()
    engine.open(0, find_avatar("ruby"), size=SIZE, seed=1, index=FIRST)
    return engine


@pytest.fixture
def pipeline(engine: PatternEngine, compositor: Compositor) -> Pipeline:
    return Pipeline(
        Session("a"),
        slot=0,
        delay=DELAY,
        first=FIRST,
        easel=Easel.of(engine, 0, compositor, surfaces=SURFACES),
    )


def speak(pipeline: Pipeline, ms: int) -> None:
    samples = np.full(48 * ms, 0.5, np.float32)
    pipeline.session.push(AudioChunk("s", samples, 48_000), 0)
    pipeline.session.end("s")


def step(pipeline: Pipeline, engine: PatternEngine) -> tuple[int, bool]:
    """Draw the next frame, release it, and read it."""
    draw = pipeline.next_draw(0)
    run(engine, [draw])
    assert pipeline.finish(draw)
    released = pipeline.release()
    assert released.picture is not None
    return read_luma(released.picture.y)


def test_the_first_frame_hears_the_whole_look_ahead_and_each_later_one_a_tick(
    pipeline: Pipeline, engine: PatternEngine
) -> None:
    draw = pipeline.next_draw(0)
    assert [tick.index for tick in draw.ticks] == list(range(FIRST, FIRST + DELAY + 1))
    run(engine, [draw])
    pipeline.finish(draw)
    assert [tick.index for tick in pipeline.next_draw(0).ticks] == [FIRST + DELAY + 1]


def test_frames_come_out_in_order_with_the_flash_of_their_own_sound(
    pipeline: Pipeline, engine: PatternEngine
) -> None:
    speak(pipeline, 80)
    seen = [step(pipeline, engine) for _ in range(6)]
    assert [index for index, _ in seen] == list(range(FIRST, FIRST + 6))
    assert [flash for _, flash in seen][:2] == [True, True]
    assert not any(flash for _, flash in seen[3:])


def test_no_more_can_be_drawn_ahead_than_there_are_surfaces(
    pipeline: Pipeline, engine: PatternEngine
) -> None:
    for _ in range(SURFACES):
        assert pipeline.can_draw
        draw = pipeline.next_draw(0)
        run(engine, [draw])
        pipeline.finish(draw)
    assert not pipeline.can_draw
    pipeline.release()
    assert not pipeline.can_draw, "the picture that left is kept for repeats"
    pipeline.release()
    assert pipeline.can_draw


def test_surfaces_never_leak_whatever_happens(pipeline: Pipeline, engine: PatternEngine) -> None:
    epoch = 0
    for turn in range(40):
        draw = pipeline.next_draw(0)
        if turn % 5 == 3:
            epoch += 1
            pipeline.interrupt(epoch)
        if turn % 7 == 4:
            pipeline.skip_to(pipeline.gate.next + 2)
        run(engine, [draw])
        pipeline.finish(draw)
        pipeline.hear(pipeline.gate.next, 0)
        if turn % 3:
            pipeline.release()
        held = len(pipeline._free) + pipeline.gate.waiting
        held += len(pipeline._retired) + (pipeline.last is not None)
        assert held == SURFACES
        while not pipeline.can_draw:
            pipeline.release()


def test_a_picture_overtaken_by_an_interrupt_is_not_shown(pipeline: Pipeline, engine: PatternEngine) -> None:
    step(pipeline, engine)
    draw = pipeline.next_draw(0)
    assert pipeline.interrupt(1) == FIRST
    run(engine, [draw])
    assert not pipeline.finish(draw)
    again = pipeline.next_draw(0)
    assert again.index == FIRST + 1
    assert again.resume == FIRST
    assert [tick.index for tick in again.ticks] == list(range(FIRST + 1, FIRST + 2 + DELAY))


def test_after_repeats_the_missed_frames_are_heard_but_not_drawn(
    pipeline: Pipeline, engine: PatternEngine
) -> None:
    step(pipeline, engine)
    for _ in range(2):
        pipeline.hear(pipeline.gate.next, 0)
        assert pipeline.release().picture is None
    draw = pipeline.next_draw(0)
    assert draw.index == FIRST + 3
    assert [tick.index for tick in draw.ticks] == [FIRST + DELAY + 1 + n for n in range(3)]
    assert draw.resume is None


def test_what_left_before_the_engine_heard_it_is_heard_later(
    pipeline: Pipeline, engine: PatternEngine
) -> None:
    step(pipeline, engine)
    for _ in range(DELAY + 3):
        pipeline.hear(pipeline.gate.next, 0)
        pipeline.release()
    draw = pipeline.next_draw(0)
    assert draw.resume is None
    assert draw.index == FIRST + DELAY + 4
    first = FIRST + DELAY + 1
    assert [tick.index for tick in draw.ticks] == list(range(first, draw.index + DELAY + 1))
    run(engine, [draw])
    assert pipeline.finish(draw)
    assert [tick.index for tick in pipeline.next_draw(0).ticks] == [draw.index + DELAY + 1]


def test_after_much_more_than_the_look_ahead_the_engine_starts_afresh(
    pipeline: Pipeline, engine: PatternEngine
) -> None:
    step(pipeline, engine)
    for _ in range(DELAY + MOST_UNHEARD + 2):
        pipeline.hear(pipeline.gate.next, 0)
        pipeline.release()
    draw = pipeline.next_draw(0)
    assert draw.resume == draw.index - 1
    assert draw.ticks[0].index == draw.index


def test_an_interrupt_forgets_what_was_not_heard_too(pipeline: Pipeline, engine: PatternEngine) -> None:
    step(pipeline, engine)
    for _ in range(DELAY + 3):
        pipeline.hear(pipeline.gate.next, 0)
        pipeline.release()
    left = pipeline.interrupt(1)
    draw = pipeline.next_draw(0)
    assert draw.resume == left
    assert draw.ticks[0].index == draw.index


def test_a_picture_that_comes_too_late_stands_in_for_the_next_missing_one(
    pipeline: Pipeline, engine: PatternEngine
) -> None:
    step(pipeline, engine)
    draw = pipeline.next_draw(0)
    assert pipeline.release().picture is None
    run(engine, [draw])
    assert not pipeline.finish(draw)
    assert pipeline.last is draw.surface
    assert read_luma(pipeline.last.y)[0] == FIRST + 1


def test_controls_reach_the_engine_before_the_next_frame_only(
    pipeline: Pipeline, engine: PatternEngine
) -> None:
    pipeline.control(Controls(emotion="happy"))
    step(pipeline, engine)
    step(pipeline, engine)
    assert [entry for entry in engine.log if entry[0] == "control"] == [
        ("control", 0, Controls(emotion="happy"))
    ]


def test_the_crop_lies_where_its_matrix_says(pipeline: Pipeline, engine: PatternEngine) -> None:
    assert matrix()[0, 2] == 16
    assert step(pipeline, engine)[0] == FIRST


def test_what_an_engine_that_hangs_does_not_hear_takes_no_room(
    pipeline: Pipeline, engine: PatternEngine
) -> None:
    step(pipeline, engine)
    for _ in range(1000):
        pipeline.hear(pipeline.gate.next, 0)
        pipeline.release()
    assert len(pipeline._unheard) <= MOST_UNHEARD + 1
