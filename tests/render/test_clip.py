import resource
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from support.pattern import BrokenEngine, PatternEngine, PictureEngine, matrix, picture, read_luma
from visavis.render.avatar import find_avatar
from visavis.render.clip import Clip, render_clip
from visavis.render.color import color_space, to_yuv
from visavis.render.engine import Crop, Due
from visavis.render.rig.engine import RigEngine
from visavis.stream.clock import FEATURE_HOP
from visavis.stream.errors import AudioError, UsageError
from visavis.stream.media import AudioChunk
from visavis.stream.visemes import Cue

SMALL, HD = (512, 512), (720, 1280)
TICK = 1920


@dataclass(frozen=True, slots=True)
class Played:
    """A clip as a player sees it: luma planes, their seconds, and the sound at 48 kHz."""

    luma: list[NDArray[np.uint8]]
    times: list[float]
    sound: NDArray[np.float32]


def beeps(samples: int, *, every: int = 25, rate: int = 48_000) -> NDArray[np.float32]:
    """A beep of half a tick at the start of each `every`th tick, first of tick 5."""
    sound = np.zeros(samples, np.float32)
    hop = rate // 25
    tone = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(hop // 2) / rate)
    for start in range(hop * 5, samples, hop * every):
        sound[start : start + hop // 2] = tone[: samples - start]
    return sound


def chunks(sound: NDArray[np.float32], *, size: int = 7001, rate: int = 48_000) -> Iterator[AudioChunk]:
    for start in range(0, len(sound), size):
        yield AudioChunk("s", sound[start : start + size], rate)


def make(
    out: Path,
    source: Iterator[AudioChunk],
    *,
    engine: PatternEngine | None = None,
    size: tuple[int, int] = SMALL,
    seen: list[int] | None = None,
) -> Clip:
    return render_clip(
        engine or PatternEngine(),
        find_avatar("ruby"),
        source,
        out,
        size=size,
        seed=3,
        on_frame=(seen if seen is not None else []).append,
    )


def play(path: Path) -> Played:
    luma: list[NDArray[np.uint8]] = []
    times: list[float] = []
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            luma.append(frame.to_ndarray()[: frame.height])
            times.append(frame.time)
    with av.open(str(path)) as container:
        frames = list(container.decode(audio=0))
    assert frames[0].time == 0
    return Played(luma, times, np.concatenate([frame.to_ndarray()[0] for frame in frames]))


@pytest.mark.parametrize("samples", [1, 1919, 1920, 1921, 48_000, 48_001])
def test_frames_are_just_enough_for_the_sound(tmp_path: Path, samples: int) -> None:
    clip = make(tmp_path / "a.mp4", chunks(np.full(samples, 0.1, np.float32)))
    assert clip == Clip(frames=-(-samples // TICK), samples=samples)
    assert len(play(tmp_path / "a.mp4").luma) == clip.frames
    assert clip.audio_s == samples / 48_000
    assert clip.video_s == clip.frames / 25


def test_an_engine_of_pictures_makes_the_clip_that_one_of_crops_does(tmp_path: Path) -> None:
    engine = PictureEngine()
    clip = make(tmp_path / "pictures.mp4", chunks(beeps(60_000)), engine=engine)
    assert clip == make(tmp_path / "crops.mp4", chunks(beeps(60_000)))
    seen = [
        [read_luma(luma) for luma in play(tmp_path / name).luma] for name in ("pictures.mp4", "crops.mp4")
    ]
    assert seen[0] == seen[1]
    assert any(flash for _, flash in seen[0])
    assert not engine.given


def test_sound_and_picture_last_equally_long(tmp_path: Path) -> None:
    clip = make(tmp_path / "a.mp4", chunks(beeps(100_000)))
    with av.open(str(tmp_path / "a.mp4")) as container:
        video, audio = container.streams.video[0], container.streams.audio[0]
        for stream in (video, audio):
            assert stream.duration is not None
            assert stream.time_base is not None
            assert stream.start_time == 0
            assert float(stream.duration * stream.time_base) == pytest.approx(clip.frames / 25, abs=1e-3)
        assert video.average_rate == 25
    assert len(play(tmp_path / "a.mp4").sound) == pytest.approx(clip.frames * TICK, abs=1024)


class FarSighted(PatternEngine):
    """Hears four seconds more than it draws."""

    AHEAD = 100

    def __init__(self) -> None:
        super().__init__()
        self.spec = replace(self.spec, lookahead=self.AHEAD * FEATURE_HOP)

    def _hear(self, due: Due) -> Crop | None:
        loud = self.loud[due.slot]
        for tick in due.ticks:
            loud[tick.index] = bool(np.sqrt(np.mean(np.square(tick.heard))) > 0.05)
        index = due.audio.index - self.AHEAD
        flash = loud.pop(index, False)
        return Crop(index, picture(index, flash), matrix()) if due.draw else None


def test_an_engine_that_hears_seconds_ahead_misses_no_sound(tmp_path: Path) -> None:
    clip = make(tmp_path / "a.mp4", chunks(beeps(48_000 * 8)), engine=FarSighted())
    pictures = [read_luma(luma) for luma in play(tmp_path / "a.mp4").luma]
    assert clip == Clip(frames=200, samples=48_000 * 8)
    assert [index for index, flash in pictures if flash] == [5, 30, 55, 80, 105, 130, 155, 180]


def test_every_frame_is_there_in_order_and_flashes_with_its_beep(tmp_path: Path) -> None:
    make(tmp_path / "a.mp4", chunks(beeps(48_000 * 4)))
    played = play(tmp_path / "a.mp4")
    pictures = [read_luma(luma) for luma in played.luma]
    assert [index for index, _ in pictures] == list(range(100))
    assert [time * 25 for time in played.times] == pytest.approx(list(range(100)))
    assert [index for index, flash in pictures if flash] == [5, 30, 55, 80]
    envelope = np.abs(played.sound)
    for tick in (5, 30, 55, 80):
        around = envelope[(tick - 2) * TICK : (tick + 3) * TICK]
        onset = int(np.argmax(around > 0.25)) - 2 * TICK
        assert abs(onset) < 96, "2 ms"


def test_the_cut_of_the_sound_changes_nothing(tmp_path: Path) -> None:
    sound = beeps(60_000)
    make(tmp_path / "a.mp4", chunks(sound, size=60_000))
    make(tmp_path / "b.mp4", chunks(sound, size=313))
    first, second = play(tmp_path / "a.mp4"), play(tmp_path / "b.mp4")
    assert [read_luma(luma) for luma in first.luma] == [read_luma(luma) for luma in second.luma]
    assert (first.sound == second.sound).all()


def test_other_rates_are_resampled_to_the_same_length(tmp_path: Path) -> None:
    clip = make(tmp_path / "a.mp4", chunks(beeps(16_000 * 2, rate=16_000), rate=16_000))
    assert clip.frames == 50
    assert [index for index, flash in map(read_luma, play(tmp_path / "a.mp4").luma) if flash] == [5, 30]


class ListeningEngine(PatternEngine):
    """Notes the mouth shapes that come with the sound."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[int] = []

    def step(self, due: Sequence[Due]) -> list[Crop | None]:
        self.shapes += [int(row) for one in due for tick in one.ticks for row in tick.rows.argmax(axis=1)]
        return super().step(due)


def test_mouth_shapes_reach_the_engine_with_their_sound(tmp_path: Path) -> None:
    sound = np.full(24_000, 0.1, np.float32)
    source = [AudioChunk("s", sound, 24_000, (Cue(3, 0, 12_000), Cue(5, 12_000, 24_000)))]
    engine = ListeningEngine()
    make(tmp_path / "a.mp4", iter(source), engine=engine)
    assert engine.shapes[:100] == [3] * 50 + [5] * 50


def test_progress_counts_every_frame(tmp_path: Path) -> None:
    seen: list[int] = []
    clip = make(tmp_path / "a.mp4", chunks(beeps(20_000)), seen=seen)
    assert seen == list(range(1, clip.frames + 1))


def test_the_index_stands_before_the_media(tmp_path: Path) -> None:
    make(tmp_path / "a.mp4", chunks(beeps(20_000)))
    raw = (tmp_path / "a.mp4").read_bytes()
    assert 0 < raw.index(b"moov") < raw.index(b"mdat")


@pytest.mark.parametrize("size", [SMALL, HD], ids=["bt601", "bt709"])
def test_colour_is_declared_and_true(tmp_path: Path, size: tuple[int, int]) -> None:
    make(tmp_path / "a.mp4", chunks(beeps(20_000)), size=size)
    color = color_space(*size)
    plate = find_avatar("ruby").plate(size).astype(np.float64)
    with av.open(str(tmp_path / "a.mp4")) as container:
        frame = next(container.decode(video=0))
    assert (frame.colorspace, frame.color_range) == (color.matrix, color.range)
    assert (frame.color_primaries, frame.color_trc) == (color.primaries, color.transfer)
    want = to_yuv(plate, color)[..., 0]
    far = slice(size[1] // 2, None)
    assert frame.to_ndarray()[: size[1]][far].mean() == pytest.approx(want[far].mean(), abs=0.5)


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="needs the ffprobe program")
def test_another_player_agrees(tmp_path: Path) -> None:
    make(tmp_path / "a.mp4", chunks(beeps(96_000)), size=HD)
    entries = (
        "stream=codec_name,profile,pix_fmt,color_space,color_range,r_frame_rate,nb_read_frames,sample_rate"
    )
    command = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", entries, "-of", "csv=p=0"]
    found = subprocess.run([*command, str(tmp_path / "a.mp4")], check=True, capture_output=True, text=True)
    video, audio = (line.split(",") for line in found.stdout.split())
    assert video == ["h264", "High", "yuv420p", "tv", "bt709", "25/1", "50"]
    assert audio[:3] == ["aac", "LC", "48000"]


def test_an_older_clip_is_replaced_whole(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"old")
    make(tmp_path / "a.mp4", chunks(beeps(5_000)))
    assert len(play(tmp_path / "a.mp4").luma) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


@pytest.mark.parametrize("source", [[], [AudioChunk("s", np.zeros(0, np.float32), 48_000)]])
def test_no_sound_makes_no_clip(tmp_path: Path, source: list[AudioChunk]) -> None:
    with pytest.raises(AudioError, match="no sound"):
        make(tmp_path / "a.mp4", iter(source))
    assert not list(tmp_path.iterdir())


def test_a_failure_on_the_way_leaves_the_older_clip_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"old")
    engine = BrokenEngine()
    with pytest.raises(RuntimeError, match="the pattern broke"):
        make(tmp_path / "a.mp4", chunks(beeps(48_000)), engine=engine)
    assert (tmp_path / "a.mp4").read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1
    assert engine.log[-1] == ("close", 0)


def test_a_damaged_source_leaves_nothing(tmp_path: Path) -> None:
    def source() -> Iterator[AudioChunk]:
        yield from chunks(beeps(200_000))
        raise AudioError("the file ends in the middle")

    with pytest.raises(AudioError, match="in the middle"):
        make(tmp_path / "a.mp4", source())
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"missing/a\.mp4 cannot be written: No such file"):
        make(tmp_path / "missing" / "a.mp4", chunks(beeps(5_000)))


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, before[1]))
    try:
        with pytest.raises(UsageError, match="cannot be written"):
            make(tmp_path / "a.mp4", chunks(beeps(96_000)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_a_clip_can_be_made_again_and_another_seed_moves_otherwise(tmp_path: Path) -> None:
    engine = RigEngine()
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        render_clip(
            engine,
            find_avatar("ruby"),
            chunks(beeps(20_000)),
            tmp_path / name,
            size=SMALL,
            seed=seed,
            on_frame=lambda _: None,
        )
    first, again, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == again
    assert first != other
