"""Coded speech keeps its place."""

import numpy as np
import pytest
from support.rig import speech
from visavis.scripts.visemes import codecs, noises
from visavis.scripts.visemes.text import COMMON, SENTENCES, sentence


@pytest.mark.parametrize("kind", codecs.KINDS, ids=lambda kind: f"{kind[0]} {kind[3] // 1000}k")
def test_coded_speech_is_as_long_and_as_early_as_before(kind: codecs.Kind) -> None:
    samples = speech()[16000:48000]
    spoilt = codecs.coded(samples, kind)
    assert len(spoilt) == len(samples)
    likeness = [
        np.corrcoef(samples[400:-400], np.roll(spoilt, lag)[400:-400])[0, 1] for lag in range(-20, 21)
    ]
    assert int(np.argmax(likeness)) - 20 in (-1, 0, 1)
    assert max(likeness) > 0.9


@pytest.mark.parametrize("kind", range(len(noises.KINDS)))
def test_every_noise_is_as_loud_as_the_next_and_never_the_same(kind: int) -> None:
    made = [noises.KINDS[kind](np.random.default_rng(seed), 32000) for seed in (1, 2)]
    for sound in made:
        assert float(np.sqrt(np.square(sound).mean())) == pytest.approx(0.1, rel=1e-3)
    assert abs(float(np.corrcoef(*made)[0, 1])) < 0.9


def test_sentences_are_made_of_known_words() -> None:
    import random

    made = {sentence(random.Random(seed), ["rhubarb"]) for seed in range(50)}
    assert len(made) > 30
    for text in made - set(SENTENCES):
        words = text.lower().rstrip(".?!").replace(",", "").split()
        assert set(words) <= {"rhubarb", *COMMON}
