"""Judge the shipped net as the server runs it, beside HeadAudio and hama, and print docs/visemes.md's tables.

    python -m scripts.visemes.evaluate --voices SHARD... --people SHARD... --headaudio DIR

Voices are shards of Kokoro voices held out of training; people are recordings labelled by `scripts.visemes.
hama`. DIR is HeadAudio's unpacked package; its model runs in node.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from visavis.render.rig import viseme as stage_module
from visavis.render.rig.viseme import VisemeStage
from visavis.stream.clock import FEATURE_HOP
from visavis.stream.visemes import SILENCE, VISEMES

from . import headaudio, noises
from .corpus import UNKNOWN, labels_of, late_s, source_of
from .hama import Teacher
from .spans import doubted, frames
from .speech import RATE, load

HOP: Final = 160
NEAR_ROWS = 2
PEAK = 0.5
HEADAUDIO_EARLY_S = 0.035
"""Its visemes are taken so much before it says them, which is where they fit best."""
MOVES = 0.5
"""A mouth that is at most half silence's moves."""
NOISE_DB = 10.0
F32 = NDArray[np.float32]
Labels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Clip:
    """`samples` at a peak of 0.5, and the viseme `true` (T,) of each row."""

    name: str
    samples: F32
    true: Labels


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of rows: of all, of speech, recall of each viseme within 20 ms, and recall without tolerance."""

    all_rows: float
    speech: float
    near: dict[str, float]
    exact: dict[str, float]


def clips(shards: Iterable[Path]) -> list[Clip]:
    found: list[Clip] = []
    for shard in shards:
        voice = source_of(shard)
        for said in load(shard):
            level = max(float(np.abs(said.samples).max()), 1e-3)
            found.append(Clip(voice, said.samples * (PEAK / level), labels_of(said, late_s(voice), HOP)))
    return found


def heard(stage: VisemeStage, samples: F32) -> F32:
    """Viseme weights (T, 15) of a clip, streamed through the stage, in step with its sound."""
    ticks = -(-(len(samples) + stage_module.LATE_ROWS * HOP) // FEATURE_HOP)
    whole = np.pad(samples, (0, ticks * FEATURE_HOP - len(samples)))
    state = stage.init()
    rows = [stage.step(state, part).visemes for part in whole.reshape(-1, FEATURE_HOP)]
    return np.concatenate(rows)[stage_module.LATE_ROWS :][: len(samples) // HOP]


def score(said: Sequence[Labels], true: Sequence[Labels]) -> Score:
    near: dict[str, list[NDArray[np.bool_]]] = {name: [] for name in VISEMES}
    for mine, right in zip(said, true, strict=True):
        for viseme, name in enumerate(VISEMES):
            hit = np.convolve(mine == viseme, np.ones(2 * NEAR_ROWS + 1), "same") > 0
            near[name].append(hit[: len(right)][right == viseme])
    one, other = np.concatenate(said), np.concatenate(true)
    speech = other != SILENCE
    recall = {name: float(np.mean((one == other)[other == viseme])) for viseme, name in enumerate(VISEMES)}
    return Score(
        float(np.mean(one == other)),
        float(np.mean((one == other)[speech])),
        {name: float(np.mean(np.concatenate(hits))) for name, hits in near.items()},
        recall,
    )


def motion(stage: VisemeStage, given: Sequence[Clip], seed: int) -> dict[str, float]:
    """Share of rows whose mouth moves: in noise alone, in music alone, and in the pauses of noisy speech."""
    rng = np.random.default_rng(seed)
    level = float(np.sqrt(np.mean([np.square(clip.samples).mean() for clip in given])))
    below = level * 10 ** (-NOISE_DB / 20)
    quiet, tunes, pauses = [], [], []
    for kind in noises.KINDS:
        sound = kind(rng, 20 * RATE)
        rows = 1 - heard(stage, sound * (below / 0.1))[:, SILENCE] > MOVES
        (tunes if kind is noises.music else quiet).append(rows.mean())
    steady = [kind for kind in noises.KINDS if kind is not noises.music]
    for place, clip in enumerate(given):
        noise = steady[place % len(steady)](rng, len(clip.samples)) * (below / 0.1)
        rows = 1 - heard(stage, clip.samples + noise)[:, SILENCE] > MOVES
        pauses.append(rows[_deep(clip.true)[: len(rows)]])
    return {
        "noise alone": float(np.mean(quiet)),
        "music alone": float(np.mean(tunes)),
        "pauses of speech in noise": float(np.mean(np.concatenate(pauses))),
    }


def still_people(stage: VisemeStage, given: Sequence[Clip]) -> float:
    """Share of rows well inside the long pauses of recordings whose mouth moves."""
    moves = []
    for clip in given:
        rows = 1 - heard(stage, clip.samples)[:, SILENCE] > MOVES
        pause = doubted(clip.samples, np.zeros(len(rows), np.uint8), UNKNOWN) == SILENCE
        moves.append(rows[pause])
    return float(np.mean(np.concatenate(moves)))


def _deep(true: Labels) -> NDArray[np.bool_]:
    """Rows at least 60 ms inside silence, where no label is in doubt."""
    speech = true != SILENCE
    return np.convolve(speech, np.ones(13), "same") == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--voices", type=Path, nargs="+", required=True)
    parser.add_argument("--people", type=Path, nargs="+", required=True)
    parser.add_argument("--headaudio", type=Path)
    options = parser.parse_args()
    voices, people = clips(options.voices), clips(options.people)
    teacher = Teacher()
    judges: dict[str, Callable[[F32], Labels]] = {}
    for ahead in stage_module.LOOKAHEADS:
        judges[f"ours, {10 * ahead} ms"] = _ours(VisemeStage(), ahead)
    judges["hama"] = lambda samples: frames(samples, teacher.hear(samples))
    if options.headaudio is not None:
        judges["HeadAudio"] = lambda samples: headaudio.heard(options.headaudio, samples, HEADAUDIO_EARLY_S)
    for title, given in (("Held-out voices", voices), ("People, against hama", people)):
        scores = {name: score(*_said(judge, given)) for name, judge in judges.items()}
        print(table(title, scores))
    shares = motion(VisemeStage(), voices, seed=0)
    shares["long pauses of people"] = still_people(VisemeStage(), people)
    for name, share in shares.items():
        print(f"| {name} | {100 * share:.1f} % |")


def _ours(stage: VisemeStage, ahead: int) -> Callable[[F32], Labels]:
    def judge(samples: F32) -> Labels:
        stage_module.NET_LOOKAHEAD_ROWS, stage_module.LATE_ROWS = ahead, ahead + 1
        return heard(stage, samples).argmax(1).astype(np.uint8)

    return judge


def _said(judge: Callable[[F32], Labels], given: Sequence[Clip]) -> tuple[list[Labels], list[Labels]]:
    said, true = [], []
    for clip in given:
        mine = judge(clip.samples)
        count = min(len(mine), len(clip.true))
        said.append(mine[:count])
        true.append(clip.true[:count])
    return said, true


def table(title: str, scores: dict[str, Score]) -> str:
    lines = [f"### {title}", "", "| | " + " | ".join(scores) + " |", "|---|" + "---|" * len(scores)]
    parts: list[tuple[str, Callable[[Score], float]]] = [
        ("all rows", lambda one: one.all_rows),
        ("speech rows", lambda one: one.speech),
        ("pp within 20 ms", lambda one: one.near["pp"]),
        ("ff within 20 ms", lambda one: one.near["ff"]),
        *((name, lambda one, name=name: one.exact[name]) for name in VISEMES),
    ]
    lines += [
        f"| {name} | " + " | ".join(f"{100 * part(one):.0f}" for one in scores.values()) + " |"
        for name, part in parts
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
