"""Compare the project with the expected values of a golden directory, case by case.

    python scripts/parity.py --golden tests/golden/ditto [--device cpu|cuda] [--dtype fp32|fp16|bf16]
                             [--core] [--only FILE ...] [--json OUT]

A line a case: the largest error seen and what is allowed. Ends with 1 when any is missed. Reduced precision
is judged by cosine and mean absolute error (fp16: 1e-4 from 1, 0.003), shown as a share of what is allowed.
"""

import argparse
import json
import math
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import torch
from golden.harness import Comparison, GoldenFile, load, names

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
RUNNERS = {
    "a2m_real": "windows",
    "a2m_stub": "windows",
    "chain": "chain",
    "cond": "conditions",
    "ddim": "sampling",
    "decoder": "networks",
    "geometry": "geometry",
    "lmdm": "sampling",
    "motion_stitch": "motion_stitch",
    "nets": "networks",
    "opencv4": "pictures",
    "opencv5": "pictures",
    "schedule": "sampling",
    "warp": "networks",
    "wav2feat": "features",
    "weights": "weights",
    "worker": "worker",
}
"""The module of `golden` that runs a file. Each has a `run`."""


def run(
    folder: Path, name: str, device: torch.device, dtype: torch.dtype, *, core: bool = False
) -> Iterator[Comparison]:
    """All comparisons of a file. What breaks, or compares nothing, is a missed one."""
    compared = False
    try:
        module = import_module(f"golden.{RUNNERS[name]}")
        runner: Callable[[GoldenFile], Iterator[Comparison]] = module.run
        for one in runner(load(folder, name, device=device, dtype=dtype, core=core)):
            compared = True
            yield one
        if not compared:
            yield Comparison("nothing", float("nan"), 0.0, "no case of this file could be compared")
    except Exception as error:
        traceback.print_exc()
        yield Comparison("stopped", float("nan"), 0.0, f"{type(error).__name__}: {error}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare the project with a golden directory.")
    parser.add_argument("--golden", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", choices=DTYPES, default="fp32")
    parser.add_argument(
        "--core", action="store_true", help="warp, decoder and windows of motion as a GPU runs them"
    )
    parser.add_argument("--only", nargs="*", metavar="FILE")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    known = names(options.golden)
    if not known or not (options.golden / "cases.json").is_file():
        parser.error(f"{options.golden} is no golden directory: it needs cases.json and .npz files")
    if unknown := set(options.only or known) - set(known):
        parser.error(f"{options.golden} has no {', '.join(sorted(unknown))}; it holds {', '.join(known)}")
    rows: list[dict[str, object]] = []
    missed = 0
    for name in options.only or known:
        start = time.monotonic_ns()
        device, dtype = torch.device(options.device), DTYPES[options.dtype]
        for one in run(options.golden, name, device, dtype, core=options.core):
            missed += not one.passed
            verdict = "ok  " if one.passed else "MISS"
            print(f"{verdict} {name:14} {one.case:36} {one.error:9.2e} of {one.tolerance:.0e}  {one.note}")
            rows.append(
                {
                    "file": name,
                    "case": one.case,
                    "error": one.error if math.isfinite(one.error) else None,
                    "tolerance": one.tolerance,
                    "passed": one.passed,
                }
            )
        print(f"     {name}: {(time.monotonic_ns() - start) / 1e9:.1f} s", flush=True)
    if options.json:
        options.json.write_text(
            json.dumps({"device": options.device, "dtype": options.dtype, "cases": rows}, indent=1)
        )
    print(f"{len(rows) - missed} of {len(rows)} cases passed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
