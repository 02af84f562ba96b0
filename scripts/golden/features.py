"""`wav2feat`: features of random sound, online and offline, with the stand-in audio encoder."""

from collections.abc import Iterator

import numpy as np
import torch
from visavis.render.ditto import features
from visavis.render.ditto.random_encoder import ProjectionEncoder
from visavis.stream.clock import FEATURE_HOP

from .harness import F32, Comparison, GoldenFile, matched, sliced
from .made_up import described, in_float32

TOLERANCE = 1e-5


def run(file: GoldenFile) -> Iterator[Comparison]:
    file = in_float32(file)
    encoder = _encoder(file, file.cases["stub"]["rule"])
    for name, case in file.cases.items():
        if "audio" not in case:
            continue
        chunk = features.Chunk(*case["chunksize"])
        if "window" in case and chunk.window_samples != case["window"]:
            yield Comparison(f"{name}.window", abs(chunk.window_samples - case["window"]), 0)
        samples = described(file, case["audio"])
        columns = sliced(case["stored"])[-1]
        silence = np.zeros(features.TAIL_SAMPLES, np.float32)
        for array, given, heard in (
            (
                f"{name}.offline",
                features.offline(encoder, samples, chunk),
                np.concatenate((silence, samples)),
            ),
            (f"{name}.online", features.online(encoder, samples, chunk), samples),
        ):
            yield from _stored(file, array, given, columns)
            streamed = _streamed(encoder, heard, chunk, frames=len(given))
            yield from _stored(file, array, streamed, columns)
    yield from _silence(file, encoder)


def _streamed(
    encoder: features.AudioEncoder, samples: F32, chunk: features.Chunk, *, frames: int
) -> torch.Tensor:
    """Features (frames, 1024) of `samples` and the silence after them, as the engine hears them."""
    stage = features.FeatureStage(encoder, features.Cadence(chunk.payload, chunk))
    state, found = stage.init(1), list[torch.Tensor]()
    while len(found) * chunk.payload < frames:
        tick, samples = samples[:FEATURE_HOP], samples[FEATURE_HOP:]
        stage.push(state, 0, np.pad(tick, (0, FEATURE_HOP - len(tick))))
        while stage.due(state):
            found.append(stage.step(state, [0])[0][0])
    return torch.cat(found)[:frames]


def _stored(
    file: GoldenFile, array: str, found: torch.Tensor, columns: slice | int = slice(None)
) -> Iterator[Comparison]:
    if array in file.arrays:
        yield file.compare(array, found[:, columns], TOLERANCE)


def _silence(file: GoldenFile, encoder: features.AudioEncoder) -> Iterator[Comparison]:
    """What comes before the first sample, in chunks of the usual size. Which columns are stored is not told:
    those at the step, of all that give as many, that fits best."""
    if (array := "silence_preroll.offline") in file.arrays:
        frames, stored = file.arrays[array].shape
        silence = np.zeros(frames * FEATURE_HOP, np.float32)
        found = features.offline(encoder, silence, features.Chunk())
        steps = [step for step in range(1, features.WIDTH + 1) if -(-features.WIDTH // step) == stored]
        tried = [file.compare(array, found[:, ::step], TOLERANCE) for step in steps or [1]]
        yield min(tried, key=lambda one: one.error)


def _encoder(file: GoldenFile, rule: str) -> ProjectionEncoder:
    basis, bias = (
        described(file, matched(part, rf"{part}\s*=\s*(.*?\)(?:\s*\*\s*[\d.]+)?)", rule)[1])
        for part in ("basis", "bias")
    )
    return ProjectionEncoder(torch.from_numpy(basis), torch.from_numpy(bias))
