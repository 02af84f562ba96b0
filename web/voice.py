"""The speech process: text in, sentences of sound with their mouth shapes out.

Several jobs take turns, a sentence each; a job that has used up its credit waits.
"""

import argparse
import logging
import os
import re
import select
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, cast

import numpy as np
from hibari import SAMPLE_RATE, Hibari, dsp
from hibari.voices import VOICES, voice_path
from numpy.typing import NDArray

from ..stream.clock import to_samples
from ..stream.errors import LinkError
from ..stream.link import to_frame
from ..stream.pcm import from_float
from ..stream.visemes import Cue, cues_of
from .onnx_output import with_output
from .voice_link import Cancel, Done, FromVoice, More, Piece, Speak, ToVoice, Voices, voice_inbox

_LOG = logging.getLogger(__name__)

DEFAULT_VOICE = "heart"
_DURATIONS = "/Cast_32_output_0"
_DURATION_SAMPLES = to_samples(25, SAMPLE_RATE)
_CUE_LEAD = to_samples(50, SAMPLE_RATE)
"""The model's phoneme times run this much behind its sound."""
_ONSET_LEAD = to_samples(75, SAMPLE_RATE)
"""Silence kept before the first word; the model makes 300 ms of it."""
_LONG_SENTENCE = 250
_LONG_NUMBER = re.compile(r"\d{13,}")
_NICE = 5
_READ_BYTES = 1 << 16


@dataclass(slots=True)
class Job:
    """One text being spoken: `credit` pieces may leave, `spoken` samples have left."""

    number: int
    voice: str
    sentences: Iterator[str]
    credit: int
    spoken: int = 0


class Voice:
    """One of hibari's voices, which also tells its phonemes' durations."""

    def __init__(self, name: str, seed: int | None = None) -> None:
        with NamedTemporaryFile(suffix=".onnx") as model:
            model.write(with_output(Path(voice_path(name, download_missing=False)).read_bytes(), _DURATIONS))
            model.flush()
            self._hibari = Hibari(voice=name, model=model.name)
        self._noise = np.random.default_rng(seed)

    def warm(self) -> None:
        for _ in self.speak("Ready."):
            pass

    def speak(self, sentence: str) -> Iterator[tuple[NDArray[np.float32], list[Cue], int]]:
        """Sound (N,) float32 at 24 kHz with its mouth shapes, and the samples before its first phoneme."""
        for phonemes in self._hibari.phonemize(sentence):
            ids: list[int] = self._hibari.ids(phonemes)
            inputs = {"ids": np.asarray([ids], np.int64), "speed": np.ones(1, np.float32)}
            # The declared type covers every kind of model; this one gives seven arrays.
            outputs = cast(list[NDArray[Any]], self._hibari.sess.run(None, inputs))
            lh, theta, ln, lr, phi, f0 = (part[0] for part in outputs[:6])
            samples = dsp.synth(lh, theta, ln, lr, phi, f0, self._noise)
            symbols = ["_", *(symbol for symbol in phonemes if symbol in self._hibari.vocab), "_"]
            lengths = [int(units) * _DURATION_SAMPLES for units in outputs[6].ravel()]
            yield samples, cues_of(symbols, lengths, seen=True), lengths[0]


class Mouth:
    """All jobs of one process. `speak_next` does a sentence of one of them."""

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed
        self._voices: dict[str, Voice] = {}
        self._jobs: dict[int, Job] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The voices that are on this machine; none is ever downloaded here."""
        return tuple(name for name in VOICES if _is_here(name))

    @property
    def has_work(self) -> bool:
        return any(job.credit > 0 for job in self._jobs.values())

    def warm(self) -> None:
        self._voice(DEFAULT_VOICE).warm()

    def receive(self, message: ToVoice) -> None:
        match message:
            case Speak():
                sentences = split(message.text)
                self._jobs[message.job] = Job(message.job, message.voice, sentences, message.credit)
            case More():
                if message.job in self._jobs:
                    self._jobs[message.job].credit += 1
            case Cancel():
                self._jobs.pop(message.job, None)

    def speak_next(self) -> Iterator[FromVoice]:
        """One sentence of the job whose turn it is; needs `has_work`."""
        job = next(job for job in self._jobs.values() if job.credit > 0)
        del self._jobs[job.number]
        sentence = next(job.sentences, None)
        if sentence is None:
            yield Done(job.number, None if job.spoken else "nothing in this text can be spoken in English")
            return
        try:
            yield from self._pieces(job, sentence)
        except Exception:
            # Any text comes in, and the synthesiser is not ours: the other sentences can still be said.
            _LOG.exception("a sentence could not be spoken")
        self._jobs[job.number] = job

    def _pieces(self, job: Job, sentence: str) -> Iterator[Piece]:
        for samples, cues, onset in self._voice(job.voice).speak(sentence):
            skip = max(0, onset - _ONSET_LEAD) if job.spoken == 0 else 0
            shift = job.spoken - skip - _CUE_LEAD
            job.credit -= 1
            job.spoken += len(samples) - skip
            moved = tuple(
                (cue.viseme, max(0, cue.start + shift), cue.end + shift)
                for cue in cues
                if cue.end + shift > 0
            )
            yield Piece(job.number, SAMPLE_RATE, from_float(samples[skip:]), moved)

    def _voice(self, name: str) -> Voice:
        if name not in self._voices:
            self._voices[name] = Voice(name, self._seed)
        return self._voices[name]


def serve(connection: socket.socket) -> None:
    """Speak until the other end hangs up."""
    mouth, inbox = Mouth(), voice_inbox()
    mouth.warm()
    connection.sendall(to_frame(Voices(mouth.names)))
    while True:
        wait_s = 0 if mouth.has_work else None
        if select.select([connection], [], [], wait_s)[0]:
            data = connection.recv(_READ_BYTES)
            if not data:
                return
            for message in inbox.feed(data):
                mouth.receive(message)
        elif mouth.has_work:
            for answer in mouth.speak_next():
                connection.sendall(to_frame(answer))


def _is_here(name: str) -> bool:
    try:
        return os.path.exists(voice_path(name, download_missing=False))
    except FileNotFoundError:
        return False


def split(text: str) -> Iterator[str]:
    """Sentences in order, long ones cut at a comma or a space, so that none keeps the first sound waiting."""
    spelled = _LONG_NUMBER.sub(lambda digits: " ".join(digits[0]), text)
    for sentence in Hibari.split_sentences(spelled):
        rest = sentence
        while len(rest) > _LONG_SENTENCE:
            head = rest[:_LONG_SENTENCE]
            cut = max(head.rfind(", "), head.rfind("; ")) + 1 or head.rfind(" ") + 1 or _LONG_SENTENCE
            yield rest[:cut]
            rest = rest[cut:]
        yield rest


def main(arguments: list[str] | None = None) -> int:
    """Entry of the process. `--fd` is the inherited end of a socket pair whose other end the front holds."""
    parser = argparse.ArgumentParser(prog="visavis.web.voice")
    parser.add_argument("--fd", type=int, required=True)
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    os.nice(_NICE)
    with socket.socket(fileno=options.fd) as connection:
        try:
            serve(connection)
        except (OSError, LinkError) as error:
            _LOG.info("the link to the front ended: %s", error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
