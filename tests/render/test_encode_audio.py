from collections.abc import Iterable

import numpy as np
import pytest
from av.audio.codeccontext import AudioCodecContext
from av.audio.frame import AudioFrame
from av.error import FFmpegError
from av.packet import Packet as AvPacket
from numpy.typing import NDArray
from visavis.render.encode_audio import PRE_SKIP_SAMPLES, OpusEncoder
from visavis.stream.errors import AudioError, EncoderError

TICK = 1920
LOWEST_CELT_ONLY = 16


def voice(ticks: int) -> NDArray[np.float32]:
    """A buzz with gliding pitch, breath and syllables: enough like speech for a speech codec."""
    t = np.arange(ticks * TICK) / 48_000
    pitch = 2 * np.pi * np.cumsum(130 + 25 * np.sin(2 * np.pi * 0.7 * t)) / 48_000
    buzz = sum(np.sin(n * pitch) / n for n in range(1, 25))
    breath = np.random.default_rng(2).normal(0, 0.03, len(t))
    return (0.15 * (buzz + breath) * (0.55 + 0.45 * np.sin(2 * np.pi * 3.1 * t))).astype(np.float32)


def encode(samples: NDArray[np.float32], encoder: OpusEncoder | None = None) -> list[bytes]:
    encoder = encoder or OpusEncoder()
    return [packet for tick in samples.reshape(-1, TICK) for packet in encoder.encode(tick)]


def decode(packets: Iterable[bytes]) -> NDArray[np.float32]:
    decoder = AudioCodecContext.create("libopus", "r")
    decoder.sample_rate, decoder.layout = 48_000, "mono"
    frames = [frame for packet in packets for frame in decoder.decode(AvPacket(packet))]
    assert {frame.samples for frame in frames} == {960}
    return np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames]).astype(np.float32) / 32768


def config(packet: bytes) -> int:
    return packet[0] >> 3


def band(samples: NDArray[np.float32], low_hz: int = 300, high_hz: int = 3000) -> NDArray[np.float64]:
    """The part of `samples` where a speech codec keeps the waveform."""
    spectrum = np.fft.rfft(samples)
    frequency = np.fft.rfftfreq(len(samples), 1 / 48_000)
    spectrum[(frequency < low_hz) | (frequency > high_hz)] = 0
    return np.fft.irfft(spectrum, len(samples))


def lag(first: NDArray[np.float32], second: NDArray[np.float32]) -> int:
    """Samples by which `second` is behind `first`."""
    size = 2 * len(first)
    cross = np.conj(np.fft.rfft(band(first), size)) * np.fft.rfft(band(second), size)
    return int(np.argmax(np.fft.irfft(cross)[:4800]))


def test_every_tick_gives_two_packets_of_20_ms_mono() -> None:
    packets = encode(voice(10))
    assert len(packets) == 20
    for packet in packets:
        assert packet[0] & 0b111 == 0, "mono, one frame a packet"
        assert config(packet) in (11, 13, 15, 19, 23, 27, 31), "20 ms"


def test_decoded_sound_is_behind_by_the_pre_skip_and_stays_there() -> None:
    samples = voice(150)
    heard = decode(encode(samples))
    assert len(heard) == len(samples)
    for start in range(0, len(samples) - 48_000, 48_000):
        part = slice(start, start + 48_000)
        assert lag(samples[part], heard[part]) == pytest.approx(PRE_SKIP_SAMPLES, abs=5)


def test_pre_skip_is_what_the_library_declares() -> None:
    context = AudioCodecContext.create("libopus", "w")
    context.sample_rate, context.layout, context.format = 48_000, "mono", "flt"
    context.options = {"application": "voip"}
    context.open()
    header = context.extradata
    assert header is not None
    assert int.from_bytes(header[10:12], "little") == PRE_SKIP_SAMPLES


def test_decoded_speech_resembles_the_original() -> None:
    samples = voice(100)
    heard = decode(encode(samples))
    aligned, original = heard[PRE_SKIP_SAMPLES:], samples[:-PRE_SKIP_SAMPLES]
    assert np.corrcoef(band(aligned), band(original))[0, 1] > 0.8
    assert np.std(aligned) == pytest.approx(np.std(original), rel=0.15)


def test_speech_packets_carry_the_one_before_for_repair() -> None:
    packets = encode(voice(50))[10:]
    speech = [packet for packet in packets if config(packet) < LOWEST_CELT_ONLY]
    redundant = [packet for packet in speech if packet[1] >> 6 & 1]
    assert len(speech) > 0.9 * len(packets)
    assert len(redundant) > 0.5 * len(speech)


def test_silence_stays_a_stream_of_valid_packets() -> None:
    silence = np.zeros(TICK * 50, np.float32)
    packets = encode(np.concatenate([voice(25), silence]))
    assert all(len(packet) > 2 for packet in packets), "one or two bytes would be a gap in the stream"
    assert np.abs(decode(packets)[-TICK * 25 :]).max() < 1e-3


def test_rate_fits_a_voice_call() -> None:
    packets = encode(voice(100))
    assert 25_000 < sum(map(len, packets)) * 8 / 4 < 48_000


def test_sessions_do_not_hear_each_other() -> None:
    samples = voice(20)
    alone = encode(samples)
    first, second = OpusEncoder(), OpusEncoder()
    beside: list[bytes] = []
    for index, tick in enumerate(samples.reshape(-1, TICK)):
        beside += first.encode(tick)
        second.encode(np.full(TICK, 0.01 * index, np.float32))
    assert beside == alone


def test_a_view_with_steps_is_encoded_like_its_copy() -> None:
    stereo = np.repeat(voice(4)[:, None], 2, axis=1)
    encoder = OpusEncoder()
    ticks = stereo[:, 0].reshape(-1, TICK)
    assert [packet for tick in ticks for packet in encoder.encode(tick)] == encode(voice(4))


@pytest.mark.parametrize("shape", [(1919,), (960,), (1920, 2), (0,)])
def test_anything_but_one_tick_of_mono_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(AudioError, match="1920 samples"):
        OpusEncoder().encode(np.zeros(shape, np.float32))


class LostContext:
    """Stands for a codec that fails or falls behind in mid-stream, which libopus cannot be made to do."""

    def __init__(self, *, fails: bool) -> None:
        self._fails = fails

    def encode(self, frame: AudioFrame) -> list[AvPacket]:
        if self._fails:
            raise FFmpegError(5, "input/output error")
        return []


@pytest.mark.parametrize(
    ("fails", "message"), [(True, "libopus stopped"), (False, "0 packets")], ids=["fails", "falls behind"]
)
def test_a_failure_in_mid_stream_is_an_encoder_error(
    monkeypatch: pytest.MonkeyPatch, fails: bool, message: str
) -> None:
    encoder = OpusEncoder()
    monkeypatch.setattr(encoder, "_context", LostContext(fails=fails))
    with pytest.raises(EncoderError, match=message):
        encoder.encode(np.zeros(TICK, np.float32))
