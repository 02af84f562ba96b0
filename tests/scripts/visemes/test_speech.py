"""Shards of labelled speech."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from visavis.scripts.visemes import speech
from visavis.scripts.visemes.corpus import labels_of
from visavis.scripts.visemes.speech import PAD, RATE, UNIT_SAMPLES, VOICE_RATE, Utterance, utterance
from visavis.stream.visemes import SILENCE, VISEMES


def tone(seconds: float, hz: float) -> NDArray[np.float32]:
    t = np.arange(int(seconds * RATE)) / RATE
    return (0.3 * np.sin(2 * np.pi * hz * t) * np.hanning(len(t))).astype(np.float32)


def said() -> list[Utterance]:
    cues = np.array([[SILENCE, 0, 4000], [0, 4000, 9000], [5, 9000, 16000]], np.int32)
    return [Utterance(tone(1.0, 300), cues), Utterance(tone(1.5, 800), cues[:2])]


def test_a_shard_gives_back_what_was_saved(tmp_path: Path) -> None:
    speech.save(tmp_path / "one-1.npz", said())
    for kept, one in zip(speech.load(tmp_path / "one-1.npz"), said(), strict=True):
        assert np.abs(kept.samples - one.samples).max() < 1e-4
        assert np.array_equal(kept.cues, one.cues)
    assert [path.name for path in tmp_path.iterdir()] == ["one-1.npz"]


def test_a_packed_shard_sounds_alike_and_keeps_its_time(tmp_path: Path) -> None:
    speech.save(tmp_path / "one-1.npz", said())
    speech.pack(tmp_path / "one-1.npz", tmp_path / "packed.npz", ("libopus", "ogg", 48000, 40000))
    for kept, one in zip(speech.load(tmp_path / "packed.npz"), said(), strict=True):
        assert len(kept.samples) == len(one.samples)
        assert np.corrcoef(kept.samples, one.samples)[0, 1] > 0.98
        assert np.array_equal(kept.cues, one.cues)


@pytest.mark.parametrize("seconds", [1, 12], ids=["short", "longer than 32 bits of products hold"])
def test_cues_follow_the_voice_to_its_end(seconds: int) -> None:
    units = np.array([[4, seconds * 40 - 8, 4]])
    whole = utterance(np.zeros(seconds * VOICE_RATE, np.float32), ["ɑ"], units)  # noqa: RUF001
    assert units.sum() * UNIT_SAMPLES == seconds * VOICE_RATE
    assert whole.cues[-1].tolist() == [SILENCE, RATE * (seconds * 40 - 4) // 40, RATE * seconds]
    assert whole.cues[1, 0] == VISEMES.index("aa")
    assert (whole.cues[1:, 1] == whole.cues[:-1, 2]).all()
    assert len(PAD) == 1


def test_labels_are_read_where_the_sound_is() -> None:
    labels = labels_of(said()[0], late=0.05, step=160)
    assert len(labels) == 100
    assert labels[19] == SILENCE
    assert labels[20] == VISEMES.index("aa")
    assert labels[52] == VISEMES.index("pp")
    assert labels[96] == SILENCE
