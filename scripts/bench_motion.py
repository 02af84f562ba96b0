"""Measure what turns sound into motion, as JSON: milliseconds a call and a frame.

    python scripts/bench_motion.py [--device auto|cpu|cuda] [--weights random:1] [--latency balanced]
                                   [--rounds N] [--json OUT]

As `visavis bench motion`, for machines on which only torch is installed: link the repository as `visavis`
into a folder on PYTHONPATH.
"""

import argparse
import json
import sys
from pathlib import Path

from visavis.render.ditto.bench_motion import MotionBench, measure
from visavis.render.ditto.presets import LIVE
from visavis.stream.errors import VisavisError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure what turns sound into motion.")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--weights", default="random:1")
    parser.add_argument("--latency", default=LIVE)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    try:
        bench = MotionBench(options.device, options.weights, options.latency, options.rounds)
        text = json.dumps(measure(bench), indent=1)
    except VisavisError as error:
        print(f"bench_motion: {error}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(text + "\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
