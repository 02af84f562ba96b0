"""Try tiles of the GPU core's kernels on the shapes that Ditto has, and show the fastest of each.

    python scripts/bench_kernels.py [--only NAME ...] [--batch 8] [--workers 8] [--rounds 20] [--json OUT]

All tiles are compiled first, by several processes at once, and then timed one after another by one. Beside
each shape stands what cuDNN takes for the convolution alone, where it is one. Needs a GPU, torch and Triton,
and the repository linked as `visavis` in a folder on PYTHONPATH.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from visavis.render.ditto.timing import machine
from visavis.scripts.kernel_works import Call, Trial, Work, works


def milliseconds(call: Call, rounds: int) -> float:
    """A call's, of many in a row."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(rounds):
        call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / rounds


def compile_one(task: tuple[int, int, int]) -> str:
    """Work and tile by number. What does not fit the card is told."""
    batch, work, tile = task
    one = works(batch)[work]
    one.table[one.key] = one.tiles()[tile]
    try:
        one.prepare()()
        torch.cuda.synchronize()
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:60]}"
    finally:
        torch.cuda.empty_cache()
    return ""


def timed(one: Work, tiles: list[Any], rounds: int) -> dict[str, Any]:
    """Of the tiles that fit, the fastest first."""
    call, kept = one.prepare(), one.table[one.key]
    found: list[tuple[float, str]] = []
    report: dict[str, Any] = {"work": one.name, "wrong": []}
    for tile in tiles:
        one.table[one.key] = tile
        off = call.off() if isinstance(call, Trial) else 0.0
        if not off <= one.close:
            report["wrong"].append({"off": off, "tile": str(tile)})
        else:
            found.append((milliseconds(call, rounds), str(tile)))
    one.table[one.key] = kept
    found.sort()
    report["tiles"] = [{"ms": ms, "tile": tile} for ms, tile in found[:4]]
    if one.rival:
        report["cudnn_ms"] = milliseconds(one.rival(), rounds)
    if one.flops and found:
        report["tflops"] = one.flops / found[0][0] / 1e9
    return report


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Try tiles of the GPU core's kernels.")
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print("bench_kernels: torch finds no NVIDIA GPU here", file=sys.stderr)
        return 1
    all_of_them = works(options.batch)
    chosen = [
        at for at, one in enumerate(all_of_them) if any(one.name.startswith(only) for only in options.only)
    ]
    tasks = [(options.batch, at, tile) for at in chosen for tile in range(len(all_of_them[at].tiles()))]
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        failed = dict(zip(tasks, pool.map(compile_one, tasks), strict=True))
    rows: list[dict[str, Any]] = []
    for at in chosen:
        one = all_of_them[at]
        tiles = [tile for number, tile in enumerate(one.tiles()) if not failed[options.batch, at, number]]
        row = timed(one, tiles, options.rounds) | {"misfits": len(one.tiles()) - len(tiles)}
        rows.append(row)
        best = row["tiles"][0] if row["tiles"] else {"ms": float("nan"), "tile": "none"}
        beside = " ".join(f"{key} {row[key]:.3f}" for key in ("cudnn_ms", "tflops") if key in row)
        print(f"{one.name:32} {best['ms']:8.4f} ms  {best['tile']}  {beside}", flush=True)
        for wrong in row["wrong"]:
            print(f"    WRONG by {wrong['off']:.1e}: {wrong['tile']}", flush=True)
        torch.cuda.empty_cache()
    if options.json:
        figures = {"bench": "kernels", **machine(torch.device("cuda")), "batch": options.batch, "rows": rows}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if any(row["wrong"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
