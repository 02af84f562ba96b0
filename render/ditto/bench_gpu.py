"""What a card does for Ditto: the picture networks plain and fused, a tick of many sessions, and how many it
holds.

Needs nothing of the server, so that it runs where only torch is. Everything is measured beside the same in
plain torch, in the same rounds. On a CPU it runs too, and says little.
"""

import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ...stream.errors import SetupError, UsageError
from .bench_encoder import EncoderSize, StandInEncoder
from .bench_load import PICTURE, Load, capacity
from .bench_memory import memory_of
from .blocks import fold_batch_norms
from .core.calibration import calibrate, compared
from .core.choice import ops_for
from .core.decoder import FastDecoder
from .core.low_bits import FORMATS
from .core.memory import memory_for
from .core.motion_rows import motion_errors, motion_rows
from .core.replay import BUCKETS, Replay
from .decoder import Decoder, DecoderSize
from .delay import WindowShape
from .features import Chunk
from .lmdm import LmdmSize, MotionDecoder
from .networks import PICTURE_DTYPES, Networks, fused
from .painter import BATCH
from .presets import PRESETS
from .random_weights import loaded
from .stitch import StitchNetwork, StitchSize
from .timing import Step, by_kernel, machine, measured
from .warp import WarpNetwork, WarpSize

