"""Breathing: unequal breaths at rest, a quick one before each phrase, and a long way out while it lasts."""

from collections.abc import Sequence
from functools import lru_cache

from .chance import BLOCK, Chance
from .easing import hermite

_MEAN_FRAMES = 107.0
"""About 14 breaths a minute."""
_TEMPER = 6.0
_SHORTEST = 0.55
_IN_SHARE = 0.42
_DEPTHS = (0.55, 0.9)
_SIGH = 0.05
"""Share of breaths that are as deep as can be."""
_GASP_BEFORE, _GASP_AFTER = 3.0, 5.0
"""Frames of the breath that begins a phrase, before and after its first sound."""
PHRASE_MEMORY = 150
"""Frames after which a phrase's first breath is spent."""
_TALK_CALM = 0.65
"""How much of the breath at rest speaking suppresses."""


class Breath:
    """The breath of one session."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._breaths = lru_cache(maxsize=8)(self._draw)

    def at(self, index: int, speaking: float, phrases: Sequence[int]) -> float:
        """0 breathed out to 1 full, at frame `index`. `phrases` are frames at which phrases began."""
        calm = self._resting(index) * (1.0 - _TALK_CALM * speaking)
        swell = sum(_phrase(index - start) for start in phrases)
        return calm + (1.0 - calm) * 0.8 * min(swell, 1.0)

    def _resting(self, index: int) -> float:
        block = int(index // (BLOCK * _MEAN_FRAMES))
        place = index - block * BLOCK * _MEAN_FRAMES
        for length, depth in self._breaths(block):
            if place < length:
                return depth * _wave(place / length)
            place -= length
        return 0.0

    def _draw(self, block: int) -> tuple[tuple[float, float], ...]:
        """(frames, depth) of the breaths in `block`."""
        random = self._chance.generator("breath", block)
        gaps = self._chance.gaps(random, shape=_TEMPER, shortest=_SHORTEST)
        depths = random.uniform(*_DEPTHS, BLOCK).tolist()
        sighs = (random.random(BLOCK) < _SIGH).tolist()
        return tuple(
            (gap * _MEAN_FRAMES, 1.0 if sigh else depth)
            for gap, depth, sigh in zip(gaps, depths, sighs, strict=True)
        )


def _wave(share: float) -> float:
    """One breath: in, and more slowly out, with a rest before the next."""
    if share < _IN_SHARE:
        return hermite(share / _IN_SHARE)
    return 1.0 - hermite((share - _IN_SHARE) / (0.92 - _IN_SHARE)) ** 0.8


def _phrase(since: float) -> float:
    if since <= -_GASP_BEFORE or since >= PHRASE_MEMORY:
        return 0.0
    rise = hermite((since + _GASP_BEFORE) / (_GASP_BEFORE + _GASP_AFTER))
    return rise * (1.0 - hermite((since - _GASP_AFTER) / (PHRASE_MEMORY - _GASP_AFTER)) ** 0.7)
