"""Measure what a card does for Ditto, as JSON: networks plain and fused, and how many sessions it holds.

    python scripts/bench_gpu.py [--device auto|cpu|cuda] [--most 16] [--ticks 2000] [--rounds 30] [--json OUT]
                                [--only PART ...] [--sessions N ...]

As `visavis bench gpu`, for machines on which only torch is installed: link the repository as `visavis` into a
folder on PYTHONPATH.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from visavis.render.ditto.bench_gpu import PARTS, GpuBench, measure
from visavis.stream.errors import VisavisError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure what a card does for Ditto.")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--most", type=int, default=16)
    parser.add_argument("--ticks", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument(
        "--only", nargs="+", default=PARTS, choices=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--sessions", nargs="+", type=int, default=(), help="try these numbers of sessions")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    try:
        bench = GpuBench(
            options.device,
            most=options.most,
            ticks=options.ticks,
            rounds=options.rounds,
            parts=tuple(options.only),
            sessions=tuple(options.sessions),
        )
        print(json.dumps(measure(bench, _tell, lambda report: _keep(report, options.json)), indent=1))
    except VisavisError as error:
        print(f"bench_gpu: {error}", file=sys.stderr)
        return 1
    return 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _keep(report: dict[str, Any], path: Path | None) -> None:
    """What there is so far: a run may be cut short."""
    if path:
        path.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
