"""Speech as it comes out of a telephone, a call or a podcast: coded, decoded and put back in its place."""

import io

import av
import numpy as np
from numpy.typing import NDArray

RATE = 16000
F32 = NDArray[np.float32]

KINDS = (
    ("libopus", "ogg", 48000, 8000),
    ("libopus", "ogg", 48000, 12000),
    ("libopus", "ogg", 48000, 16000),
    ("libopus", "ogg", 48000, 24000),
    ("libopus", "ogg", 48000, 32000),
    ("pcm_mulaw", "wav", 8000, 64000),
    ("libmp3lame", "mp3", 16000, 24000),
    ("libmp3lame", "mp3", 16000, 48000),
)
"""Encoder, container, its sample rate, bits a second."""
_LATEST = 4000


Kind = tuple[str, str, int, int]


def coded(samples: F32, kind: Kind) -> F32:
    """`samples` (N,) at 16 kHz after coding by one of `KINDS`, as long and as early as before."""
    decoded = decode(encode(samples, kind))
    return placed(decoded, lateness(decoded, samples), len(samples))


def encode(samples: F32, kind: Kind) -> bytes:
    codec, container, rate, bit_rate = kind
    target = io.BytesIO()
    with av.open(target, "w", format=container) as out:
        stream = out.add_stream(codec, rate=rate)
        stream.codec_context.layout = "mono"
        stream.codec_context.bit_rate = bit_rate
        wanted = stream.codec_context.codec.audio_formats
        resampler = av.AudioResampler(wanted[0].name if wanted else "s16", "mono", rate)
        whole = np.pad(samples, (0, RATE // 4))
        frame = av.AudioFrame.from_ndarray(
            (whole * 32767).clip(-32768, 32767).astype(np.int16)[None], "s16", "mono"
        )
        frame.sample_rate = RATE
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            out.mux(stream.encode(part))
        out.mux(stream.encode(None))
    return target.getvalue()


def decode(stored: bytes) -> F32:
    """The sound (M,) at 16 kHz of a coded file, as late and as long as its codec makes it."""
    back = av.AudioResampler("flt", "mono", RATE)
    with av.open(io.BytesIO(stored)) as sound:
        parts = [part for frame in sound.decode(audio=0) for part in back.resample(frame)]
    decoded = [part.to_ndarray()[0] for part in [*parts, *back.resample(None)]]
    return np.concatenate(decoded).astype(np.float32)


def lateness(decoded: F32, samples: F32) -> int:
    """By how many samples `decoded` comes after `samples`, which it is most like."""
    size = 1 << (len(samples) + 2 * _LATEST).bit_length()
    likeness = np.fft.irfft(
        np.fft.rfft(decoded[: len(samples) + _LATEST], size) * np.fft.rfft(samples, size).conj()
    )
    return int(np.argmax(np.concatenate([likeness[-_LATEST:], likeness[:_LATEST]]))) - _LATEST


def placed(decoded: F32, late: int, count: int) -> F32:
    """`count` samples of `decoded` from sample `late` on."""
    moved = decoded[late:] if late >= 0 else np.pad(decoded, (-late, 0))
    return np.pad(moved, (0, max(count - len(moved), 0)))[:count]
