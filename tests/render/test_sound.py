import wave
from pathlib import Path

import av
import numpy as np
import pytest
from av.audio.frame import AudioFrame
from numpy.typing import NDArray
from visavis.render import sound
from visavis.render.sound import SoundFile
from visavis.stream.errors import AudioError
from visavis.stream.media import AudioChunk

TONE_HZ = 440


def tone(seconds: float, rate: int, *, channels: int = 1) -> NDArray[np.float32]:
    """(C, N) float32; the second channel, if any, is silent."""
    samples = np.zeros((channels, int(seconds * rate)), np.float32)
    samples[0] = 0.5 * np.sin(2 * np.pi * TONE_HZ * np.arange(samples.shape[1]) / rate)
    return samples


def written(path: Path, codec: str, samples: NDArray[np.float32], rate: int) -> Path:
    layout = "mono" if len(samples) == 1 else "stereo"
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate, layout=layout)
        frame = AudioFrame.from_ndarray(samples, "fltp", layout)
        frame.sample_rate = rate
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def wav(path: Path, samples: NDArray[np.float32], rate: int) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(len(samples))
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((samples.T * 32767).astype("<i2").tobytes())
    return path


def read(path: Path) -> tuple[list[AudioChunk], NDArray[np.float32]]:
    with SoundFile(path) as file:
        chunks = list(file.chunks("s"))
    return chunks, np.concatenate([chunk.samples for chunk in chunks])


def frequency(samples: NDArray[np.float32], rate: int) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(samples))) * rate / len(samples))


@pytest.mark.parametrize(
    ("name", "codec", "rate"),
    [
        ("a.wav", "pcm_s16le", 16_000),
        ("a.wav", "pcm_f32le", 44_100),
        ("a.flac", "flac", 24_000),
        ("a.mp3", "libmp3lame", 44_100),
        ("a.ogg", "libopus", 48_000),
        ("a.m4a", "aac", 32_000),
        ("a.mka", "pcm_s24le", 8_000),
    ],
)
def test_usual_formats_become_mono_chunks_at_their_own_rate(
    tmp_path: Path, name: str, codec: str, rate: int
) -> None:
    chunks, samples = read(written(tmp_path / name, codec, tone(1.5, rate), rate))
    assert {(chunk.segment, chunk.rate, chunk.cues) for chunk in chunks} == {("s", rate, ())}
    assert samples.dtype == np.float32
    assert len(samples) == pytest.approx(1.5 * rate, abs=0.06 * rate)
    assert frequency(samples, rate) == pytest.approx(TONE_HZ, abs=2)
    assert np.sqrt(np.mean(samples**2)) == pytest.approx(0.354, rel=0.1)


def test_a_wav_keeps_every_sample(tmp_path: Path) -> None:
    source = tone(1.2345, 22_050)
    _, samples = read(wav(tmp_path / "a.wav", source, 22_050))
    np.testing.assert_allclose(samples, source[0], atol=1e-4)


@pytest.mark.parametrize("rate", [96_000, 4_000])
def test_rates_that_sessions_do_not_take_become_48_khz(tmp_path: Path, rate: int) -> None:
    chunks, samples = read(wav(tmp_path / "a.wav", tone(1, rate), rate))
    assert {chunk.rate for chunk in chunks} == {48_000}
    assert len(samples) == pytest.approx(48_000, abs=100)
    assert frequency(samples, 48_000) == pytest.approx(TONE_HZ, abs=2)


def test_stereo_is_mixed_down(tmp_path: Path) -> None:
    source = tone(1, 48_000, channels=2)
    _, samples = read(wav(tmp_path / "a.wav", source, 48_000))
    np.testing.assert_allclose(samples, source.mean(axis=0), atol=1e-4)


def test_loud_stereo_does_not_clip(tmp_path: Path) -> None:
    both = np.repeat(1.9 * tone(1, 48_000), 2, axis=0)
    _, samples = read(wav(tmp_path / "a.wav", both, 48_000))
    np.testing.assert_allclose(samples, both[0], atol=1e-4)


