"""Measure the networks that draw, and prove reduced precision and batches against single rows in float32.

    python scripts/bench_networks.py [--device auto|cpu|cuda] [--dtype fp32 fp16] [--batch 1 3 8 16]
                                     [--rounds N] [--seed 1] [--size official|tiny] [--json OUT]

Warp, decoder and both in a row, with random weights. `cosine`, `mae` and `max` compare each row of a batch
with the same row alone in float32, the worst row; `rows_*` with the same row alone in the same dtype, and
`graph_max` a CUDA graph's replay with the eager call. Ends with 1 when a warp or a decoder is off by more
than a cosine of 0.9999 and an MAE of 0.003 allow. Both in a row are shown and not judged: the decoder then
reads what the warp rounded. Needs torch alone, and the repository linked as `visavis` in a folder on
PYTHONPATH.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from visavis.render.ditto.decoder import Decoder, DecoderSize
from visavis.render.ditto.random_weights import loaded
from visavis.render.ditto.timing import Step, machine, measured
from visavis.render.ditto.warp import WarpNetwork, WarpSize

DTYPES = {"fp32": torch.float32, "fp16": torch.float16}
BATCHES = (1, 3, 8, 16)
ROUNDS = {"cpu": 3, "cuda": 30}
LEAST_COSINE, MOST_MAE = 0.9999, 0.003
SIDES = {"official": 64, "tiny": 8}
Inputs = tuple[Tensor, ...]
Apply = Callable[..., Tensor]


@dataclass(frozen=True, slots=True)
class Pair:
    """Both networks in one dtype on one device."""

    warp: WarpNetwork
    decoder: Decoder

    def both(self, *inputs: Tensor) -> Tensor:
        return self.decoder(self.warp(*inputs))

    def named(self) -> dict[str, Apply]:
        return {"warp": self.warp, "decoder": self.decoder, "both": self.both}


@dataclass(frozen=True, slots=True)
class Difference:
    """Of what was computed from what was expected, the worst row."""

    cosine: float
    mae: float
    max: float

    @property
    def passed(self) -> bool:
        """A NaN is a miss."""
        return self.cosine >= LEAST_COSINE and self.mae <= MOST_MAE

    def figures(self, prefix: str = "") -> dict[str, float]:
        return {f"{prefix}cosine": self.cosine, f"{prefix}mae": self.mae, f"{prefix}max": self.max}


def difference(found: Tensor, expected: Tensor) -> Difference:
    """Of (B, ...) from (B, ...), in float64."""
    a, b = found.double().flatten(1), expected.double().flatten(1)
    off = (a - b).abs()
    cosine = nn.functional.cosine_similarity(a, b, dim=1)
    return Difference(
        round(float(cosine.min()), 8), round(float(off.mean(dim=1).max()), 8), round(float(off.max()), 6)
    )


def pair(size: str, seed: int, device: torch.device, dtype: torch.dtype) -> Pair:
    tiny = size == "tiny"
    warp = WarpNetwork(WarpSize.tiny() if tiny else None)
    decoder = Decoder(DecoderSize.tiny() if tiny else None)
    loaded(warp, "warp_network", seed)
    loaded(decoder, "decoder", seed)
    return Pair(warp.to(device, dtype), decoder.to(device, dtype))


def drawn(warp: WarpNetwork, size: str, seed: int, batch: int, device: torch.device) -> Inputs:
    """A volume (B, C, D, side, side), source and driven keypoints (B, 21, 3) a little apart."""
    random = np.random.RandomState(seed)
    volume = (warp.size.motion.channels, warp.size.motion.depth, SIDES[size], SIDES[size])
    feature = random.standard_normal((batch, *volume))
    source = 0.3 * random.standard_normal((batch, 21, 3))
    driven = source + 0.1 * random.standard_normal((batch, 21, 3))
    return tuple(torch.from_numpy(one.astype(np.float32)).to(device) for one in (feature, source, driven))


def typed(name: str, inputs: Inputs, dtype: torch.dtype) -> Inputs:
    """Keypoints stay float32."""
    return (inputs[0].to(dtype), *inputs[1:]) if name != "decoder" else (inputs[0].to(dtype),)


def graphed(apply: Apply, inputs: Inputs) -> tuple[Step, Tensor]:
    """A replay of `apply`, and where it leaves its result."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            apply(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = apply(*inputs)
    return graph.replay, result


def rows(options: argparse.Namespace, device: torch.device) -> Iterator[dict[str, Any]]:
    """Figures of each network, dtype and batch."""
    exact = pair(options.size, options.seed, device, torch.float32)
    inputs = drawn(exact.warp, options.size, options.seed, max(options.batch), device)
    moved = alone(exact.warp, inputs)
    given = {"warp": inputs, "decoder": (moved,), "both": inputs}
    expected = {"warp": moved} | {
        name: alone(exact.named()[name], given[name]) for name in ("decoder", "both")
    }
    for dtype in options.dtype:
        made = exact if dtype == "fp32" else pair(options.size, options.seed, device, DTYPES[dtype])
        for name, apply in made.named().items():
            reads = typed(name, given[name], DTYPES[dtype])
            single = expected[name] if dtype == "fp32" else alone(apply, reads)
            for batch in options.batch:
                some = tuple(one[:batch].contiguous() for one in reads)
                figures = figures_of(
                    apply, some, single[:batch], expected[name][:batch], options.rounds, device
                )
                yield {"network": name, "dtype": dtype, "batch": batch, **figures, "judged": name != "both"}


def alone(apply: Apply, inputs: Inputs) -> Tensor:
    """Each row of `inputs` on its own."""
    return torch.cat([apply(*(one[row : row + 1] for one in inputs)) for row in range(len(inputs[0]))])


def figures_of(
    apply: Apply, inputs: Inputs, single: Tensor, expected: Tensor, rounds: int, device: torch.device
) -> dict[str, Any]:
    batch = len(inputs[0])
    eager = apply(*inputs)
    exact, same = difference(eager, expected), difference(eager, single)
    steps: dict[str, Step] = {"eager": lambda: apply(*inputs)}
    graph: dict[str, Any] = {}
    if device.type == "cuda":
        steps["graph"], result = graphed(apply, inputs)
        steps["graph"]()
        graph = {"graph_max": difference(result, eager).max}
    spent = measured(steps, device, rounds=rounds or ROUNDS[device.type])
    for name, one in spent.items():
        graph |= {f"{name}_ms": one.figures()["ms"], f"{name}_ms_a_frame": one.figures(batch)["ms_a_frame"]}
    if "graph" in spent:
        graph["graph_to_eager"] = spent["graph"].ratio(spent["eager"])
    return exact.figures() | same.figures("rows_") | graph | {"passed": exact.passed and same.passed}


@torch.inference_mode()
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the networks that draw.")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--dtype", choices=DTYPES, nargs="+", default=list(DTYPES))
    parser.add_argument("--batch", type=int, nargs="+", default=list(BATCHES))
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", choices=SIDES, default="official")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    best = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(best if options.device == "auto" else options.device)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    found: list[dict[str, Any]] = []
    for row in rows(options, device):
        found.append(row)
        verdict = "    " if not row["judged"] else "ok  " if row["passed"] else "MISS"
        print(verdict, " ".join(f"{key}={value}" for key, value in row.items()), flush=True)
    passed = all(row["passed"] for row in found if row["judged"])
    report = {
        "bench": "networks",
        **machine(device),
        "size": options.size,
        "seed": options.seed,
        "rows": found,
        "passed": passed,
    }
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
