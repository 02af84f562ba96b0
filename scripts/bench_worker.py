"""Measure how many sessions a worker serves in real time, as JSON: see render/bench_worker.py.

    python scripts/bench_worker.py SOUND [--sessions N ...] [--ticks 500] [--guests 0] [--kill] [--json OUT]
           [--avatar NAME] [--size 720x1280] [--engine auto] [--weights W] [--latency L]
           [--low-bits FORMAT]

As `visavis bench worker`, for machines without all that a server needs: link the repository as `visavis` into
a folder on PYTHONPATH.
"""

import argparse
import json
import sys
from pathlib import Path

from visavis.render.bench_worker import WorkerBench, measure, wanted_size
from visavis.stream.errors import VisavisError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure how many sessions a worker serves.")
    parser.add_argument("sound", type=Path)
    parser.add_argument("--sessions", nargs="+", type=int, default=[1])
    parser.add_argument("--ticks", type=int, default=500)
    parser.add_argument("--guests", type=int, default=0)
    parser.add_argument("--kill", action="store_true", help="start the worker again after, and time that")
    parser.add_argument("--avatar", default="ruby")
    parser.add_argument("--size", default="720x1280")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--weights")
    parser.add_argument("--latency")
    parser.add_argument("--low-bits")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    given = {"engine": options.engine, "weights": options.weights, "latency": options.latency}
    given |= {"low-bits": options.low_bits}
    figures = []
    try:
        for sessions in options.sessions:
            bench = WorkerBench(
                options.sound,
                sessions=sessions,
                ticks=options.ticks,
                guests=options.guests,
                avatar=options.avatar,
                size=wanted_size(options.size),
                kill=options.kill,
                options={name: value for name, value in given.items() if value is not None},
            )
            figures.append(measure(bench, lambda line: print(line, file=sys.stderr, flush=True)))
            print(json.dumps(figures[-1]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(figures, indent=1) + "\n")
    except VisavisError as error:
        print(f"bench_worker: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
