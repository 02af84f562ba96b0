import struct
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.sound import byte_pieces, cuts
from visavis.stream.errors import AudioError
from visavis.stream.pcm import PcmReader, from_float, to_float


def chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) & 1)


def fmt(*, kind: int = 1, channels: int = 1, rate: int = 22_050, bits: int = 16, more: bytes = b"") -> bytes:
    frame = channels * bits // 8
    return chunk(b"fmt ", struct.pack("<HHIIHH", kind, channels, rate, rate * frame, frame, bits) + more)


def wav(*chunks: bytes, pcm: bytes, size: int = 0xFFFFFFFF) -> bytes:
    return b"RIFF\xff\xff\xff\xffWAVE" + b"".join(chunks) + b"data" + struct.pack("<I", size) + pcm


def read(parts: Iterable[bytes]) -> tuple[bytes, PcmReader]:
    reader = PcmReader()
    return b"".join(reader.feed(part) for part in parts), reader


def outcome(parts: Iterable[bytes]) -> tuple[bytes, int | None] | None:
    """Samples and rate, or None when the stream was refused."""
    try:
        samples, reader = read(parts)
    except AudioError:
        return None
    return samples, reader.rate


headers = st.lists(
    st.builds(chunk, st.sampled_from([b"LIST", b"fact", b"bext", b"JUNK"]), st.binary(max_size=40)),
    max_size=3,
)
damaged = st.builds(
    lambda start, rest: start + rest,
    st.sampled_from(
        [
            *[b"", b"R", b"RIF", b"RIFF", b"RIFF....AVI ", b"RIFF....WAVE", b"RIFF....WAVEfmt "],
            *[b"RIFF....WAVE" + fmt(), b"RIFF....WAVE" + fmt()[:20], b"RIFF....WAVEfmt \4\0\0\0"],
            *[b"RIFF....WAVE" + fmt(channels=2), b"RIFF....WAVELIST\xff\xff\xff\x7f", wav(pcm=b"")],
        ]
    ),
    st.binary(max_size=80),
)


@given(st.binary(max_size=120), st.data())
def test_plain_samples_come_out_as_they_went_in_however_they_were_cut(
    pcm: bytes, data: st.DataObject
) -> None:
    stream = b"\x01\x00" + pcm
    samples, reader = read(byte_pieces(stream, data.draw(cuts(len(stream)))))
    assert samples == stream[: len(stream) & ~1]
    assert reader.rate is None


@given(headers, headers, st.binary(max_size=60), st.integers(8_000, 48_000), st.data())
def test_a_wav_header_is_read_and_skipped_however_it_was_cut(
    before: list[bytes], after: list[bytes], pcm: bytes, rate: int, data: st.DataObject
) -> None:
    stream = wav(*before, fmt(rate=rate), *after, pcm=pcm)
    samples, reader = read(byte_pieces(stream, data.draw(cuts(len(stream)))))
    assert samples == pcm[: len(pcm) & ~1]
    assert reader.rate == rate


def test_a_header_that_arrives_byte_by_byte_gives_the_same_samples() -> None:
    stream = wav(chunk(b"LIST", b"INFOodd"), fmt(more=b"\0\0"), pcm=b"abcdef")
    samples, reader = read(stream[at : at + 1] for at in range(len(stream)))
    assert (samples, reader.rate) == (b"abcdef", 22_050)


def test_every_cut_off_header_gives_nothing_and_waits() -> None:
    header = wav(fmt(), chunk(b"LIST", b"INFO"), pcm=b"")
    for length in range(len(header)):
        samples, reader = read([header[:length]])
        assert samples == b""
        assert reader.feed(header[length:] + b"ab") == b"ab"


@pytest.mark.parametrize("size", [0, 1, 4, 0x7FFFFFFF, 0xFFFFFFFF])
def test_the_length_in_the_data_chunk_is_not_believed(size: int) -> None:
    assert read([wav(fmt(), pcm=b"abcdef", size=size)])[0] == b"abcdef"


@given(damaged, st.data())
def test_garbage_is_taken_or_refused_the_same_way_however_it_was_cut(
    stream: bytes, data: st.DataObject
) -> None:
    assert outcome(byte_pieces(stream, data.draw(cuts(len(stream))))) == outcome([stream])


