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
_ROUND: Final = np.array([0.34, 0.24, 0.09], np.float32)
_LIPS: Final = np.array([0.50, 0.25, 0.0], np.float32)
"""How much of a mouth comes of its own frame, of each beside it, and of each beyond: rounding, which travels
far, and all else."""
_REACH: Final = np.array([1.0, 0.50, 0.15], np.float32)
"""How far lips go for a bite or a press that is so many frames away."""
_TIP: Final = np.array([1.0, 0.72, 0.25], np.float32)
"""How far the tongue's tip goes for its sounds: it leaves them over two frames, so that it is seen."""
_FAR: Final = np.array([unit.startswith(("mouthPucker", "mouthFunnel")) for unit in UNITS], np.bool_)
_CONTACT: Final = np.array([unit.startswith(("mouthRollLower", "mouthPress")) for unit in UNITS], np.bool_)
"""What only sounds do that touch something: they are reached, however short. The tongue's tip is, too."""
_OUT: Final = UNITS.index("tongueOut")


def blurred(mouths: Mapping[int, Mouth]) -> Mouth:
    """The mouth of frame 0, by what is asked in it and in the AROUND frames before and after it."""
    away = [abs(frame) for frame in mouths]
    units = np.stack([mouth.units for mouth in mouths.values()])
    tongues = np.stack([mouth.tongue for mouth in mouths.values()])
    far, near, reach = (taps[away] for taps in (_ROUND, _LIPS, _REACH))
    moved = np.where(_FAR, far @ units, near @ units)
    moved[_CONTACT] = (reach[:, None] * units[:, _CONTACT]).max(0)
    tongue = near @ tongues
    moved[_OUT] = (_TIP[away] * units[:, _OUT]).max()
    tongue[0] = (_TIP[away] * tongues[:, 0]).max()
    holds = max(float(share) * mouth.holds for share, mouth in zip(reach, mouths.values(), strict=True))
    seals = max(
        float(share) ** SEALING * mouth.seals for share, mouth in zip(reach, mouths.values(), strict=True)
    )
    return Mouth(sealed(moved, seals), holds, tongue, seals)