FLOPS_A_FRAME: Final = 1233.6e9
"""Of warp and decoder as the reference computes them; `FEWEST` after exact algebra."""
FEWEST_FLOPS: Final = 1086e9
CEILING_FLOPS: Final = 754e12
"""A second, of the best convolution on an H200 in half precision."""
PACES: Final = ("balanced", "low-latency")
BATCHES: Final = (1, 2, 3, 4, 8, 16)
WINDOWS: Final = (1, 8, 16)
PARTS: Final = ("pictures", "low-bits", "motion", "memory", "capacity")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of the networks; by default the official ones."""

    warp: WarpSize = field(default_factory=WarpSize)
    decoder: DecoderSize = field(default_factory=DecoderSize)
    lmdm: LmdmSize = field(default_factory=LmdmSize)
    stitch: StitchSize = field(default_factory=StitchSize)
    encoder: EncoderSize = field(default_factory=EncoderSize)
    side: int = 64


@dataclass(frozen=True, slots=True)
class GpuBench:
    """What to run: the `parts`. `device` is cpu, cuda, or auto for the better one there is; `batches` of
    pictures and of `windows` of motion, `rounds` a step; up to `most` sessions are tried, or just these
    numbers of `sessions`, for `ticks` each, with a `picture` (width, height) each."""

    device: str = "auto"
    seed: int = 1
    batches: tuple[int, ...] = BATCHES
    windows: tuple[int, ...] = WINDOWS
    rounds: int = 30
    most: int = 16
    ticks: int = 2000
    picture: tuple[int, int] = PICTURE
    sizes: Sizes = field(default_factory=Sizes)
    parts: tuple[str, ...] = PARTS
    sessions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.device not in ("auto", "cpu", "cuda"):
            raise UsageError(f"there is no device {self.device[:20]!r}; use auto, cpu or cuda")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise SetupError("torch finds no NVIDIA GPU here; use --device cpu")
        if min(self.rounds, self.ticks, self.most, *self.sessions) < 1:
            raise UsageError("a bench needs at least one round, tick and session")
        if unknown := set(self.parts) - set(PARTS):
            raise UsageError(f"there is no part {min(unknown)[:20]!r}; parts are {', '.join(PARTS)}")

    @property
    def on(self) -> torch.device:
        best = "cuda" if torch.cuda.is_available() else "cpu"
        return torch.device(best if self.device == "auto" else self.device)


def measure(
    bench: GpuBench,
    told: Callable[[str], None] = lambda _: None,
    so_far: Callable[[dict[str, Any]], None] = lambda _: None,
) -> dict[str, Any]:
    """Run `bench`; figures as JSON takes them. `told` hears how far it is and after how many seconds, and
    `so_far` has what there is after each part."""
    device, began = bench.on, time.monotonic()
    report: dict[str, Any] = {"bench": "gpu", **machine(device), "seed": bench.seed}

    def tell(line: str) -> None:
        told(f"{time.monotonic() - began:4.0f} s  {line}")

    def save() -> None:
        report["took_s"] = round(time.monotonic() - began, 1)
        so_far(report)

    def keep(name: str, rows: Iterator[dict[str, Any]], line: str) -> None:
        """Each row as it comes, told as `line` has it."""
        report[name] = []
        for row in rows:
            report[name].append(row)
            tell(line.format(**row))
            save()

    if "pictures" in bench.parts:
        keep("pictures", _pictures(bench, device), "batch {batch}: {replay_ms_a_frame:.3f} ms a frame")
    if "low-bits" in bench.parts:
        line = "{format}: {replay_ms_a_frame:.3f} ms a frame, {layers} layers"
        keep("low_bits", _low_bits(bench, device), line)
    if "motion" in bench.parts:
        keep("motion", _motion(bench, device), "{row}: {ms:.2f} ms")
        report["motion_errors"] = motion_errors(device, 1, size=bench.sizes.lmdm)
        save()
    if "memory" in bench.parts or "capacity" in bench.parts:
        _sessions(bench, report, tell, save)
    return report


def _sessions(
    bench: GpuBench,
    report: dict[str, Any],
    tell: Callable[[str], None],
    save: Callable[[], None],
) -> None:
    """What sessions take, and how many there may be."""
    networks = _networks(bench, bench.on)
    if "memory" in bench.parts:
        shape, counts = WindowShape(*PRESETS[PACES[0]]), sorted({1, min(12, bench.most)})
        report["memory"] = memory_of(networks, shape, counts, bench.picture)
        tell("memory")
        save()
    if "capacity" not in bench.parts:
        return
    report["capacity"] = {}
    for name in PACES:
        shape = WindowShape(*PRESETS[name])

        def load(sessions: int, shape: WindowShape = shape) -> Load:
            return Load(networks, shape, sessions=sessions, size=bench.picture)

        found = capacity(load, most=bench.most, ticks=bench.ticks, counts=bench.sessions)
        report["capacity"][name] = found
        tell(f"{name}: {found['sessions']} sessions")
        save()


def _pictures(bench: GpuBench, device: torch.device) -> Iterator[dict[str, Any]]:
    """Warp and decoder in a row, by batch: plain, fused, and fused as one replay."""
    exact = _plain(bench, device, torch.float32)
    half = _plain(bench, device, PICTURE_DTYPES[device.type])
    warp, decoder = fused(*_plain(bench, torch.device("cpu"), torch.float32), device)
    most, side = max(bench.batches), bench.sizes.side
    feature, source, driven = _inputs(bench, device, most)
    volumes = warp.volumes(feature)
    out = torch.zeros(most, 8 * side, 8 * side, 4, device=device, dtype=decoder.dtype)
    mask = torch.ones_like(out[0, ..., 0])
    which = torch.arange(most, device=device)

    @torch.no_grad()
    def draw(count: int) -> None:
        features = warp(volumes, which[:count], source[:count], driven[:count])
        decoder(features, mask, out=out[:count])

    def plainly(networks: tuple[WarpNetwork, Decoder], count: int) -> Tensor:
        given = feature[:count].to(networks[0].fourth.weight.dtype)
        return networks[1](networks[0](given, source[:count], driven[:count]))

    replay = Replay(draw, device, buckets=bench.batches)
    replay.capture()
    for batch in bench.batches:
        steps: dict[str, Step] = {
            "plain": lambda batch=batch: plainly(half, batch),
            "fused": lambda batch=batch: draw(batch),
            "replay": lambda batch=batch: replay(batch),
        }
        spent = measured(steps, device, rounds=bench.rounds)
        row: dict[str, Any] = {"batch": batch}
        for name, one in spent.items():
            row[f"{name}_ms_a_frame"] = one.figures(batch)["ms_a_frame"]
        row["kernels"] = by_kernel(steps["replay"], device)
        row["plain_to_replay"] = spent["plain"].ratio(spent["replay"])
        row["floor_ms"] = round(1e3 * FLOPS_A_FRAME / CEILING_FLOPS, 3)
        row["fewest_ms"] = round(1e3 * FEWEST_FLOPS / CEILING_FLOPS, 3)
        with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            expected = torch.cat([_row(exact, feature, source, driven, at) for at in range(batch)])
            replay(batch)
            row |= _away(out[:batch, ..., :3].permute(0, 3, 1, 2), expected)
            found = out[:batch].clone()
            for given in (which, source, driven):
                given[:batch] = given[:batch].roll(1, 0)
            replay(batch)
            row["same_at_any_place"] = bool(torch.equal(out[:batch], found.roll(1, 0)))
            for given in (which, source, driven):
                given[:batch] = given[:batch].roll(-1, 0)
        yield row


def _low_bits(bench: GpuBench, device: torch.device) -> Iterator[dict[str, Any]]:
    """Warp and decoder in a row, whose plan for 8 bits is of other faces; errors are against full precision,
    and of the same without 8 bits."""
    batch, ops = min(BATCH, max(bench.batches)), ops_for(device).decoder
    exact, network = _plain(bench, device, torch.float32)
    warp, decoder = fused(*_plain(bench, torch.device("cpu"), torch.float32), device)
    feature, source, driven = _inputs(bench, device, 2 * batch)
    volumes, which = warp.volumes(feature[:batch]), torch.arange(batch, device=device)
    with torch.no_grad():
        seen = [warp(volumes, which, source[:batch], driven[batch:]).float()]
        expected = network(exact(feature[:batch], source[:batch], driven[:batch])).permute(0, 2, 3, 1)
    expected = F.pad(expected, (0, 1))
    out = torch.zeros_like(expected, dtype=decoder.dtype)
    mask = torch.ones_like(out[0, ..., 0])
    for format in FORMATS:
        plan = calibrate(network, ops, seen, dtype=decoder.dtype, format=format)
        low = FastDecoder(network, ops, dtype=decoder.dtype, low_bits=plan)

        @torch.no_grad()
        def draw(count: int, by: FastDecoder) -> None:
            by(warp(volumes, which[:count], source[:count], driven[:count]), mask, out=out[:count])

        row: dict[str, Any] = {"format": format, "layers": len(plan.fits), "batch": batch}
        replays = {
            name: Replay(partial(draw, by=by), device, buckets=(batch,))
            for name, by in (("sixteen", decoder), ("replay", low))
        }
        spent = measured(
            {name: partial(one, batch) for name, one in replays.items()}, device, rounds=bench.rounds
        )
        for name, one in spent.items():
            row[f"{name}_ms_a_frame"] = one.figures(batch)["ms_a_frame"]
            replays[name](batch)
            close = compared([out], [expected])
            row |= {f"{name}_psnr_db": round(close.decibels, 2), f"{name}_cosine": close.cosine}
        row["kernels"] = by_kernel(partial(replays["replay"], batch), device)
        yield row


def _motion(bench: GpuBench, device: torch.device) -> Iterator[dict[str, Any]]:
    """A window for each of a batch: plain, by the core's plain steps, and by its kernels."""
    rows = motion_rows(device, bench.windows, size=bench.sizes.lmdm)
    for name, spent in measured(rows, device, rounds=bench.rounds).items():
        yield {"row": name, **spent.figures()}


