"""How head and shoulders are held: slow drift, shifts of weight, and what speaking stirs."""

from functools import lru_cache

from .chance import BLOCK, Chance
from .easing import hermite

_SHIFT_FRAMES = 340.0
"""Mean time that the weight rests on one side."""
_SHIFT_TAKES = (30.0, 60.0)
_LEAN = 0.55
_SLOW_PERIODS, _SLOW_DEG = (61.0, 53.0, 71.0), (2.2, 1.3, 1.3)
_FAST_PERIODS, _FAST_DEG = (27.0, 23.0, 31.0), (1.0, 0.8, 0.7)
_TALK_SLOW_DEG, _TALK_FAST_DEG = (0.8, 0.4, 0.6), (1.1, 0.8, 0.8)
_BREATH_DEG = -0.5
"""Pitch that a full breath adds."""
_LEAN_DEG = (0.5, 0.0, -1.1)
"""What the head does against a full lean: it stays upright."""


class Posture:
    """The posture of one session."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._shifts = lru_cache(maxsize=8)(self._draw)

    def lean(self, index: int, speaking: float) -> float:
        """-1..1 to the viewer's right at frame `index`."""
        drift = 0.30 * self._chance.noise("drift", index, 211.0) + 0.06 * self._chance.noise(
            "waver", index, 47.0
        )
        stir = 0.45 * speaking * self._chance.noise("stir", index, 41.0)
        return min(max(self._weight(index) + drift + stir, -1.0), 1.0)

    def head(self, index: int, speaking: float, breath: float, lean: float) -> tuple[float, float, float]:
        """Yaw, pitch and roll in degrees at frame `index`."""
        slow = [self._chance.noise(f"slow{k}", index, period) for k, period in enumerate(_SLOW_PERIODS)]
        fast = [self._chance.noise(f"fast{k}", index, period) for k, period in enumerate(_FAST_PERIODS)]
        yaw, pitch, roll = (
            s * (rest + speaking * stir) + f * (tremor + speaking * life) + against * lean
            for s, f, rest, stir, tremor, life, against in zip(
                slow, fast, _SLOW_DEG, _TALK_SLOW_DEG, _FAST_DEG, _TALK_FAST_DEG, _LEAN_DEG, strict=True
            )
        )
        return yaw, pitch + _BREATH_DEG * breath, roll

    def _weight(self, index: int) -> float:
        """Which side carries the weight."""
        block = int(index // (BLOCK * _SHIFT_FRAMES))
        shifts = self._shifts(block - 1)[-2:] + self._shifts(block)
        place = len(shifts) - 1
        while shifts[place][0] > index:
            place -= 1
        moment, here, takes = shifts[place]
        before = shifts[place - 1][1]
        return before + (here - before) * hermite((index - moment) / takes)

    def _draw(self, block: int) -> list[tuple[float, float, float]]:
        """(moment, side, frames it takes) of the shifts in `block`."""
        random = self._chance.generator("shift", block)
        gaps = self._chance.gaps(random, shape=2.0, shortest=0.25)
        sides = random.uniform(-_LEAN, _LEAN, BLOCK).tolist()
        takes = random.uniform(*_SHIFT_TAKES, BLOCK).tolist()
        start = block * BLOCK * _SHIFT_FRAMES
        moments = [start + sum(gaps[:place]) * _SHIFT_FRAMES for place in range(BLOCK)]
        return list(zip(moments, sides, takes, strict=True))