@pytest.mark.parametrize(
    ("stream", "expected"),
    [(b"RIFX1234WAVE", b"RIFX1234WAVE"), (b"RIFF1234AVI ", b"RIFF1234AVI "), (b"RIx", b"RI"), (b"x", b"")],
)
def test_what_only_looks_like_a_header_is_sound(stream: bytes, expected: bytes) -> None:
    assert read([stream])[0] == expected
    assert read(stream[at : at + 1] for at in range(len(stream)))[0] == expected


@pytest.mark.parametrize("start", [b"", b"ab", b"RIFF1234AVI ", wav(fmt(), pcm=b"ab"), wav(fmt(), pcm=b"")])
def test_a_header_is_only_skipped_at_the_very_start(start: bytes) -> None:
    _, reader = read([start])
    first = reader.feed(wav(fmt(), pcm=b"cd"))
    assert first == (wav(fmt(), pcm=b"cd") if start else b"cd")


@pytest.mark.parametrize(
    "header",
    [fmt(channels=2), fmt(bits=8), fmt(bits=24), fmt(kind=3, bits=32), fmt(kind=7, bits=8), fmt(kind=3)],
    ids=["stereo", "8 bits", "24 bits", "float", "mu-law", "half float"],
)
def test_a_wav_of_another_kind_is_refused_with_what_to_send(header: bytes) -> None:
    with pytest.raises(AudioError, match="send 16-bit mono PCM"):
        read([wav(header, pcm=b"ab")])


def test_the_extensible_kind_of_16_bit_mono_is_taken() -> None:
    assert read([wav(fmt(kind=0xFFFE, more=bytes(24)), pcm=b"ab")])[0] == b"ab"


def test_a_format_too_short_to_read_is_refused_however_it_was_cut() -> None:
    stream = wav(chunk(b"fmt ", b"\1\0\1\0"), pcm=b"ab")
    for parts in ([stream], [stream[at : at + 1] for at in range(len(stream))]):
        with pytest.raises(AudioError, match="damaged"):
            read(parts)


def test_a_header_longer_than_64_kib_is_refused_before_it_arrives() -> None:
    reader = PcmReader()
    with pytest.raises(AudioError, match="longer than 64 KiB; send plain s16le"):
        reader.feed(b"RIFF....WAVE" + fmt() + b"LIST" + struct.pack("<I", 1 << 16))


def test_a_header_of_just_64_kib_is_read() -> None:
    start = len(b"RIFF....WAVE" + fmt()) + 8
    stream = wav(fmt(), chunk(b"LIST", bytes((1 << 16) - start)), pcm=b"ab")
    assert read([stream])[0] == b"ab"
    assert read(stream[at : at + 5000] for at in range(0, len(stream), 5000))[0] == b"ab"


def test_every_sample_value_survives_the_way_to_floats_and_back() -> None:
    pcm = np.arange(-32768, 32768).astype("<i2").tobytes()
    floats = to_float(pcm)
    assert floats.dtype == np.float32
    assert (floats.min(), floats.max()) == (-1.0, 32767 / 32768)
    assert from_float(floats) == pcm


def test_floats_outside_the_range_are_clipped_and_those_not_finite_are_silent() -> None:
    loud = np.array([1.0, 1.5, 3e38, -1.0, -2.0, -3e38], np.float32)
    assert np.frombuffer(from_float(loud), "<i2").tolist() == [32767] * 3 + [-32768] * 3
    assert from_float(np.array([np.nan, np.inf, -np.inf], np.float32)) == bytes(6)


@given(arrays(np.float32, st.integers(0, 40), elements=st.floats(width=32)))
@example(np.array([-1.1754943508222875e-38], np.float32))
def test_any_floats_become_samples_within_half_a_step(samples: np.ndarray) -> None:
    back = to_float(from_float(samples))
    assert len(back) == len(samples)
    wanted = np.clip(np.where(np.isfinite(samples), samples, 0), -1, 32767 / 32768)
    assert np.all(np.abs(back - wanted) <= 0.5 / 32768 + 1e-9)
