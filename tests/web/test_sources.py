import asyncio
import errno
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.front import WAV_HZ as RATE
from support.front import write_wav
from visavis.stream.errors import AudioError, SetupError, UsageError
from visavis.web import sources
from visavis.web.sources import FileSound, MicrophoneSound, Piece, list_devices, loudness, microphone_sound


async def test_a_file_comes_in_pieces_of_100_ms_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    samples = write_wav(tmp_path / "a.wav", 1.05)
    sound = FileSound(tmp_path / "a.wav")
    assert sound.rate == RATE
    assert sound.seconds == pytest.approx(1.05, abs=0.01)
    levels: list[float] = []
    pieces = [piece async for piece in sound.pieces(levels.append)]
    assert pieces[-1] == Piece(b"", last=True)
    assert {len(piece.pcm) for piece in pieces[:-2]} == {2 * RATE // 10}
    heard = np.frombuffer(b"".join(piece.pcm for piece in pieces), "<i2")
    np.testing.assert_allclose(heard, samples, atol=1)
    assert max(levels) == pytest.approx(8_000 / 32_768 / 2**0.5, rel=0.1)


def test_a_file_that_may_not_be_read_is_told_without_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path, _mode: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    (tmp_path / "a.wav").write_text("nonsense")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match=r"a\.wav cannot be read \(Permission denied\)"):
        FileSound(tmp_path / "a.wav")


def test_what_is_no_sound_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_text("nonsense")
    with pytest.raises(AudioError, match=r"a\.wav"):
        FileSound(tmp_path / "a.wav")


@dataclass
class Stream:
    callback: Callable[[np.ndarray, int, object, object], None]
    blocks: list[np.ndarray]
    open: bool = False

    def start(self) -> None:
        """A real one calls from a thread of its own."""
        self.open = True
        for block in self.blocks:
            self.callback(block.reshape(-1, 1), len(block), None, None)

    def close(self) -> None:
        self.open = False


@dataclass
class Library:
    """A stand-in for sounddevice."""

    supported: int = 24_000
    absent: bool = False
    blocks: list[np.ndarray] = field(default_factory=list[np.ndarray])
    streams: list[Stream] = field(default_factory=list[Stream])
    devices: list[dict[str, object]] = field(default_factory=list[dict[str, object]])

    def query_devices(self, device: int | str | None = None, kind: str | None = None) -> object:
        if kind is None:
            return self.devices
        if device == "nobody" or self.absent:
            raise ValueError("No input device matching 'nobody'")
        return {"name": "mic", "max_input_channels": 1, "default_samplerate": float(self.supported)}

    def check_input_settings(self, *, device: int | str | None, channels: int, samplerate: int) -> None:
        if samplerate != self.supported:
            raise ValueError("Invalid sample rate")

    def InputStream(self, *, samplerate: int, blocksize: int, callback: object, **_rest: object) -> Stream:
        assert blocksize == samplerate // 50
        assert callable(callback)
        self.streams.append(Stream(callback, self.blocks))
        return self.streams[-1]


async def test_a_microphone_gives_a_segment_for_each_utterance() -> None:
    quiet = [np.zeros(480, np.float32)] * 50
    loud = [(0.4 * np.sin(np.arange(480) / 5)).astype(np.float32)] * 30
    library = Library(blocks=quiet + loud + quiet + loud + quiet)
    microphone = MicrophoneSound(library, None)
    assert microphone.rate == 24_000
    assert microphone.seconds is None
    levels: list[float] = []
    heard: list[Piece] = []
    pieces = microphone.pieces(levels.append)
    async with asyncio.timeout(5):
        async for piece in pieces:
            heard.append(piece)
            if sum(piece.last for piece in heard) == 2:
                break
    await pieces.aclose()  # type: ignore[attr-defined]
    assert not library.streams[0].open
    spoken = sum(len(piece.pcm) for piece in heard) / 2 / 24_000
    assert 1.2 < spoken < 2.5
    assert max(levels) > 0.2


def test_a_microphone_that_cannot_do_the_usual_rate_is_used_at_its_own() -> None:
    assert MicrophoneSound(Library(supported=44_100), None).rate == 44_100
    with pytest.raises(AudioError, match="96000 Hz; choose another"):
        MicrophoneSound(Library(supported=96_000), None)


def test_an_unknown_microphone_is_told() -> None:
    with pytest.raises(UsageError, match="list them with --devices"):
        MicrophoneSound(Library(), "nobody")
    with pytest.raises(SetupError, match="has no microphone"):
        MicrophoneSound(Library(absent=True), None)


def test_microphones_are_listed_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(
        devices=[
            {"name": "speaker", "max_input_channels": 0, "default_samplerate": 48_000.0},
            {"name": "headset", "max_input_channels": 1, "default_samplerate": 44_100.0},
        ]
    )
    monkeypatch.setattr(sources, "sound_devices", lambda: library)
    assert list_devices() == "  1  headset  (44100 Hz)\n"
    library.devices.clear()
    with pytest.raises(SetupError, match="has no microphone"):
        list_devices()


def test_a_number_chooses_a_microphone_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[object] = []

    class Recording(Library):
        def query_devices(self, device: int | str | None = None, kind: str | None = None) -> object:
            chosen.append(device)
            return super().query_devices(device, kind)

    monkeypatch.setattr(sources, "sound_devices", Recording)
    microphone_sound("3")
    microphone_sound("headset")
    assert chosen == [3, "headset"]


class Missing(ModuleType):
    """An import hook's worth of trouble."""


@pytest.mark.parametrize(
    ("error", "advice"),
    [(ModuleNotFoundError("x"), "pip install sounddevice"), (OSError("x"), "apt install libportaudio2")],
)
def test_what_the_microphone_lacks_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, error: Exception, advice: str
) -> None:
    def fail(_name: str) -> ModuleType:
        raise error

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr("importlib.import_module", fail)
    with pytest.raises(SetupError, match=advice):
        sources.sound_devices()


def test_loudness_is_the_root_of_the_mean_square() -> None:
    assert loudness(np.array([0.5, -0.5], np.float32)) == pytest.approx(0.5)
    assert loudness(np.zeros(0, np.float32)) == 0
