"""More timbres with known mouth shapes: the voices of flite, made from recordings of people.

    python -m scripts.visemes.flite SHARDS --count 60 --seed 1 kal16 awb rms slt

Needs the program `flite`; its library path may be given by LD_LIBRARY_PATH.
"""

import argparse
import random
import subprocess
import tempfile
import wave
from pathlib import Path

import numpy as np
from visavis.stream.visemes import cues_of

from .speech import RATE, Utterance, save
from .text import sentence, words

# ruff: noqa: RUF001 (phonetic letters look like others)
SYMBOLS = {
    "aa": "ɑ", "ae": "æ", "ah": "ʌ", "ao": "ɔ", "aw": "W", "ax": "ə", "axr": "əɹ", "ay": "I",
    "b": "b", "ch": "ʧ", "d": "d", "dh": "ð", "eh": "ɛ", "er": "ɜɹ", "ey": "A", "f": "f",
    "g": "ɡ", "hh": "h", "ih": "ɪ", "iy": "i", "jh": "ʤ", "k": "k", "l": "l", "m": "m", "n": "n",
    "ng": "ŋ", "ow": "O", "oy": "Y", "p": "p", "pau": "_", "r": "ɹ", "s": "s", "sh": "ʃ", "t": "t",
    "th": "θ", "uh": "ʊ", "uw": "u", "v": "v", "w": "w", "y": "j", "z": "z", "zh": "ʒ",
}  # fmt: skip
"""flite's phones in the project's phonemes; a phone of two shares its time."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("shards", type=Path)
    parser.add_argument("names", nargs="+", metavar="VOICE")
    parser.add_argument("--program", default="flite")
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.shards.mkdir(parents=True, exist_ok=True)
    known = words()
    for name in options.names:
        target = options.shards / f"flite_{name}-{options.seed}.npz"
        if not target.exists():
            chance = random.Random(f"{name} {options.seed}")
            texts = [sentence(chance, known) for _ in range(options.count)]
            save(target, [say(options.program, name, text, chance.uniform(0.85, 1.2)) for text in texts])


def say(program: str, voice: str, text: str, stretch: float) -> Utterance:
    """`text` in one of flite's voices, `stretch` times as long as usual."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "said.wav"
        order = [
            program,
            "-voice",
            voice,
            "-psdur",
            "--setf",
            f"duration_stretch={stretch:.3f}",
            "-t",
            text,
            target,
        ]
        phones = subprocess.run(order, check=True, capture_output=True, text=True).stdout.split()
        with wave.open(str(target)) as sound:
            rate = sound.getframerate()
            samples = np.frombuffer(sound.readframes(sound.getnframes()), np.int16)
    if rate != RATE:
        raise SystemExit(f"flite's {voice} speaks at {rate} Hz; choose a voice of {RATE} Hz")
    symbols, ends = [], [0]
    for phone in phones:
        name, _, end_s = phone.partition(":")
        parts = SYMBOLS[name]
        end = round(float(end_s) * RATE)
        symbols += parts
        ends += [ends[-1] + (end - ends[-1]) * (part + 1) // len(parts) for part in range(len(parts))]
    cues = cues_of(symbols, np.diff(ends).tolist())
    at = np.array([(cue.viseme, cue.start, cue.end) for cue in cues], np.int32)
    return Utterance(samples.astype(np.float32) / 32768, at)


if __name__ == "__main__":
    main()
