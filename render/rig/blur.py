"""A frame's mouth among those around it: rounding, lips and tongue move over more than a frame, and lips
begin to seal or to bite before they touch.

Mouths of single frames are right each for itself, but one may bite where the one before it was wide open. A
picture without a shutter shows that as a pop.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .lips import SEALING, Mouth, sealed
from .units import UNITS

F32 = NDArray[np.float32]

AROUND: Final = 2
"""Frames before and after one that it is blurred with."""
_ROUND: Final = (0.34, 0.24, 0.09)
_LIPS: Final = (0.50, 0.25, 0.0)
"""How much of a mouth comes of its own frame, of each beside it, and of each beyond: rounding, which travels
far, and all else."""
_REACH: Final = (1.0, 0.50, 0.15)
"""How far lips go for a bite or a press that is so many frames away, and the tongue's tip for its sounds."""
_FAR: Final = np.array([unit.startswith(("mouthPucker", "mouthFunnel")) for unit in UNITS], np.bool_)
_CONTACT: Final = np.array(
    [unit.startswith(("mouthRollLower", "mouthPress", "tongue")) for unit in UNITS], np.bool_
)
"""What only sounds do that touch something: they are reached, however short. The tongue's tip is, too."""


def blurred(mouths: Mapping[int, Mouth]) -> Mouth:
    """The mouth of frame 0, by what is asked in it and in the AROUND frames before and after it."""
    units = np.where(_FAR, _mean(mouths, _ROUND), _mean(mouths, _LIPS))
    contact = [_REACH[abs(frame)] * mouth.units for frame, mouth in mouths.items()]
    units = np.where(_CONTACT, np.max(contact, axis=0), units).astype(np.float32)
    holds = max(_REACH[abs(frame)] * mouth.holds for frame, mouth in mouths.items())
    seals = max(_REACH[abs(frame)] ** SEALING * mouth.seals for frame, mouth in mouths.items())
    tongue = np.sum([np.float32(_LIPS[abs(frame)]) * mouth.tongue for frame, mouth in mouths.items()], axis=0)
    tongue[0] = max(np.float32(_REACH[abs(frame)]) * mouth.tongue[0] for frame, mouth in mouths.items())
    return Mouth(sealed(units, seals), holds, tongue, seals)


def _mean(mouths: Mapping[int, Mouth], taps: tuple[float, ...]) -> F32:
    return np.sum([np.float32(taps[abs(frame)]) * mouth.units for frame, mouth in mouths.items()], axis=0)
