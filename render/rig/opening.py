"""How far the lips stand apart, and how fast they may part and meet: never wide to shut in one frame.

The opening of a frame is bounded by those around it, before and after: lips that will meet are on their way
in time, so a closure is reached when it is due, and lips that have met part no faster than lips can.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .lips import Mouth
from .shapes import OPENING
from .units import UNITS, unit_vector

F32 = NDArray[np.float32]

AROUND = 3
"""Frames before and after one that bound its opening."""
PARTING, MEETING = 0.06, 0.063
"""Model units (1 dm) by which lips may part, and meet, in a frame: about a quarter of the widest that speech
opens them, so four frames."""

_GAP: Final = unit_vector(
    {
        "jawOpen": 0.37,
        "mouthClose": -0.343,
        "mouthFunnel": 0.118,
        "mouthLowerDown": 0.0195,
        "mouthUpperUp": 0.024,
        "mouthShrugUpper": 0.035,
        "mouthShrugLower": -0.047,
        "mouthRollLower": -0.028,
        "mouthRollUpper": -0.014,
        "mouthPress": -0.012,
        "mouthSmile": -0.014,
        "mouthPucker": -0.023,
    }
)
"""(52,) how far a whole unit moves the lips apart."""
_SHRINKS: Final = OPENING | (unit_vector({"mouthClose": 1, "mouthFunnel": 1, "mouthShrugUpper": 1}) > 0)
"""What parts the lips, and what holds them together against a jaw that is open."""
_JAW: Final = UNITS.index("jawOpen")
_FULL = 0.5
"""Of the way from a curve that cuts all peaks to one that fills all valleys."""
_FAR, _FARTHER = 0.10, 0.55
"""From how far apart, in model units, lips go only such a share of what is asked beyond."""
_LEAST = 0.036
"""How far apart they stand at least for a sound that is none of theirs."""
_FULL_VOICE = 0.4
"""How loud it is for that."""
_LOOSE = 0.3
"""Further than lips ever part."""
_HASTE = 1.35
"""How much faster than `MEETING` lips come to a closure that was not foreseen."""


def opening(units: F32) -> float:
    """How far `units` (52,) part the lips, in model units."""
    return max(0.0, float(_GAP @ units))


@dataclass(frozen=True, slots=True)
class Ask:
    """What the sounds of a frame ask of the lips: how far they stand `apart`, in model units, and how firmly
    a closing sound `holds` them."""

    apart: float
    holds: float


def asked(mouth: Mouth) -> Ask:
    """What is far apart is asked for less far: who speaks does not shout."""
    apart = opening(mouth.units)
    return Ask(min(apart, _FAR + _FARTHER * (apart - _FAR)), mouth.holds)


def parted(mouth: Mouth, sounds: float) -> Mouth:
    """`mouth` with lips that do not touch where a sound of so much strength, 0..1, goes through them."""
    least = _LEAST * min(max(sounds / _FULL_VOICE, 0.0), 1.0) * (1.0 - mouth.holds)
    return led(mouth, least) if least > opening(mouth.units) else mouth


def bound(asks: Mapping[int, Ask], before: float) -> float:
    """How far lips stand apart in frame 0, by what is asked in it and in the frames around it, and by how far
    they stood apart `before` it.

    It lies between the slow curves that nowhere exceed what is asked and that nowhere fall short of it, but
    closures are met. What comes was a guess, so the step from the frame before is bounded once more.
    """
    low = min(ask.apart + _way(frame) for frame, ask in asks.items())
    high = max(ask.apart - _way(-frame) for frame, ask in asks.items())
    shut = min(ask.apart + _way(frame) + _LOOSE * (1 - ask.holds) for frame, ask in asks.items())
    haste = 1 + (_HASTE - 1) * asks[0].holds
    apart = max(min(low + _FULL * (high - low), shut), before - haste * MEETING)
    return min(apart, before + PARTING)


def _way(frame: int) -> float:
    """How far lips come between now and `frame`: they meet then, or have parted since."""
    return abs(frame) * (MEETING if frame > 0 else PARTING)


def led(mouth: Mouth, apart: float) -> Mouth:
    """`mouth` with lips that stand `apart` by so many model units; round and wide as before."""
    gap = float(_GAP @ mouth.units)
    units = mouth.units.copy()
    if apart > gap:
        units[_JAW] += np.float32((apart - gap) / _GAP[_JAW])
    else:
        shrinking = float(_GAP[_SHRINKS] @ mouth.units[_SHRINKS])
        units[_SHRINKS] *= np.float32(min(max((apart - gap) / max(shrinking, 1e-6) + 1, 0.0), 1.0))
    return Mouth(units, mouth.holds, mouth.tongue, mouth.seals)
