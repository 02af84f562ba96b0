"""Check and time the audio encoder's ONNX file run by torch, beside onnxruntime and the benches' stand-in.

    python scripts/bench_hubert.py [--device cuda] [--file FILE | --kind own|past|official] [--opset 17]
                                   [--batches 1 2 3 4] [--rounds 200] [--tiny] [--json OUT]

Without a FILE one of HuBERT-large's size is made, with random weights: `own` is built as HuBERT is, `past`
hears 1000 rows besides, always the same, and `official` is Transformers'. Making one needs onnx, and
transformers for `official`. The repository must be linked as `visavis` in a folder on PYTHONPATH.

It ends with 1 where torch cannot run the file, gives something else than onnxruntime, or makes the host wait.
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import torch
from torch import Tensor, nn
from visavis.render.ditto.bench_encoder import EncoderSize, StandInEncoder
from visavis.render.ditto.captured_encoder import MOST
from visavis.render.ditto.features import WIDTH, Chunk
from visavis.render.ditto.hubert import Hubert
from visavis.render.ditto.hubert_torch import TorchHubert, by_torch, check_windows, relative_error
from visavis.render.ditto.onnx.file import read_graph
from visavis.render.ditto.timing import by_kernel, machine, measured
from visavis.scripts.hubert_like import Size, export, network

SAMPLES: Final = Chunk().window_samples
SOUNDS: Final = ("noise", "voice", "silence")
PAST: Final = 1000


class Official(nn.Module):
    """Transformers' HuBERT-large with random weights."""

    def __init__(self, *, tiny: bool) -> None:
        super().__init__()
        from transformers import HubertConfig, HubertModel

        size = Size.tiny(WIDTH) if tiny else Size()
        torch.manual_seed(1)
        config = HubertConfig(
            hidden_size=size.width,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            intermediate_size=size.feed,
            conv_dim=(size.channels,) * 7,
            do_stable_layer_norm=True,
            feat_extract_norm="layer",
            conv_bias=True,
            attn_implementation="eager",
        )
        self.model = HubertModel(config).eval()

    def forward(self, samples: Tensor) -> Tensor:
        return self.model(samples).last_hidden_state.squeeze(0)


def made(kind: str, folder: Path, *, opset: int, tiny: bool) -> Path:
    path = folder / f"{kind}.onnx"
    past = (30 if tiny else PAST) if kind == "past" else 0
    if kind == "official":
        net: nn.Module = Official(tiny=tiny)
    else:
        net = network(Size.tiny(WIDTH, past=past) if tiny else Size(past=past))
    export(net, path, opset=opset, free=True)
    return path


def errors(found: Tensor, expected: Tensor) -> dict[str, dict[str, float]]:
    """Of each of the sounds that encoders are tried with."""
    return {
        name: {
            "relative": float(f"{relative_error(found[at : at + 1], expected[at : at + 1]):.3e}"),
            "cosine": round(float(torch.cosine_similarity(found[at], expected[at], -1).min()), 7),
        }
        for at, name in enumerate(SOUNDS)
    }


def loaded(path: Path, device: torch.device) -> tuple[TorchHubert, dict[str, Any]]:
    """With what it took: seconds, the host's memory, the card's."""
    before = torch.cuda.memory_allocated(device) if device.type == "cuda" else 0
    began_ns = time.monotonic_ns()
    encoder = by_torch(path, device, samples=SAMPLES)
    found = {
        "seconds": round((time.monotonic_ns() - began_ns) / 1e9, 1),
        "precision": str(encoder.network.dtype).removeprefix("torch."),
        "calls": encoder.network.steps,
        "weights_mb": round(encoder.network.nbytes / 1e6, 1),
        "host_peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
    }
    if device.type == "cuda":
        found["card_allocated_mb"] = round((torch.cuda.memory_allocated(device) - before) / 1e6, 1)
        found["card_reserved_mb"] = round(torch.cuda.memory_reserved(device) / 1e6, 1)
    return encoder, found


def timed(
    encoders: dict[str, Callable[[Tensor], Tensor]], device: torch.device, batches: list[int], rounds: int
) -> dict[str, Any]:
    """Each batch by each encoder, all in the same rounds; and what the host alone has to do."""
    heard = {batch: 0.1 * torch.randn(batch, SAMPLES) for batch in batches}
    steps = {
        f"{name} {batch}": lambda encoder=encoder, batch=batch: encoder(heard[batch])
        for batch in batches
        for name, encoder in encoders.items()
    }
    spent = measured(steps, device, rounds=rounds)
    found: dict[str, Any] = {}
    for batch in batches:
        row: dict[str, Any] = {name: spent[f"{name} {batch}"].figures(batch) for name in encoders}
        row["ratio"] = spent[f"torch {batch}"].ratio(spent[f"stand-in {batch}"])
        found[str(batch)] = row
    return found


def host_ms(encoder: Callable[[Tensor], Tensor], device: torch.device, rounds: int) -> dict[str, Any]:
    """What a call takes of the host, and whether it waits for the card."""
    heard = 0.1 * torch.randn(2, SAMPLES)
    if device.type != "cuda":
        return {"waits": None}
    encoder(heard)
    spent = list[int]()
    waits = ""
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(min(rounds, 20)):
            began_ns = time.monotonic_ns()
            encoder(heard)
            spent.append(time.monotonic_ns() - began_ns)
    except RuntimeError as error:
        waits = str(error)[:200]
    finally:
        torch.cuda.set_sync_debug_mode("default")
    torch.cuda.synchronize(device)
    return {"waits": waits, "ms": round(sorted(spent)[len(spent) // 2] / 1e6, 4) if spent else None}


def report(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    device = torch.device(options.device)
    encoder, took = loaded(path, device)
    heard = check_windows(SAMPLES)
    expected = Hubert(path, briefly=True)(heard)
    size = EncoderSize.tiny() if options.tiny else EncoderSize()
    stand_in = StandInEncoder(device, samples=SAMPLES, most=MOST, size=size)
    graph = read_graph(path)
    return {
        "bench": "hubert",
        "machine": machine(device),
        "graph": {
            "kind": str(options.file or options.kind),
            "mb": round(path.stat().st_size / 1e6, 1),
            "version": graph.version,
            "nodes": len(graph.nodes),
        },
        "load": took,
        "beside_onnxruntime": errors(encoder(heard).cpu(), expected),
        "host": host_ms(encoder, device, options.rounds),
        "batches": timed({"torch": encoder, "stand-in": stand_in}, device, options.batches, options.rounds),
        "kernels": by_kernel(lambda: encoder(heard[:1]), device, most=15),
    }


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--kind", choices=("own", "past", "official"), default="own")
    parser.add_argument("--opset", type=int, default=17)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--tiny", action="store_true", help="the same, small")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    with TemporaryDirectory() as folder:
        path = options.file or made(options.kind, Path(folder), opset=options.opset, tiny=options.tiny)
        try:
            found = report(path, options)
        except ValueError as error:
            print(f"{path} {error}", file=sys.stderr)
            return 1
    text = json.dumps(found, indent=1)
    print(text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(text + "\n")
    return int(bool(found["host"]["waits"]))


if __name__ == "__main__":
    sys.exit(main())
