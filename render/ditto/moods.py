"""Our emotions as mixtures of the eight that the motion model knows."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from . import conditions

F64 = NDArray[np.float64]

MIXTURES: Final[Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        "neutral": {"neutral": 1.0},
        "happy": {"happy": 1.0},
        "serious": {"neutral": 0.6, "angry": 0.3, "contempt": 0.1},
        "surprised": {"surprise": 1.0},
        "sad": {"sad": 1.0},
        "concerned": {"sad": 0.5, "fear": 0.25, "neutral": 0.25},
    }
)
"""Those without a word of their own in the model are made of its neighbours, softly."""


def _vector(mixture: Mapping[str, float]) -> F64:
    labels = conditions.emotion_vectors([[conditions.EMOTIONS.index(name)] for name in mixture])
    return np.array(list(mixture.values())) @ labels.double().numpy()


_VECTORS: Final = {name: _vector(mixture) for name, mixture in MIXTURES.items()}


def emotion(moods: Mapping[str, float]) -> F64:
    """(8,), together 1: the emotions of the model for `moods`, weights that are at most 1 together; what is
    left is neutral."""
    rest = 1.0 - sum(moods.values())
    found = rest * _VECTORS["neutral"]
    for name, weight in moods.items():
        found = found + weight * _VECTORS[name]
    return found


def strength(moods: Mapping[str, float]) -> float:
    """0..1: how much of `moods` is not neutral."""
    return sum(weight for name, weight in moods.items() if name != "neutral")
