"""An engine that makes whole pictures, as it does on a GPU, shows what others make of its crops."""

from collections.abc import Iterator

import numpy as np
import pytest
from support import tiny
from visavis.render.color import color_space
from visavis.render.composite import Compositor
from visavis.render.ditto.engine import DittoEngine
from visavis.render.ditto.windows import WindowShape
from visavis.render.easel import Easel
from visavis.render.pipeline import Pipeline, run
from visavis.render.surface import Surface
from visavis.stream.errors import CapacityError
from visavis.stream.media import AudioChunk
from visavis.stream.session import Session

SHAPE = WindowShape(hop=2, fuse=2)


def whole(largest: tuple[int, int] = (1280, 720)) -> DittoEngine:
    networks = tiny.networks()
    return DittoEngine(networks, shape=SHAPE, steps=tiny.STEPS, slots=2, largest=largest)


def played(engine: DittoEngine, frames: int = 10) -> Iterator[tuple[int, Surface]]:
    """Pictures of two sessions of other sizes, one after the other, as they leave."""
    delay = engine.spec.lookahead // engine.spec.hop
    pipelines: list[Pipeline] = []
    for slot, size in enumerate(((512, 512), (720, 1280))):
        avatar = tiny.avatar(slot + 1)
        engine.open(slot, avatar, size=size, seed=1, index=0)
        compositor = Compositor(avatar.plate(size), color_space(*size))
        easel = Easel.of(engine, slot, compositor, surfaces=3)
        session = Session(str(slot))
        session.push(AudioChunk("s", np.sin(np.arange(48_000) / 7).astype(np.float32), 48_000), 0)
        pipelines.append(Pipeline(session, slot=slot, delay=delay, first=0, easel=easel))
    for _ in range(frames):
        work = [pipeline.next_draw(0) for pipeline in pipelines]
        run(engine, work)
        for pipeline, draw in zip(pipelines, work, strict=True):
            assert pipeline.finish(draw)
            picture = pipeline.release().picture
            assert picture is not None
            picture.wait()
            yield draw.slot, picture


def test_an_engine_with_its_own_pictures_shows_what_others_make_of_its_crops() -> None:
    mine, theirs = played(whole()), played(tiny.engine(slots=2))
    count = 0
    for (slot, picture), (other, surface) in zip(mine, theirs, strict=True):
        assert (slot, picture.layout, surface.layout) == (other, "nv12", "i420")
        for have, want in ((picture.y, surface.y), (picture.u, surface.u), (picture.v, surface.v)):
            assert np.abs(have.astype(int) - want).max() <= 1
        count += 1
    assert count == 20


def test_a_plate_that_there_is_no_room_for_leaves_the_slot_free() -> None:
    engine = whole(largest=(640, 512))
    with pytest.raises(CapacityError, match="720x1280"):
        engine.open(0, tiny.avatar(1), size=(720, 1280), seed=1, index=0)
    engine.open(0, tiny.avatar(1), size=(512, 512), seed=1, index=0)
    engine.close(0)
