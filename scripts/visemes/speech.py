"""Speech whose mouth shapes are known, as shards: files of utterances."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray
from visavis.stream.visemes import cues_of

from . import codecs

RATE = 16000
VOICE_RATE = 24000
UNIT_SAMPLES = 600
"""Both synthesisers speak at 24 kHz and count durations in 25 ms."""
PAD = "_"
HELD_OUT = frozenset({"af_nova", "am_liam", "bf_lily", "bm_daniel"})
"""Kokoro voices, two of each sex and of each accent, that no training ever hears."""
F32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Utterance:
    """`samples` (N,) float32 at 16 kHz; `cues` (K, 3) int32: viseme, first sample, end."""

    samples: F32
    cues: NDArray[np.int32]


def utterance(wave: F32, phonemes: list[str], units: NDArray[np.generic]) -> Utterance:
    """`wave` at 24 kHz whose `phonemes`, with a pad before and behind, last `units` of 25 ms."""
    samples = [int(unit) * UNIT_SAMPLES for unit in units.ravel()]
    cues = cues_of([PAD, *phonemes, PAD], samples)
    at = [(cue.viseme, cue.start * RATE // VOICE_RATE, cue.end * RATE // VOICE_RATE) for cue in cues]
    sound = soxr.resample(wave.ravel(), VOICE_RATE, RATE).astype(np.float32)
    return Utterance(sound, np.array(at, np.int32))


def save(target: Path, said: list[Utterance]) -> None:
    """Write a shard whole, or not at all."""
    part = target.with_suffix(".part.npz")
    np.savez(
        part,
        samples=(np.concatenate([u.samples for u in said]) * 32767).clip(-32768, 32767).astype(np.int16),
        cues=np.concatenate([u.cues for u in said]),
        lengths=np.array([len(u.samples) for u in said]),
        counts=np.array([len(u.cues) for u in said]),
    )
    part.rename(target)


def pack(shard: Path, target: Path, kind: codecs.Kind) -> None:
    """Write what `shard` holds with its sound coded, a tenth of the size, to be read by `load`."""
    said = load(shard)
    stored = [codecs.encode(one.samples, kind) for one in said]
    late = [codecs.lateness(codecs.decode(code), one.samples) for code, one in zip(stored, said, strict=True)]
    np.savez(
        target,
        coded=np.frombuffer(b"".join(stored), np.uint8),
        sizes=np.array([len(code) for code in stored]),
        late=np.array(late),
        cues=np.concatenate([one.cues for one in said]),
        lengths=np.array([len(one.samples) for one in said]),
        counts=np.array([len(one.cues) for one in said]),
    )


def load(shard: Path) -> list[Utterance]:
    """What `save` or `pack` wrote."""
    with np.load(shard) as kept:
        cues = np.split(kept["cues"], np.cumsum(kept["counts"])[:-1])
        if "coded" in kept:
            codes = np.split(kept["coded"], np.cumsum(kept["sizes"])[:-1])
            sounds = [codecs.decode(code.tobytes()) for code in codes]
            samples = [codecs.placed(*one) for one in zip(sounds, kept["late"], kept["lengths"], strict=True)]
            return [Utterance(sound, at) for sound, at in zip(samples, cues, strict=True)]
        samples = np.split(kept["samples"].astype(np.float32) / 32768, np.cumsum(kept["lengths"])[:-1])
    return [Utterance(sound, at) for sound, at in zip(samples, cues, strict=True)]
