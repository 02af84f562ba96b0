"""Where the eyes look: fixations, jumps between them, and the head that follows the large ones.

Most of the time the eyes rest on the viewer. Who is silent looks about now and then; who speaks looks into
the lens, but for a moment's thought as a phrase begins. Angles are degrees from the viewer, to the viewer's
right and up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import hypot

from .chance import BLOCK, Chance
from .easing import hermite

_MEAN_FRAMES = 50.0
"""Mean time that the eyes rest on one point."""
LONGEST_FRAMES = 110.0
_SHORTEST_FRAMES = 14.0
_TEMPER = 2.0
_AWAY = 0.13
"""Share of fixations that leave the viewer, in silence: none while there is half as much speech as can be."""
_AWAY_BRIEF = 0.55
"""How long a look away lasts, of other fixations."""
_NEAR_DEG, _STEADY = (1.6, 1.1), 0.6
"""Spread of points on the viewer: eyes, mouth; and how much of it speaking takes away."""
_THOUGHT = 0.4
"""Share of phrases that begin with a look away."""
_THOUGHT_FRAMES = (7.0, 13.0)
_THOUGHT_DEG = ((4.0, 9.0), (-5.0, 4.0))
"""How long it lasts, and where it goes across and up: less far than in silence."""
_BEGUN_FRAMES = 3.0
"""Frames after which who begins to speak without a thought looks at the viewer, wherever they looked."""
_FAR_DEG = ((7.5, 16.0), (-6.5, 7.0))
"""Range of looks away, across and up."""
_TREMBLE_FRAMES = 17.0
_TREMBLE_DEG = 0.35
_LEAP_DEG = 7.0
"""From here on a jump is large: lids and head take part."""
_HEAD_SHARE = 0.35
_HEAD_LATE = 1.0
_HEAD_FRAMES = 10.5, 0.6
"""Frames that the head takes to follow, and how many more for each degree it turns."""
_BACK = 1.4
"""How much longer it takes to come back."""
_HEAD_SETTLES = 60.0
"""Frames after which no turn of the head goes on."""
_OVERSHOOT = 0.04
"""Of a turn of the head: how far it goes beyond its end before it settles."""
_FRAME_MS = 40.0


@dataclass(frozen=True, slots=True)
class Look:
    """`eyes` (across, up) where the eyes point, `head` what the head does to help them; degrees."""

    eyes: tuple[float, float]
    head: tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Fixation:
    """From frame `moment` the eyes rest at `near`, or at `away` when `urge` is under the share of looks
    away that silence leaves."""

    moment: float
    urge: float
    near: tuple[float, float]
    away: tuple[float, float]

    def point(self, speaking: float) -> tuple[float, float]:
        if self.urge < _AWAY * (1.0 - 2.0 * speaking):
            return self.away
        wide = 1.0 - _STEADY * speaking
        return self.near[0] * wide, self.near[1] * wide


@dataclass(frozen=True, slots=True)
class _Rest:
    """From frame `moment` on the eyes rest at `point`."""

    moment: float
    point: tuple[float, float]


class Gaze:
    """The eyes of one session."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._fixations = lru_cache(maxsize=8)(self._draw)
        self._trembles = lru_cache(maxsize=8)(self._draw_trembles)
        self._thoughts = lru_cache(maxsize=64)(self._draw_thought)

    def at(self, index: int, speaking: Callable[[float], float], phrases: Sequence[int] = ()) -> Look:
        """The look at frame `index`. `speaking(frame)` tells 0..1 of that frame or one up to
        2 * LONGEST_FRAMES before it; `phrases` are frames at which speech began after a pause."""
        recent = self._rests(index, speaking, phrases)
        points = [rest.point for rest in recent]
        since = index - recent[-1].moment
        there, here = points[-2:]
        share = hermite(since / jump_frames(hypot(here[0] - there[0], here[1] - there[1])))
        tremble = self._tremble(index)
        eyes = _between(there, here, share)
        head = _followed([index - rest.moment for rest in recent], points)
        return Look((eyes[0] + tremble[0], eyes[1] + tremble[1]), head)

    def jumps(self, first: float, last: float) -> list[float]:
        """Frames between `first` and `last` at which the eyes may leap to or from a look away."""
        found: list[float] = []
        span = BLOCK * _MEAN_FRAMES
        for block in range(int(first // span), int(last // span) + 1):
            fixations = (*self._fixations(block - 1)[-1:], *self._fixations(block))
            for before, now in pairwise(fixations):
                leaves = min(before.urge, now.urge) < _AWAY
                if leaves and first <= now.moment <= last:
                    found.append(now.moment)
        return found

    def _rests(self, index: int, speaking: Callable[[float], float], phrases: Sequence[int]) -> list[_Rest]:
        """Where the eyes have lately rested, and rest at `index`; speech that begins cuts in."""
        rests = [_Rest(each.moment, each.point(speaking(each.moment))) for each in self._recent(index)]
        for phrase in phrases:
            thought = self._thoughts(phrase)
            if thought[-1].moment < rests[0].moment or phrase > index:
                continue
            around = [each for each in rests if not phrase <= each.moment <= thought[-1].moment]
            rests = sorted((*around, *thought), key=lambda each: each.moment)
        return [each for each in rests if each.moment <= index]

    def _recent(self, index: int) -> tuple[_Fixation, ...]:
        """The fixation that holds at `index`, last, after those from which the head may still be turning."""
        block = int(index // (BLOCK * _MEAN_FRAMES))
        fixations = self._fixations(block - 1) + self._fixations(block)
        place = len(fixations) - 1
        while fixations[place].moment > index:
            place -= 1
        first = place - 1
        while first > 0 and index - fixations[first + 1].moment < _HEAD_SETTLES:
            first -= 1
        return fixations[first : place + 1]

    def _tremble(self, index: int) -> tuple[float, float]:
        step = index / _TREMBLE_FRAMES
        block = int(step // BLOCK)
        across, up, moments = self._trembles(block)
        place = BLOCK - 1
        while place > 0 and moments[place] > step:
            place -= 1
        return across[place], up[place]

    def _draw(self, block: int) -> tuple[_Fixation, ...]:
        random = self._chance.generator("gaze", block)
        urges = random.random(BLOCK).tolist()
        for place in range(1, BLOCK):
            if urges[place - 1] < _AWAY and urges[place] > 0.05:
                urges[place] = max(urges[place], _AWAY)
        gaps = self._chance.gaps(random, shape=_TEMPER, shortest=0.2)
        gaps = [gap * (_AWAY_BRIEF if urge < _AWAY else 1.0) for gap, urge in zip(gaps, urges, strict=True)]
        frames = _fitted(gaps)
        near = [random.normal(0, spread, BLOCK).clip(-2.2 * spread, 2.2 * spread) for spread in _NEAR_DEG]
        side = random.choice((-1.0, 1.0), BLOCK)
        far = (side * random.uniform(*_FAR_DEG[0], BLOCK), random.uniform(*_FAR_DEG[1], BLOCK))
        points = zip(near[0].tolist(), near[1].tolist(), far[0].tolist(), far[1].tolist(), strict=True)
        moment = block * BLOCK * _MEAN_FRAMES
        fixations: list[_Fixation] = []
        for gap, urge, (x, y, far_x, far_y) in zip(frames, urges, points, strict=True):
            fixations.append(_Fixation(moment, urge, (x, y), (far_x, far_y)))
            moment += gap
        return tuple(fixations)

    def _draw_thought(self, phrase: int) -> tuple[_Rest, ...]:
        """What the eyes do as a phrase begins: back to the viewer, or away first."""
        random = self._chance.generator("thought", phrase)
        leaves, left, share, across, up, *near = random.random(7).tolist()
        ahead = tuple(
            (2.0 * each - 1.0) * (1.0 - _STEADY) * wide for each, wide in zip(near, _NEAR_DEG, strict=True)
        )
        if leaves >= _THOUGHT:
            return (_Rest(phrase + _BEGUN_FRAMES, (ahead[0], ahead[1])),)
        (least, most), (low, high) = _THOUGHT_DEG
        far = (least + (most - least) * across) * (-1.0 if left < 0.5 else 1.0)
        lasts = _THOUGHT_FRAMES[0] + (_THOUGHT_FRAMES[1] - _THOUGHT_FRAMES[0]) * share
        return _Rest(phrase, (far, low + (high - low) * up)), _Rest(phrase + lasts, (ahead[0], ahead[1]))

    def _draw_trembles(self, block: int) -> tuple[list[float], list[float], list[float]]:
        random = self._chance.generator("tremble", block)
        gaps = self._chance.gaps(random, shape=2.0, shortest=0.3)
        across, up = (random.normal(0, _TREMBLE_DEG, BLOCK).clip(-0.8, 0.8).tolist() for _ in range(2))
        moments = [block * BLOCK + sum(gaps[:place]) for place in range(BLOCK)]
        return across, up, moments


def jump_frames(degrees: float) -> float:
    """Frames that a jump of the eyes over `degrees` takes: the main sequence of human saccades."""
    return (21.0 + 2.2 * degrees) / _FRAME_MS


@lru_cache(maxsize=256)
def _head_for(point: tuple[float, float]) -> tuple[float, float]:
    """The head's part of a look at `point`: nothing for near ones."""
    far = hypot(*point)
    share = _HEAD_SHARE * hermite((far - 0.5 * _LEAP_DEG) / _LEAP_DEG)
    return point[0] * share, point[1] * share


def _followed(since: list[float], points: list[tuple[float, float]]) -> tuple[float, float]:
    """The head after looks at `points` that began `since` frames ago: each turns it from wherever it is."""
    aims = [_head_for(point) for point in points]
    across, up = aims[0]
    for passed, start, aim in zip(since[1:], aims, aims[1:], strict=False):
        frames = _HEAD_FRAMES[0] + _HEAD_FRAMES[1] * hypot(aim[0] - start[0], aim[1] - start[1])
        frames *= _BACK if hypot(*aim) < hypot(*start) else 1.0
        share = _turn((passed - _HEAD_LATE) / frames)
        across, up = across + share * (aim[0] - start[0]), up + share * (aim[1] - start[1])
    return across, up


def _turn(time: float) -> float:
    """How far a turn of the head has come at `time`, 1 when it is there; it settles until 2.5."""
    past = hermite((time - 0.4) / 0.7) * (1.0 - hermite((time - 1.1) / 1.4))
    return hermite(time) + _OVERSHOOT * past


def _between(old: tuple[float, float], new: tuple[float, float], share: float) -> tuple[float, float]:
    return old[0] + (new[0] - old[0]) * share, old[1] + (new[1] - old[1]) * share


def _fitted(gaps: list[float]) -> list[float]:
    """`gaps` as frames within their limits that together last BLOCK mean times."""
    total = BLOCK * _MEAN_FRAMES
    frames = [gap * _MEAN_FRAMES for gap in gaps]
    for _ in range(4):
        scale = total / sum(frames)
        frames = [min(max(each * scale, _SHORTEST_FRAMES), LONGEST_FRAMES) for each in frames]
    frames[-1] += total - sum(frames)
    return frames
