"""Recordings of people, labelled by a teacher: the phoneme recogniser hama.

python -m scripts.visemes.hama SHARDS NAME=RECORDING...
"""

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Final

import av
import numpy as np
from hama.asr import ASRModel

from .corpus import UNKNOWN
from .spans import Heard, cues_from, doubted, frames
from .speech import F32, RATE, Utterance, save

EARLY_ROWS = 5
"""Rows of 10 ms by which the teacher's moments come after the sound."""
ROWS_PER_STEP = 2
# ruff: noqa: RUF001 (phonetic letters look like others)
SYMBOLS: Final = {
    "aɪ": "I", "aʊ": "W", "oʊ": "O", "eɪ": "A", "ɔɪ": "Y", "d͡ʒ": "ʤ", "t͡ʃ": "ʧ", "ɚ": "ə", "ɝ": "ɜ", "g": "ɡ",
    "ɫ": "l", "eə": "ɛ", "ɪə": "ɪ", "ʉ": "u", "ɱ": "m", "ʔ": "t", "x": "k",
} | {symbol: symbol for symbol in "aɑɐæɛəʌɜeiɪɔɒouʊpbmszʃʒhθðtdɾfvkɡnŋɹlwjr"}  # fmt: skip
"""The teacher's tokens in the project's phonemes."""


class Teacher:
    def __init__(self) -> None:
        self._model = ASRModel()

    def hear(self, samples: F32) -> list[Heard]:
        """The phonemes in `samples` (16 kHz), each at the middle of its posterior."""
        level = max(float(np.abs(samples).max()), 1e-4)
        feeds = {"waveform": (samples * (0.5 / level))[None], "waveform_lengths": np.array([len(samples)])}
        odds, lengths = self._model.session.run(["log_probs", "out_lengths"], feeds)
        odds = odds[0][: lengths[0]]
        best = odds.argmax(1)
        edges = [0, *(np.flatnonzero(np.diff(best)) + 1).tolist(), len(best)]
        heard: list[Heard] = []
        for start, end in pairwise(edges):
            token = int(best[start])
            symbol = SYMBOLS.get(self._model.decoder_tokens[token])
            if symbol is not None:
                weight = np.exp(odds[start:end, token])
                middle = start + float(weight @ np.arange(end - start) / weight.sum())
                heard.append(Heard(symbol, middle * ROWS_PER_STEP - EARLY_ROWS))
        return heard


def recording(path: Path) -> F32:
    """The sound of any file PyAV opens, or of 16-bit samples at 16 kHz in a `.raw` file."""
    if path.suffix == ".raw":
        return np.fromfile(path, "<i2").astype(np.float32) / 32768
    resampler = av.AudioResampler("flt", "mono", RATE)
    with av.open(str(path)) as sound:
        decoded = [part for frame in sound.decode(audio=0) for part in resampler.resample(frame)]
    decoded += resampler.resample(None)
    return np.concatenate([part.to_ndarray()[0] for part in decoded]).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("shards", type=Path)
    parser.add_argument("recordings", nargs="+", metavar="NAME=RECORDING")
    parser.add_argument("--teach", action="store_true", help="leave rows in doubt unlabelled, for training")
    options = parser.parse_args()
    options.shards.mkdir(parents=True, exist_ok=True)
    teacher = Teacher()
    for order in options.recordings:
        name, _, path = order.partition("=")
        samples = recording(Path(path))
        rows = frames(samples, teacher.hear(samples))
        if options.teach:
            rows = doubted(samples, rows, UNKNOWN)
        save(options.shards / f"{name}.npz", [Utterance(samples, cues_from(rows))])


if __name__ == "__main__":
    main()
