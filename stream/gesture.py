"""What head and brows do with speech: nods and raised brows on stressed syllables, and how a listener
attends."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .chance import BLOCK, Chance
from .easing import hermite

BEAT_BEFORE, BEAT_MEMORY = 2, 34
"""Frames around a beat that it moves."""
ATTEND_MEMORY = 240
"""Frames after speech in which a listener attends."""
_NOD_DEG = (0.8, 2.1)
_LIFT, _STILL = 0.15, 0.24
"""Shares of beats on which the head rises rather than nods, and hardly moves."""
_STILL_DEG = 0.3
_PACE, _LATE = (0.9, 1.3), (0.0, 4.0)
"""How slow a nod is, of a usual one, and how many frames it lags behind its beat."""
_SIDE_DEG = (1.2, 0.9)
"""Yaw and roll that go with a beat, at most."""
_BROW = 0.42
"""Share of beats that raise the brows."""
_STROKE, _RETURN, _BOUND = 5.0, 14.0, 24.0
"""Frames after a beat at which a nod is lowest, past its rest, and over."""
_BROW_UP, _BROW_HOLD, _BROW_DOWN = 3.0, 7.0, 21.0
_TILT_DEG = (1.0, 2.6)
_ASSENT_FRAMES = 160.0
"""Mean time between a listener's nods."""
_ASSENT_DEG = 1.9
_ASSENT_BEATS = (0.0, 9.0)


@dataclass(frozen=True, slots=True)
class Beat:
    """A stressed syllable at `frame`, of `strength` 0..1."""

    frame: int
    strength: float


@dataclass(frozen=True, slots=True)
class Gesture:
    """`yaw`, `pitch`, `roll` in degrees as in Life; `brow` 0..1."""

    yaw: float
    pitch: float
    roll: float
    brow: float


@dataclass(frozen=True, slots=True)
class _Way:
    """How one beat is marked: `nod`, `yaw`, `roll` in degrees and `brow` at full strength. The nod is `slow`
    times as long as a usual one and begins `late` frames after it would."""

    nod: float
    slow: float
    late: float
    yaw: float
    roll: float
    brow: float


class Gestures:
    """The gestures of one session."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._way = lru_cache(maxsize=64)(self._draw)
        self._tilt = lru_cache(maxsize=8)(self._draw_tilt)
        self._assents = lru_cache(maxsize=8)(self._draw_assents)

    def at(self, index: int, speaking: float, beats: Sequence[Beat], ended: int | None) -> Gesture:
        """Gestures at frame `index`; `ended` is the last frame of the speech that is over."""
        yaw = pitch = roll = brow = 0.0
        for beat in beats:
            since = index - beat.frame
            if not -BEAT_BEFORE < since < BEAT_MEMORY:
                continue
            way = self._way(beat.frame)
            stroke = beat.strength * nod_curve((since + BEAT_BEFORE - way.late) / way.slow - BEAT_BEFORE)
            sway = beat.strength * sway_curve(since)
            pitch += way.nod * stroke
            yaw += way.yaw * sway
            roll += way.roll * sway
            brow = max(brow, way.brow * beat.strength * brow_curve(since))
        if ended is not None and 0 < index - ended < ATTEND_MEMORY:
            quiet = (1.0 - speaking) ** 2
            tilt, assent = (quiet * angle for angle in self._attending(index, ended))
            return Gesture(yaw, pitch + assent, roll + tilt, brow)
        return Gesture(yaw, pitch, roll, brow)

    def _attending(self, index: int, ended: int) -> tuple[float, float]:
        """Tilt and nod of a listener, who has just spoken."""
        since = index - ended
        part = hermite((since - 8) / 22) * (1.0 - hermite((since - 130) / (ATTEND_MEMORY - 130)))
        block = int(index // (BLOCK * _ASSENT_FRAMES))
        moments = self._assents(block - 1)[-1:] + self._assents(block)
        nod = sum(
            weight * nod_curve(index - moment - later)
            for moment in moments
            if -BEAT_BEFORE < index - moment < BEAT_MEMORY + _ASSENT_BEATS[1]
            for later, weight in zip(_ASSENT_BEATS, (1.0, 0.6), strict=True)
        )
        return self._tilt(ended) * part, _ASSENT_DEG * nod * part

    def _draw(self, frame: int) -> _Way:
        random = self._chance.generator("beat", frame)
        lifts, brows, nod, side, tilt, brow, slow, late = random.random(8).tolist()
        depth = _NOD_DEG[0] + (_NOD_DEG[1] - _NOD_DEG[0]) * nod
        return _Way(
            -0.7 * depth if lifts < _LIFT else _STILL_DEG if lifts < _LIFT + _STILL else depth,
            _PACE[0] + (_PACE[1] - _PACE[0]) * slow,
            _LATE[0] + (_LATE[1] - _LATE[0]) * late,
            _SIDE_DEG[0] * (2 * side - 1),
            _SIDE_DEG[1] * (2 * tilt - 1),
            0.45 + 0.5 * brow if brows < _BROW else 0.08,
        )

    def _draw_tilt(self, ended: int) -> float:
        random = self._chance.generator("tilt", ended)
        degrees = float(random.uniform(*_TILT_DEG))
        return degrees if random.random() < 0.5 else -degrees

    def _draw_assents(self, block: int) -> list[float]:
        random = self._chance.generator("assent", block)
        gaps = self._chance.gaps(random, shape=2.0, shortest=0.3)
        start = block * BLOCK * _ASSENT_FRAMES
        return [start + sum(gaps[:place]) * _ASSENT_FRAMES for place in range(BLOCK)]


def nod_curve(since: float) -> float:
    """A nod `since` frames after its beat: down quickly, back past the rest, and still."""
    if since <= -BEAT_BEFORE or since >= _BOUND:
        return 0.0
    if since < _STROKE:
        return hermite((since + BEAT_BEFORE) / (_STROKE + BEAT_BEFORE))
    if since < _RETURN:
        return 1.0 - 1.18 * hermite((since - _STROKE) / (_RETURN - _STROKE))
    return -0.18 * (1.0 - hermite((since - _RETURN) / (_BOUND - _RETURN)))


def brow_curve(since: float) -> float:
    """Brows `since` frames after their beat: up, held, and down."""
    if since < _BROW_HOLD:
        return hermite((since + BEAT_BEFORE) / (_BROW_UP + BEAT_BEFORE))
    return 1.0 - hermite((since - _BROW_HOLD) / (_BROW_DOWN - _BROW_HOLD))


def sway_curve(since: float) -> float:
    """A slow swell over a beat's whole time."""
    return hermite((since + BEAT_BEFORE) / 8) * (1.0 - hermite((since - 8) / (BEAT_MEMORY - 8)))
