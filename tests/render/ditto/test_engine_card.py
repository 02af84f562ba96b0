"""On a card, at official size: nobody waits for it while sessions come and speak, and graphs draw what their
steps draw."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support.ticks import tick
from visavis.render.avatar import Avatar, load_avatar
from visavis.render.ditto.checkpoints import RandomWeights
from visavis.render.ditto.engine import DittoEngine
from visavis.render.ditto.networks import Networks, load_networks
from visavis.render.ditto.presets import LIVE, shape_of
from visavis.render.engine import Due
from visavis.render.register import register_file

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
SOURCE = RandomWeights(1)
FACES = Path(__file__).parents[2] / "assets" / "faces" / "ruby.webp"
SIZE = (1080, 1920)


@pytest.fixture(scope="module")
def networks() -> Networks:
    return load_networks(SOURCE, torch.device("cuda"))


@pytest.fixture(scope="module")
def anna(tmp_path_factory: pytest.TempPathFactory) -> Avatar:
    store = tmp_path_factory.mktemp("avatars")
    face, picture = cv2.imread(str(FACES))[:, :256], np.full((SIZE[1], SIZE[0], 3), 128, np.uint8)
    picture[400 : 400 + SIZE[0]] = cv2.resize(face, (SIZE[0], SIZE[0]))
    cv2.imwrite(str(store / "anna.png"), picture)
    register_file("anna", store / "anna.png", store, weights=f"random:{SOURCE.seed}")
    return load_avatar(store / "anna")


class Session:
    """Of a slot; what it hears is noise of its own."""

    def __init__(self, engine: DittoEngine, slot: int, avatar: Avatar) -> None:
        assert engine.pictures is not None
        self._slot, self._random = slot, np.random.default_rng(slot)
        engine.open(slot, avatar, size=SIZE, seed=slot, index=0)
        self.surfaces = engine.pictures.surfaces(slot, 2)
        self._delay = engine.spec.lookahead // engine.spec.hop
        self._next = 0

    def due(self) -> Due:
        """The next tick, the first time with all before it that shows nothing."""
        count = 1 if self._next else self._delay + 1
        audio = [
            replace(tick(index), heard=self._random.normal(0, 0.1, 640).astype(np.float32), speech=True)
            for index in range(self._next, self._next + count)
        ]
        self._next += count
        return Due(self._slot, audio[-1], True, self.surfaces[0], tuple(audio[:-1]))

    def picture(self) -> NDArray[np.uint8]:
        self.surfaces[0].wait()
        return self.surfaces[0].buffer.copy()


@contextmanager
def waiting_is_an_error() -> Generator[None]:
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_on_a_card_nothing_waits_while_one_speaks_and_another_comes_and_goes(
    networks: Networks, anna: Avatar
) -> None:
    engine = DittoEngine(networks, source=SOURCE, shape=shape_of(LIVE), slots=4)
    engine.warm()
    there = Session(engine, 0, anna)
    guest = Session(engine, 1, anna)
    for _ in range(6):
        engine.step([there.due(), guest.due()])
    before = there.picture()
    engine.close(1)
    torch.cuda.synchronize()
    with waiting_is_an_error():
        guest = Session(engine, 1, anna)
        for _ in range(11):
            engine.step([there.due(), guest.due()])
        engine.close(1)
        engine.step([there.due()])
    assert not np.array_equal(there.picture(), before)


def test_on_a_card_graphs_draw_what_their_steps_draw(networks: Networks, anna: Avatar) -> None:
    drawn = list[list[NDArray[np.uint8]]]()
    for eager in (False, True):
        engine = DittoEngine(replace(networks, eager=eager), source=SOURCE, shape=shape_of(LIVE), slots=2)
        engine.warm()
        session = Session(engine, 0, anna)
        drawn.append([])
        for _ in range(12):
            engine.step([session.due()])
            drawn[-1].append(session.picture())
    assert all(np.array_equal(one, other) for one, other in zip(*drawn, strict=True))
    assert not np.array_equal(drawn[0][0], drawn[0][-1])
