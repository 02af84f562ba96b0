"""Blinks: a renewal process that the eyes' jumps attract, with quick and slow, half and double ones."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from .chance import BLOCK, Chance
from .clock import FRAME_RATE
from .easing import hermite

_FRAMES_PER_MINUTE = int(60 * FRAME_RATE.per_second)
_CLOSE, _HOLD, _OPEN = 2.5, 0.8, 6.5
"""Frames that the lids of a usual blink take to fall, stay and rise."""
_SLOWEST = 1.35
_SHORTEST_INTERVAL = 0.28
"""Of the mean time between blinks."""
_TEMPER = 1.6
"""Shape of the gamma distribution of intervals: many short ones, some long."""
_HALF, _DOUBLE = 0.13, 0.07
"""Shares of blinks that do not shut the eye, and that come twice."""
_REPEAT = (10.0, 14.0)
"""Frames between the two of a double blink."""
_ATTRACTED = 0.34
"""Of the mean interval: blinks this near to a jump of the eyes happen with it."""
_TALK_SHARE = 0.25
"""Blinks that speaking adds, of those at rest."""
_SPAN = (_CLOSE + _HOLD + _OPEN) * _SLOWEST + _REPEAT[1]


@dataclass(frozen=True, slots=True)
class BlinkRate:
    """From frame `start`, where `phase` blink intervals have gone by, there are `per_minute` blinks a
    minute."""

    start: int
    phase: float
    per_minute: float

    def phase_at(self, index: float) -> float:
        return self.phase + (index - self.start) * self.per_minute / _FRAMES_PER_MINUTE

    def index_at(self, phase: float) -> float:
        return self.start + (phase - self.phase) * _FRAMES_PER_MINUTE / self.per_minute

    def changed(self, start: int, per_minute: float) -> "BlinkRate":
        """Another rate from frame `start` on, without a jump in phase."""
        return BlinkRate(start, self.phase_at(start), per_minute)


@dataclass(frozen=True, slots=True)
class _Blink:
    """`moment` in mean intervals, or in frames once it is placed; `again` is the time to its double, 0 for
    none."""

    moment: float
    depth: float
    slowness: float
    again: float


class Blinks:
    """The lids of one session. `jumps(first, last)` gives the frames at which the eyes leap far."""

    def __init__(self, chance: Chance, jumps: Callable[[float, float], list[float]]) -> None:
        self._chance = chance
        self._jumps = jumps
        self._drawn = lru_cache(maxsize=16)(self._draw)
        self._placed = lru_cache(maxsize=16)(self._place)

    def at(self, index: int, rate: BlinkRate, speaking: float) -> float:
        """How shut the lids are at frame `index`: 0 open to 1 shut."""
        if rate.per_minute <= 0:
            return 0.0
        lids = self._lids("blink", index, rate)
        if speaking > 0:
            extra = BlinkRate(rate.start, rate.phase * _TALK_SHARE, rate.per_minute * _TALK_SHARE)
            lids = max(lids, hermite(2.0 * speaking - 0.5) * self._lids("talk", index, extra))
        return lids

    def _lids(self, channel: str, index: int, rate: BlinkRate) -> float:
        reach = _ATTRACTED + _SPAN * rate.per_minute / _FRAMES_PER_MINUTE
        phase = rate.phase_at(index)
        first, last = int((phase - reach) // BLOCK), int((phase + _ATTRACTED) // BLOCK)
        lids = 0.0
        for block in range(first, last + 1):
            for blink in self._placed(channel, block, rate):
                since = index - blink.moment
                if 0 <= since <= _SPAN:
                    lids = max(lids, blink.depth * lid_curve(since / blink.slowness))
                    if blink.again:
                        lids = max(lids, lid_curve((since - blink.again) / blink.slowness))
        return lids

    def _place(self, channel: str, block: int, rate: BlinkRate) -> tuple[_Blink, ...]:
        """The blinks of `block` with their frames. Those near a jump of the eyes start with it, one each."""
        reach = _ATTRACTED * _FRAMES_PER_MINUTE / rate.per_minute
        blinks = self._drawn(channel, block)
        moments = [rate.index_at(blink.moment) for blink in blinks]
        jumps = self._jumps(moments[0] - reach, moments[-1] + reach) if channel == "blink" else []
        placed: list[_Blink] = []
        for blink, moment in zip(blinks, moments, strict=True):
            near = min(jumps, key=lambda jump: abs(jump - moment), default=None)
            if near is not None and abs(near - moment) <= reach:
                jumps.remove(near)
                moment = near
            placed.append(_Blink(moment, blink.depth, blink.slowness, blink.again))
        return tuple(placed)

    def _draw(self, channel: str, block: int) -> tuple[_Blink, ...]:
        random = self._chance.generator(channel, block)
        gaps = self._chance.gaps(random, shape=_TEMPER, shortest=_SHORTEST_INTERVAL)
        kinds, depths = random.random(BLOCK).tolist(), random.uniform(0.5, 0.85, BLOCK).tolist()
        places, slows = (
            random.uniform(0.2, 0.8, BLOCK).tolist(),
            random.uniform(0.9, _SLOWEST, BLOCK).tolist(),
        )
        repeats = random.uniform(*_REPEAT, BLOCK).tolist()
        blinks: list[_Blink] = []
        end = float(block * BLOCK)
        for gap, kind, depth, place, slow, repeat in zip(
            gaps, kinds, depths, places, slows, repeats, strict=True
        ):
            end += gap
            again = repeat if kind > 1 - _DOUBLE else 0.0
            blinks.append(_Blink(end - gap * place, depth if kind < _HALF else 1.0, slow, again))
        return tuple(blinks)


def lid_curve(frames: float) -> float:
    """How shut the lids are `frames` after a usual blink began: they fall fast, rise slowly and settle
    late."""
    if frames <= 0:
        return 0.0
    if frames <= _CLOSE:
        return hermite(frames / _CLOSE)
    late = frames - _CLOSE - _HOLD
    return (1.0 - hermite(late / _OPEN) ** 0.75) ** 1.15 if late > 0 else 1.0
