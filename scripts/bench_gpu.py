"""Measure what a card does for Ditto, as JSON: networks plain and fused, and how many sessions it holds.

    python scripts/bench_gpu.py [--device auto|cpu|cuda] [--most 16] [--ticks 500] [--rounds 30] [--json OUT]

As `visavis bench gpu`, for machines on which only torch is installed: link the repository as `visavis` into a
folder on PYTHONPATH.
"""

import argparse
import json
import sys
from pathlib import Path

from visavis.render.ditto.bench_gpu import GpuBench, measure
from visavis.stream.errors import VisavisError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure what a card does for Ditto.")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--most", type=int, default=16)
    parser.add_argument("--ticks", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    try:
        bench = GpuBench(options.device, most=options.most, ticks=options.ticks, rounds=options.rounds)
        text = json.dumps(measure(bench, lambda line: print(line, file=sys.stderr, flush=True)), indent=1)
    except VisavisError as error:
        print(f"bench_gpu: {error}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(text + "\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
