"""Each of our emotions is a mixture of the model's, and mixtures of ours are mixtures of theirs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.render.ditto import conditions
from visavis.render.ditto.moods import MIXTURES, emotion, strength
from visavis.stream.controls import EMOTIONS, Controls

weights = st.dictionaries(st.sampled_from(EMOTIONS), st.floats(0, 1))


@pytest.mark.parametrize("name", EMOTIONS)
def test_each_emotion_is_a_whole_mixture_of_known_ones(name: str) -> None:
    assert sum(MIXTURES[name].values()) == pytest.approx(1)
    assert set(MIXTURES[name]) <= set(conditions.EMOTIONS)


@pytest.mark.parametrize(("name", "label"), [("happy", 3), ("neutral", 4), ("sad", 5), ("surprised", 6)])
def test_emotions_with_a_label_are_what_the_reference_makes_of_it(name: str, label: int) -> None:
    assert np.allclose(emotion({name: 1.0}), conditions.emotion_vectors(label)[0])


def test_emotions_are_told_apart() -> None:
    found = [emotion({name: 1.0}) for name in EMOTIONS]
    assert all(np.abs(one - other).max() > 0.2 for k, one in enumerate(found) for other in found[:k])


@given(weights, st.floats(0, 1))
def test_a_mixture_is_whole_and_its_rest_neutral(named: dict[str, float], level: float) -> None:
    moods = Controls(emotion=named, emotion_level=level).moods
    found = emotion(moods)
    assert found.sum() == pytest.approx(1)
    assert found.min() >= -1e-9
    assert found[conditions.NEUTRAL] >= 0.9 * (1 - strength(moods)) - 1e-9
    assert -1e-9 <= strength(moods) <= 1 + 1e-9
