"""The labelled speech of many shards as flat arrays, ready for a device that trains."""

import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from visavis.stream.visemes import SILENCE, VISEMES

from . import codecs
from .speech import RATE, Utterance, load

STEP: Final = 80
"""Samples of one label: 5 ms."""
GAP_SAMPLES: Final = 4000
LATE_S: Final = {"hibari": 0.055, "flite": 0.0, "real": 0.0}
KOKORO_LATE_S: Final = 0.055
"""By how much the labels come after the sound, measured by `evaluate.lateness`."""
PEAK: Final = 0.5
UNKNOWN: Final = len(VISEMES)
"""Label of rows that teach nothing: gaps between words too short for the mouth to close."""
SHORT_GAP_S: Final = 0.11


@dataclass(frozen=True, slots=True)
class Corpus:
    """`versions` (V, N) int16: the speech as it was made, then coded; `labels` (N / 80,) uint8; `starts`
    (U,) and `ends` (U,) samples of the utterances; `weights` (U,) how often each is taken.
    """

    versions: NDArray[np.int16]
    labels: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray[np.float32]


def source_of(shard: Path) -> str:
    """The voice that speaks in a shard, by its name."""
    return shard.stem.rpartition("-")[0]


def late_s(voice: str) -> float:
    return LATE_S.get(voice.partition("_")[0], KOKORO_LATE_S)


def labels_of(said: Utterance, late: float, step: int) -> NDArray[np.uint8]:
    """Viseme (N // step,) of each `step` samples, read at their middle; the cues come `late` seconds late."""
    at = np.arange(len(said.samples) // step) * step + step // 2 + round(late * RATE)
    place = np.searchsorted(said.cues[:, 1], at, "right") - 1
    labels = said.cues[place.clip(0), 0].astype(np.uint8)
    labels[at >= said.cues[-1, 2]] = SILENCE
    return labels


def _doubted(cues: NDArray[np.int32]) -> NDArray[np.int32]:
    """`cues` whose short silences between sounds are `UNKNOWN`."""
    short = (cues[:, 0] == SILENCE) & (cues[:, 2] - cues[:, 1] < SHORT_GAP_S * RATE)
    short[[0, -1]] = False
    return np.where(short[:, None] & (np.arange(3) == 0), UNKNOWN, cues)


def build(shards: Sequence[Path], *, shares: dict[str, float], coded: int, workers: int) -> Corpus:
    """All utterances of `shards`, each with `coded` coded versions; `shares` weighs voices by the start of
    their names.
    """
    with ProcessPoolExecutor(workers) as pool:
        parts = list(pool.map(_prepare, shards, [coded] * len(shards)))
    starts, ends, weights, at = [], [], [], 0
    for shard, (sounds, _) in zip(shards, parts, strict=True):
        voice = source_of(shard)
        share = next((share for start, share in shares.items() if voice.startswith(start)), 1.0)
        for versions in sounds:
            starts.append(at)
            at += versions.shape[1]
            ends.append(at - GAP_SAMPLES)
            weights.append(share * (ends[-1] - starts[-1]) / RATE)
    return Corpus(
        np.concatenate([sound for sounds, _ in parts for sound in sounds], 1),
        np.concatenate([label for _, labels in parts for label in labels]),
        np.array(starts),
        np.array(ends),
        np.array(weights, np.float32),
    )


def kept(place: Path | None, make: Callable[[], Corpus]) -> Corpus:
    """The corpus kept in the file `place`, or a new one, then kept there."""
    if place is not None and place.exists():
        with np.load(place) as arrays:
            return Corpus(**arrays)
    made = make()
    if place is not None:
        np.savez(place, **{field.name: getattr(made, field.name) for field in fields(made)})
    return made


def _prepare(shard: Path, coded: int) -> tuple[list[NDArray[np.int16]], list[NDArray[np.uint8]]]:
    voice = source_of(shard)
    chance = np.random.default_rng(zlib.crc32(shard.name.encode()))
    sounds, labels = [], []
    for said in load(shard):
        samples = said.samples[: len(said.samples) // 160 * 160]
        samples = samples * (PEAK / max(float(np.abs(samples).max()), 1e-3))
        kinds = chance.choice(len(codecs.KINDS), size=coded, replace=False)
        versions = [samples, *(codecs.coded(samples, codecs.KINDS[kind]) for kind in kinds)]
        whole = np.pad(np.stack(versions), ((0, 0), (0, GAP_SAMPLES)))
        sounds.append((whole * 32767).clip(-32768, 32767).astype(np.int16))
        label = labels_of(Utterance(samples, _doubted(said.cues)), late_s(voice), STEP)
        labels.append(np.pad(label, (0, GAP_SAMPLES // STEP), constant_values=SILENCE))
    return sounds, labels
