"""Speech whose mouth shapes are known: Kokoro's and hibari's voices with the durations of their phonemes.

    python -m scripts.visemes.voices SHARDS --voices DIR --model kokoro.onnx --count 12 --seed 1 VOICE...

VOICES is a folder of Kokoro voice tables (`*.bin`); the voice `hibari` needs neither it nor a model. Each
voice and seed gives one shard `VOICE-SEED.npz`; a shard that exists is left alone.
"""

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import hibari.dsp
import numpy as np
import onnx
import onnxruntime as ort
from hibari import Hibari
from hibari.g2p import G2P

from .speech import F32, HELD_OUT, Utterance, save, utterance
from .text import sentence, words

HIBARI_DURATIONS = "/Cast_32_output_0"
KOKORO_DURATIONS = "/encoder/Clip_output_0"
BLENDS = ("mix", "bmix")
MAX_PHONEMES = 300
HIBARI_SPEEDS, KOKORO_SPEEDS = (0.8, 1.25), (0.85, 1.2)


Manners = Callable[[random.Random], F32]


class Voice(Protocol):
    def say(self, text: str, chance: random.Random) -> Iterator[Utterance]: ...


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("shards", type=Path)
    parser.add_argument("names", nargs="+", metavar="VOICE")
    parser.add_argument("--voices", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--count", type=int, default=12, help="sentences for each voice")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.shards.mkdir(parents=True, exist_ok=True)
    known = words()
    kokoro = None if options.model is None else session_with(options.model, KOKORO_DURATIONS)
    for name in options.names:
        target = options.shards / f"{name}-{options.seed}.npz"
        if target.exists():
            continue
        chance = random.Random(f"{name} {options.seed}")
        voice = HibariVoice() if kokoro is None else kokoro_voice(kokoro, options.voices, name)
        save(
            target,
            [said for _ in range(options.count) for said in voice.say(sentence(chance, known), chance)],
        )


class HibariVoice:
    """The synthesiser the server speaks with."""

    def __init__(self) -> None:
        self._tts = Hibari(threads=1)
        self._net = session_with(Path(self._tts.model_path), HIBARI_DURATIONS)

    def say(self, text: str, chance: random.Random) -> Iterator[Utterance]:
        for phonemes in self._tts.phonemize(text):
            known = [symbol for symbol in phonemes if symbol in self._tts.vocab]
            speed = np.array([chance.uniform(*HIBARI_SPEEDS)], np.float32)
            *frames, units = self._net.run(None, {"ids": np.array([self._tts.ids(known)]), "speed": speed})
            noise = np.random.default_rng(chance.getrandbits(32))
            yield utterance(
                hibari.dsp.synth(*(frame[0] for frame in frames), noise), known, np.asarray(units)
            )


class KokoroVoice:
    """Kokoro reading English with the manner (510, 1, 256) that `manners` draws for each sentence; the
    British way if `british`.
    """

    def __init__(self, net: ort.InferenceSession, manners: Manners, *, british: bool) -> None:
        self._net = net
        self._manners = manners
        self._speak = G2P(british=british)
        self._tokens: dict[str, int] = Hibari(threads=1).vocab

    def say(self, text: str, chance: random.Random) -> Iterator[Utterance]:
        known = [symbol for symbol in self._speak(text) if symbol in self._tokens][:MAX_PHONEMES]
        if not known:
            return
        tokens = [0, *(self._tokens[symbol] for symbol in known), 0]
        speed = np.array([chance.uniform(*KOKORO_SPEEDS)], np.float32)
        feeds = {"tokens": np.array([tokens]), "style": self._manners(chance)[len(known)], "speed": speed}
        wave, units = self._net.run(None, feeds)
        yield utterance(np.asarray(wave), known, np.asarray(units))


def table(voice: Path) -> F32:
    """A Kokoro voice's manners, by the count of phonemes."""
    return np.fromfile(voice, np.float32).reshape(-1, 1, 256)


def mixed(tables: Sequence[F32]) -> Manners:
    """Manners of people who do not exist: a blend of up to three voices, taken a little further."""
    middle = np.mean(tables, 0)

    def draw(chance: random.Random) -> F32:
        parts = [(chance.gammavariate(0.8, 1.0) + 1e-3, one) for one in chance.sample(tables, 3)]
        blend = sum(share * one for share, one in parts) / sum(share for share, _ in parts)
        return (middle + chance.uniform(0.9, 1.25) * (blend - middle)).astype(np.float32)

    return draw


def kokoro_voice(net: ort.InferenceSession, folder: Path, name: str) -> KokoroVoice:
    """The voice `name` of `folder`, or for `mix` and `bmix` blends of all that are not held out."""
    if name not in BLENDS:
        manner = table(folder / f"{name}.bin")
        return KokoroVoice(net, lambda _: manner, british=name.startswith("b"))
    tables = [table(one) for one in sorted(folder.glob("*.bin")) if one.stem not in HELD_OUT]
    return KokoroVoice(net, mixed(tables), british=name.startswith("b"))


def session_with(model: Path, output: str) -> ort.InferenceSession:
    """A one-thread session of `model` that gives its inner tensor `output` last."""
    graph = onnx.load(model)
    graph.graph.output.append(onnx.ValueInfoProto(name=output))
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])


if __name__ == "__main__":
    main()