def _row(
    networks: tuple[WarpNetwork, Decoder], feature: Tensor, source: Tensor, driven: Tensor, at: int
) -> Tensor:
    """Of one row alone."""
    one = slice(at, at + 1)
    return networks[1](networks[0](feature[one], source[one], driven[one]))


def _away(found: Tensor, expected: Tensor) -> dict[str, float]:
    """The worst row: relative error, cosine, and peak signal to noise in dB of pictures 0..1."""
    a, b = found.double().flatten(1), expected.double().flatten(1)
    off = a - b
    return {
        "relative": float((off.norm(dim=1) / b.norm(dim=1)).max()),
        "cosine": float(torch.nn.functional.cosine_similarity(a, b, dim=1).min()),
        "psnr_db": round(float((-10 * off.square().mean(dim=1).clamp(min=1e-20).log10()).min()), 2),
    }


def _plain(bench: GpuBench, device: torch.device, dtype: torch.dtype) -> tuple[WarpNetwork, Decoder]:
    warp, decoder = deepcopy(_drawn(bench.sizes.warp, bench.sizes.decoder, bench.seed))
    if dtype != torch.float32:
        fold_batch_norms(warp)
    return warp.to(device, dtype), decoder.to(device, dtype)


@cache
def _drawn(warp: WarpSize, decoder: DecoderSize, seed: int) -> tuple[WarpNetwork, Decoder]:
    """Random weights take seconds."""
    return (
        loaded(WarpNetwork(warp), "warp_network", seed).eval().requires_grad_(False),
        loaded(Decoder(decoder), "decoder", seed).eval().requires_grad_(False),
    )


def _inputs(bench: GpuBench, device: torch.device, batch: int) -> tuple[Tensor, Tensor, Tensor]:
    """Volumes, and source and driven keypoints a little apart."""
    random, size = np.random.RandomState(bench.seed), bench.sizes
    volume = size.warp.motion.channels, size.warp.motion.depth, size.side, size.side
    feature = random.standard_normal((batch, *volume))
    source = 0.3 * random.standard_normal((batch, 21, 3))
    driven = source + 0.1 * random.standard_normal((batch, 21, 3))
    first, second, third = (
        torch.from_numpy(one.astype(np.float32)).to(device) for one in (feature, source, driven)
    )
    return first, second, third


def _networks(bench: GpuBench, device: torch.device) -> Networks:
    """All that an engine has, with a stand-in for HuBERT of its size."""
    size, seed, memory = bench.sizes, bench.seed, memory_for(device)
    plain, samples = _plain(bench, torch.device("cpu"), torch.float32), Chunk().window_samples
    with memory.kept():
        warp, decoder = fused(*plain, device)
    return Networks(
        audio=StandInEncoder(device, samples=samples, most=max(BUCKETS), size=size.encoder, memory=memory),
        lmdm=loaded(MotionDecoder(size.lmdm), "lmdm", seed).eval().requires_grad_(False),
        stitch=loaded(StitchNetwork(size.stitch), "stitch_network", seed)
        .eval()
        .requires_grad_(False)
        .to(device),
        warp=warp,
        decoder=decoder,
        device=device,
        side=size.side,
        memory=memory,
    )
