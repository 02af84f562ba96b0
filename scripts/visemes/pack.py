"""Make shards small enough to travel: their sound as Opus at 40 kb/s.

python -m scripts.visemes.pack TARGET SHARD...
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from .speech import pack

KIND = ("libopus", "ogg", 48000, 40000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("target", type=Path)
    parser.add_argument("shards", nargs="+", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    targets = [options.target / shard.name for shard in options.shards]
    new = [(one, at, KIND) for one, at in zip(options.shards, targets, strict=True) if not at.exists()]
    with ProcessPoolExecutor(options.workers) as pool:
        list(pool.map(pack, *zip(*new, strict=True))) if new else None


if __name__ == "__main__":
    main()
