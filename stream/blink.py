"""Blinks: a renewal process that the eyes' jumps attract, with quick and slow and double ones. Each shuts the
eyes: half of one looks drowsy."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from .chance import BLOCK, Chance
from .clock import FRAME_RATE
from .easing import hermite

_FRAMES_PER_MINUTE = int(60 * FRAME_RATE.per_second)
_CLOSE, _HOLD, _OPEN = 3.2, 0.4, 6.0
"""Frames that the lids of a usual blink take to fall, stay and rise."""
_SLOWEST = 1.25
_SHORTEST_INTERVAL = 0.28
"""Of the mean time between blinks."""
_TEMPER = 1.6
"""Shape of the gamma distribution of intervals: many short ones, some long."""
_DOUBLE = 0.05
"""Share of blinks that come twice."""
_REPEAT = (10.0, 14.0)
"""Frames between the two of a double blink."""
_ALONE = 45.0
"""Frames around a double blink without another: three in a row would be a tic."""
_SETTLED = 2.0
"""Frames after the start of a double blink from which on no jump of the eyes may fall into it."""
_ATTRACTED = 0.34
"""Of the mean interval: blinks this near to a jump of the eyes happen with it."""
_APART = 22.0
"""Frames between two blinks that neither a jump of the eyes nor speech may shorten."""
_TALK_SHARE = 0.36
"""Blinks that speaking adds, of those at rest; some fall away beside others."""
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
    slowness: float
    again: float


class Blinks:
    """The lids of one session. `jumps(first, last)` gives the frames at which the eyes leap far."""

    def __init__(self, chance: Chance, jumps: Callable[[float, float], list[float]]) -> None:
        self._chance = chance
        self._jumps = jumps
        self._drawn = lru_cache(maxsize=16)(self._draw)
        self._placed = lru_cache(maxsize=16)(self._place)
        self._added = lru_cache(maxsize=8)(self._add)

    def at(self, index: float, rate: BlinkRate, speaking: float) -> float:
        """How shut the lids are at frame `index`: 0 open to 1 shut."""
        if rate.per_minute <= 0:
            return 0.0
        lids = _lids(index, self._around(index, rate))
        if speaking > 0:
            lids = max(lids, hermite(2.0 * speaking - 0.5) * _lids(index, self._extra(index, rate)))
        return lids

    def _around(self, index: float, rate: BlinkRate, *, ahead: float = 0.0) -> list[_Blink]:
        """The blinks that may have begun within _SPAN before `index` or `ahead` frames after it."""
        share = rate.per_minute / _FRAMES_PER_MINUTE
        phase = rate.phase_at(index)
        first = int((phase - _ATTRACTED - _SPAN * share) // BLOCK)
        last = int((phase + _ATTRACTED + ahead * share) // BLOCK)
        return [blink for block in range(first, last + 1) for blink in self._placed(block, rate)]

    def _place(self, block: int, rate: BlinkRate) -> tuple[_Blink, ...]:
        """The blinks of `block` with their frames. Those near a jump of the eyes start with it, one each."""
        reach = _ATTRACTED * _FRAMES_PER_MINUTE / rate.per_minute
        blinks = self._drawn("blink", block)
        moments = [rate.index_at(blink.moment) for blink in blinks]
        jumps = self._jumps(moments[0] - reach, moments[-1] + reach)
        for place, moment in enumerate(moments):
            others = moments[:place] + moments[place + 1 :]
            near = min(jumps, key=lambda jump: abs(jump - moment), default=None)
            if near is None or abs(near - moment) > reach:
                continue
            if _far(near, others, _APART):
                moments[place] = near
        return tuple(
            self._single_or_double(blink, moment, moments[:place] + moments[place + 1 :])
            for place, (blink, moment) in enumerate(zip(blinks, moments, strict=True))
        )

    def _extra(self, index: float, rate: BlinkRate) -> list[_Blink]:
        """The blinks near `index` that speaking adds: none beside one that happens anyway."""
        share = rate.per_minute * _TALK_SHARE
        block = int(rate.phase_at(index) * _TALK_SHARE // BLOCK)
        sparse = BlinkRate(rate.start, rate.phase * _TALK_SHARE, share)
        return [blink for each in (block - 1, block) for blink in self._added(each, rate, sparse)]

    def _add(self, block: int, rate: BlinkRate, sparse: BlinkRate) -> tuple[_Blink, ...]:
        added: list[_Blink] = []
        for blink in self._drawn("talk", block):
            moment = sparse.index_at(blink.moment)
            near = self._around(moment, rate, ahead=_SPAN)
            if all(abs(other.moment + other.again / 2 - moment) >= 1.5 * _APART for other in near):
                added.append(self._single_or_double(blink, moment, [each.moment for each in near]))
        return tuple(added)

    def _single_or_double(self, blink: _Blink, moment: float, others: list[float]) -> _Blink:
        """`blink` at `moment`, without its double where `others` are near or the eyes jump in between."""
        double = _far(moment, others, _ALONE) and not (
            blink.again and self._jumps(moment + _SETTLED, moment + blink.again + _CLOSE)
        )
        return _Blink(moment, blink.slowness, blink.again if double else 0.0)

    def _draw(self, channel: str, block: int) -> tuple[_Blink, ...]:
        random = self._chance.generator(channel, block)
        gaps = self._chance.gaps(random, shape=_TEMPER, shortest=_SHORTEST_INTERVAL)
        kinds = random.random(BLOCK).tolist()
        places, slows = (
            random.uniform(0.2, 0.8, BLOCK).tolist(),
            random.uniform(0.9, _SLOWEST, BLOCK).tolist(),
        )
        repeats = random.uniform(*_REPEAT, BLOCK).tolist()
        blinks: list[_Blink] = []
        end = float(block * BLOCK)
        for gap, kind, place, slow, repeat in zip(gaps, kinds, places, slows, repeats, strict=True):
            end += gap
            again = repeat if kind > 1 - _DOUBLE else 0.0
            blinks.append(_Blink(end - gap * place, slow, again))
        return tuple(blinks)


def _far(moment: float, others: list[float], least: float) -> bool:
    return all(abs(other - moment) >= least for other in others)


def _lids(index: float, blinks: list[_Blink]) -> float:
    lids = 0.0
    for blink in blinks:
        since = index - blink.moment
        if 0 <= since <= _SPAN:
            lids = max(lids, lid_curve(since / blink.slowness))
            if blink.again:
                lids = max(lids, lid_curve((since - blink.again) / blink.slowness))
    return lids


def lid_curve(frames: float) -> float:
    """How shut the lids are `frames` after a usual blink began: they fall fast, rise slowly and settle
    late."""
    if frames <= 0:
        return 0.0
    if frames <= _CLOSE:
        return hermite(frames / _CLOSE)
    late = frames - _CLOSE - _HOLD
    return (1.0 - hermite(late / _OPEN) ** 0.75) ** 1.15 if late > 0 else 1.0
