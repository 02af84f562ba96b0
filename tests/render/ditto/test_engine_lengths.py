"""Every preset gives a frame for each tick of sound that has begun, and the last sample is still heard."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support import tiny
from visavis.render.clip import render_clip
from visavis.render.ditto.engine import DittoEngine
from visavis.render.ditto.presets import PRESETS
from visavis.render.ditto.windows import WindowShape
from visavis.render.engine import Crop, Due
from visavis.stream.media import AudioChunk
from visavis.stream.stage import pipeline_latency

EACH_PRESET = pytest.mark.parametrize("name", PRESETS)
SIZE = (512, 512)


class Watched(DittoEngine):
    """Remembers which frames it drew, and each picture."""

    def __init__(self, shape: WindowShape) -> None:
        super().__init__(networks=tiny.networks(), shape=shape, steps=4, slots=1)
        self.drawn: list[Crop] = []

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        crops = super().step(due)
        self.drawn += [crop for crop in crops if crop is not None]
        return crops


def spoken(samples: int, *, last: float = 0.1) -> Iterator[AudioChunk]:
    """`samples` at 16 kHz, as they are at 48 kHz; the last one is `last`."""
    sound = np.random.default_rng(5).normal(0, 0.1, 3 * samples).astype(np.float32)
    sound[-3:] = last
    yield AudioChunk("s", sound, 48_000)


def drawn(name: str, samples: int, out: Path, *, last: float = 0.1) -> list[NDArray[np.uint8]]:
    engine = Watched(WindowShape(*PRESETS[name]))
    done: list[int] = []
    clip = render_clip(
        engine, tiny.avatar(), spoken(samples, last=last), out, size=SIZE, seed=1, on_frame=done.append
    )
    assert clip.frames == done[-1] == len(engine.drawn)
    assert [crop.index for crop in engine.drawn] == list(range(clip.frames))
    return [crop.pixels for crop in engine.drawn]


@EACH_PRESET
@pytest.mark.parametrize("samples", [1, 640, 641, 12 * 640 - 1])
def test_as_many_frames_come_out_as_ticks_of_sound_begin(name: str, samples: int, tmp_path: Path) -> None:
    assert len(drawn(name, samples, tmp_path / "clip.mp4")) == -(-samples // 640)


@EACH_PRESET
def test_the_last_frame_hears_the_last_sample(name: str, tmp_path: Path) -> None:
    quiet, loud = (drawn(name, 7 * 640 + 1, tmp_path / "clip.mp4", last=last) for last in (0.0, 0.9))
    assert not np.array_equal(quiet[-1], loud[-1])


@pytest.mark.parametrize(
    ("name", "milliseconds"),
    [("low-latency", 240), ("balanced", 480), ("reference", 880), ("offline", 3200)],
)
def test_the_delay_of_a_preset_is_hop_fuse_and_look_ahead(name: str, milliseconds: int) -> None:
    assert 1000 * pipeline_latency([Watched(WindowShape(*PRESETS[name])).spec]) == milliseconds
