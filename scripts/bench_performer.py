"""What it costs to turn sound into motion: milliseconds of process time a tick, as JSON.

    python scripts/bench_performer.py [SPEECH.wav] [--runs 5]

Each run hears the whole clip; `hearing` is the net and its features, `all` the whole performer. The best and
the median of the runs are given.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from visavis.render.rig.performer import Performer
from visavis.render.rig.viseme import VisemeStage
from visavis.render.sound import SoundFile
from visavis.stream.clock import FEATURE_HOP, PROGRAM_HOP, PROGRAM_HZ
from visavis.stream.media import TickAudio
from visavis.stream.resample import Resampler
from visavis.stream.visemes import ROWS_PER_TICK, VISEMES

F32 = NDArray[np.float32]

CLIP = Path(__file__).parents[1] / "tests" / "assets" / "jfk.wav"
THIRD = PROGRAM_HZ // 16_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("clip", type=Path, nargs="?", default=CLIP)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    ticks = _ticks(options.clip)
    stage = VisemeStage()
    stage.warm()
    costs = {"hearing": _cost(lambda: _hear(stage, ticks), options.runs, len(ticks))}
    costs["all"] = _cost(lambda: _perform(stage, ticks), options.runs, len(ticks))
    print(json.dumps({"clip": options.clip.name, "ticks": len(ticks), "ms_a_tick": costs}, indent=2))


def _cost(work: Callable[[], None], runs: int, ticks: int) -> dict[str, float]:
    costs: list[float] = []
    for _ in range(runs):
        start = time.process_time_ns()
        work()
        costs.append((time.process_time_ns() - start) / ticks / 1e6)
    return {"best": round(min(costs), 3), "median": round(statistics.median(costs), 3)}


def _hear(stage: VisemeStage, ticks: list[TickAudio]) -> None:
    state = stage.init()
    for tick in ticks:
        stage.step(state, tick.heard)


def _perform(stage: VisemeStage, ticks: list[TickAudio]) -> None:
    performer = Performer(stage, seed=1, index=0)
    for tick in ticks:
        performer.hear(tick)


def _ticks(path: Path) -> list[TickAudio]:
    with SoundFile(path) as sound:
        chunks = list(sound.chunks("bench"))
    resampler = Resampler(chunks[0].rate)
    parts = [resampler.step(chunk.samples) for chunk in chunks]
    sent = np.concatenate([*parts, resampler.flush()])
    heard = sent[: len(sent) // PROGRAM_HOP * PROGRAM_HOP].reshape(-1, THIRD).mean(1).reshape(-1, FEATURE_HOP)
    rows, known = np.zeros((ROWS_PER_TICK, len(VISEMES)), np.float32), np.zeros(ROWS_PER_TICK, np.bool_)
    silence = np.zeros(PROGRAM_HOP, np.float32)
    return [
        TickAudio(index, silence, samples.astype(np.float32), rows, known, (), True)
        for index, samples in enumerate(heard)
    ]


if __name__ == "__main__":
    main()