def test_the_sound_of_a_video_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", 25)
        video.width, video.height, video.pix_fmt = 64, 64, "yuv420p"
        audio = container.add_stream("aac", 48_000, layout="mono")
        container.mux(video.encode(av.VideoFrame(64, 64, "yuv420p")))
        frame = AudioFrame.from_ndarray(tone(1, 48_000), "fltp", "mono")
        frame.sample_rate = 48_000
        container.mux(audio.encode(frame))
        container.mux([*video.encode(None), *audio.encode(None)])
    _, samples = read(path)
    assert frequency(samples, 48_000) == pytest.approx(TONE_HZ, abs=2)


def test_samples_stay_finite_and_within_bounds(tmp_path: Path) -> None:
    source = tone(0.5, 48_000)
    source[0, 100:104] = np.nan, np.inf, -np.inf, 3.0
    _, samples = read(written(tmp_path / "a.wav", "pcm_f32le", source, 48_000))
    assert samples[101:104].tolist() == [1, -1, 1]
    assert np.abs(samples).max() <= 1


def test_length_is_known_before_reading(tmp_path: Path) -> None:
    with SoundFile(wav(tmp_path / "a.wav", tone(2.5, 8_000), 8_000)) as file:
        assert file.seconds == pytest.approx(2.5)


def test_long_files_come_in_small_chunks(tmp_path: Path) -> None:
    chunks, _ = read(wav(tmp_path / "a.wav", tone(20, 16_000), 16_000))
    assert max(len(chunk.samples) for chunk in chunks) <= 16_000


def test_damaged_packets_are_left_out_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "a.m4a", "aac", tone(4, 16_000), 16_000)
    raw = bytearray(path.read_bytes())
    middle = len(raw) // 2
    raw[middle : middle + 3000] = bytes([255]) * 3000
    path.write_bytes(raw)
    with SoundFile(path) as file:
        samples = np.concatenate([chunk.samples for chunk in file.chunks("s")])
        assert file.damaged > 0
    assert 8_000 < len(samples) < 64_000


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.wav", b"", "no sound file"),
        ("a.mp3", b"this is a letter to you", "no sound file"),
        ("a.wav", b"RIFF\x24\x00\x00\x00WAVEfmt ", "no sound file|no known format|no sound"),
    ],
    ids=["empty", "text", "only a header"],
)
def test_what_is_no_sound_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(AudioError, match=message) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_a_picture_has_no_sound(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", 25)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        container.mux(stream.encode(av.VideoFrame(64, 64, "yuv420p")))
        container.mux(stream.encode(None))
    with pytest.raises(AudioError, match="has no sound"):
        SoundFile(path)


def test_a_file_without_a_single_sample_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="no sound that can be decoded"):
        read(wav(tmp_path / "a.wav", np.zeros((1, 0), np.float32), 48_000))


def test_a_missing_file_or_a_folder_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.wav", tmp_path):
        with pytest.raises(AudioError, match="there is no file"):
            SoundFile(path)


def test_a_name_that_looks_like_an_address_is_only_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "http:").mkdir()
    wav(tmp_path / "http:" / "a.wav", tone(0.2, 16_000), 16_000)
    _, samples = read(Path("http://a.wav"))
    assert len(samples) == 3_200


def test_a_playlist_opens_nothing_on_the_network(tmp_path: Path) -> None:
    path = tmp_path / "a.m3u8"
    path.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n")
    with pytest.raises(AudioError):
        read(path)


def test_more_than_two_hours_are_refused_before_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sound, "MAX_SECONDS", 1)
    path = wav(tmp_path / "a.wav", tone(1.5, 8_000), 8_000)
    with pytest.raises(AudioError, match="longer than two hours"):
        SoundFile(path)


def test_more_than_two_hours_are_refused_when_the_file_hides_its_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wav(tmp_path / "a.wav", tone(1.5, 8_000), 8_000)
    with SoundFile(path) as file:
        monkeypatch.setattr(sound, "MAX_SECONDS", 1)
        with pytest.raises(AudioError, match="longer than two hours"):
            list(file.chunks("s"))
