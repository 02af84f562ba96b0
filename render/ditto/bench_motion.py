"""What it takes to turn sound into motion: audio features, diffusion by steps and batch, windows, stitch.

Needs nothing of the server, so that it runs where only torch is. Motion is computed in float32.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from ...stream.errors import SetupError, UsageError
from . import keypoints
from .controls import Controls
from .delay import LENGTH, WindowShape
from .features import AudioEncoder, Cadence
from .lmdm import LmdmSize, MotionDecoder
from .motion import WIDTH, Motion, Source
from .motion_stitch import MotionStitch, StitchState
from .presets import LIVE, PRESETS, RANDOM, check_latency
from .random_encoder import random_encoder
from .random_weights import loaded
from .sampler import MotionSampler
from .schedule import Schedule
from .stitch import StitchNetwork, StitchSize
from .timing import Step, machine, measured
from .windows import WindowOptions, Windows

STEPS: Final = (10, 4, 25)
"""The first is what others are compared with."""
BATCHES: Final = {"cpu": (1, 2), "cuda": (1, 4, 8, 16)}
ROUNDS: Final = {"cpu": 3, "cuda": 50}


@dataclass(frozen=True, slots=True)
class MotionBench:
    """What to run. `device` is cpu, cuda, or auto for the better one there is; `weights` as
    `checkpoints.parse_source` takes them, None for the ones that `weights fetch` got; `rounds` 0 for what
    suits the device."""

    device: str = "auto"
    weights: str | None = "random:1"
    latency: str = LIVE
    rounds: int = 0
    lmdm: LmdmSize = field(default_factory=LmdmSize)
    stitch: StitchSize = field(default_factory=StitchSize)

    def __post_init__(self) -> None:
        check_latency(self.latency)
        if self.device not in ("auto", *BATCHES):
            raise UsageError(f"there is no device {self.device[:20]!r}; use auto, cpu or cuda")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise SetupError("torch finds no NVIDIA GPU here; use --device cpu")
        if self.rounds < 0:
            raise UsageError("a bench needs at least one round")

    @property
    def on(self) -> torch.device:
        best = "cuda" if torch.cuda.is_available() else "cpu"
        return torch.device(best if self.device == "auto" else self.device)


@dataclass(frozen=True, slots=True)
class Parts:
    """What is measured, on one device. `hears` says what `audio` is."""

    hears: str
    audio: AudioEncoder
    lmdm: MotionDecoder
    stitch: StitchNetwork


@dataclass(frozen=True, slots=True)
class Row:
    """One step of a stage: what its figures are about. A call makes `frames` frames of all its slots."""

    stage: str
    batch: int
    frames: int
    step: Step
    steps: int | None = None

    @property
    def name(self) -> str:
        return f"{self.stage} {self.steps} {self.batch}"

    def described(self) -> dict[str, Any]:
        steps = {} if self.steps is None else {"steps": self.steps}
        return {"stage": self.stage, **steps, "batch": self.batch}


def measure(bench: MotionBench) -> dict[str, Any]:
    """Run `bench`; figures as JSON takes them. `ratio` compares with the first row of a stage."""
    device = bench.on
    rounds = bench.rounds or ROUNDS[device.type]
    parts = _parts(bench, device)
    hop, fuse = PRESETS[bench.latency]
    rows = list(_rows(parts, WindowShape(hop=hop, fuse=fuse), device))
    spent = measured({row.name: row.step for row in rows}, device, rounds=rounds)
    first = {row.stage: spent[row.name] for row in reversed(rows)}
    return {
        "bench": "motion",
        **machine(device),
        "weights": bench.weights or "official",
        "features": parts.hears,
        "latency": bench.latency,
        "hop": hop,
        "rounds": rounds,
        "stages": [
            row.described()
            | spent[row.name].figures(row.frames)
            | {"ratio": spent[row.name].ratio(first[row.stage])}
            for row in rows
        ],
    }


def _parts(bench: MotionBench, device: torch.device) -> Parts:
    """Random ones are built here: what reads files needs more libraries."""
    seed = (bench.weights or "").removeprefix(RANDOM)
    if not (bench.weights or "").startswith(RANDOM) or not seed.isdecimal():
        from .checkpoints import parse_source
        from .networks import load_networks

        networks = load_networks(parse_source(bench.weights), device)
        return Parts("HuBERT", networks.audio, networks.lmdm.to(device), networks.stitch)
    lmdm, stitch = MotionDecoder(bench.lmdm), StitchNetwork(bench.stitch)
    return Parts(
        "a stand-in for HuBERT",
        random_encoder(int(seed)),
        loaded(lmdm, "lmdm", int(seed)).to(device),
        loaded(stitch, "stitch_network", int(seed)).to(device),
    )


def _rows(parts: Parts, shape: WindowShape, device: torch.device) -> Iterator[Row]:
    batches = BATCHES[device.type]
    for batch in batches:
        yield Row("features", batch, batch * shape.hop, _features(parts.audio, shape.hop, batch))
    for count in STEPS:
        sampler = MotionSampler(parts.lmdm, Schedule.of(count))
        for batch in batches:
            yield Row("lmdm", batch, batch * shape.hop, _window(sampler, batch, device), count)
    for batch in batches:
        yield Row("window", batch, batch * shape.hop, _fused(shape, batch, device))
    for batch in batches:
        yield Row("motion stitch", batch, batch, _stitched(parts.stitch, batch, device))


def _features(audio: AudioEncoder, hop: int, batch: int) -> Step:
    cadence = Cadence(hop)
    shape = (batch, len(cadence.pieces), cadence.chunk.window_samples)
    windows = np.random.default_rng(1).normal(0, 0.1, shape).astype(np.float32)
    return lambda: cadence.encode(audio, windows)


def _window(sampler: MotionSampler, batch: int, device: torch.device) -> Step:
    size, steps = sampler.model.size, len(sampler.schedule.steps)
    lead = _normal(device, batch, WIDTH)
    conditions = _normal(device, batch, LENGTH, size.condition)
    noise = _normal(device, steps, batch, LENGTH, WIDTH)
    return lambda: sampler(lead, conditions, noise[0], noise[1:])


def _fused(shape: WindowShape, batch: int, device: torch.device) -> Step:
    windows = Windows(shape, device, leads_on=True)
    state, options = windows.init(batch), WindowOptions.plain(_normal(device, batch, WIDTH))
    active = torch.ones(batch, dtype=torch.bool, device=device)
    windows.reset(state, options, active)
    window = _normal(device, batch, LENGTH, WIDTH)

    def step() -> Tensor:
        windows.step(state, window, options, active)
        return options.bounded(windows.finished(state))

    return step


def _stitched(network: StitchNetwork, batch: int, device: torch.device) -> Step:
    stage, state = MotionStitch(network, device), StitchState.init(batch, device)
    controls = Controls.init(batch, device)
    source = Source(Motion.from_rows(_normal(device, batch, WIDTH)), _normal(device, batch, 63))
    points = keypoints.transform(source.motion, source.canonical)
    driving = Motion.from_rows(_normal(device, batch, WIDTH))
    active = torch.ones(batch, dtype=torch.bool, device=device)
    return lambda: stage.step(source, points, driving, controls=controls, state=state, active=active)


def _normal(device: torch.device, *shape: int) -> Tensor:
    random = np.random.default_rng(len(shape))
    return torch.from_numpy(random.normal(0, 0.3, shape).astype(np.float32)).to(device)
