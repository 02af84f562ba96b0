"""How a mouth comes to rest after it spoke: it shuts gently, and its width and rounding go on for a while."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .lips import Mouth
from .opening import led, opening
from .units import UNITS

F32 = NDArray[np.float32]

_LINGERS: Final = 0.78
"""Of what lips did, how much is left a frame later: a twelfth after ten of them, which is 0.4 s."""
_GONE: Final = 0.004
"""What is less than this is no more."""
_SHUTTING: Final = 0.022
"""Model units (1 dm) by which lips that came to rest meet in a frame."""
_FADING: Final = ("mouthPucker", "mouthFunnel", "mouthStretch", "mouthUpperUp", "mouthLowerDown", "cheek")
_LINGERING: Final = np.array([unit.startswith(_FADING) for unit in UNITS], np.bool_)
"""What fades; a closure, a bite and the tongue are over with their sound."""


def settled(mouth: Mouth, posed: F32, apart: float, awake: float) -> Mouth:
    """`mouth` after one that did `posed` (52,) and stood `apart` by so many model units, while speech is
    `awake` only so far, 0..1."""
    asleep = 1.0 - awake
    if asleep <= 0 or not posed.any():
        return mouth
    left = np.where(_LINGERING, posed * np.float32(_LINGERS * asleep), np.float32(0))
    left[left < _GONE] = 0
    shuts = max(apart - _SHUTTING, 0.0) * asleep * (1.0 - mouth.holds)
    units = np.maximum(mouth.units, left).astype(np.float32)
    wanted = max(opening(mouth.units), shuts)
    return led(Mouth(units, mouth.holds, mouth.tongue, mouth.seals), wanted)
